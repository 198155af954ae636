/* ngrams.h - embeddings of n-grams of ids, which one layer adds: ngrams.c
 *
 * A head h of the n-grams of length n, 2 .. N, looks up row
 * first[h] + (xor of f[k] id[-k], k = 0 .. n - 1) % size[h] of one table, in 64
 * bits without a sign. The ids before a text, and those up to its last end that
 * lies before the id itself, count as ids of an end. e: the rows of all heads.
 *
 * k = norm(key e) of each stream, v = value e; s = k norm(x) / sqrt(n_embd);
 * u = sigmoid(sign(s) sqrt(max(|s|, 1e-6))) v
 * x = x + u + silu(conv(norm(u)))      by columns N ids apart */
#ifndef GRAPH_NGRAMS_H
#define GRAPH_NGRAMS_H

#include "graph/graph.h"
#include "graph/loader.h"

/* rows[0 .. n->n_heads): of the id ids[0], before which are ids[1], ... up to
 * n->n - 1 of them; what has no id is n->end or n->medium. */
void
graph_ngram_rows(const struct model_ngrams *n, const int32_t *ids,
                 int32_t *rows);

/* The table, and what the layer makes of its rows. */
void
graph_find_ngrams(struct model_loader *l, struct model_layer *layer);

/* x, n_embd x n_stream x n_tokens, in front of the layer that adds them. */
struct ggml_tensor *
graph_add_ngrams(struct graph *g, int32_t layer, struct ggml_tensor *x);

#endif
