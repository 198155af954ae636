/* model.h - weights of one model, wherever a device wants them */
#ifndef GRAPH_MODEL_H
#define GRAPH_MODEL_H

#include <ggml-backend.h>

#include "gguf/reader.h"
#include "graph/hparams.h"

/* y = scale * weight x + bias; `bias` may be NULL, `scale` is 1 where the file
 * gives none. weight: n_in x n_out. */
struct model_linear {
    struct ggml_tensor *weight, *bias;
    float scale;
    const float *bounds; /* of x, from and to, and of y; or NULL: any */
};

/* weight * norm(x) + bias; `bias` may be NULL. */
struct model_norm {
    struct ggml_tensor *weight, *bias;
};

/* A hyper-connection, streams.h: what it makes of n_stream vectors, and numbers
 * that multiply and are added. Empty where there is none. */
struct model_hyper {
    struct model_linear fn;
    struct ggml_tensor *scale, *base;
    struct model_norm norm; /* of each stream; or, of low rank: */
    struct model_linear down, up, inject;
};

/* Experts' matrices, one after the other. weight: n_in x n_out x n_expert;
 * bias: n_out x n_expert, or NULL; scales, of each expert's product: n_expert,
 * or NULL. */
struct model_experts {
    struct ggml_tensor *weight, *bias, *scales;
};

/* Rotary positions as the layers apply them. */
struct model_rope {
    struct rope_params params;
    float scale;                       /* positions are multiplied by it */
    float magnitude;                   /* and the rotated by this */
    float attention;                   /* and q k by this */
    struct ggml_tensor *divisors;      /* of each pair's angle; or NULL */
    struct ggml_tensor *divisors_long; /* where the context is longer than
                                          n_ctx_orig; or NULL: the same */
};

/* One transformer block. A family uses what it has, and leaves the rest NULL.
 */
/* base + up(down(x)), of low rank. */
struct model_low_rank {
    struct ggml_tensor *base; /* n_embd; or NULL */
    struct ggml_tensor *down, *up;
};

enum {
    RWKV_MIXES = 5, /* of RWKV 6 */
};

/* Tensors of RWKV other than the usual matrices: families/rwkv6.c, rwkv7.c. */
struct model_rwkv {
    struct ggml_tensor *shares;            /* n_embd x 1 x 1 x mixes; or */
    struct ggml_tensor *share[RWKV_MIXES]; /* n_embd each */
    struct ggml_tensor *shares_of, *shares_down, *shares_up; /* of 6 */
    struct model_low_rank decay, rate, value, gate;
    struct ggml_tensor *first; /* n_embd: how the id itself counts */
    struct ggml_tensor *key_unit, *key_rate;       /* n_embd, of 7 */
    struct ggml_tensor *channel_up, *channel_gate; /* n_embd: shares */
};

/* Tensors of the layer that adds embedded n-grams: ngrams.h. */
struct model_ngram_layer {
    struct ggml_tensor *table; /* d_row x rows; or NULL */
    struct model_linear key, value;
    struct model_norm key_norm, query_norm, conv_norm;
    struct ggml_tensor *conv; /* d_conv x n_stream * n_embd */
};

/* Adapters of low rank of one matrix, the first of which is 0: n_in x rank and
 * rank x n_out of each. */
struct model_switched {
    struct ggml_tensor *a, *b;
};

enum model_switched_place {
    MODEL_SWITCHED_Q,
    MODEL_SWITCHED_K,
    MODEL_SWITCHED_V,
    MODEL_SWITCHED_OUTPUT,
    MODEL_SWITCHED_GATE,
    MODEL_SWITCHED_UP,
    MODEL_SWITCHED_DOWN,
    MODEL_SWITCHED,
};

/* Tensors of a layer's blocks: compressed.h. */
struct model_compressor {
    struct model_linear value, gate;
    struct ggml_tensor *bias;
    struct model_norm norm;
};

struct model_layer {
    const struct model_layer_hparams *hp; /* its lengths */
    bool windowed; /* attention sees the last hp.window keys only */
    const struct model_rope *rope; /* NULL: queries and keys do not turn */

    struct model_norm attn_norm, attn_norm_2;
    struct model_linear attn_qkv; /* queries, keys, values in one; or */
    struct model_linear attn_q, attn_k, attn_v;
    /* of a head, or, a row a head, of each head, or of all heads together */
    struct model_norm attn_q_norm, attn_k_norm;
    struct ggml_tensor *attn_sinks; /* a logit a head that no key stands for */
    /* Attention's output is multiplied by the sigmoid of this: a value each, or
     * one a head; or by what hp says instead; or empty */
    struct model_linear attn_gate;
    struct model_norm attn_sub_norm; /* of what attn_output reads; or empty */
    struct ggml_tensor *attn_bias;   /* n_head x hp.n_bucket; or NULL */
    struct model_linear attn_output;
    struct ggml_tensor *attn_output_a; /* of hp.n_output_group: before it */
    /* A decoder's attention to what the encoder gave. */
    struct model_norm cross_norm;
    struct model_linear cross_q, cross_k, cross_v, cross_output;
    struct model_norm attn_post_norm;

    /* Latent attention: attn_q reads what attn_q_a gives, if there is that;
     * attn_kv_a gives the latent row and the shared part of a key. */
    struct model_linear attn_q_a, attn_kv_a;
    struct model_norm attn_q_a_norm, attn_kv_a_norm;
    struct model_linear attn_kv_b; /* of each head its key, its value; or */
    struct ggml_tensor *attn_k_b;  /* d_key - d_shared x n x n_head, */
    struct ggml_tensor *attn_v_b;  /* n x d_value x n_head */

    /* The indexer: queries of latent ones, a key and its norm, how much each
     * head counts. */
    struct model_linear index_q, index_k, index_weights;
    struct model_norm index_norm, index_q_norm; /* or empty */
    struct model_compressor compressor, index_compressor;

    /* Tensors of a recurrence. */
    struct ggml_tensor *conv;                     /* d_conv x n_channels */
    struct ggml_tensor *conv_bias;                /* n_channels; or NULL */
    struct ggml_tensor *conv_q, *conv_k, *conv_v; /* or of parts of them */
    struct model_linear ssm_in, ssm_out;
    struct model_linear ssm_f_a, ssm_f_b; /* decays of all values, or of low */
    struct model_linear ssm_g_a, ssm_g_b; /* rank; gates of what is given */
    struct model_linear ssm_alpha, ssm_beta; /* decays and strengths of heads */
    struct model_linear ssm_beta_alpha;      /* both, by groups; or */
    struct ggml_tensor *ssm_a;               /* negative: rates of decay */
    struct ggml_tensor *ssm_dt;              /* what is added to decays */
    struct ggml_tensor *ssm_d;               /* of what passes by; or NULL */
    struct model_norm ssm_norm;              /* of what ssm_out reads */
    struct model_linear ssm_x;               /* dt, B, C of Mamba 1 */
    struct model_linear ssm_step;            /* from dt to steps */
    struct model_norm ssm_dt_norm, ssm_b_norm, ssm_c_norm; /* or empty */
    struct model_rwkv rwkv;

    struct model_ngram_layer ngrams;
    struct model_norm attn_bank, ffn_bank; /* scores: families/kimi_k3.c */
    struct model_hyper attn_hyper, ffn_hyper;
    struct model_norm ffn_norm;
    struct model_linear ffn_gate, ffn_up, ffn_down;
    struct model_norm ffn_sub_norm; /* of what ffn_down reads; or empty */
    struct model_norm ffn_post_norm;

    struct model_switched switched[MODEL_SWITCHED]; /* by ids; or NULL */

    /* After the layer: what its own embedding adds; or NULL. */
    struct model_linear embd_gate; /* n_embd x n_embd_layer */
    struct model_linear embd_proj; /* n_embd_layer x n_embd */
    struct model_norm embd_post_norm;
    struct ggml_tensor *output_scale; /* one number; or NULL */

    /* Parallel vectors: how they are predicted and corrected. */
    struct model_norm altup_router_norm;
    struct model_linear altup_router;              /* n_embd x n_altup */
    struct model_linear altup_predict;             /* n_altup x n_altup^2 */
    struct model_linear altup_correct;             /* n_altup x n_altup */
    struct ggml_tensor *altup_scale;               /* n_embd */
    struct model_linear laurel_left, laurel_right; /* of low rank */
    struct model_norm laurel_norm;

    struct model_linear router; /* n_embd x n_expert; empty: no mixture */
    struct ggml_tensor
        *router_bias;               /* n_expert, for the choice only; or NULL */
    struct ggml_tensor *router_ids; /* i32, experts of each id; or NULL */
    struct ggml_tensor *router_scale; /* n_embd, of what it reads; or NULL */
    struct model_norm experts_norm;   /* of experts next to a dense block */
    struct model_norm dense_post_norm, experts_post_norm; /* of both */
    struct model_experts experts_gate, experts_up, experts_down;
    struct model_experts experts_gate_up; /* both, the gates in front; or */
    struct model_linear experts_in, experts_out; /* to hp.n_embd_expert and
                                                    back; or empty */
    struct model_norm experts_out_norm; /* of what goes back; or empty */
    struct model_experts adjugate_gate, adjugate_up, adjugate_down; /* of
                                                        groups; or empty */
    struct model_linear shared_router; /* n_embd x 1; empty: weight 1 */
    struct model_linear shared_gate, shared_up, shared_down;

    /* An MTP layer: the tensors that join an embedding and a hidden vector, and
     * those that follow the layer; mtp.h. */
    struct ggml_tensor *mtp_embd; /* n_embd x n_vocab */
    struct model_norm mtp_enorm, mtp_hnorm;
    struct model_linear mtp_join; /* 2 n_embd x n_embd */
    struct model_norm mtp_norm;
    struct model_hyper mtp_hyper; /* of streams; or empty: the model's */
    struct model_linear mtp_output;
};

/* y = norm(squash(weight x + bias)), of what follows the pooling; only the
 * weight is always there. */
struct model_dense {
    const struct gguf_tensor *weight, *bias, *norm, *norm_bias;
    enum model_squash squash;
};

struct model_head {
    struct model_dense layers[2];
    int n; /* 0: nothing follows */
};

struct model_arch;

/* Parts of a layer, each of which a home may have without the other. */
enum model_part {
    MODEL_REST,    /* all but */
    MODEL_EXPERTS, /* what a mixture's experts are made of */
    MODEL_PARTS,
};

/* Layers first .. end - 1; the output is the layer after the last one. */
struct model_span {
    int32_t first, end;
};

/* A device, and the layers whose parts it holds and computes. What no other has
 * is the first home's, whose spans are empty. */
struct model_home {
    ggml_backend_dev_t device;
    struct model_span spans[MODEL_PARTS];
    struct ggml_context *ctx; /* of its weights */
    bool whole;               /* all of them are there */
};

enum {
    MODEL_MAX_HOMES = 16,
};

/* Some of them: bit i is homes[i]'s. */
typedef uint32_t model_home_set;

/* Devices that a model may lie on: the CPU, or others in the order of the
 * layers that they get. */
struct model_devices {
    ggml_backend_dev_t list[MODEL_MAX_HOMES - 1];
    int n;
};

/* Buffers of a file's tensors: one for each mapping that some lie in, one for
 * each home of those that were copied. */
struct model_buffers {
    ggml_backend_buffer_t *list; /* n, some of which are NULL */
    size_t n;
};

/* An adapter, and how much it counts where nothing else is said. */
struct model_adapter_file {
    const char *path; /* for messages */
    const struct gguf_file *file;
    float scale;
    int32_t first, last; /* layers after which a control vector is added */
};

/* Files that a model is made of. All of them outlive the model. */
struct model_files {
    const struct gguf_file *file; /* with all its shards */
    const struct model_adapter_file *adapters;
    size_t n_adapters;
    const struct gguf_context *mtp; /* session_adopt_mtp() took its MTP layers,
                                       or a drafter, of which its keys tell; or
                                       NULL */
};

struct model_adapter;

/* Immutable once loaded; any number of sessions may use it. */
struct model {
    const struct gguf_file *file;
    struct model_files files; /* the same, and its adapters */
    const struct model_arch *arch;
    struct model_hparams hp;
    struct ggml_tensor *token_embd;      /* n_embd x n_vocab */
    struct ggml_tensor *position_embd;   /* n_embd x n_ctx_train; or NULL */
    struct ggml_tensor *token_types;     /* n_embd x kinds of text; or NULL */
    struct ggml_tensor *layer_embd;      /* n_embd_layer * n_layer x n_vocab; or
                                            NULL */
    struct model_linear layer_embd_proj; /* from the embedding */
    struct model_norm layer_embd_norm;
    struct ggml_tensor *altup_proj;   /* n_embd x n_embd x n_altup - 1, from the
                                         embedding; or NULL */
    struct ggml_tensor *altup_unembd; /* and back */
    struct model_norm embd_norm;      /* of the embeddings' sum; or empty */
    struct model_rope rope;           /* of most layers */
    struct model_rope rope_local;     /* of windowed ones, where they differ */
    struct model_layer *layers;       /* hp.n_layer, and hp.n_mtp */
    struct model_norm output_bank;    /* as layers have; or empty */
    struct model_hyper output_hyper;  /* or empty: the mean of streams */
    struct model_norm encoder_norm;   /* after hp.n_encoder layers */
    struct model_norm output_norm;    /* encoders have none, */
    struct model_linear output; /* and none of these; may share token_embd */

    /* A drafter's: features become a row; NULL or the ids of its logits. */
    struct model_norm fuse_norm;
    struct model_linear fuse;
    struct model_linear unfuse;    /* from a row back to a feature; or empty */
    struct model_linear centroids; /* n_embd x clusters of tokens; or empty */
    struct ggml_tensor *clusters;  /* i32: all tokens, cluster by cluster */
    int32_t *drafted;
    int32_t n_drafted; /* logits; 0: n_vocab */

    struct model_head dense; /* of embeddings */
    struct model_head rank;  /* of rerankers: their scores */

    /* The first is the CPU, whether or not it has layers: what others cannot
     * compute with is there, too. The others are in the order of layers. */
    struct model_home homes[MODEL_MAX_HOMES];
    int n_homes;
    /* Layers that this process evaluates: all of them, unless several processes
     * have a part each. Those of others have no weights here. */
    int32_t first, end;
    struct gg_pipeline *pipeline;   /* these processes: session/pipeline.h */
    struct ggml_context *elsewhere; /* of tensors that others have */
    bool named;                     /* devices were requested by name */
    char note[320];                 /* where the layers went; or empty */
    struct model *before; /* whose weights it may use, and which it frees; or
                             NULL */
    struct model_buffers buffers;   /* of weights */
    struct ggml_context *made_ctx;  /* of tensors that no file has */
    ggml_backend_buffer_t made;     /* and their buffer */
    struct model *drafter;          /* drafter.h; or NULL */
    bool mtp_if_able;               /* MTP layers are used that merely may be */
    struct model_adapter *adapters; /* files.n_adapters */
    float *scales;                  /* theirs, where a sequence says none */
};

/* A model in which nothing is but the file's hyper-parameters and its family:
 * *m is the caller's, to be mem_free()d, also on failure. */
enum gg_status
graph_read_keys(const struct gguf_context *gguf, struct model **m,
                struct gg_error *err);

/* As graph_read_keys(), in a model whose files are set, with the MTP layers of
 * a file of their own. */
enum gg_status
graph_read_model(struct model *m, struct gg_error *err);

/* Finds the file's tensors for a model whose homes have their layers, and what
 * adapters change: each in the context of its home, without data. */
enum gg_status
graph_find_weights(struct model *m, struct gg_error *err);

/* hp.window of a file's model, of which nothing else is looked at; 0: it could
 * not be loaded. */
int32_t
graph_window(const struct gguf_context *gguf);

/* The home of a part of a layer; keys and values are where the rest is. */
static inline int
graph_home_of(const struct model *m, int32_t layer, enum model_part part)
{
    int i = m->n_homes - 1;

    if (layer > m->hp.n_layer)
        layer = m->hp.n_layer; /* MTP layers are where the output is */
    while (i > 0 && (layer < m->homes[i].spans[part].first ||
                     layer >= m->homes[i].spans[part].end))
        i--;
    return i;
}

/* That of the output. */
static inline ggml_backend_dev_t
graph_device(const struct model *m)
{
    return m->homes[graph_home_of(m, m->hp.n_layer, MODEL_REST)].device;
}

/* Whether this process evaluates a layer; that after the last is the output,
 * and an MTP layer. Layers that a loop repeats have the weights of its first
 * turn. */
static inline bool
graph_has_layer(const struct model *m, int32_t layer)
{
    if (layer >= m->hp.n_layer)
        return m->first == 0;
    return layer >= m->first && layer < m->end;
}

/* Whether this process evaluates all layers. */
static inline bool
graph_is_whole(const struct model *m)
{
    return m->first == 0 && m->end >= m->hp.n_layer;
}

/* Layers that are not the CPU's, whole or in part. */
static inline int32_t
graph_device_layers(const struct model *m)
{
    int32_t n = 0;

    for (int i = 1; i < m->n_homes; i++)
        n += m->homes[i].spans[MODEL_REST].end -
             m->homes[i].spans[MODEL_REST].first;
    return n - (graph_home_of(m, m->hp.n_layer, MODEL_REST) > 0);
}

#endif
