/* prefix.h - the tokens of a vocabulary, by their beginnings */
#ifndef SAMPLE_PREFIX_H
#define SAMPLE_PREFIX_H

#include "sample/grammar.h"

/* Nodes are in the order in which a walk meets them. */
struct prefix_node {
    uint32_t skip;  /* the first that is not below this one */
    uint32_t rank;  /* of the first token that ends here or after; those that
                       end here are before the next node's */
    uint32_t large; /* its number among those with much below them; or NONE */
    uint32_t byte : 8, depth : 24; /* from 1 on */
};

enum {
    PREFIX_LARGE = 24, /* nodes below one of many */
    PREFIX_NONE = -1,
};

struct prefixes {
    struct prefix_node *nodes; /* with one more, after the last */
    uint32_t n_nodes, n_large;
    int32_t *order; /* tokens by rank: in the order of their bytes */
    size_t max_depth;
    uint8_t *bytes;
    uint32_t *at;
    int32_t n_tokens;
    int32_t *eog;
    size_t n_eog;
};

enum gg_status
sample_prefix_build(const struct grammar_tokens *tokens, struct prefixes *out,
                    struct gg_error *err);
void
sample_prefix_clear(struct prefixes *t); /* takes a half-built one */

static inline const uint8_t *
sample_prefix_bytes(const struct prefixes *t, int32_t id, size_t *n)
{
    *n = t->at[id + 1] - t->at[id];
    return t->bytes + t->at[id];
}

bool
sample_prefix_is_eog(const struct prefixes *t, int32_t id);

#endif
