/* grammar.c - texts that a grammar allows */
#include <config.h>

#include "sample/grammar.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "sample/mask.h"

enum {
    MANY_STATES = 1 << 13, /* after which all that is not in use is forgotten */
    MANY_SPOTS = 1 << 20,
};

struct gg_grammar {
    struct gbnf program;
    struct automaton automaton;
    struct prefixes trie;
    struct masker masker;
    size_t forget, forget_spots; /* states and spots that are too many */
    int32_t start;               /* the state in which texts begin */
    bool no_blank; /* where the last one might have been, there was none */
    struct grammar_at *users;
};

/* ---- the grammar ---- */

enum gg_status
sample_grammar_new(const char *text, size_t len,
                   const struct grammar_tokens *tokens, struct gg_grammar **out,
                   struct gg_error *err)
{
    struct gg_grammar *g = mem_zalloc(sizeof(*g));
    enum gg_status st;

    if (!g)
        return error_nomem(err);
    g->forget = MANY_STATES;
    g->forget_spots = MANY_SPOTS;
    st = sample_gbnf_compile(text, len, tokens, &g->program, err);
    if (st == GG_OK)
        st = sample_automaton_init(&g->automaton, &g->program, err);
    if (st == GG_OK)
        st = sample_automaton_start(&g->automaton, &g->start, err);
    if (st == GG_OK && g->start == STATES_DEAD)
        st = error_set(err, GG_ERR_FORMAT, "the grammar allows no text");
    if (st == GG_OK)
        st = sample_prefix_build(tokens, &g->trie, err);
    if (st == GG_OK)
        st = sample_mask_init(&g->masker, &g->automaton, &g->trie, err);
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
    sample_automaton_clear(&g->automaton);
    sample_gbnf_clear(&g->program);
    sample_prefix_clear(&g->trie);
    sample_mask_clear(&g->masker);
    mem_free(g);
}

/* ---- texts ---- */

void
sample_grammar_leave(struct grammar_at *at)
{
    if (!at->grammar)
        return;
    *at->back = at->next;
    if (at->next)
        at->next->back = at->back;
    *at = (struct grammar_at){ 0 };
}

void
sample_grammar_begin(struct grammar_at *at, struct gg_grammar *g)
{
    sample_grammar_leave(at);
    *at = (struct grammar_at){ g->start, g, g->users, &g->users };
    if (at->next)
        at->next->back = &at->next;
    g->users = at;
}

static bool
has_token(const struct gg_grammar *g, int32_t id)
{
    return id >= 0 && id < g->trie.n_tokens;
}

/* By its bytes, unless it ends a generation; and by terms that take it. */
static enum gg_status
follow(struct gg_grammar *g, int32_t state, int32_t id, int32_t *to,
       struct gg_error *err)
{
    size_t n;
    const uint8_t *p = sample_prefix_bytes(&g->trie, id, &n);
    bool text = n && !sample_prefix_is_eog(&g->trie, id);
    enum gg_status st = GG_OK;

    *to = text ? state : STATES_DEAD;
    for (size_t i = 0; st == GG_OK && *to != STATES_DEAD && i < n; i++)
        st = sample_automaton_step(&g->automaton, *to, g->automaton.class[p[i]],
                                   to, err);
    if (st == GG_OK && g->program.has_tokens)
        st = sample_automaton_step_token(&g->automaton, state, id, text, to,
                                         err);
    return st;
}

bool
sample_grammar_may_end(const struct grammar_at *at)
{
    return at->state != STATES_DEAD &&
           at->grammar->automaton.states.states[at->state].may_end;
}

enum gg_status
sample_grammar_allows(const struct grammar_at *at, int32_t id, bool *fits,
                      struct gg_error *err)
{
    struct gg_grammar *g = at->grammar;
    enum gg_status st;
    int32_t to;

    *fits = false;
    if (at->state == STATES_DEAD || !has_token(g, id))
        return GG_OK;
    if (sample_prefix_is_eog(&g->trie, id) && sample_grammar_may_end(at)) {
        *fits = true;
        return GG_OK;
    }
    st = follow(g, at->state, id, &to, err);
    *fits = st == GG_OK && to != STATES_DEAD;
    return st;
}

/* ---- what must come ---- */

/* The byte that must come in the state; *blank: a blank may stand before it.
 * -1: there is a choice. */
static int
only_byte(const struct gg_grammar *g, int32_t state, bool *blank)
{
    const struct states *all = &g->automaton.states;
    const struct state *s = &all->states[state];
    int byte = -1;

    *blank = false;
    if (s->may_end)
        return -1;
    for (size_t i = s->first; i < s->first + s->n; i++) {
        const struct gbnf_code *c = &g->program.code[all->spots[i].pc];

        if (c->op != GBNF_RANGE || c->a != c->b)
            return -1;
        if (c->a == ' ')
            *blank = true;
        else if (byte >= 0 && byte != c->a)
            return -1;
        else
            byte = c->a;
    }
    if (byte >= 0 || !*blank)
        return byte;
    *blank = false;
    return ' ';
}

/* From a state that is not dead. */
static bool
step_byte(struct gg_grammar *g, int32_t *state, uint8_t byte)
{
    return sample_automaton_step(&g->automaton, *state,
                                 g->automaton.class[byte], state,
                                 NULL) == GG_OK &&
           *state != STATES_DEAD;
}

/* The token is drawn in the state, and fits. */
static void
remember(struct gg_grammar *g, int32_t from, int32_t id)
{
    size_t n, i = 0;
    const uint8_t *p = sample_prefix_bytes(&g->trie, id, &n);
    int32_t state = from;

    for (bool blank; i < n; i++) {
        int byte = only_byte(g, state, &blank);

        if (blank && byte >= 0)
            g->no_blank = p[i] != ' ';
        if (i == 0 && byte >= 0)
            g->automaton.states.states[from].drawn = id + 1;
        if (!step_byte(g, &state, p[i]))
            return;
    }
}

/* The only term of the state, if it is a token's; or -1. */
static int32_t
only_token(const struct gg_grammar *g, const struct state *s)
{
    const struct spot *spot = &g->automaton.states.spots[s->first];
    const struct gbnf_code *c;

    if (s->n != 1 || s->may_end)
        return -1;
    c = &g->program.code[spot->pc];
    return c->op == GBNF_TOKEN && !c->b ? c->a : -1;
}

int32_t
sample_grammar_expect(const struct gg_grammar *g, int32_t place, bool *certain)
{
    const struct state *s;
    int32_t id;

    *certain = false;
    if (place == STATES_DEAD)
        return -1;
    s = &g->automaton.states.states[place];
    id = only_token(g, s);
    *certain = id >= 0;
    return *certain ? id : s->drawn - 1;
}

size_t
sample_grammar_must(struct gg_grammar *g, int32_t place, char *text, size_t n)
{
    size_t len = 0;
    bool blank = false, added = false;
    int byte;

    if (place == STATES_DEAD)
        return 0;
    while (len < n && (byte = only_byte(g, place, &blank)) >= 0) {
        added = blank && !g->no_blank;
        byte = added ? ' ' : byte;
        if (!step_byte(g, &place, (uint8_t)byte))
            break;
        text[len++] = (char)byte;
    }
    return len - (len && added);
}

bool
sample_grammar_follow(struct gg_grammar *g, int32_t *place, int32_t id)
{
    return *place != STATES_DEAD && has_token(g, id) &&
           follow(g, *place, id, place, NULL) == GG_OK && *place != STATES_DEAD;
}

/* ---- a token is drawn ---- */

/* Keeps the states at which texts stand, under other numbers. */
static enum gg_status
forget(struct gg_grammar *g, struct gg_error *err)
{
    enum gg_status st;
    size_t n = 1;
    int32_t **roots;

    for (const struct grammar_at *at = g->users; at; at = at->next)
        n++;
    roots = mem_array(n, sizeof(*roots));
    if (!roots)
        return error_nomem(err);
    roots[0] = &g->start;
    n = 1;
    for (struct grammar_at *at = g->users; at; at = at->next)
        if (at->state != STATES_DEAD)
            roots[n++] = &at->state;
    st = sample_states_keep(&g->automaton.states, roots, n, err);
    for (size_t i = 0; st != GG_OK && i < n; i++)
        *roots[i] = STATES_DEAD;
    mem_free(roots);
    g->masker.n_made = 0;
    g->forget = 2 * g->automaton.states.n + MANY_STATES;
    g->forget_spots = 2 * g->automaton.states.n_spots + MANY_SPOTS;
    return st;
}

enum gg_status
sample_grammar_advance(struct grammar_at *at, int32_t id, struct gg_error *err)
{
    struct gg_grammar *g = at->grammar;
    enum gg_status st = GG_OK;
    int32_t to = STATES_DEAD;

    if (g->automaton.states.n > g->forget ||
        g->automaton.states.n_spots > g->forget_spots)
        st = forget(g, err);
    if (st == GG_OK && has_token(g, id) && sample_prefix_is_eog(&g->trie, id) &&
        sample_grammar_may_end(at))
        return GG_OK;
    if (st == GG_OK && at->state != STATES_DEAD && has_token(g, id))
        st = follow(g, at->state, id, &to, err);
    if (st == GG_OK && to != STATES_DEAD)
        remember(g, at->state, id);
    at->state = st == GG_OK ? to : STATES_DEAD;
    return st;
}

/* ---- masks ---- */

size_t
sample_grammar_size(const struct grammar_at *at)
{
    return (size_t)at->grammar->trie.n_tokens;
}

bool
sample_grammar_has_mask(const struct grammar_at *at, size_t most)
{
    const struct state *s =
        at->state == STATES_DEAD
            ? NULL
            : &at->grammar->automaton.states.states[at->state];

    return s && s->mask && s->n_fit <= most;
}

enum gg_status
sample_grammar_mask(const struct grammar_at *at, const uint64_t **mask,
                    size_t *n_fit, struct gg_error *err)
{
    struct gg_grammar *g = at->grammar;
    const struct state *s;
    enum gg_status st;

    if (at->state == STATES_DEAD)
        return error_set(err, GG_ERR_FORMAT, "the text has left the grammar");
    st = sample_mask_make(&g->masker, &g->automaton, &g->trie, at->state, err);
    s = &g->automaton.states.states[at->state];
    if (st == GG_OK) {
        *mask = s->mask;
        *n_fit = s->n_fit;
    }
    return st;
}
