/* graph.h - what the families share: the parts of a transformer
 *
 * Names of shapes: n_tokens ids are evaluated together; cur and x are
 * n_embd x n_tokens. The ids belong to one or more segments, each a run of
 * consecutive positions of one sequence. All but attention treats each id
 * alone, so that many sequences share one reading of the weights; attention
 * is done segment by segment, over nothing but the segment's own keys, and
 * those that segments have in common are read once: shared_attention.c. */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include "graph/cache.h"
#include "graph/model.h"

struct graph_segment {
    int32_t slot;
    int32_t first; /* row of the batch that it begins with */
    int32_t n;     /* ids */
    struct cache_range keys[CACHE_KINDS]; /* that attention covers */
    struct cache_runs runs; /* where those of CACHE_ALL are; none: its slot's */
    /* Inputs, f16, keys x n: 0, or -inf: not seen. NULL: no such layers */
    struct ggml_tensor *masks[CACHE_KINDS];
    struct ggml_tensor *narrow; /* and of a drafter's narrow layers */
    struct graph_segment_blocks {
        int32_t n_rows; /* for blocks, that attention covers */
        /* Input, i32: columns of the blocks that it writes, among those that
         * its slot keeps and then its own. */
        struct ggml_tensor *columns;
    } blocks[MODEL_MAX_COMPRESSIONS];
    /* Input, i32: for each id the buckets of its distances to all ids of an
     * encoder, or to the keys that a decoder reads; NULL: the model has no such
     * biases. */
    struct ggml_tensor *buckets;
    /* A decoder's: rows of the ids before its own, which the encoder filled,
     * n_encoded of them; and their mask, f16, keys x n. */
    int32_t n_encoded;
    struct cache_range crossed;
    struct ggml_tensor *cross_mask;
};

/* Rows of ids that are computed whole, without a KV cache, as training does:
 * row r has ids r * length .. (r + 1) * length - 1 of the batch, of one or more
 * sequences side by side, which the masks keep apart. */
struct graph_packing {
    int32_t n_rows; /* 0: there is a cache */
    int32_t length;
    /* Inputs, f32, length x length x 1 x n_rows: of each id, 0 or -inf for each
     * of its row. NULL: no such layers */
    struct ggml_tensor *masks[CACHE_KINDS];
};

struct graph {
    struct ggml_context *ctx;
    struct ggml_cgraph *cgraph;
    const struct model *model;
    const struct cache *cache; /* or NULL: */
    struct graph_packing packing;
    struct graph_segment *segments;
    int32_t n_segments;
    int32_t n_tokens;
    int32_t n_outputs;  /* rows that are wanted; at least 1 */
    int32_t first, end; /* layers that it computes: first .. end - 1; and, if
                           first is 0, what comes before */
    bool leaves;        /* not what follows the last: the result is what it
                           reads, or the next layer */
    bool bf16;          /* F16 weights may be rounded: GGML_PREC_BF16 */
    bool named;         /* somebody watches: graph_name() */
    bool encodes;       /* ids are an encoder's, for a decoder */
    bool hidden;        /* of these not the logits, but what they are made of */
    /* How much each of the model's adapters counts; NULL: none does. */
    const float *scales;
    /* Called with what of an adapter is looked at: a change, the embedding's
     * after the last, or a direction; or NULL. */
    void (*met)(void *data, size_t adapter, size_t i);
    void *met_data;
    int32_t mtp;     /* which MTP layer is computed, from 1; 0: the model, */
    bool feeds;      /* where all MTP layers get keys and values, */
    bool feeds_keys; /* (else they find hidden vectors alone) */
    bool informs;    /* or a drafter its features, which are found here: */
    struct ggml_tensor *features[MODEL_MAX_FEATURES];
    int32_t last;     /* the layer that gives wanted rows only; -1: none */
    int32_t n_given;  /* rows of media among the ids; */
    int32_t n_deeper; /* layers that get rows after them, too */
    bool turned;      /* positions are those of time, height and width */

    /* Inputs, n_tokens values each. */
    struct ggml_tensor *ids;       /* i32 */
    struct ggml_tensor *positions; /* i32; if turned, four times */
    struct ggml_tensor *switches;  /* i32: the adapter of each id; NULL: the
                                      model has none that ids switch */
    struct ggml_tensor *ngrams; /* i32, hp.ngrams.n_heads a token: rows of their
                                   table; NULL: there is none */
    struct ggml_tensor *types;  /* i32; NULL: all are of kind 0 */
    struct ggml_tensor *temperature;        /* f32; NULL: there is none */
    struct ggml_tensor *cells[CACHE_KINDS]; /* i64: rows of the cache to write
                                               to; NULL: no such layers */
    /* Blocks of hp.compressions: n of them have their rows written, of each
     * segment those that its ids are in, and maybe one more. Inputs: i64, where
     * to; i32, their first positions; f32, d columns x n: 0, or -inf for
     * columns before the first position; NULL: blocks do not overlap. */
    struct graph_blocks {
        int32_t n;
        struct ggml_tensor *cells, *positions, *absent;
    } blocks[MODEL_MAX_COMPRESSIONS];
    struct ggml_tensor *slots; /* i32, of the segments; NULL: no layer
                                  recurs */
    struct ggml_tensor *rows;  /* i32, n_outputs rows of the batch; NULL:
                                  all of them */
    /* Rows of media; NULL: there are none. */
    struct ggml_tensor *given;  /* f32, n_embd x n_given */
    struct ggml_tensor *deeper; /* f32, n_embd x n_given x n_deeper; or NULL */
    struct ggml_tensor *given_at; /* i32, n_given: rows of the batch; or NULL */
    struct ggml_tensor *picks; /* i32, n_tokens: where each is found, among the
                                  ids' and then the given ones */
    /* Places of the hidden vectors that MTP layers read, mtp.h; NULL: none. */
    struct ggml_tensor *mtp_from;  /* i32: kept rows that are read */
    struct ggml_tensor *mtp_shift; /* i32, n_tokens: what each id reads, of the
                                      above and then of the batch's own */
    struct ggml_tensor *mtp_of;    /* i32: rows of the batch that are kept */
    struct ggml_tensor *mtp_to;    /* i64: and where */
    struct ggml_tensor *entered;   /* f32: what layer `first` reads; NULL: it
                                      follows from the ids */
    struct ggml_tensor *chosen;    /* i32: what each id attends to, by the last
                                      layer with an indexer: graph_choose() */
    struct ggml_tensor *left;      /* of graph_leave() */
    struct ggml_tensor *result;    /* output: logits, n_vocab x n_outputs, or,
                                      if hidden, n_embd x n_outputs; or, if it
                                      leaves, `left` */
};

/* Queries, keys and values: a head's length x heads x n_tokens; k and v are
 * NULL where the layer reads another's. */
struct graph_heads {
    struct ggml_tensor *q, *k, *v;
    struct ggml_tensor *gate; /* of hp.gated_queries; else NULL */
};

/* Tensors that a graph of the model needs at most. */
size_t
graph_max_nodes(const struct model *model, int32_t n_segments);

/* And more where segments have rows in common. */
size_t
graph_shared_nodes(const struct model *model, int32_t n_segments);

/* Records the computation in g->ctx. The caller has filled in ctx (no_alloc,
 * with room), model, cache, segments and the numbers. Layers first == end ==
 * n_layer are none, and what follows them. */
void
graph_build(struct graph *g, size_t max_nodes);

/* Gives all nodes a name that no other has: names.c. */
void
graph_name(struct graph *g);

/* A product with weights, made as exact as g wants it; returned. */
struct ggml_tensor *
graph_product(struct graph *g, struct ggml_tensor *product);

/* ---- what adapters change: adapted.c ------------------------------------ */

/* The weight, or what an adapter has in its place; NULL for NULL. */
struct ggml_tensor *
graph_weight(struct graph *g, struct ggml_tensor *w);

/* y, and what adapters add to the product of weight w with x; of experts, by
 * `ids`, which is NULL otherwise. */
struct ggml_tensor *
graph_add_adapters(struct graph *g, struct ggml_tensor *y,
                   const struct ggml_tensor *w, struct ggml_tensor *x,
                   struct ggml_tensor *ids);

/* The rows of the ids, with what adapters add. */
struct ggml_tensor *
graph_embed_rows(struct graph *g);

/* x with the rows in the places of media. */
struct ggml_tensor *
graph_put_rows(struct graph *g, struct ggml_tensor *x,
               struct ggml_tensor *rows);

/* x after the layer, with what media and control vectors have there. */
struct ggml_tensor *
graph_steer(struct graph *g, int32_t layer, struct ggml_tensor *x);

/* ---- parts, in the order in which a family uses them -------------------- */

/* The embeddings of the ids, scaled as hp.embd_scale says, with rows of media
 * in their places. */
struct ggml_tensor *
graph_embed(struct graph *g);
/* Embeddings and rows, too, where embeddings are normed by `norm`, NULL:
 * without a weight; rows are not. */
struct ggml_tensor *
graph_embed_normed(struct graph *g, const struct model_norm *norm);
/* The first of another table. */
struct ggml_tensor *
graph_embed_by(struct graph *g, struct ggml_tensor *table);

/* x after the layer, with the rows that media have there. */
struct ggml_tensor *
graph_deepen(struct graph *g, int32_t layer, struct ggml_tensor *x);

/* Whether the model turns by positions in time, height and width: M-RoPE. */
bool
graph_rope_has_sections(const struct model_hparams *hp);

/* Whether the last layer gives all rows: MTP layers, here or in another
 * process, read those of all ids. */
bool
graph_gives_all_rows(const struct graph *g);

/* Input of layer g->first: x, which families make of the embeddings, or, of
 * later layers, an input of its shape. */
struct ggml_tensor *
graph_enter(struct graph *g, struct ggml_tensor *x);

/* After the loop over the layers g->first .. g->end - 1: x, the result where
 * these are not the last. */
struct ggml_tensor *
graph_leave(struct graph *g, struct ggml_tensor *x);

/* The embeddings for each layer of its own, from the ids and from what
 * graph_embed() gave; n_embd_layer x n_layer x n_tokens. NULL where the
 * layers have none. */
struct ggml_tensor *
graph_embed_layers(struct graph *g, struct ggml_tensor *x);

/* norm(proj(gelu(gate(x)) * e)), e: the layer's of what the above gave. */
struct ggml_tensor *
graph_layer_embd(struct graph *g, int32_t layer, struct ggml_tensor *x,
                 struct ggml_tensor *embedded);

/* The position table's rows. */
struct ggml_tensor *
graph_embed_positions(struct graph *g);

/* x, and the embedding of each id's kind of text; of a model without such, x.
 */
struct ggml_tensor *
graph_add_token_type(struct graph *g, struct ggml_tensor *x);

/* Normalised as the family does it, hp.norms: to mean 0 and variance 1, or to
 * root mean square 1; scaled, and shifted where the norm has a bias. As it is
 * where the norm is empty. */
struct ggml_tensor *
graph_norm(struct graph *g, struct ggml_tensor *x,
           const struct model_norm *norm);

/* Scales x, which is normalised, and shifts it by the norm, which is not
 * empty. */
struct ggml_tensor *
graph_scale_norm(struct graph *g, struct ggml_tensor *x,
                 const struct model_norm *norm);

/* Normalised only. */
struct ggml_tensor *
graph_norm_plain(struct graph *g, struct ggml_tensor *x);

struct ggml_tensor *
graph_linear(struct graph *g, struct ggml_tensor *x,
             const struct model_linear *linear);

/* A product's rows as heads: d x n_head x n_tokens. */
struct ggml_tensor *
graph_heads(struct graph *g, struct ggml_tensor *x, int32_t d, int32_t n_head);

/* Rotates each head by its position; as it is where the layer has no rope. */
struct ggml_tensor *
graph_rope(struct graph *g, int32_t layer, struct ggml_tensor *x);

/* Rotates each head by `rope`, whatever the layer has. */
struct ggml_tensor *
graph_rope_by(struct graph *g, const struct model_rope *rope,
              struct ggml_tensor *x);

/* And by other positions, i32, of x's last dimension. */
struct ggml_tensor *
graph_rope_at(struct graph *g, const struct model_rope *rope,
              struct ggml_tensor *x, struct ggml_tensor *positions);

/* Writes k and v (a head's length x n_head_kv x n_tokens; heads side by side,
 * ids may be apart) to the cache, but for those that are NULL, as the layer
 * reads another's, or values in its keys; and returns softmax(q k * scale) v of
 * each head, side by side: d_value * n_head x n_tokens. q: d_key x n_head x
 * n_tokens. */
struct ggml_tensor *
graph_attention(struct graph *g, int32_t layer, struct ggml_tensor *q,
                struct ggml_tensor *k, struct ggml_tensor *v);

/* As graph_attention(), of packed rows: softmax(q k * scale + mask) v by ops
 * that have a gradient each: packing.c. */
struct ggml_tensor *
graph_packed_attention(struct graph *g, int32_t layer,
                       const struct graph_heads *h);

/* Attention of a decoder's queries, as above, to the rows that its encoder has
 * filled: graph_keep() by layers of the decoder, of the encoder's ids. */
struct ggml_tensor *
graph_cross_attention(struct graph *g, int32_t layer, struct ggml_tensor *q);

/* The scale that q k is multiplied by. */
float
graph_attention_scale(const struct model *m, int32_t layer);

/* Writes them alone, for others to read. */
void
graph_keep(struct graph *g, int32_t layer, struct ggml_tensor *k,
           struct ggml_tensor *v);

/* In the layer g->last, the requested rows; otherwise all. */
struct ggml_tensor *
graph_wanted(struct graph *g, int32_t layer, struct ggml_tensor *x);

/* ---- parts of attention ------------------------------------------------- */

/* Projected from cur, clamped as hp.qkv_clamp says. Without a matrix for
 * values they are the keys. */
struct graph_heads
graph_project(struct graph *g, int32_t layer, struct ggml_tensor *cur);

/* x of heads normed, as long as the norm is: each alone, or all together. */
struct ggml_tensor *
graph_norm_heads(struct graph *g, struct ggml_tensor *x,
                 const struct model_norm *norm);

/* x, d_value * n_head x n of what attention gives of cur, times the layer's
 * gate, if it has one. */
struct ggml_tensor *
graph_gate_attention(struct graph *g, const struct model_layer *l,
                     struct ggml_tensor *cur, struct ggml_tensor *x);

/* Normed and rotated, in the order of hp.norm_after_rope, and queries with
 * their temperature; values normed if hp.values_normed. */
struct graph_heads
graph_turn(struct graph *g, int32_t layer, struct graph_heads h);

/* Queries times the temperature of their positions; as they are where
 * hp.temperature_scale is 0. */
struct ggml_tensor *
graph_temper(struct graph *g, struct ggml_tensor *q);

/* softmax(q k + b) v of each head, side by side; b of table, n_head x
 * hp.n_bucket. Encoders only: nothing is cached. */
struct ggml_tensor *
graph_relative_attention(struct graph *g, struct graph_heads h,
                         struct ggml_tensor *table);

/* A decoder's layer does so, and keeps its keys and values. */
struct ggml_tensor *
graph_relative_decoder(struct graph *g, int32_t layer, struct graph_heads h,
                       struct ggml_tensor *table);

/* ---- parts of a cache, for the files that attend ------------------------- */

/* Keys, or values, that a segment sees of the layer: d x keys x n_head_kv. */
struct ggml_tensor *
graph_kept_rows(struct graph *g, const struct graph_segment *s, int32_t layer,
                enum cache_tensor of, const struct cache_range *keys);

/* The first d_value of keys. */
struct ggml_tensor *
graph_values_in(struct graph *g, struct ggml_tensor *k, int32_t d_value);

/* Whether some segment refers to rows of other slots, in layers of the kind. */
bool
graph_shares_rows(const struct graph *g, enum cache_kind kind);

/* Attention of all segments, whose rows are in runs: d_value x n_head x
 * n_tokens, of q, d_key x n_head x n_tokens. */
struct ggml_tensor *
graph_attend_shared(struct graph *g, int32_t layer, struct ggml_tensor *q);

/* The mask of keys that queries of the layer do not see. */
struct ggml_tensor *
graph_mask_of(const struct graph *g, const struct graph_segment *s,
              int32_t layer);

/* Columns of x, a x b x n_tokens, that are a segment's. */
struct ggml_tensor *
graph_segment_columns(struct graph *g, const struct graph_segment *s,
                      struct ggml_tensor *x);

/* Writes rows of x (d x heads x n_tokens) of all ids to the layer's tensor. */
void
graph_keep_rows(struct graph *g, int32_t layer, enum cache_tensor of,
                struct ggml_tensor *x);

/* Each head of x times Hadamard's matrix, in blocks where its length is no
 * power of two, if the layer's keys, or values, are kept so. Twice is once
 * back. */
struct ggml_tensor *
graph_rotate(struct graph *g, int32_t layer, enum cache_tensor of,
             struct ggml_tensor *x);

/* Projects back what attention gives; of the last layer only the wanted
 * rows. */
struct ggml_tensor *
graph_project_back(struct graph *g, int32_t layer, struct ggml_tensor *cur);

/* ---- latent attention --------------------------------------------------- */

/* As hp.latent says, of cur, projected back: of the last layer only the wanted
 * rows. */
struct ggml_tensor *
graph_latent_attention(struct graph *g, int32_t layer, struct ggml_tensor *cur);

/* Writes the row and the shared part, or the keys and values, of cur. */
void
graph_keep_latent(struct graph *g, int32_t layer, struct ggml_tensor *cur);

/* ---- sparse attention: indexer.c ----------------------------------------- */

/* The layer's indexer, which reads latent queries and cur, keeps its keys and
 * chooses what this layer and those after it without an indexer attend to. */
void
graph_choose(struct graph *g, int32_t layer, struct ggml_tensor *queries,
             struct ggml_tensor *cur);

/* As graph_choose(), by an indexer that chooses blocks for each head of
 * keys. */
void
graph_choose_blocks(struct graph *g, int32_t layer, struct ggml_tensor *cur);

/* Its keys alone, for others to read; of a layer without one: nothing. */
void
graph_keep_index(struct graph *g, int32_t layer, struct ggml_tensor *cur);

/* Rows that a segment's ids have chosen of those that it sees: lists of
 * tensor/sparse.h. */
struct ggml_tensor *
graph_chosen(struct graph *g, const struct graph_segment *s);

/* ---- whole blocks ------------------------------------------------------- */

/* All of the above, of cur; with the layer's gate and norm before the matrix
 * that projects back, if it has them. */
struct ggml_tensor *
graph_self_attention(struct graph *g, int32_t layer, struct ggml_tensor *cur);

/* Writes the keys and values that the above would, of cur, and no more. */
void
graph_keep_attention(struct graph *g, int32_t layer, struct ggml_tensor *cur);

/* act(x), by any but SILU_CLAMPED and SITU. */
struct ggml_tensor *
graph_activate(struct graph *g, struct ggml_tensor *x,
               enum model_activation act);

/* c tanh(x / c) */
struct ggml_tensor *
graph_softcap(struct graph *g, struct ggml_tensor *x, float c);

/* act(gate) * up, by any but XIELU. */
struct ggml_tensor *
graph_gated(struct graph *g, struct ggml_tensor *gate, struct ggml_tensor *up,
            enum model_activation act);

/* As graph_gated(), by hp.activation, with the gate (after the activation, or,
 * hp.limit_before, before it) at most `limit` and up within +- limit; 0: there
 * is no limit. */
struct ggml_tensor *
graph_limited(struct graph *g, struct ggml_tensor *gate, struct ggml_tensor *up,
              float limit);

/* act(gate) * up, where the first half of each row of x is the
 * gate, the second up. */
struct ggml_tensor *
graph_gated_by_itself(struct graph *g, struct ggml_tensor *x,
                      enum model_activation act);

/* down(act(up(x))), or, with a gate, down(act(gate(x)) * up(x)); a matrix `up`
 * of twice the rows has the gate before it. act: hp.activation. */
struct ggml_tensor *
graph_feed_forward(struct graph *g, const struct model_layer *layer,
                   struct ggml_tensor *x);

/* The sum of the likeliest experts' answers by the router's weights (Shazeer et
 * al. 2017), as hp.routing says; with the shared expert, where the layer has
 * one. */
struct ggml_tensor *
graph_mixture(struct graph *g, const struct model_layer *layer,
              struct ggml_tensor *x);

/* As graph_mixture(), without a shared expert, by scores (n_expert x ids) that
 * the router has given. */
struct ggml_tensor *
graph_experts(struct graph *g, const struct model_layer *layer,
              struct ggml_tensor *x, struct ggml_tensor *scores);

struct ggml_tensor *
graph_shared_expert(struct graph *g, const struct model_layer *layer,
                    struct ggml_tensor *x);

/* The mixture where the layer has one, or else the feed-forward block. */
struct ggml_tensor *
graph_mixture_or_dense(struct graph *g, const struct model_layer *layer,
                       struct ggml_tensor *x);

/* x + hp.residual_scale * y */
struct ggml_tensor *
graph_add(struct graph *g, struct ggml_tensor *x, struct ggml_tensor *y);

/* ---- a layer of the usual kinds: n_embd x ids, in and out ---------------- */

/* x = x + post(attention(norm(x))); x + post(feed_forward(norm(x))); norms and
 * blocks that the layer has not are left out. A recurrence stands in
 * attention's place, or, where the layer has both, what they give is added. */
struct ggml_tensor *
graph_block(struct graph *g, int32_t layer, struct ggml_tensor *x);

/* x + attention(c) + feed_forward(c), c = norm(x) */
struct ggml_tensor *
graph_parallel_block(struct graph *g, int32_t layer, struct ggml_tensor *x);

/* ---- whole models of the usual kinds ------------------------------------- */

/* x = embed(ids); graph_block() in each layer; output(norm(x)) */
struct ggml_tensor *
graph_decoder(struct graph *g, const struct model *m);

/* output(x), scaled and capped as the hyper-parameters say; if hidden, x. */
struct ggml_tensor *
graph_logits(struct graph *g, struct ggml_tensor *x);
/* As graph_logits(), by another matrix. */
struct ggml_tensor *
graph_logits_by(struct graph *g, const struct model_linear *output,
                struct ggml_tensor *x);

#endif
