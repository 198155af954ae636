/* mask.c - which tokens can come next, for all of a vocabulary at once
 *
 * A walk through the trie of the vocabulary passes every branch that a byte
 * does not fit into. Within a text, as in a string of JSON, nearly all fits;
 * what then mostly stands below a node is bytes that a state takes as it takes
 * most others, and nothing there has to be looked at. */
#include <config.h>

#include "sample/mask.h"

#include "core/mem.h"

enum {
    MAX_BYTES = 1 << 23, /* of masks that are kept */
    MANY = 16,           /* masks that may always be kept */
    MANY_STATES = 1 << 16,
};

static uint64_t
class_bit(const struct automaton *a, const struct prefix_node *node)
{
    uint8_t c = a->class[node->byte];

    return UINT64_C(1) << (c < AUTOMATON_CLASSES ? c : AUTOMATON_CLASSES);
}

/* From the last node to the first, so that all below one has been met before
 * it: sums[depth] is what was met below the next node of that depth. */
static void
look_below(struct masker *m, const struct automaton *a,
           const struct prefixes *trie, struct below *sums)
{
    for (uint32_t i = trie->n_nodes; i-- > 0;) {
        const struct prefix_node *node = &trie->nodes[i];
        struct below *own = &sums[node->depth], *upper = own - 1;

        if ((int32_t)node->large != PREFIX_NONE)
            m->below[node->large] = *own;
        upper->classes |= own->classes | class_bit(a, node);
        if (upper->height <= own->height)
            upper->height = own->height + 1;
        *own = (struct below){ 0 };
    }
}

enum gg_status
sample_mask_init(struct masker *m, const struct automaton *a,
                 const struct prefixes *trie, struct gg_error *err)
{
    struct below *sums = mem_array(trie->max_depth + 1, sizeof(*sums));
    enum gg_status st = GG_OK;

    *m = (struct masker){
        .below = mem_array((size_t)trie->n_large + 1, sizeof(*m->below)),
        .path = mem_array(trie->max_depth + 1, sizeof(*m->path)),
    };
    if (m->below && m->path && sums)
        look_below(m, a, trie, sums);
    else
        st = error_nomem(err);
    mem_free(sums);
    return st;
}

void
sample_mask_clear(struct masker *m)
{
    mem_free(m->below);
    mem_free(m->path);
}

/* Where a grammar is so ambiguous that this fails, no class is plain. */
static enum gg_status
find_plain(struct automaton *a, int32_t state, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (a->states.n < MANY_STATES)
        st = sample_automaton_find_plain(a, state, err);
    a->states.states[state].has_plain = true;
    return st == GG_ERR_UNSUPPORTED ? GG_OK : st;
}

/* Whether all that is below fits, as far as that is easily seen. */
static enum gg_status
all_fit(struct automaton *a, int32_t state, const struct below *b, bool *fit,
        struct gg_error *err)
{
    enum gg_status st = GG_OK;
    int32_t to = state;

    *fit = true;
    for (uint32_t i = 0; *fit && i < b->height; i++) {
        if (!a->states.states[to].has_plain)
            st = find_plain(a, to, err);
        *fit = st == GG_OK && !(b->classes & ~a->states.states[to].plain);
        if (a->states.states[to].plain_to == to)
            break;
        to = a->states.states[to].plain_to;
    }
    return st;
}

static size_t
add_ranks(const struct prefixes *t, uint64_t *mask, uint32_t from, uint32_t to)
{
    for (uint32_t rank = from; rank < to; rank++)
        mask[t->order[rank] / 64] |= UINT64_C(1) << t->order[rank] % 64;
    return to - from;
}

static bool
is_in_mask(const uint64_t *mask, int32_t id)
{
    return mask[id / 64] >> id % 64 & 1;
}

/* Adds the tokens that an instruction for tokens takes. */
static void
add_term(const struct gbnf_code *c, const struct prefixes *t, uint64_t *mask)
{
    uint64_t bit = UINT64_C(1) << c->a % 64;
    bool was_in = is_in_mask(mask, c->a);

    if (c->b)
        (void)add_ranks(t, mask, 0, t->nodes[t->n_nodes].rank);
    if (!c->b)
        mask[c->a / 64] |= bit;
    else if (!was_in)
        mask[c->a / 64] &= ~bit;
}

static size_t
add_terms(const struct automaton *a, const struct prefixes *t, int32_t state,
          uint64_t *mask)
{
    const struct state *s = &a->states.states[state];
    size_t n = 0;

    for (size_t i = s->first; i < s->first + s->n; i++) {
        const struct gbnf_code *c = &a->program->code[a->states.spots[i].pc];

        if (c->op == GBNF_TOKEN)
            add_term(c, t, mask);
    }
    for (int32_t id = 0; id < t->n_tokens; id++)
        n += is_in_mask(mask, id);
    return n;
}

static enum gg_status
fill_mask(struct masker *m, struct automaton *a, const struct prefixes *t,
          int32_t state, uint64_t *mask, size_t *n_fit, struct gg_error *err)
{
    enum gg_status st = GG_OK;
    uint32_t next;

    m->path[0] = state;
    for (uint32_t i = 0; st == GG_OK && i < t->n_nodes; i = next) {
        const struct prefix_node *node = &t->nodes[i];
        bool all = false;
        int32_t to;

        st = sample_automaton_step(a, m->path[node->depth - 1],
                                   a->class[node->byte], &to, err);
        next = node->skip;
        if (st != GG_OK || to == STATES_DEAD)
            continue;
        m->path[node->depth] = to;
        if ((int32_t)node->large != PREFIX_NONE)
            st = all_fit(a, to, &m->below[node->large], &all, err);
        next = all ? next : i + 1;
        *n_fit += add_ranks(t, mask, node->rank, t->nodes[next].rank);
    }
    for (size_t i = 0; a->states.states[state].may_end && i < t->n_eog; i++) {
        mask[t->eog[i] / 64] |= UINT64_C(1) << t->eog[i] % 64;
        ++*n_fit;
    }
    if (st == GG_OK && a->program->has_tokens)
        *n_fit = add_terms(a, t, state, mask);
    return st;
}

enum gg_status
sample_mask_make(struct masker *m, struct automaton *a,
                 const struct prefixes *trie, int32_t state,
                 struct gg_error *err)
{
    size_t words = (size_t)trie->n_tokens / 64 + 1, n_fit = 0;
    uint64_t *mask;
    enum gg_status st;

    if (a->states.states[state].mask)
        return GG_OK;
    if (m->n_made >= MANY && m->n_made * words * sizeof(*mask) > MAX_BYTES) {
        sample_states_drop_masks(&a->states);
        m->n_made = 0;
    }
    mask = mem_array(words, sizeof(*mask));
    if (!mask)
        return error_nomem(err);
    st = fill_mask(m, a, trie, state, mask, &n_fit, err);
    if (st != GG_OK) {
        mem_free(mask);
        return st;
    }
    a->states.states[state].mask = mask;
    a->states.states[state].n_fit = n_fit;
    m->n_made++;
    return GG_OK;
}
