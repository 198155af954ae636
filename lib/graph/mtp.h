/* mtp.h - layers for ids beyond the next: multi-token prediction (DeepSeek-AI
 * 2024, "DeepSeek-V3")
 *
 * h[p]: the hidden vector that gives the logits after id p; e: embeddings.
 *
 * x = join(enorm(e(id p)), hnorm(h[p - 1]))      at position p
 * x = layer(x)                 attention sees such x of positions 1..p
 * y = norm(x); logits = output(y)                of id p + 1
 *
 * Then y is h[p] to a guess at id p + 2. Where a model has several such layers
 * the first guesses one id ahead, the next two, and each sees of the positions
 * that are guessed what it makes of the others' y. */
#ifndef GRAPH_MTP_H
#define GRAPH_MTP_H

#include "graph/graph.h"

struct model_loader;

/* Ways in which families differ. */
struct model_mtp_kind {
    bool raw;     /* h and y are those before their norms */
    bool streams; /* and h has all of hp.n_stream, each of which is joined */
    bool to_mean; /* the norm after the layer is to mean 0 */
    /* One layer: graph_block or its like. */
    struct ggml_tensor *(*block)(struct graph *g, int32_t layer,
                                 struct ggml_tensor *x);
};

extern const struct model_mtp_kind graph_mtp_usual;
extern const struct model_mtp_kind graph_mtp_raw;

/* The MTP layers are to be computed: those that the file has, of a family whose
 * are known, else it is GG_ERR_UNSUPPORTED. To be called after the
 * hyper-parameters are read and before tensors are found. */
enum gg_status
graph_mtp_use(const struct gguf_context *gguf, struct model *m,
              struct gg_error *err);

/* Bytes of the layers in use: of their weights, and, with hidden vectors that
 * are kept for them, of the cache. */
void
graph_mtp_sizes(const struct model *m, const struct cache *cache,
                uint64_t *weights, uint64_t *in_cache);

/* Floats of a hidden vector that is kept. */
int64_t
graph_mtp_width(const struct model *m);

/* Tensors around the layer: eh_proj, enorm, hnorm; embed_tokens,
 * shared_head_norm, shared_head_head, or the model's own. */
void
graph_mtp_find(struct model_loader *l, struct model_layer *layer);

/* The input of an MTP layer: h, and the embeddings of the ids after it; of
 * kinds with streams n_embd x n_stream x ids. */
struct ggml_tensor *
graph_mtp_joined(struct graph *g, const struct model_layer *l,
                 struct ggml_tensor *h);

/* Records that hidden vectors h are kept. */
void
graph_keep_hidden(struct graph *g, struct ggml_tensor *h);

/* h of all ids: the one before each id's, of a segment's first as it was kept.
 */
struct ggml_tensor *
graph_hidden_before(struct graph *g, struct ggml_tensor *h);

/* As graph_keep_hidden(), of h of all ids, the last of each segment. */
void
graph_keep_last_hidden(struct graph *g, struct ggml_tensor *h);

/* x: the last layer's, y: normed, both of all ids. Records that all MTP layers
 * keep keys and values of the ids, if g->feeds_keys, and that hidden vectors
 * are kept; returns
 * the wanted rows of y. */
struct ggml_tensor *
graph_feed_mtp(struct graph *g, struct ggml_tensor *x, struct ggml_tensor *y);

/* MTP layer g->mtp, or the drafter, of the batch's ids and of kept hidden
 * vectors: logits of the wanted rows, whose y is kept. */
struct ggml_tensor *
graph_mtp(struct graph *g);

#endif
