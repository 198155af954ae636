/* hparams.h - the numbers that give a model its shape */
#ifndef GRAPH_HPARAMS_H
#define GRAPH_HPARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include <gg.h>

#include "gguf/reader.h"

enum {
    MODEL_MAX_LAYERS = 4096, /* far above what exists, as are these */
    MODEL_MAX_FF = 1 << 24,
    MODEL_MAX_CTX = 1 << 28,
    MODEL_MAX_KEY = 96, /* bytes of a key with its end */
};

enum rope_scaling {
    ROPE_NONE,
    ROPE_LINEAR, /* positions are divided by the factor */
    ROPE_YARN,   /* slow frequencies are divided by it (Peng et al. 2023) */
    ROPE_LONG,   /* the file has divisors for long and short contexts */
};

/* Rotary positions (Su et al. 2021). */
struct rope_params {
    int mode;        /* GGML_ROPE_TYPE_NORMAL or GGML_ROPE_TYPE_NEOX */
    int32_t n_rot;   /* of d_key, how many are rotated; even; 0: none */
    int32_t n_freqs; /* values of the file's rope_freqs; 0: n_rot / 2 */
    float base;
    enum rope_scaling scaling;
    float factor;    /* of linear and YaRN */
    float magnitude; /* multiplies the rotated; 0: as the scaling has it */
    /* Above 0: YaRN multiplies q k by the square of 1 + log(factor) times this,
     * and nothing by its own magnitude (DeepSeek V2). */
    float log_multiplier;
    int32_t n_ctx_orig;         /* positions that it was trained for unscaled */
    float beta_fast, beta_slow; /* YaRN's ramp, in turns */
    bool exact_ramp;            /* its ends are not rounded to whole pairs */
    bool own_divisors; /* the file's rope_freqs divide its angles, too */
    /* M-RoPE: pairs that turn by each of time, height, width and a fourth; mode
     * 0: there is none. */
    int section_mode;
    int32_t sections[4];
};

enum model_norms {
    MODEL_LAYER_NORM, /* to mean 0 and variance 1 (Ba et al. 2016) */
    MODEL_RMS_NORM,   /* to mean square 1 (Zhang and Sennrich 2019) */
};

enum model_activation {
    MODEL_SILU,
    MODEL_GELU,         /* by tanh (Hendrycks and Gimpel 2016, eq. 2) */
    MODEL_GELU_ERF,     /* exact */
    MODEL_GELU_QUICK,   /* x sigmoid(1.702 x) */
    MODEL_RELU,         /* max(x, 0) */
    MODEL_RELU_SQUARED, /* its square (So et al. 2021) */
    MODEL_SILU_CLAMPED, /* gpt-oss: of a gate only, at 1.702 times it */
    MODEL_XIELU,        /* by numbers of the layer (Huang 2024) */
    MODEL_SITU,         /* Kimi K3: of a gate only, by hp.situ */
};

/* What a classifier's first layer ends in. */
enum model_squash {
    MODEL_SQUASH_NONE,
    MODEL_SQUASH_TANH,
    MODEL_SQUASH_GELU, /* exact */
    MODEL_SQUASH_RELU,
    MODEL_SQUASH_SILU,
};

/* Which earlier keys an id of a windowed layer sees. */
enum graph_window {
    MODEL_WINDOW_SLIDING,   /* the last `window`, its own among them */
    MODEL_WINDOW_CHUNKED,   /* those of its chunk of `window` positions */
    MODEL_WINDOW_SYMMETRIC, /* window / 2 to each side (encoders) */
};

/* How a mixture chooses experts and weighs their answers. */
struct model_routing {
    enum {
        MODEL_GATING_SOFTMAX,
        MODEL_GATING_SIGMOID,
        MODEL_GATING_SOFTMAX_OF_USED, /* over those that are used only */
    } gating;
    bool normed;     /* weights are divided by their sum, */
    float least_sum; /* of sigmoids: this where it is less; 0: 1e-20 */
    float scale;     /* and multiplied by this; 0: by nothing */
    /* The best n_group_used of so many groups of experts are chosen first, by
     * the sum of their two best scores, or by their best one; 0: there are no
     * groups. */
    int32_t n_group, n_group_used;
    bool group_by_best;
    bool before; /* weights multiply what experts read, not what they answer */
    bool shared_mean; /* with the shared expert's answer the mean, not a sum */
};

/* Lengths of recurrences, the same in all layers that have one. */
struct model_ssm {
    int32_t d_conv;  /* columns that the short convolution reads */
    int32_t d_state; /* length of a key, or of a row of Mamba's states */
    int32_t d_inner; /* length of what all heads give together */
    int32_t n_head;  /* of values; divides d_inner */
    int32_t d_rank;  /* of Mamba 1: length of what steps are projected from */
    float parts_eps; /* of norms without weights of dt, B and C; 0: none */
    int32_t n_group; /* of keys, each for n_head / n_group heads: */
    bool neighbours; /* that stand side by side; else every n_group-th */
    /* Kimi's delta attention: the least logarithm of a decay, by a sigmoid; 0:
     * nothing bounds them. Files have rates with their sign, or `positive`. */
    float floor;
    bool positive;
};

/* SiTU of a gate g and a value u: b tanh(g / b) sigmoid(g) times c tanh(u / c).
 */
struct model_situ {
    float gate;   /* b, above 0 */
    float linear; /* c; 0: u is as it is */
};

/* Latent attention (DeepSeek-AI 2024): keys and values of all heads come from
 * one latent row a position. Absorbed, only that row and the shared part of
 * keys are kept: queries are multiplied into the latent space, and what
 * attention gives back out of it. Else each head keeps its own. */
struct model_latent {
    int32_t n;        /* length of the latent row; 0: there is none */
    int32_t n_query;  /* of what queries come from; 0: of the hidden vector */
    int32_t d_shared; /* of a key, what all heads share, behind its own */
    int32_t d_key, d_value; /* of a head, before anything is absorbed */
    bool absorbed;
};

/* Lengths of one layer. */
struct model_layer_hparams {
    int32_t n_head;      /* of queries; 0: there is no attention */
    int32_t n_head_kv;   /* of keys and values; divides n_head */
    int32_t d_key;       /* length of a head's query and key */
    int32_t d_value;     /* length of a head's value */
    int32_t n_ff;        /* length of a feed-forward vector; 0: there is none */
    int32_t kv_layer;    /* whose keys and values it reads: its own, or those of
                            an earlier layer */
    bool values_in_keys; /* values are the first d_value of keys */
    bool windowed;       /* attention sees hp.window of the keys */
    /* A recurrence stands in attention's place, or beside it: its short
     * convolution reads so many columns of so many channels, the id's own among
     * them, and it keeps so many floats; 0: there is none. */
    bool recurs;
    int32_t d_conv, n_channels;
    int64_t n_state;
    /* Gates less than so many standard deviations above their mean count as
     * 0, and what is above as the gate (Gemma 3n). -INFINITY or not `sparse`:
     * all gates are as they are. */
    bool sparse;
    float sparsity;
    int32_t turns;  /* 0: queries and keys do not turn; of families whose
                       files say so for each layer */
    float xielu[4]; /* alpha_n and alpha_p before their softplus, beta, eps */
    /* Experts' and the other feed-forward blocks' activated gates are at most
     * this, and what they gate within +- this; 0: there is no limit. */
    float expert_limit, ff_limit;
};

/* Every number is bounded, so that products of two of them fit 64 bits, and
 * consistent with the others; that the tensors have these shapes is checked
 * where they are found. */
struct model_hparams {
    int32_t n_vocab;     /* rows of the embedding */
    int32_t n_ctx_train; /* positions that the model was trained for */
    int32_t n_embd;      /* length of a hidden vector */
    int32_t n_layer;
    int32_t n_behind; /* layers of the file after these: MTP layers; */
    int32_t n_mtp;    /* how many of them are computed: all or none */
    int32_t n_encoder; /* the first so many layers encode a prompt, and those
                          after them decode the answer; 0: there are none */
    int32_t decoder_start; /* the id that a decoder's ids begin with */
    int32_t n_loop;   /* so many have weights of their own, those after them the
                         same once more; 0: all have */
    struct model_layer_hparams layers[MODEL_MAX_LAYERS];
    enum model_norms norms;
    float eps; /* of the norms */
    enum model_activation activation;
    struct model_situ situ;
    struct model_ssm ssm;
    int32_t window; /* of windowed layers, in positions; 0: none is windowed */
    enum graph_window window_kind;

    /* Mixtures of experts; n_expert 0: there is none. */
    int32_t n_expert, n_expert_used;
    int32_t n_ff_expert;   /* length of an expert's feed-forward vector */
    int32_t n_embd_expert; /* length of what experts read and give; 0: n_embd */
    int32_t n_ff_shared;  /* of the expert that all ids use; 0: there is none */
    int32_t n_dense;      /* layers in front that have no mixture */
    int32_t mixture_step; /* after them the last of so many layers has one; 0:
                             each does */
    int32_t moe_period;   /* of so many layers the second has one; 0: none */
    struct model_routing routing;
    /* Groups of so many experts have another one each, which answers with the
     * weights of those of its group that are used (Wu et al. 2025); 0: none. */
    int32_t adjugate_of;
    int32_t n_ff_adjugate; /* length of its feed-forward vector */
    float adjugate_scale;  /* multiplies its answer */

    /* Scales and caps; 0: none. */
    float embd_scale;     /* multiplies the embedding */
    float residual_scale; /* multiplies what a layer adds */
    float attn_scale;     /* multiplies q k; else 1 / sqrt(d_key) */
    float attn_softcap;   /* c: q k becomes c tanh(q k / c) */
    float attn_max_bias;  /* ALiBi (Press et al. 2022); usually 8 */
    float value_scale;    /* multiplies what attention gives */
    float qkv_clamp;      /* queries, keys, values are clamped to +- this */
    float logit_scale;    /* multiplies the logits */
    float logit_softcap;

    struct rope_params rope;
    bool rope_local_differs;       /* windowed layers turn by rope_local, */
    struct rope_params rope_local; /* unscaled; base 0: that of the others */
    struct model_latent latent;
    bool gated_queries; /* attn_q gives a query and then its gate, head by head
                         */
    bool gate_softplus; /* of attention: not its sigmoid multiplies */
    bool norm_after_rope; /* queries' and keys' norms follow their rotation */
    bool values_normed;   /* values are normed, too, without a weight */
    bool keys_as_values;  /* where the file has no attn_v */

    /* Queries at position p are multiplied by
     * 1 + s log(1 + floor((p + offset) / n)): a temperature that falls with
     * the position (Llama 4, Ministral 3). s 0: there is none. */
    float temperature_scale;
    int32_t temperature_n, temperature_offset;

    int32_t n_embd_layer; /* length of an embedding for one layer; 0: layers
                             have none of their own */
    /* Parallel hidden vectors, of which layers compute with one (AltUp:
     * Baykal et al. 2023); 0: there is the usual one. */
    int32_t n_altup, altup_active;
    /* Kimi K3: the residual stream is put into a bank before the first of every
     * so many layers, and begins anew; 0: it goes on. */
    int32_t bank_every;

    /* Of a pair of texts, those behind the first `separator` are of the second
     * kind. Else all are of the first. */
    bool typed_pairs;
    int32_t separator;
    int32_t pad; /* whose embedding is looked up where a row of a medium stands
                  */

    /* Of distances between ids, which have a bias each; at least 4; 0: none. */
    int32_t n_bucket;

    /* The input of a classifier's head (GG_POOL_NONE: each id alone), and its
     * first layer. */
    enum gg_pooling rank_pooling;
    enum model_squash rank_squash;

    bool learned_positions; /* a table of them */
    bool encoder;      /* ids attend to later ones, too; there are no logits */
    bool one_way;      /* of an encoder: they do not */
    bool sequential;   /* GPT-NeoX: the blocks follow each other */
    bool first_values; /* all layers read those of the first one, too */
    int32_t halve_every; /* after every so manieth layer x is halved; 0: never
                          */
    bool skip_loop_norm; /* Nanbeige: loops over the layers are not parted by a
                            norm */
};

/* Layers of the file, those for ids beyond the next among them. */
static inline int32_t
graph_all_layers(const struct model_hparams *hp)
{
    return hp->n_layer + hp->n_behind;
}

/* Layers that are computed, for whatever purpose. */
static inline int32_t
graph_used_layers(const struct model_hparams *hp)
{
    return hp->n_layer + hp->n_mtp;
}

/* Whether the layer is of an encoder that a decoder follows. */
static inline bool
graph_encodes(const struct model_hparams *hp, int32_t layer)
{
    return layer < hp->n_encoder;
}

/* Whether the layer keeps keys and values of its own. */
static inline bool
graph_keeps(const struct model_hparams *hp, int32_t layer)
{
    const struct model_layer_hparams *l = &hp->layers[layer];

    return l->n_head_kv > 0 && l->kv_layer == layer;
}

/* Values that it keeps for a head of a position, beside the key. */
static inline int32_t
graph_kept_value(const struct model_layer_hparams *l)
{
    return l->values_in_keys ? 0 : l->d_value;
}

/* Whether the layer keeps a recurrent state. */
static inline bool
graph_recurs(const struct model_hparams *hp, int32_t layer)
{
    return hp->layers[layer].recurs;
}

/* Floats of that state. */
static inline int64_t
graph_state_floats(const struct model_hparams *hp, int32_t layer)
{
    const struct model_layer_hparams *l = &hp->layers[layer];
    int64_t columns = l->d_conv > 1 ? l->d_conv - 1 : 0;

    return columns * l->n_channels + l->n_state;
}

/* Whether the layer has a mixture of experts. */
static inline bool
graph_mixes(const struct model_hparams *hp, int32_t layer)
{
    int32_t step = hp->mixture_step > 0 ? hp->mixture_step : 1;

    return hp->n_expert > 0 && layer >= hp->n_dense && (layer + 1) % step == 0;
}

/* Reads values of one file; keys begin with the architecture's name. The
 * first failure sticks: what follows reads nothing, and `status` and `err`
 * tell of it. */
struct model_keys {
    const struct gguf_context *gguf;
    const char *arch;
    enum gg_status status;
    struct gg_error *err;
    int32_t n_layer; /* of the file, once that is known: so many elements has an
                        array with a value for each */
};

/* ARCH.name into buf, of MODEL_MAX_KEY bytes; returned. */
const char *
graph_key_name(const struct model_keys *keys, const char *name, char *buf);

/* ARCH.name, which must lie in min..max. Without a value in the file: `other`,
 * or failure where that is below `min`. An array for the layers must have the
 * same integer for all. 0 in graph_key_float_or_zero() and
 * graph_key_int_or_zero() stands for `other`: programs write it where a number
 * is not known. */
int32_t
graph_key_int(struct model_keys *keys, const char *name, int32_t min,
              int32_t max, int32_t other);
float
graph_key_float(struct model_keys *keys, const char *name, float min, float max,
                float other);

int32_t
graph_key_int_or_zero(struct model_keys *keys, const char *name, int32_t max,
                      int32_t other);
float
graph_key_float_or_zero(struct model_keys *keys, const char *name, float min,
                        float max, float other);

/* Whether the file has it. */
bool
graph_key_exists(const struct model_keys *keys, const char *name);

bool
graph_key_bool(struct model_keys *keys, const char *name, bool other);

/* Its text, not NUL-ended, if the file has it. */
void
graph_key_str(struct model_keys *keys, const char *name, struct gguf_str *out);

/* Whether ARCH.name is this text; false without such a key. */
bool
graph_key_is(struct model_keys *keys, const char *name, const char *text);

/* Fails because of ARCH.name, unless reading has failed already. */
__attribute__((format(printf, 4, 5))) void
graph_key_refuse(struct model_keys *keys, enum gg_status status,
                 const char *name, const char *fmt, ...);
/* "3 exceeds 2": two numbers of a file that do not go together. */
void
graph_key_mismatch(struct model_keys *keys, const char *name, const char *what,
                   int32_t a, int32_t b);

/* What every family has: lengths, counts, heads, the norms' epsilon (n_head_kv,
 * d_key, d_value default as is the custom). n_vocab comes from the embedding's
 * shape. Heads and feed-forward lengths may be arrays with a number for each
 * layer. */
void
graph_keys_common(struct model_keys *keys, struct model_hparams *hp,
                  enum model_norms norms);

/* Attention's window, of all layers; 0 where the file gives none. */
void
graph_keys_window(struct model_keys *keys, struct model_hparams *hp);

/* Attention's window, `other` where the file gives none; and its layers: as
 * the file says, or all but the last of every `period` layers. */
void
graph_keys_windows(struct model_keys *keys, struct model_hparams *hp,
                   int32_t other, int32_t period);

/* The same; without a list in the file all but the first of every `period`. */
void
graph_keys_windows_behind(struct model_keys *keys, struct model_hparams *hp,
                          int32_t other, int32_t period);

/* Heads of windowed layers have lengths of their own, if the file gives any. */
void
graph_keys_heads_local(struct model_keys *keys, struct model_hparams *hp);

/* The last layers read the keys and values of others: of the last one before
 * them that sees as much; `other` layers where the file does not say how many.
 * To be called when all else about attention is known. */
void
graph_keys_shared(struct model_keys *keys, struct model_hparams *hp,
                  int32_t other);

/* How sparse the gates of each layer are; where the file does not say it,
 * `other` in the first `n` layers. */
void
graph_keys_sparsity(struct model_keys *keys, struct model_hparams *hp,
                    int32_t n, float other);

/* A number for each layer, in 0..max, into *out and what lies `stride` bytes
 * after each; the file has an array or one number. `other` where it has
 * neither, or failure where that is below 0. */
void
graph_keys_layers(struct model_keys *keys, const char *name, int32_t max,
                  int32_t other, int32_t *out, size_t stride);

/* The same of numbers with fractions, in min..max; 0 where the file has none.
 */
void
graph_keys_layer_floats(struct model_keys *keys, const char *name, float min,
                        float max, float *out, size_t stride);

/* A truth for each layer from an array of the file; false: it has none. */
bool
graph_keys_layer_flags(struct model_keys *keys, const char *name, bool *out,
                       size_t stride);

/* Pairs of texts, where the file's vocabulary is BERT's own, whose tokenizer
 * tells the second text from the first. */
void
graph_keys_pairs(struct model_keys *keys, struct model_hparams *hp);

/* The file's id for padding; 0, where it does not say. */
void
graph_keys_pad(const struct gguf_context *gguf, struct model_hparams *hp);

/* Reads the place that a classifier reads: the first id, or as the file says; the
 * last id in decoders. And the function that its first layer ends in. */
void
graph_keys_rank(struct model_keys *keys, struct model_hparams *hp);

/* Which keys an id sees: those before it, or, of encoders, all. Fails where a
 * file wants it otherwise. */
void
graph_keys_causal(struct model_keys *keys, const struct model_hparams *hp);

/* Rotary positions of that mode. */
void
graph_keys_rope(struct model_keys *keys, struct model_hparams *hp, int mode);

/* To be called after graph_keys_rope(): pairs of sections take turns, where the
 * file has any. */
void
graph_keys_interleaved_sections(struct model_hparams *hp);

/* To be called after graph_keys_rope(): windowed layers turn unscaled: by the
 * file's base for them; else by `other`; 0: by that of the others. */
void
graph_keys_rope_local(struct model_keys *keys, struct model_hparams *hp,
                      float other);

/* To be called after graph_keys_rope_local(): of windowed layers' heads so many
 * values are rotated as the file says for them; else `other`. */
void
graph_keys_rotated_local(struct model_keys *keys, struct model_hparams *hp,
                         int32_t other);

/* To be called after graph_keys_rope(): all layers turn by the same base; fails
 * where the file has another one for those that are windowed. */
void
graph_keys_rope_same(struct model_keys *keys, const struct model_hparams *hp);

/* The numbers of experts, and the length of one's vector. Without `required` a
 * file may have none. Where it does not say the length, or says 0: n_ff, or, of
 * families that must have experts, n_ff shared by those that are used. */
void
graph_keys_experts(struct model_keys *keys, struct model_hparams *hp,
                   bool required);

/* How experts are chosen, expert_gating_func: `other` where the file does not
 * say it. */
void
graph_keys_gating(struct model_keys *keys, struct model_hparams *hp, int other);

/* Dense layers in front, how experts are chosen and what scales their answers,
 * of families whose files say so: gating is `other` where they don't. */
void
graph_keys_routing(struct model_keys *keys, struct model_hparams *hp,
                   int other);

/* To be called after graph_keys_experts(): n_ff_shared is what the file gives,
 * or that of so many experts as it says that all ids use. */
void
graph_keys_shared_experts(struct model_keys *keys, struct model_hparams *hp);

/* To be called after graph_keys_rope(): latent attention in all layers that
 * have attention; of a key the last d_shared are what heads share. */
void
graph_keys_latent(struct model_keys *keys, struct model_hparams *hp,
                  int32_t d_shared, bool absorbed);
/* Whether the file has the matrices of heads in two parts: early ones have not
 * split them yet. */
bool
graph_is_absorbed(const struct model_keys *keys,
                  const struct model_hparams *hp);

/* YaRN's multiplier of a logarithm, rope.scaling.yarn_log_multiplier, as
 * DeepSeek V2's files have it. */
void
graph_keys_log_multiplier(struct model_keys *keys, struct model_hparams *hp);

/* Layers with a recurrence, as the file says, or all but the last of every
 * `period`: of these n_head and n_head_kv become 0. To be called after
 * graph_keys_common(). */
void
graph_keys_recurrent_layers(struct model_keys *keys, struct model_hparams *hp,
                            int32_t period);

/* The same, of layers without keys and values. */
void
graph_keys_recurrent_heads(struct model_keys *keys, struct model_hparams *hp);

/* What layers with a recurrence keep for a short convolution of so many
 * channels alone; the key says how many columns it reads. */
void
graph_keys_short_conv(struct model_keys *keys, struct model_hparams *hp,
                      const char *name, int32_t n_channels);

/* All layers are of a recurrence and nothing else. To be called after
 * graph_keys_common(). */
void
graph_keys_recurrent_alone(struct model_keys *keys, struct model_hparams *hp);

/* hp.ssm, and what its layers keep for Mamba 1 and 2. */
void
graph_keys_mamba(struct model_keys *keys, struct model_hparams *hp);
void
graph_keys_mamba2(struct model_keys *keys, struct model_hparams *hp);
/* Heads, as of 2, whose steps come from so many values, as of 1. */
void
graph_keys_mamba_heads(struct model_keys *keys, struct model_hparams *hp,
                       int32_t d_rank);
/* RWKV's, in all layers: heads of wkv.head_size, and what so many blocks of a
 * layer read of the id before. */
void
graph_keys_rwkv(struct model_keys *keys, struct model_hparams *hp,
                int32_t n_blocks);

/* hp.ssm, and what its layers keep for a gated delta rule whose convolution
 * reads queries, keys and values. */
void
graph_keys_delta_net(struct model_keys *keys, struct model_hparams *hp);

/* hp.ssm of Kimi's delta attention, whose heads, as many as attention's, have a
 * query, a key and a value of d_state each; those layers recur that have no
 * heads of keys. */
void
graph_keys_delta_attention(struct model_keys *keys, struct model_hparams *hp);
/* Its hp.ssm.floor; 0 where the file has none, or, where it is required,
 * failure. */
void
graph_keys_decay_floor(struct model_keys *keys, struct model_hparams *hp,
                       bool required);

/* The name of the file's architecture, NUL-ended, into buf. */
enum gg_status
graph_key_architecture(const struct gguf_context *gguf, char *buf, size_t size,
                       struct gg_error *err);

#endif
