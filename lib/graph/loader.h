/* loader.h - finding the tensors that a family needs */
#ifndef GRAPH_LOADER_H
#define GRAPH_LOADER_H

#include "graph/model.h"

/* The first failure sticks: what follows returns NULL and looks for nothing,
 * so that a family can list its tensors one below the other. */
struct model_loader {
    const struct gguf_context *gguf;
    struct model *model;
    struct model *target; /* of a drafter, which `model` is then */
    int32_t layer;        /* of blk.N names; after the last for the output */
    const struct model_layer_hparams *hp; /* of that layer */
    bool *taken; /* of each tensor of the file: somebody has found it */
    struct ggml_context *scratch, *weight; /* for probes */
    bool for_all; /* what is found is for other layers, too, whoever has them */
    enum gg_status status;
    struct gg_error *err;
};

enum model_need {
    MODEL_REQUIRED,
    MODEL_OPTIONAL, /* NULL where the file has none */
};

/* `name` as in the file, or, where it begins with a dot, in the current layer:
 * ".attn_q" is "blk.3.attn_q". "weight" and "bias" are added. A shape that is
 * not n_in x n_out, and a norm or bias that is not F32, fail.
 *
 * Next to a linear's or experts' weight, a format's own scale is found: "scale"
 * or "weight.scale", one F32 number, or one an expert. A tensor of such a name
 * and another shape is something else, for its family to find. */
struct ggml_tensor *
graph_find_matrix(struct model_loader *l, const char *name, int64_t n_in,
                  int64_t n_out, enum model_need need);
struct model_linear
graph_find_linear(struct model_loader *l, const char *name, int64_t n_in,
                  int64_t n_out, enum model_need bias);
/* As graph_find_linear(), empty where the file has no such weight. */
struct model_linear
graph_find_linear_or_none(struct model_loader *l, const char *name,
                          int64_t n_in, int64_t n_out, enum model_need bias);
/* Whether the file has such a matrix, of n rows. */
bool
graph_has_rows(const struct model_loader *l, const char *name, int64_t n);
/* n_expert matrices in one tensor, ".ffn_up_exps"; their biases n_out x
 * n_expert. */
struct model_experts
graph_find_experts(struct model_loader *l, const char *name, int64_t n_in,
                   int64_t n_out, enum model_need bias);
/* As graph_find_experts(), of n matrices. */
struct model_experts
graph_find_experts_of(struct model_loader *l, const char *name, int64_t n_in,
                      int64_t n_out, int64_t n, enum model_need bias);
/* NAME.lora_a and NAME.lora_b of the adapters that ids switch. */
struct model_switched
graph_find_switched(struct model_loader *l, const char *name, int64_t n_in,
                    int64_t n_out);
/* F32, n values. */
struct ggml_tensor *
graph_find_vector(struct model_loader *l, const char *name, int64_t n,
                  enum model_need need);
struct ggml_tensor *
graph_find_bias(struct model_loader *l, const char *name, int64_t n,
                enum model_need need);
struct model_norm
graph_find_norm(struct model_loader *l, const char *name, int64_t n,
                enum model_need bias);

/* As graph_find_norm(), empty where the file has none. */
struct model_norm
graph_find_norm_or_none(struct model_loader *l, const char *name, int64_t n,
                        enum model_need bias);

/* One of n values for each of n_heads heads, without bias; empty where the file
 * has none. */
struct model_norm
graph_find_norm_each(struct model_loader *l, const char *name, int64_t n,
                     int64_t n_heads);

/* A tensor of the file by its full name, n_in x n_out, of any type that can be
 * read; 0: as long as it likes, up to 2^20. NULL: there is none. */
const struct gguf_tensor *
graph_find_on_host(struct model_loader *l, const char *name, int64_t n_in,
                   int64_t n_out);
/* As graph_find_on_host(), of n such matrices. */
const struct gguf_tensor *
graph_find_all_on_host(struct model_loader *l, const char *name, int64_t n_in,
                       int64_t n_out, int64_t n);
/* One row for each of n_rows ids. */
struct ggml_tensor *
graph_find_table(struct model_loader *l, const char *name, int64_t n,
                 int64_t n_rows);
/* As graph_find_table(), NULL where the file has none. */
struct ggml_tensor *
graph_find_table_or_none(struct model_loader *l, const char *name, int64_t n,
                         int64_t n_rows);
/* relative.c: ".attn_rel_b", without which a layer has that of layer `first`,
 * which must have one; in a pipeline all processes have this. */
struct ggml_tensor *
graph_find_relative_bias(struct model_loader *l, int32_t first);
/* As graph_find_table(), read by few rows at a time: the CPU does, wherever the
 * layers are. */
struct ggml_tensor *
graph_find_sparse_table(struct model_loader *l, const char *name, int64_t n,
                        int64_t n_rows);

/* F32, or else any that rows can be taken of, n x n_columns, of the name as it
 * stands: nothing is added. */
struct ggml_tensor *
graph_find_numbers(struct model_loader *l, const char *name, int64_t n,
                   int64_t n_columns, bool f32);

/* F32, F16 or BF16 of that shape, of the name as it stands: filters. */
struct ggml_tensor *
graph_find_filters(struct model_loader *l, const char *name,
                   const int64_t ne[GGML_MAX_DIMS]);

/* A kernel as numbers of n x 1 x n_columns, as some converters write it. */
struct ggml_tensor *
graph_find_kernel(struct model_loader *l, const char *name, int64_t n,
                  int64_t n_columns);

/* F32, n x 1 x 1 x n_mixes, as RWKV's converters write them. */
struct ggml_tensor *
graph_find_shares(struct model_loader *l, const char *name, int64_t n,
                  int64_t n_mixes);

/* n matrices in one tensor, all of the same input. */
struct ggml_tensor *
graph_find_matrices(struct model_loader *l, const char *name, int64_t n_in,
                    int64_t n_out, int64_t n);
/* NAME.scale: F32, n values. */
struct ggml_tensor *
graph_find_scales(struct model_loader *l, const char *name, int64_t n);

/* NAME.weight of the file, which is to be found next; NULL: it has none. */
const struct gguf_tensor *
graph_peek(const struct model_loader *l, const char *name);
/* It counts as found, if the file has it, and is not used. */
void
graph_pass_over(struct model_loader *l, const char *name);

/* ---- what most families have, of the current layer ---------------------- */

/* attn_qkv, where the file has it, or attn_q, attn_k, attn_v (of these two
 * none, where the layer reads another's keys and values; hp.keys_as_values:
 * attn_v is optional); attn_output. */
void
graph_find_attention(struct model_loader *l, struct model_layer *layer,
                     enum model_need bias);
/* Tensors of latent attention, as hp.latent says: attn_q_a, attn_q_a_norm and
 * attn_q_b, or attn_q; attn_kv_a_mqa and attn_kv_a_norm; attn_k_b and attn_v_b,
 * or attn_kv_b; attn_output. */
void
graph_find_latent_attention(struct model_loader *l, struct model_layer *layer);
/* attn_norm, the above, ffn_norm, and the feed-forward block or the mixture,
 * with what is added to scores for the choice, and the expert of all ids. */
void
graph_find_latent_block(struct model_loader *l, struct model_layer *layer);
/* Tensors that graph_choose() reads, of a layer with an indexer:
 * indexer.attn_q_b, .attn_k, .k_norm, .proj. */
void
graph_find_indexer(struct model_loader *l, struct model_layer *layer);
/* And graph_choose_blocks(): indexer.q_proj, .q_norm, .k_proj, .k_norm. */
void
graph_find_block_indexer(struct model_loader *l, struct model_layer *layer);
/* attn_gate: as many values as attention gives, or one a head, as the file has
 * it. */
void
graph_find_attention_gate(struct model_loader *l, struct model_layer *layer);
/* ffn_up, ffn_down, and ffn_gate if `gated`. */
void
graph_find_feed_forward(struct model_loader *l, struct model_layer *layer,
                        bool gated, enum model_need bias);
/* The router and the experts. */
void
graph_find_mixture(struct model_loader *l, struct model_layer *layer,
                   enum model_need bias);
/* As graph_find_mixture(), of experts without gates. */
void
graph_find_plain_mixture(struct model_loader *l, struct model_layer *layer,
                         enum model_need bias);
/* The expert of all ids, of hp.n_ff_shared; its own router where `routed`. */
void
graph_find_shared_expert(struct model_loader *l, struct model_layer *layer,
                         bool routed);
/* I32, the hp.n_expert_used experts of each id, all of which there are. */
struct ggml_tensor *
graph_find_expert_ids(struct model_loader *l, const char *name);
/* In a layer that has a mixture: what is added to scores for the choice of
 * experts alone. */
void
graph_find_choice(struct model_loader *l, struct model_layer *layer,
                  enum model_need choice);
/* As graph_find_choice(), and the expert of all ids, if hp has one. */
void
graph_find_choice_and_shared(struct model_loader *l, struct model_layer *layer,
                             enum model_need choice);
/* The mixture where the layer has one, or else the feed-forward block. */
void
graph_find_mixture_or_dense(struct model_loader *l, struct model_layer *layer,
                            bool gated, enum model_need bias);
/* attn_q_norm and attn_k_norm, of each head alone. */
void
graph_find_head_norms(struct model_loader *l, struct model_layer *layer,
                      enum model_need bias);
/* attn_q_norm and attn_k_norm, of all heads together. */
void
graph_find_whole_norms(struct model_loader *l, struct model_layer *layer,
                       enum model_need bias);
/* The mixture where the file has a router in this layer, or else the
 * feed-forward block; a block next to a mixture, which some programs write, has
 * no part in what is computed. */
void
graph_find_mixture_if_routed(struct model_loader *l, struct model_layer *layer);
/* The short convolution, as hp says, ".ssm_conv1d", and its bias. */
void
graph_find_short_conv(struct model_loader *l, struct model_layer *layer,
                      const char *name, enum model_need bias);
/* ssm_out, of hp.ssm.d_inner. */
void
graph_find_ssm_out(struct model_loader *l, struct model_layer *layer);
/* Tensors that graph_mamba() and graph_mamba2() read, with the norms of dt, B
 * and C, which optional are not looked for, and of the whole. */
void
graph_find_mamba(struct model_loader *l, struct model_layer *layer,
                 enum model_need norms);
void
graph_find_mamba2(struct model_loader *l, struct model_layer *layer,
                  enum model_need norm);
/* Tensors that graph_gated_delta() reads. */
void
graph_find_gated_delta(struct model_loader *l, struct model_layer *layer);
/* Tensors that graph_delta_attention() reads. */
void
graph_find_delta_attention(struct model_loader *l, struct model_layer *layer);
/* Tensors of RWKV, rwkv.c: the names of what is added, if not NULL, of the
 * first and the second matrix; */
void
graph_find_low_rank(struct model_loader *l, struct model_low_rank *r,
                    const char *const names[3]);
/* time_mix_receptance, _key, _value, _output, and _ln, which may be missing
 * where `norm` is optional; */
void
graph_find_time_mix(struct model_loader *l, struct model_layer *layer,
                    enum model_need norm);
/* channel_mix_key, _value, and, if `gated`, _receptance, with their shares; */
void
graph_find_channel_mix(struct model_loader *l, struct model_layer *layer,
                       bool gated);
/* the norms of both; token_embd_norm. */
void
graph_find_rwkv_norms(struct model_loader *l, struct model_layer *layer);
void
graph_find_rwkv_embedding(struct model_loader *l);
/* attn_norm, attention, ffn_norm, and the feed-forward block, or the mixture
 * where hp has experts. */
void
graph_find_block(struct model_loader *l, struct model_layer *layer, bool gated,
                 enum model_need bias);
/* graph_find_block() as most families have it: gated; biases where the file has
 * some. */
void
graph_find_usual_block(struct model_loader *l, struct model_layer *layer);
/* Whether output_norm, and norms of the usual block, must have biases. */
enum model_need
graph_norm_bias(const struct model_loader *l);

/* inp_gate, proj and post_norm: what the layer's own embedding passes through.
 */
void
graph_find_layer_embd_block(struct model_loader *l, struct model_layer *layer);
/* Before the layers: the table of their embeddings, read by rows, and what
 * projects the usual embedding to one for each. */
void
graph_find_layer_embd(struct model_loader *l);

/* As graph_find_layer_embd(), without the table. */
void
graph_find_layer_embd_proj(struct model_loader *l);

/* Outside of the layers, what decoders have: output_norm and the output. */
void
graph_find_head(struct model_loader *l);
/* token_types, where the file has it, and token_embd_norm: what BERT has. */
void
graph_find_encoder(struct model_loader *l);

/* And what encoders have whose layers begin with their norms: output_norm. */
void
graph_find_output_norm(struct model_loader *l);

/* The output's weight; without one in the file, the embedding's. */
struct model_linear
graph_find_output(struct model_loader *l);

/* One of I32 or I64 of n_dims 1, by its name as it stands; NULL: the file has
 * none. */
const struct gguf_tensor *
graph_find_integers(struct model_loader *l, const char *name);

/* n tokens, the vocabulary's, in another order, or, where it is no I32, NULL.
 */
struct ggml_tensor *
graph_find_order(struct model_loader *l, const char *name, int32_t n);

/* Members that all families have, then the family's. */
void
graph_find_layer(struct model_loader *l, struct model_layer *layer);

/* To be called after all others: a tensor that nobody has found fails, but for
 * those that are known to have no part in what is computed. */
void
graph_find_unread(struct model_loader *l);

#endif
