/* automaton.c - the pushdown automaton of a grammar, as a finite one */
#include <config.h>

#include "sample/automaton.h"

#include <string.h>

#include "core/mem.h"

enum {
    MAX_SEEN = 4 * STATES_MAX_SPOTS, /* by one closure */
    SLOTS = 2 * MAX_SEEN,
};

/* ---- closures: on to instructions that want a byte or a token ---- */

struct closure {
    struct automaton *a;
    size_t n_stack, n_found, n_seen;
    bool may_end;
    enum gg_status st;
    struct gg_error *err;
};

static void
begin_closure(struct closure *c, struct automaton *a, struct gg_error *err)
{
    *c = (struct closure){ .a = a, .err = err };
    if (++a->stamp == 0) {
        memset(a->seen, 0, SLOTS * sizeof(*a->seen));
        a->stamp = 1;
    }
}

static void
too_many(struct closure *c)
{
    c->st = error_set(c->err, GG_ERR_UNSUPPORTED,
                      "the grammar is too ambiguous here");
}

static size_t
slot_of(struct spot s)
{
    uint64_t h = ((uint64_t)(uint32_t)s.pc << 32 | (uint32_t)s.frame) *
                 UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)(h >> 40) & (SLOTS - 1);
}

/* To be looked at, unless it was. */
static void
reach(struct closure *c, int32_t pc, int32_t frame)
{
    struct automaton *a = c->a;
    struct spot s = { pc, frame };
    size_t i = slot_of(s);

    for (; a->seen[i] == a->stamp; i = (i + 1) & (SLOTS - 1))
        if (a->seen_spots[i].pc == pc && a->seen_spots[i].frame == frame)
            return;
    if (c->n_seen == MAX_SEEN) {
        too_many(c);
        return;
    }
    c->n_seen++;
    a->seen[i] = a->stamp;
    a->seen_spots[i] = s;
    a->stack[c->n_stack++] = s;
}

static bool
returns_at_once(const struct gbnf *program, int32_t pc)
{
    while (program->code[pc].op == GBNF_JUMP)
        pc += program->code[pc].a;
    return program->code[pc].op == GBNF_RET;
}

/* A call that is the last thing in a rule returns to where the rule would. */
static void
call(struct closure *c, struct spot s)
{
    const struct gbnf *program = c->a->program;
    struct states *states = &c->a->states;
    int32_t rule = program->code[s.pc].a, frame = s.frame;

    if (!returns_at_once(program, s.pc + 1)) {
        if (frame && states->frames[frame].depth == STATES_MAX_STACK)
            return;
        frame = sample_states_frame(states, s.pc + 1, frame);
        if (!frame) {
            c->st = error_nomem(c->err);
            return;
        }
    }
    reach(c, program->rules[rule].start, frame);
}

static void
look(struct closure *c, struct spot s)
{
    const struct gbnf_code *code = &c->a->program->code[s.pc];
    const struct frame *frame;

    switch (code->op) {
    case GBNF_RANGE:
    case GBNF_TOKEN:
        c->a->found[c->n_found++] = s;
        break;
    case GBNF_SPLIT:
        reach(c, s.pc + code->a, s.frame);
        if (c->st == GG_OK)
            reach(c, s.pc + code->b, s.frame);
        break;
    case GBNF_JUMP:
        reach(c, s.pc + code->a, s.frame);
        break;
    case GBNF_CALL:
        call(c, s);
        break;
    default: /* GBNF_RET */
        frame = s.frame ? &c->a->states.frames[s.frame] : NULL;
        if (frame)
            reach(c, frame->back, frame->below);
        else
            c->may_end = true;
        break;
    }
}

static enum gg_status
finish_closure(struct closure *c, int32_t *state)
{
    struct automaton *a = c->a;

    while (c->st == GG_OK && c->n_stack)
        look(c, a->stack[--c->n_stack]);
    if (c->st == GG_OK && c->n_found > STATES_MAX_SPOTS)
        too_many(c);
    if (c->st != GG_OK)
        return c->st;
    return sample_states_find(&a->states, a->found, c->n_found, c->may_end,
                              state, c->err);
}

/* ---- steps ---- */

enum gg_status
sample_automaton_make_step(struct automaton *a, int32_t from, uint8_t class,
                           int32_t *to, struct gg_error *err)
{
    const struct state *s = &a->states.states[from];
    struct closure c;
    enum gg_status st;

    begin_closure(&c, a, err);
    for (size_t i = s->first; c.st == GG_OK && i < s->first + s->n; i++) {
        struct spot spot = a->states.spots[i];
        const struct gbnf_code *code = &a->program->code[spot.pc];

        if (code->op == GBNF_RANGE && class >= a->class[code->a] &&
            class <= a->class[code->b])
            reach(&c, spot.pc + 1, spot.frame);
    }
    st = finish_closure(&c, to);
    if (st == GG_OK)
        a->states.steps[(size_t)from * a->states.n_classes + class] = *to;
    return st;
}

/* Adds what the state is to a closure. */
static void
join(struct closure *c, int32_t state)
{
    const struct state *s = &c->a->states.states[state];

    for (size_t i = s->first; c->st == GG_OK && i < s->first + s->n; i++)
        reach(c, c->a->states.spots[i].pc, c->a->states.spots[i].frame);
    c->may_end = c->may_end || s->may_end;
}

enum gg_status
sample_automaton_step_token(struct automaton *a, int32_t from, int32_t id,
                            bool text, int32_t *to, struct gg_error *err)
{
    const struct state *s = &a->states.states[from];
    struct closure c;

    begin_closure(&c, a, err);
    for (size_t i = s->first; c.st == GG_OK && i < s->first + s->n; i++) {
        struct spot spot = a->states.spots[i];

        if (sample_gbnf_takes(&a->program->code[spot.pc], id, text))
            reach(&c, spot.pc + 1, spot.frame);
    }
    if (c.n_stack == 0)
        return c.st;
    if (*to != STATES_DEAD)
        join(&c, *to);
    return finish_closure(&c, to);
}

enum gg_status
sample_automaton_start(struct automaton *a, int32_t *state,
                       struct gg_error *err)
{
    struct closure c;

    begin_closure(&c, a, err);
    reach(&c, a->program->rules[a->program->root].start, 0);
    return finish_closure(&c, state);
}

enum gg_status
sample_automaton_find_plain(struct automaton *a, int32_t state,
                            struct gg_error *err)
{
    size_t n = a->states.n_classes, most = 0;
    int32_t to[AUTOMATON_CLASSES];
    uint64_t sets[AUTOMATON_CLASSES] = { 0 };
    size_t counts[AUTOMATON_CLASSES] = { 0 };
    enum gg_status st = GG_OK;

    n = n < AUTOMATON_CLASSES ? n : AUTOMATON_CLASSES;
    for (size_t i = 0; st == GG_OK && i < n; i++) {
        size_t k = 0;

        st = sample_automaton_step(a, state, (uint8_t)i, &to[i], err);
        if (st != GG_OK || to[i] == STATES_DEAD)
            continue;
        while (to[k] != to[i])
            k++;
        sets[k] |= UINT64_C(1) << i;
        if (++counts[k] > counts[most])
            most = k;
    }
    if (st == GG_OK) {
        struct state *s = &a->states.states[state];

        s->has_plain = true;
        s->plain = sets[most];
        s->plain_to = to[most];
    }
    return st;
}

/* ---- the automaton ---- */

/* Bytes between which no instruction makes a difference are one class. */
static size_t
find_classes(struct automaton *a)
{
    bool cut[257] = { false };

    for (size_t i = 0; i < a->program->n; i++) {
        const struct gbnf_code *c = &a->program->code[i];

        if (c->op == GBNF_RANGE)
            cut[c->a] = cut[c->b + 1] = true;
    }
    for (int i = 1; i < 256; i++)
        a->class[i] = (uint8_t)(a->class[i - 1] + cut[i]);
    return (size_t)a->class[255] + 1;
}

enum gg_status
sample_automaton_init(struct automaton *a, const struct gbnf *program,
                      struct gg_error *err)
{
    size_t n_classes;

    *a = (struct automaton){ .program = program };
    n_classes = find_classes(a);
    a->stack = mem_array(MAX_SEEN + 1, sizeof(*a->stack));
    a->found = mem_array(MAX_SEEN + 1, sizeof(*a->found));
    a->seen = mem_array(SLOTS, sizeof(*a->seen));
    a->seen_spots = mem_array(SLOTS, sizeof(*a->seen_spots));
    if (!a->stack || !a->found || !a->seen || !a->seen_spots)
        return error_nomem(err);
    return sample_states_init(&a->states, n_classes, err);
}

void
sample_automaton_clear(struct automaton *a)
{
    sample_states_clear(&a->states);
    mem_free(a->stack);
    mem_free(a->found);
    mem_free(a->seen);
    mem_free(a->seen_spots);
}
