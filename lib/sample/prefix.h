/* prefix.h - the tokens of a vocabulary, by their beginnings */
#ifndef SAMPLE_PREFIX_H
#define SAMPLE_PREFIX_H

#include "sample/grammar.h"

/* Nodes are in the order in which a walk meets them: `skip` is the first that
 * is not below this one. */
struct prefix_node {
    uint32_t skip;
    int32_t token;  /* the first that ends here; -1: none */
    uint32_t depth; /* from 1 on */
    uint8_t byte;
};

struct prefixes {
    struct prefix_node *nodes;
    uint32_t n_nodes;
    size_t max_depth;
    int32_t *same; /* the next token with the same bytes; -1: none */
    uint8_t *bytes;
    uint32_t *at;
    int32_t n_tokens;
    int32_t *eog;
    size_t n_eog;
};

enum gg_status
prefix_build(const struct grammar_tokens *tokens, struct prefixes *out,
             struct gg_error *err);
void
prefix_clear(struct prefixes *t); /* takes a half-built one */

static inline const uint8_t *
prefix_bytes(const struct prefixes *t, int32_t id, size_t *n)
{
    *n = t->at[id + 1] - t->at[id];
    return t->bytes + t->at[id];
}

bool
prefix_is_eog(const struct prefixes *t, int32_t id);

#endif
