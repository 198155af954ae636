/* hparams.h - the numbers that give a model its shape */
#ifndef GRAPH_HPARAMS_H
#define GRAPH_HPARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include <gg.h>

enum {
    MODEL_MAX_LAYERS = 4096, /* far above what exists, as are these */
    MODEL_MAX_FF = 1 << 24,
    MODEL_MAX_CTX = 1 << 28,
    MODEL_MAX_COMPRESSIONS = 2, /* lengths of blocks */
    MODEL_MAX_RATIO = 1024,
};

/* Blocks of positions that rows of their own stand for, each made of columns of
 * its positions, and, if they overlap, of those of the block before. */
struct model_compression {
    int32_t ratio; /* positions, 2 at least */
    bool overlaps;
};

/* Columns that a row is made of. */
static inline int32_t
graph_compressed_columns(const struct model_compression *p)
{
    return p->ratio * (p->overlaps ? 2 : 1);
}

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
    float magnitude; /* multiplies the rotated; 0: as the scaling has it; below
                        0: nothing does */
    /* Above 0: YaRN multiplies q k by the square of 1 + log(factor) times this,
     * and nothing by its own magnitude (DeepSeek V2). */
    float log_multiplier;
    int32_t n_ctx_orig;         /* positions that it was trained for unscaled */
    float beta_fast, beta_slow; /* YaRN's ramp, in turns */
    bool exact_ramp;            /* its ends are not rounded to whole pairs */
    bool own_divisors; /* the file's rope_freqs divide its angles, too */
    bool no_divisors;  /* they have no part in what is computed */
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

/* The activation that a classifier's first layer ends in. */
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
        MODEL_GATING_SQRT_SOFTPLUS,
    } gating;
    bool normed; /* weights are divided by their sum, */
    float
        least_sum; /* of sigmoids and roots: this where it is less; 0: 1e-20 */
    float scale;   /* and multiplied by this; 0: by nothing */
    /* The best n_group_used of n_group groups of experts are chosen first, by
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
    bool sigmoid_gate; /* of Qwen's gated delta rule, not a SiLU */
};

/* Embedded n-grams of ids, which one layer adds: ngrams.h. */
enum {
    MODEL_MAX_NGRAM = 8,
    MODEL_MAX_NGRAM_HEADS = 64,
};

struct model_ngram_head {
    int32_t first; /* rows of the table that it chooses from, */
    uint32_t size; /* and their number, at least 1: all are below 2^31 */
};

struct model_ngrams {
    int32_t n;       /* ids of the longest; 0: there are none */
    int32_t layer;   /* that adds them; it recurs */
    int32_t n_heads; /* a multiple of n - 1: the first of n-grams of 2 */
    int32_t d_row;   /* values of a row of the table */
    int32_t d_conv;  /* columns of the convolution, n ids apart */
    int32_t end;     /* the id that ends a text */
    int32_t medium;  /* which stands for a row of a medium */
    int64_t n_rows;  /* that heads choose from */
    uint64_t factors[MODEL_MAX_NGRAM];
    struct model_ngram_head heads[MODEL_MAX_NGRAM_HEADS];
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
    int32_t d_shared; /* of a key, what all heads share, after its own; only
                         where it is absorbed may that be nothing */
    int32_t d_key, d_value; /* of a head, before anything is absorbed */
    bool absorbed;
    float eps; /* of the norms of latents; 0: 1e-6 */
};

/* The indexer that chooses the keys that attention reads (DeepSeek-AI 2025,
 * "DeepSeek-V3.2"): a score of each key, from products of a few short heads. */
struct model_indexer {
    int32_t n_head; /* of its queries; 0: there is none */
    int32_t d_key;  /* length of its queries and keys */
    int32_t n_best; /* keys that are chosen */
    int32_t pool;   /* positions that a row of its keys stands for, of which
                       all or none are chosen; 0: each has its own */
    bool last; /* of each head the last values are rotated, not the first */
    int mode;  /* GGML_ROPE_TYPE_NORMAL or _NEOX */
    float eps; /* of its keys' norm */
    /* An indexer that chooses for each head of keys by a head of its own:
     * `block` keys are a block, of which n_best are chosen, among them the
     * newest n_local; 0: it is the other kind. */
    int32_t block, n_local;
};

enum {
    MODEL_MAX_SWITCHES = 256,
};

/* Adapters in the file, which ids switch on: switches.h. */
struct model_switches {
    int32_t n; /* 0: there are none */
    int32_t rank;
    int32_t ids[MODEL_MAX_SWITCHES];      /* of adapter i + 1 */
    int32_t embedded[MODEL_MAX_SWITCHES]; /* the ids in their place */
    int32_t least, most;                  /* of ids */
};

enum {
    MODEL_MAX_FEATURES = 16,
};

/* Numbers of a drafter, drafter.h. */
struct model_drafting {
    /* Features: hidden vectors of the target that it reads, in this order:
     * those before that layer; n_layer of the target: after the last. */
    int32_t n_features;
    int32_t features[MODEL_MAX_FEATURES];
    bool features_normed; /* those after the last by the target's norm */
    int32_t d_features;   /* length of all of an id's together */
    int32_t d_kept;       /* of the rows that it keeps of ids; at least 1 */
    int32_t n_ids; /* of a text that a step of a draft evaluates at most */
    int32_t n_likeliest; /* clusters of tokens that have logits */
    bool norm_before_fc, norm_before_residual; /* of EAGLE-3 */
    bool one_way;   /* of a block: ids do not see those after them */
    int32_t window; /* keys that its narrow layers see */
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
    bool narrow; /* a drafter's: it sees a window of keys, of which all are kept
                  */
    bool chosen; /* it sees what an indexer chooses: the layer's own, or that
                    of the last layer before it which has one */
    int32_t d_index; /* length of its own indexer's keys; 0: it has none */
    /* A recurrence stands in attention's place, or next to it: its short
     * convolution reads d_conv columns of n_channels channels, the id's own
     * among them, and it keeps n_state floats; 0: there is none. */
    bool recurs;
    int32_t d_conv, n_channels;
    int64_t n_state;
    int64_t n_apart; /* and of another convolution's columns */
    /* It keeps rows for blocks: of keys, and of the keys of an indexer, so
     * long, or none, 0. `compression` 1 is hp.compressions[0]; 0: it has no
     * blocks. Columns that rows are made of have n_channels values, d_conv of
     * them, of which d_conv - 1 are kept as those of a short convolution are.
     */
    int32_t compression;
    int32_t d_compressed, d_compressed_index;
    /* Gates less than `sparsity` standard deviations above their mean count as
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
    int32_t n_after;   /* layers of the file after these: MTP layers; */
    int32_t n_mtp;     /* how many of them are computed: all or none; with a
                          drafter n_drafter, and none of the file's */
    int32_t n_drafter; /* layers of a drafter, which follow n_layer here; 0:
                          there is none */
    int32_t n_encoder; /* layers in front that encode a prompt; those after them
                          decode the answer; 0: there are none */
    int32_t decoder_start; /* the id that a decoder's ids begin with */
    int32_t n_loop; /* layers with weights of their own; those after them have
                       the same once more; 0: all have */
    struct model_layer_hparams layers[MODEL_MAX_LAYERS];
    enum model_norms norms;
    float eps; /* of the norms */
    enum model_activation activation;
    bool limit_before; /* layers' limits are of gates before, not after it */
    struct model_situ situ;
    struct model_ssm ssm;
    int32_t n_compression; /* of the layers' blocks */
    struct model_compression compressions[MODEL_MAX_COMPRESSIONS];
    int32_t window; /* of windowed layers, in positions; 0: none is windowed */
    enum graph_window window_kind;

    /* Mixtures of experts; n_expert 0: there is none. */
    int32_t n_expert, n_expert_used;
    int32_t n_ff_expert;   /* length of an expert's feed-forward vector */
    int32_t n_embd_expert; /* length of what experts read and give; 0: n_embd */
    int32_t n_ff_shared; /* of the expert that all ids use; 0: there is none */
    int32_t n_hash;  /* layers in front whose experts follow from ids alone */
    int32_t n_dense; /* layers in front that have no mixture */
    int32_t mixture_step; /* after them the last of N layers has one; 0:
                             each does */
    int32_t moe_period;   /* of N layers the second has one; 0: none */
    struct model_routing routing;
    /* Groups of N experts have another one each, which answers with the
     * weights of those of its group that are used (Wu et al. 2025); 0: none. */
    int32_t adjugate_of;
    int32_t n_ff_adjugate; /* length of its feed-forward vector */
    float adjugate_scale;  /* multiplies its answer */

    /* Scales and caps; 0: none. */
    float embd_scale;     /* multiplies the embedding */
    float residual_scale; /* multiplies what a layer adds; 0: as 1, so that
                           * a family whose files may mean 0 refuses it */
    float attn_scale;     /* multiplies q k; else 1 / sqrt(d_key) */
    float attn_softcap;   /* c: q k becomes c tanh(q k / c) */
    float attn_max_bias;  /* ALiBi (Press et al. 2022); usually 8 */
    float value_scale;    /* multiplies what attention gives */
    float qkv_clamp;      /* queries, keys, values are clamped to +- this */
    float logit_scale;    /* multiplies the logits */
    float logit_softcap;
    float router_softcap; /* of families that ask for it: Grok 2 */

    struct rope_params rope;
    bool rope_local_differs;       /* windowed layers turn by rope_local, */
    struct rope_params rope_local; /* unscaled; base 0: that of the others */
    struct model_latent latent;
    struct model_latent latent_local; /* of windowed layers; n 0: the same */
    /* The heads' values are projected back in n_output_group groups, to
     * n_output_rank values each, and these together; 0: all at once. */
    int32_t n_output_group, n_output_rank;
    struct model_indexer indexer;
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
    /* Hyper-connections: residual streams side by side, streams.h; 0: there is
     * the usual one. sinkhorn: how often their mixes are normed; 0: they are
     * independent. stream_rank: of what reads them; 0: it has no rank. */
    int32_t n_stream, sinkhorn, stream_rank;
    float stream_eps, stream_magnitude;
    struct model_ngrams ngrams;
    struct model_switches switches;
    struct model_drafting drafting; /* of a drafter itself; else empty */
    /* Kimi K3: the residual stream is put into a bank before the first of every
     * N layers, and begins anew; 0: it goes on. */
    int32_t bank_every;

    /* Ids of a pair of texts are of the second kind after the first
     * `separator`. Else all are of the first. */
    bool typed_pairs;
    int32_t separator;
    int32_t pad; /* whose embedding is looked up where a row of a medium stands
                  */

    /* Buckets of distances between ids, which have a bias each; at least 4; 0:
     * none. */
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

/* Whether the layer has an indexer of its own, by which it attends. */
static inline bool
graph_chooses(const struct model_layer_hparams *l)
{
    return l->chosen && (l->d_index > 0 || l->d_compressed_index > 0);
}

/* Layers of the file, those for ids beyond the next among them. */
static inline int32_t
graph_all_layers(const struct model_hparams *hp)
{
    return hp->n_layer + hp->n_after;
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

/* Latent attention of the layer. */
static inline const struct model_latent *
graph_latent_of(const struct model_hparams *hp, int32_t layer)
{
    return hp->latent_local.n > 0 && hp->layers[layer].windowed
               ? &hp->latent_local
               : &hp->latent;
}

/* Whether a recurrence stands in attention's place, or next to it. */
static inline bool
graph_recurs(const struct model_hparams *hp, int32_t layer)
{
    return hp->layers[layer].recurs;
}

/* Floats that the layer keeps of a sequence, which change with each id: of a
 * recurrence, or columns of an unfinished block. */
static inline int64_t
graph_state_floats(const struct model_hparams *hp, int32_t layer)
{
    const struct model_layer_hparams *l = &hp->layers[layer];
    int64_t columns = l->d_conv > 1 ? l->d_conv - 1 : 0;

    return columns * l->n_channels + l->n_state + l->n_apart;
}

/* Whether the layer has a mixture of experts. */
static inline bool
graph_mixes(const struct model_hparams *hp, int32_t layer)
{
    int32_t step = hp->mixture_step > 0 ? hp->mixture_step : 1;

    return hp->n_expert > 0 && layer >= hp->n_dense && (layer + 1) % step == 0;
}

#endif
