/* grammar.c - texts that a grammar allows, byte by byte
 *
 * A stack of calls is a frame: where to return to, and the frame below it;
 * equal frames are the same one. A state is a set of (instruction, frame), all
 * of them at instructions that want a byte, in order, and whether the text may
 * end there; equal sets are the same state. So sets of stacks share what they
 * have in common, and a state is left by a byte in the same way every time. */
#include <config.h>

#include "sample/grammar.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "sample/gbnf.h"
#include "sample/prefix.h"

enum {
    MAX_STACK = 1024,    /* calls in each other: deeper is not allowed */
    MAX_SPOTS = 1 << 12, /* in a state */
    MAX_ALL_SPOTS = 1 << 24,
    MANY_SPOTS = 1 << 20,
    MAX_STATES = 1 << 18,  /* at once */
    MANY_STATES = 1 << 13, /* after which all that is not in use is forgotten */
    MAX_MASKS = 64,
    DEAD = -1, /* of a step; 0: not known */
};

struct frame {
    int32_t back, below; /* 0: none below */
    int32_t depth;
};

struct spot {
    int32_t pc, frame;
};

struct state {
    size_t first; /* of its spots */
    uint32_t n;   /* of them */
    bool may_end;
    uint8_t *mask; /* or NULL */
};

/* Indices by a hash of what they stand for; 0 is free. */
struct index {
    int32_t *slots;
    size_t mask;
};

struct gg_grammar {
    struct gbnf program;
    struct prefixes trie;
    uint8_t class[256]; /* bytes that are alike in all instructions */
    int32_t n_classes;

    struct frame *frames; /* from 1 on */
    size_t n_frames, frames_cap;
    struct state *states; /* from 1 on */
    size_t n_states, states_cap;
    int32_t *steps; /* n_classes of each state */
    size_t steps_cap;
    struct spot *spots;
    size_t n_spots, spots_cap;
    struct index frame_index, state_index;
    size_t n_masks;
    size_t forget, forget_spots; /* states and spots that are too many */

    struct spot *stack, *found; /* scratch of a closure */
    uint32_t *seen;             /* hash of spots that were met, by stamps */
    struct spot *seen_spots;
    uint32_t stamp;
    int32_t *path; /* states along a branch of the trie */

    struct grammar_at *users;
};

/* ---- indices ---- */

static uint64_t
mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uint64_t
hash_frame(const struct frame *f)
{
    return mix(mix(1, (uint32_t)f->back), (uint32_t)f->below);
}

static uint64_t
hash_spots(const struct spot *s, size_t n, bool may_end)
{
    uint64_t h = may_end;

    for (size_t i = 0; i < n; i++)
        h = mix(h, (uint64_t)(uint32_t)s[i].pc << 32 | (uint32_t)s[i].frame);
    return h;
}

/* Room for twice as many as there are. */
static bool
index_room(struct index *x, size_t n)
{
    size_t slots = x->slots ? x->mask + 1 : 1024;
    int32_t *bigger;

    if (x->slots && n < slots / 2)
        return true;
    while (slots / 2 <= n)
        slots *= 2;
    bigger = mem_array(slots, sizeof(*bigger));
    if (!bigger)
        return false;
    mem_free(x->slots);
    *x = (struct index){ bigger, slots - 1 };
    return true;
}

/* ---- frames ---- */

static void
place_frame(struct gg_grammar *g, int32_t id)
{
    struct index *x = &g->frame_index;
    size_t i = hash_frame(&g->frames[id]) & x->mask;

    while (x->slots[i])
        i = (i + 1) & x->mask;
    x->slots[i] = id;
}

/* The frame; 0: no memory. */
static int32_t
frame_of(struct gg_grammar *g, int32_t back, int32_t below)
{
    struct frame f = { back, below, 1 };
    struct index *x = &g->frame_index;
    int32_t *old = x->slots;

    for (size_t i = hash_frame(&f) & x->mask; x->slots[i];
         i = (i + 1) & x->mask) {
        struct frame *e = &g->frames[x->slots[i]];

        if (e->back == back && e->below == below)
            return x->slots[i];
    }
    if (below)
        f.depth = g->frames[below].depth + 1;
    if (g->n_frames >= INT32_MAX / 2 ||
        !mem_grow(&g->frames, &g->frames_cap, g->n_frames + 1,
                  sizeof(*g->frames)) ||
        !index_room(x, g->n_frames + 1))
        return 0;
    g->frames[g->n_frames] = f;
    if (x->slots != old)
        for (size_t i = 1; i < g->n_frames; i++)
            place_frame(g, (int32_t)i);
    place_frame(g, (int32_t)g->n_frames);
    return (int32_t)g->n_frames++;
}

/* ---- states ---- */

static int
by_spot(const void *a, const void *b)
{
    const struct spot *x = a, *y = b;

    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static void
place_state(struct gg_grammar *g, int32_t id)
{
    struct index *x = &g->state_index;
    const struct state *s = &g->states[id];
    size_t i = hash_spots(g->spots + s->first, s->n, s->may_end) & x->mask;

    while (x->slots[i])
        i = (i + 1) & x->mask;
    x->slots[i] = id;
}

static int32_t
find_state(const struct gg_grammar *g, const struct spot *spots, size_t n,
           bool may_end)
{
    const struct index *x = &g->state_index;

    for (size_t i = hash_spots(spots, n, may_end) & x->mask; x->slots[i];
         i = (i + 1) & x->mask) {
        const struct state *s = &g->states[x->slots[i]];

        if (s->n == n && s->may_end == may_end &&
            (n == 0 ||
             memcmp(g->spots + s->first, spots, n * sizeof(*spots)) == 0))
            return x->slots[i];
    }
    return 0;
}

static enum gg_status
grow_states(struct gg_grammar *g, size_t n_spots, struct gg_error *err)
{
    size_t n = g->n_states + 1, k = (size_t)g->n_classes;
    int32_t *old = g->state_index.slots;

    if (n >= MAX_STATES || g->n_spots + n_spots > MAX_ALL_SPOTS)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "the grammar is too ambiguous here");
    if (!mem_grow(&g->states, &g->states_cap, n, sizeof(*g->states)) ||
        !mem_grow(&g->steps, &g->steps_cap, n * k, sizeof(*g->steps)) ||
        !mem_grow(&g->spots, &g->spots_cap, g->n_spots + n_spots,
                  sizeof(*g->spots)) ||
        !index_room(&g->state_index, n))
        return error_nomem(err);
    if (g->state_index.slots != old)
        for (size_t i = 1; i < g->n_states; i++)
            place_state(g, (int32_t)i);
    return GG_OK;
}

/* The state of the spots, which are put in order. One without spots that may
 * not end is dead. */
static enum gg_status
state_of(struct gg_grammar *g, struct spot *spots, size_t n, bool may_end,
         int32_t *out, struct gg_error *err)
{
    size_t k = (size_t)g->n_classes;
    enum gg_status st;

    *out = DEAD;
    if (n == 0 && !may_end)
        return GG_OK;
    qsort(spots, n, sizeof(*spots), by_spot);
    *out = find_state(g, spots, n, may_end);
    if (*out)
        return GG_OK;
    st = grow_states(g, n, err);
    if (st != GG_OK)
        return st;
    *out = (int32_t)g->n_states++;
    g->states[*out] = (struct state){ g->n_spots, (uint32_t)n, may_end, NULL };
    memset(g->steps + (size_t)*out * k, 0, k * sizeof(*g->steps));
    if (n)
        memcpy(g->spots + g->n_spots, spots, n * sizeof(*spots));
    g->n_spots += n;
    place_state(g, *out);
    return GG_OK;
}

/* ---- closures: on to instructions that want a byte ---- */

struct closure {
    struct gg_grammar *g;
    size_t n_stack, n_found, n_seen;
    bool may_end;
    enum gg_status st;
    struct gg_error *err;
};

enum {
    SEEN = 8 * MAX_SPOTS, /* slots */
};

static void
begin_closure(struct closure *c, struct gg_grammar *g, struct gg_error *err)
{
    *c = (struct closure){ .g = g, .err = err };
    if (++g->stamp == 0) {
        memset(g->seen, 0, SEEN * sizeof(*g->seen));
        g->stamp = 1;
    }
}

/* To be looked at, unless it was. */
static void
reach(struct closure *c, int32_t pc, int32_t frame)
{
    struct gg_grammar *g = c->g;
    struct spot s = { pc, frame };
    size_t i = hash_spots(&s, 1, false) & (SEEN - 1);

    for (; g->seen[i] == g->stamp; i = (i + 1) & (SEEN - 1))
        if (g->seen_spots[i].pc == pc && g->seen_spots[i].frame == frame)
            return;
    if (c->n_seen == 4 * MAX_SPOTS) {
        c->st = error_set(c->err, GG_ERR_UNSUPPORTED,
                          "the grammar is too ambiguous here");
        return;
    }
    c->n_seen++;
    g->seen[i] = g->stamp;
    g->seen_spots[i] = s;
    g->stack[c->n_stack++] = s;
}

static bool
returns_at_once(const struct gg_grammar *g, int32_t pc)
{
    while (g->program.code[pc].op == GBNF_JUMP)
        pc += g->program.code[pc].a;
    return g->program.code[pc].op == GBNF_RET;
}

/* A call that is the last thing in a rule returns to where the rule would. */
static void
call(struct closure *c, const struct spot *s)
{
    struct gg_grammar *g = c->g;
    int32_t rule = g->program.code[s->pc].a, frame = s->frame;

    if (!returns_at_once(g, s->pc + 1)) {
        if (frame && g->frames[frame].depth == MAX_STACK)
            return;
        frame = frame_of(g, s->pc + 1, frame);
        if (!frame) {
            c->st = error_nomem(c->err);
            return;
        }
    }
    reach(c, g->program.rules[rule].start, frame);
}

static void
look(struct closure *c, struct spot s)
{
    struct gg_grammar *g = c->g;
    const struct gbnf_code *code = &g->program.code[s.pc];

    switch (code->op) {
    case GBNF_RANGE:
        g->found[c->n_found++] = s;
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
        call(c, &s);
        break;
    default: /* GBNF_RET */
        if (s.frame)
            reach(c, g->frames[s.frame].back, g->frames[s.frame].below);
        else
            c->may_end = true;
        break;
    }
}

static enum gg_status
close(struct closure *c, int32_t *state)
{
    while (c->st == GG_OK && c->n_stack)
        look(c, c->g->stack[--c->n_stack]);
    if (c->st == GG_OK && c->n_found > MAX_SPOTS)
        c->st = error_set(c->err, GG_ERR_UNSUPPORTED,
                          "the grammar is too ambiguous here");
    if (c->st == GG_OK)
        c->st =
            state_of(c->g, c->g->found, c->n_found, c->may_end, state, c->err);
    return c->st;
}

static enum gg_status
make_step(struct gg_grammar *g, int32_t from, uint8_t byte, int32_t *to,
          struct gg_error *err)
{
    const struct state *s = &g->states[from];
    struct closure c;
    enum gg_status st;

    begin_closure(&c, g, err);
    for (size_t i = s->first; c.st == GG_OK && i < s->first + s->n; i++) {
        const struct gbnf_code *code = &g->program.code[g->spots[i].pc];

        if (byte >= code->a && byte <= code->b)
            reach(&c, g->spots[i].pc + 1, g->spots[i].frame);
    }
    st = c.st == GG_OK ? close(&c, to) : c.st;
    if (st == GG_OK)
        g->steps[(size_t)from * (size_t)g->n_classes + g->class[byte]] = *to;
    return st;
}

static inline enum gg_status
step(struct gg_grammar *g, int32_t from, uint8_t byte, int32_t *to,
     struct gg_error *err)
{
    *to = g->steps[(size_t)from * (size_t)g->n_classes + g->class[byte]];
    return *to ? GG_OK : make_step(g, from, byte, to, err);
}

static enum gg_status
start_state(struct gg_grammar *g, int32_t *state, struct gg_error *err)
{
    struct closure c;

    begin_closure(&c, g, err);
    reach(&c, g->program.rules[g->program.root].start, 0);
    return close(&c, state);
}

/* ---- what is not in use is forgotten ---- */

static void
drop_masks(struct gg_grammar *g)
{
    for (size_t i = 1; i < g->n_states; i++) {
        mem_free(g->states[i].mask);
        g->states[i].mask = NULL;
    }
    g->n_masks = 0;
}

static void
drop_states(struct gg_grammar *g)
{
    drop_masks(g);
    g->n_states = g->n_frames = 1;
    g->n_spots = 0;
    memset(g->frame_index.slots, 0,
           (g->frame_index.mask + 1) * sizeof(*g->frame_index.slots));
    memset(g->state_index.slots, 0,
           (g->state_index.mask + 1) * sizeof(*g->state_index.slots));
}

/* The same stack among the new frames; 0 with *st: no memory. */
static int32_t
move_frame(struct gg_grammar *g, const struct frame *old, int32_t id,
           enum gg_status *st)
{
    int32_t chain[MAX_STACK], moved = 0;
    size_t n = 0;

    for (; id; id = old[id].below)
        chain[n++] = old[id].back;
    while (n) {
        moved = frame_of(g, chain[--n], moved);
        if (!moved) {
            *st = GG_ERR_NOMEM;
            return 0;
        }
    }
    return moved;
}

static enum gg_status
move_state(struct gg_grammar *g, const struct frame *frames,
           const struct state *s, const struct spot *spots, int32_t *to,
           struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (uint32_t i = 0; st == GG_OK && i < s->n; i++)
        g->found[i] = (struct spot){
            spots[s->first + i].pc,
            move_frame(g, frames, spots[s->first + i].frame, &st),
        };
    return st == GG_OK ? state_of(g, g->found, s->n, s->may_end, to, err)
                       : error_nomem(err);
}

/* Keeps the states at which texts stand, under other numbers. */
static enum gg_status
forget(struct gg_grammar *g, struct gg_error *err)
{
    struct frame *frames = mem_dup(g->frames, g->n_frames * sizeof(*frames));
    struct state *states = mem_dup(g->states, g->n_states * sizeof(*states));
    struct spot *spots = mem_dup(g->spots, (g->n_spots + 1) * sizeof(*spots));
    enum gg_status st = frames && states && spots ? GG_OK : error_nomem(err);

    if (st == GG_OK)
        drop_states(g);
    for (struct grammar_at *at = g->users; at && st == GG_OK; at = at->next)
        if (at->state > 0)
            st = move_state(g, frames, &states[at->state], spots, &at->state,
                            err);
    mem_free(frames);
    mem_free(states);
    mem_free(spots);
    if (st != GG_OK) /* what is left cannot be told apart from the rest */
        for (struct grammar_at *at = g->users; at; at = at->next)
            at->state = DEAD;
    g->forget = 2 * g->n_states + MANY_STATES;
    g->forget_spots = 2 * g->n_spots + MANY_SPOTS;
    return st;
}

/* ---- the grammar ---- */

/* Bytes between which no instruction makes a difference are one class. */
static void
find_classes(struct gg_grammar *g)
{
    bool cut[257] = { false };

    for (size_t i = 0; i < g->program.n; i++) {
        const struct gbnf_code *c = &g->program.code[i];

        if (c->op == GBNF_RANGE)
            cut[c->a] = cut[c->b + 1] = true;
    }
    for (int i = 1; i < 256; i++)
        g->class[i] = (uint8_t)(g->class[i - 1] + cut[i]);
    g->n_classes = g->class[255] + 1;
}

static enum gg_status
reserve(struct gg_grammar *g, struct gg_error *err)
{
    size_t n = 4 * MAX_SPOTS + 1;

    g->stack = mem_array(n, sizeof(*g->stack));
    g->found = mem_array(n, sizeof(*g->found));
    g->seen = mem_array(SEEN, sizeof(*g->seen));
    g->seen_spots = mem_array(SEEN, sizeof(*g->seen_spots));
    g->path = mem_array(g->trie.max_depth + 1, sizeof(*g->path));
    g->n_frames = g->n_states = 1;
    g->forget = MANY_STATES;
    g->forget_spots = MANY_SPOTS;
    if (!g->stack || !g->found || !g->seen || !g->seen_spots || !g->path ||
        !index_room(&g->frame_index, 1) || !index_room(&g->state_index, 1))
        return error_nomem(err);
    return GG_OK;
}

enum gg_status
grammar_new(const char *text, size_t len, const struct grammar_tokens *tokens,
            struct gg_grammar **out, struct gg_error *err)
{
    struct gg_grammar *g = mem_zalloc(sizeof(*g));
    enum gg_status st;
    int32_t first;

    if (!g)
        return error_nomem(err);
    st = gbnf_compile(text, len, &g->program, err);
    if (st == GG_OK)
        st = prefix_build(tokens, &g->trie, err);
    if (st == GG_OK) {
        find_classes(g);
        st = reserve(g, err);
    }
    if (st == GG_OK)
        st = start_state(g, &first, err);
    if (st == GG_OK && first == DEAD)
        st = error_set(err, GG_ERR_FORMAT, "the grammar allows no text");
    if (st == GG_OK)
        *out = g;
    else
        gg_grammar_free(g);
    return st;
}

void
gg_grammar_free(struct gg_grammar *g)
{
    if (!g)
        return;
    drop_masks(g);
    gbnf_clear(&g->program);
    prefix_clear(&g->trie);
    mem_free(g->frames);
    mem_free(g->states);
    mem_free(g->steps);
    mem_free(g->spots);
    mem_free(g->frame_index.slots);
    mem_free(g->state_index.slots);
    mem_free(g->stack);
    mem_free(g->found);
    mem_free(g->seen);
    mem_free(g->seen_spots);
    mem_free(g->path);
    mem_free(g);
}

void
grammar_leave(struct grammar_at *at)
{
    if (!at->grammar)
        return;
    *at->back = at->next;
    if (at->next)
        at->next->back = at->back;
    *at = (struct grammar_at){ 0 };
}

void
grammar_begin(struct grammar_at *at, struct gg_grammar *g)
{
    grammar_leave(at);
    *at = (struct grammar_at){ 0, g, g->users, &g->users };
    if (at->next)
        at->next->back = &at->next;
    g->users = at;
}

/* A text that stands nowhere yet is at the start. */
static enum gg_status
locate(const struct grammar_at *at, int32_t *state, struct gg_error *err)
{
    *state = at->state;
    return *state ? GG_OK : start_state(at->grammar, state, err);
}

static enum gg_status
follow(struct gg_grammar *g, int32_t state, int32_t id, int32_t *to,
       struct gg_error *err)
{
    size_t n;
    const uint8_t *p = prefix_bytes(&g->trie, id, &n);
    enum gg_status st = GG_OK;

    *to = n ? state : DEAD;
    for (size_t i = 0; st == GG_OK && *to != DEAD && i < n; i++)
        st = step(g, *to, p[i], to, err);
    return st;
}

enum gg_status
grammar_allows(const struct grammar_at *at, int32_t id, bool *fits,
               struct gg_error *err)
{
    struct gg_grammar *g = at->grammar;
    int32_t state, to;
    enum gg_status st = locate(at, &state, err);

    *fits = false;
    if (st != GG_OK || state == DEAD || id >= g->trie.n_tokens)
        return st;
    if (prefix_is_eog(&g->trie, id)) {
        *fits = g->states[state].may_end;
        return GG_OK;
    }
    st = follow(g, state, id, &to, err);
    *fits = to != DEAD;
    return st;
}

enum gg_status
grammar_advance(struct grammar_at *at, int32_t id, struct gg_error *err)
{
    struct gg_grammar *g = at->grammar;
    enum gg_status st = GG_OK;
    int32_t state;

    if (g->n_states > g->forget || g->n_spots > g->forget_spots)
        st = forget(g, err);
    if (st == GG_OK)
        st = locate(at, &state, err);
    if (st != GG_OK || prefix_is_eog(&g->trie, id))
        return st;
    if (state != DEAD)
        st = follow(g, state, id, &state, err);
    at->state = st == GG_OK ? state : DEAD;
    return st;
}

/* ---- masks ---- */

size_t
grammar_size(const struct grammar_at *at)
{
    return (size_t)at->grammar->trie.n_tokens;
}

/* Goes through the trie, and past every branch that a byte does not fit into.
 */
static enum gg_status
fill_mask(struct gg_grammar *g, int32_t state, uint8_t *mask,
          struct gg_error *err)
{
    const struct prefixes *t = &g->trie;
    enum gg_status st = GG_OK;

    g->path[0] = state;
    for (uint32_t i = 0; st == GG_OK && i < t->n_nodes;) {
        const struct prefix_node *node = &t->nodes[i];
        int32_t to;

        st = step(g, g->path[node->depth - 1], node->byte, &to, err);
        if (to == DEAD) {
            i = node->skip;
            continue;
        }
        g->path[node->depth] = to;
        for (int32_t id = node->token; id >= 0; id = t->same[id])
            mask[id / 8] |= (uint8_t)(1 << id % 8);
        i++;
    }
    for (size_t i = 0; g->states[state].may_end && i < t->n_eog; i++)
        mask[t->eog[i] / 8] |= (uint8_t)(1 << t->eog[i] % 8);
    return st;
}

enum gg_status
grammar_mask(const struct grammar_at *at, const uint8_t **mask,
             struct gg_error *err)
{
    struct gg_grammar *g = at->grammar;
    int32_t state;
    uint8_t *made;
    enum gg_status st = locate(at, &state, err);

    if (st == GG_OK && state == DEAD)
        st = error_set(err, GG_ERR_FORMAT, "the text has left the grammar");
    if (st != GG_OK)
        return st;
    if (g->states[state].mask) {
        *mask = g->states[state].mask;
        return GG_OK;
    }
    if (g->n_masks == MAX_MASKS)
        drop_masks(g);
    made = mem_array((size_t)g->trie.n_tokens / 8 + 1, 1);
    if (!made)
        return error_nomem(err);
    st = fill_mask(g, state, made, err);
    if (st != GG_OK) {
        mem_free(made);
        return st;
    }
    g->states[state].mask = made;
    g->n_masks++;
    *mask = made;
    return GG_OK;
}
