/* families.h - the families: names of their tensors there and here, their keys
 *
 * families/NAME.c has the folders of the architectures of
 * lib/graph/families/NAME.c: convert_hf_family_NAME, a row for each way in
 * which they are saved. Its line in convert/Makefile.inc declares it. names.c,
 * settings.c, states.h and others have what several families share. */
#ifndef CONVERT_HF_FAMILIES_H
#define CONVERT_HF_FAMILIES_H

#include "convert/hf/model.h"

/* Ways in which rows of a tensor become others; layout.c has a function for
 * each. */
enum hf_layout {
    HF_AS_FOUND,
    HF_TRANSPOSE, /* rows become columns */
    HF_EITHER,    /* they do unless columns are as long as the embedding */
    /* Heads: */
    HF_HEADS_Q, /* HF_PAIRS by heads of queries */
    HF_HEADS_K, /* and of keys */
    HF_QKV,     /* HF_PARTS */
    HF_ONLY_Q,  /* of a matrix of queries, keys and values those of queries, by
                   HF_PAIRS */
    HF_ONLY_K,  /* those of keys, by HF_PAIRS */
    HF_ONLY_V,  /* those of values */
    HF_GROUP_Q, /* the same of a matrix that has them group by group */
    HF_GROUP_K,
    HF_GROUP_V,
    HF_LATENT_K, /* of a matrix that makes keys and values of a latent row,
                    keys: of each head, rows become columns */
    HF_LATENT_V, /* and values */
    /* Gates and ups in one: */
    HF_GATES,        /* the first half of a block's rows */
    HF_UPS,          /* the second */
    HF_GATE_COLUMNS, /* of its columns, which become rows */
    HF_UP_COLUMNS,
    HF_GATES_EITHER, /* of what is as long as no embedding */
    HF_UPS_EITHER,
    HF_EVEN, /* every second column, from the first on, becomes a row */
    HF_ODD,  /* from the second on */
    /* Experts: */
    HF_STACKED,         /* rows of all, one expert after the other */
    HF_STACKED_COLUMNS, /* the same, and they become columns */
    HF_MXFP4,           /* blocks, with scales; rows are rows here */
    HF_MXFP4_EVEN,      /* every second row, from the first on */
    HF_MXFP4_ODD,       /* from the second on */
    /* Tables: */
    HF_VOCAB,     /* a row an id: those that lack are the first */
    HF_POSITIONS, /* without the rows of what pads */
    HF_SHARDS,    /* "%d" is one of h->n_shards parts, whose rows follow each
                     other; the name there is complete: the table is no layer's */
    HF_INDEX_Q,   /* of a matrix of an indexer's queries and its key, queries */
    HF_INDEX_K,   /* and the key */
    /* States: */
    HF_GROUPED,    /* of a vector a row a group */
    HF_SQUEEZE,    /* the middle one of three dimensions is left out; a vector
                      becomes a column */
    HF_TILED_ROWS, /* of a gated delta rule, rows of values: HF_TILED */
    HF_SQUEEZE_TILED, /* both */
    HF_TILED_COLUMNS, /* columns of values */
    HF_DELTA_QKV,     /* of a matrix that makes all in one, HF_FLAT */
    HF_DELTA_GATES,   /* and its gates */
    HF_PAIRED_QKV,    /* queries, keys, values in one: HF_PAIRS of the first two
                       */
    HF_ADAPTERS,      /* n x 1 x rows x columns: a block of zeros before n */
    HF_ADAPTERS_Q,    /* the same by heads of queries: HF_PAIRS */
    HF_ADAPTERS_K,    /* and of keys */
    HF_MIXES, /* rows become columns; of RWKV 6's mixes r, k, v, w, g become w,
                 k, v, r, g */
    /* Filters of encoders of media: filters.c. A vector stays; a number
     * is one. */
    HF_FILTERS, /* a convolution's: n x channels x height x width */
    HF_FRAME_1, /* filters over two frames: those of the first */
    HF_FRAME_2, /* of the second */
    HF_PIXELS,  /* a row has the channels of each pixel, which become all pixels
                   of a channel: n x 3 x height x width */
    HF_THIRD_1, /* of rows or values, the first third */
    HF_THIRD_2,
    HF_THIRD_3,
    HF_LAYOUTS, /* how many there are */
};

/* A layout goes with any of these. */
enum {
    HF_LAYOUT = (1 << 8) - 1, /* the bits of the layout */
    HF_EXACT = 1 << 8,        /* both names are complete: no weight, no bias */
    HF_OPTIONAL = 1 << 9,
    HF_OR_NEXT = 1 << 10,  /* where it is missing, the next one stands for it */
    HF_HALF = 1 << 11,     /* %d is one of half as many experts */
    HF_F32 = 1 << 12,      /* stays exact whatever the others become */
    HF_PLUS_1 = 1 << 13,   /* 1 is added */
    HF_DECAYS = 1 << 14,   /* -exp(x); where it has four dimensions, a column */
    HF_SOFTPLUS = 1 << 15, /* log(1 + exp(x)) */
    HF_RECURRENT = 1 << 16, /* only in layers with .recurrent; */
    HF_ATTENDING = 1 << 17, /* or in those without */
    HF_IDS = 1 << 18,       /* whole numbers, which become I32 */
};

enum {
    HF_LISTS = 9, /* of names of a layer's tensors */
};

/* Bounds of settings. */
enum {
    HF_MAX_CTX = 1 << 28,
    HF_MAX_FF = 1 << 24,
    HF_MAX_HEADS = 1 << 16,
    HF_MAX_EXPERTS = 1 << 12,
    HF_MAX_USED = 64, /* experts of an id */
    HF_MAX_SHARED = 64,
    HF_MAX_CONV = 64,
};

/* Values of expert_gating_func, as lib/graph/hparams.h has them, counted from
 * 1. */
enum {
    HF_SOFTMAX = 1,
    HF_SIGMOID = 2,
    HF_SQRT_SOFTPLUS = 4,
};

/* Values of pooling_type: llama.cpp's enum llama_pooling_type. */
enum {
    HF_POOL_NONE = 0,
    HF_POOL_MEAN = 1,
    HF_POOL_CLS = 2,
    HF_POOL_RANK = 4,
};

#define HF_GELU_TANH "gelu_new|gelu_pytorch_tanh|gelu_fast"

/* Names of a tensor there and here; "%d" is the layer in front of it, or
 * an expert. */
struct hf_name {
    const char *from, *to;
    unsigned how; /* one of enum hf_layout, and what goes with it */
};

/* MTP layers, for ids beyond the next. */
struct hf_mtp {
    /* Prefixes of their names, counted from 0, and of what stands next to
     * them; NULL: they are layers after the last, and it is in them. */
    const char *layers, *outside;
    const struct hf_name *names; /* the first of what all have */
};
extern const struct hf_mtp convert_hf_mtp; /* as DeepSeek V3 has them */

/* A row of a family. Lists of names end with one without a name. Members that
 * are not set are as most families have them. */
struct hf_family {
    const char *classes; /* architectures[0] in config.json: "A|B" */
    const char *arch;    /* general.architecture */
    const struct hf_name *layer[HF_LISTS];
    const char *layers;          /* NULL: "model.layers." */
    const struct hf_name *whole; /* outside layers; NULL: convert_hf_usual */
    const char *activations;     /* that the graph has; NULL: "silu" */
    bool layer_norm;             /* with means; else RMS */
    double epsilon; /* unless the configuration says it; 0: the customary */
    bool encoder;   /* no logits */
    bool drafts;    /* for another model, whose tokens and tables it shares */
    bool positions; /* learned ones; else rotary */
    bool tied;      /* unless the configuration says otherwise */
    void (*keys)(struct hf *h); /* what is special; or NULL */
    int full_every;             /* one in N layers sees all; 0: all alike */
    int full_at;                /* which of these N */
    const char *windowed;       /* as layer_types calls the others; NULL:
                                   sliding_attention */
    bool listed;                /* it is any layer that layer_types says */
    bool any_layers;            /* layer_types is for .keys to read */
    bool half_turns; /* of heads of layers that see all, half turns; files
                        name the whole, and divisors of it */
    double turns;    /* part of a head that turns, unless it is said; 0: all */
    bool no_base;    /* files do not name the base of turns */
    /* The key that names the alpha of rope_type dynamic; "": the base is the
     * one that alpha makes; NULL: it has none. */
    const char *alpha;
    bool plain_yarn; /* mscale_all_dim is a multiplier as it stands */
    bool exact_yarn; /* bounds of YaRN are not rounded */
    bool ranked;     /* tokens of characters are merged by their ranks */
    bool characters; /* so are they, and tokenizer.ggml.pre says how */
    /* The base by which windowed layers turn, where the configuration names
     * none; below 0: that of the others; 0: files have none. */
    double windowed_base;
    /* The row counts where the configuration has this setting, and it is
     * neither null nor 0; NULL: always. */
    const char *setting;
    bool (*counts)(struct core_json_keys *config); /* or where this says so */
    /* Multipliers that are in the weights of files: sets .bands of the rows
     * that become tensor `to`. NULL: there are none. */
    void (*scale)(struct hf *h, const char *to, struct hf_rows *rows);
    bool no_heads;  /* of attention: the configuration has none */
    const char *to; /* "enc.blk."; NULL: "blk." */
    /* Layers of a decoder, prefix and names, which become "dec.blk."; NULL. */
    const char *decoder;
    const struct hf_name *decoder_layer;
    const char *const *left_out; /* parts of names; ended by NULL; or NULL */
    int32_t n_ctx;               /* where nothing says it; 0: 2048 */
    const char *defaults; /* settings that the configuration lacks: an object of
                             JSON; or NULL */
    const struct hf_mtp *mtp; /* NULL: they are left out */
    const char *recurrent;    /* tensor of a layer with a recurrence; or NULL */
};

/* The row of the model that such a configuration names, or NULL; `class` is
 * then the one of its classes that the model is, or is without what stands on
 * top of its layers. */
const struct hf_family *
convert_hf_family_find(const char *model, struct core_json_keys *config,
                       char class[HF_CLASS]);

/* Whether such a model is one of the row's classes. */
bool
convert_hf_names_class(const struct hf_family *family, const char *model);

/* Members, or what stands for those that are not set. */
const char *
convert_hf_layers(const struct hf_family *family);
const char *
convert_hf_layers_to(const struct hf_family *family);
const struct hf_name *
convert_hf_whole(const struct hf_family *family);
const char *
convert_hf_activations(const struct hf_family *family);

/* ---- names.c: lists that several families have -----------------------------
 */

extern const struct hf_name convert_hf_usual[];     /* outside the layers */
extern const struct hf_name convert_hf_attention[]; /* self_attn.q_proj, ... */
extern const struct hf_name convert_hf_attention_pairs[]; /* by HF_PAIRS */
extern const struct hf_name convert_hf_head_norms[];
extern const struct hf_name convert_hf_norms[];
extern const struct hf_name convert_hf_one_norm[];   /* input_layernorm alone */
extern const struct hf_name convert_hf_post_norms[]; /* after the two blocks */
extern const struct hf_name convert_hf_mlp[];        /* mlp.gate_proj, ... */
extern const struct hf_name convert_hf_up_down[];    /* without gates */
/* The usual ones by HF_PLUS_1. */
extern const struct hf_name convert_hf_usual_plus_1[];
extern const struct hf_name convert_hf_norms_plus_1[];
/* Names in mixtures, all optional: one tensor an expert; layers without
 * experts; the experts of all ids; and all of that in one list. */
extern const struct hf_name convert_hf_expert_names[];
extern const struct hf_name convert_hf_dense_names[];
extern const struct hf_name convert_hf_shared_names[];
extern const struct hf_name convert_hf_any_experts[];
/* Lists named by the first family that has them. */
extern const struct hf_name convert_hf_qwen_experts[];
extern const struct hf_name convert_hf_gemma2_norms[];
extern const struct hf_name convert_hf_gemma_attention[]; /* 3n, 4 */
extern const struct hf_name convert_hf_gemma4_norms[];    /* 3n, 4 */
extern const struct hf_name convert_hf_starcoder[];
extern const struct hf_name convert_hf_kimi_mixture[];
extern const struct hf_name convert_hf_kimi_delta[];
/* sparse.c: weights of hyper-connections. */
extern const struct hf_name convert_hf_stream_names[];

/* ---- settings.c: settings that several families have -----------------------
 */

/* An integer from 1 on. */
int64_t
convert_hf_number(struct hf *h, const char *name, int32_t max, int64_t other);
/* A list for the layers, under the name after the architecture's; frees x. */
void
convert_hf_set_layers(struct hf *h, const char *name, enum gguf_type type,
                      void *x);
void
convert_hf_keys_window(struct hf *h);
/* How many experts there are and an id uses, `used` where the configuration
 * does not say it. */
void
convert_hf_set_experts(struct hf *h, int64_t used);
void
convert_hf_set_expert_length(struct hf *h, const char *from);
/* Layers without experts, which mlp_layer_types lists before all others. */
int64_t
convert_hf_count_listed_dense(struct hf *h);
/* Layers with a window, as layer_types lists them; without it all but the last,
 * or the first, of each four. */
void
convert_hf_keys_listed(struct hf *h);
void
convert_hf_keys_listed_after(struct hf *h);
void
convert_hf_keys_qwen(struct hf *h);
void
convert_hf_keys_qwen_moe(struct hf *h, int64_t used);
void
convert_hf_keys_qwen3vl(struct hf *h);
/* How many pairs turn by which position of M-RoPE. */
void
convert_hf_set_sections(struct hf *h);
/* qwen35.c: keys of the gated delta rule; which layers have it, layer_types
 * says, which calls the others by one of these names: "A|B". */
void
convert_hf_keys_qwen_delta(struct hf *h, const char *attention);
/* Keys of a mixture with a shared expert; the sections of M-RoPE. */
void
convert_hf_keys_qwen_shared(struct hf *h, int64_t used);
void
convert_hf_set_qwen_sections(struct hf *h);
extern const struct hf_name convert_hf_qwen_delta[];
extern const struct hf_name convert_hf_qwen_mixture[];
/* Scales and caps; `deep`: layers of the model whose scale is another. */
void
convert_hf_keys_gemma(struct hf *h, int32_t deep);
/* As DeepSeek V3 has it: dense layers in front, groups of experts. */
void
convert_hf_keys_deepseek3(struct hf *h);

/* ---- latents.c: latent attention -------------------------------------------
 */

/* Its matrices, with that which makes keys and values in two parts, or whole.
 */
extern const struct hf_name convert_hf_latent[];
extern const struct hf_name convert_hf_latent_whole[];
/* Its keys; `absorbed`: in two parts. Returns how much of a key turns. */
int32_t
convert_hf_set_latent(struct hf *h, bool absorbed);
/* An indexer that chooses the positions that it reads: tensors and keys. */
extern const struct hf_name convert_hf_indexer[];
void
convert_hf_set_indexer(struct hf *h);
/* Layers in front without experts; `other` where nothing says it. */
int64_t
convert_hf_count_dense(struct hf *h, int64_t other);

/* kimi_linear.c: all keys but whether experts' weights are divided by their
 * sum. */
void
convert_hf_keys_kimi(struct hf *h);

/* ---- sparse.c: which layers have indexers, hyper-connections ----------------
 */

/* Layers with an indexer of their own, as indexer_types lists them; without it
 * those that `other` says. Where all have one, only `always`. */
void
convert_hf_set_indexer_types(struct hf *h, bool (*other)(struct hf *, int32_t),
                             bool always);
/* Whether GLM's configuration gives the layer an indexer of its own. */
bool
convert_hf_indexer_by_number(struct hf *h, int32_t layer);
/* hc_mult and others; independent ones have a magnitude, others are normed. */
void
convert_hf_set_streams(struct hf *h, bool independent);
/* swiglu_limit of all layers, under that name. */
void
convert_hf_set_limit(struct hf *h, const char *to);

/* ---- classifier.c: heads with labels ---------------------------------------
 */

/* A reranker, or another classifier of texts or pairs of them. */
void
convert_hf_keys_rank(struct hf *h);
/* A classifier that gives each id a label. */
void
convert_hf_keys_token_labels(struct hf *h);
/* Writes the function after the head's first layer, where it is not the
 * family's own. */
void
convert_hf_set_head_activation(struct hf *h, const char *name);

/* ---- gemma_keys.c: Gemma 3n and 4 ------------------------------------------
 */

/* A number a layer, under ARCH.name; the array is the caller's. */
void
convert_hf_gemma_list(struct hf *h, const char *name, enum gguf_type type,
                      const void *list);
bool
convert_hf_gemma_is_windowed(const struct hf *h, int32_t layer, int period);
void
convert_hf_gemma_windows(struct hf *h, int period);
void
convert_hf_gemma_keys(struct hf *h, int64_t shared, int period);

/* ---- others ----------------------------------------------------------------
 */

void
convert_hf_read_keys(struct hf *h);
/* folder.c: gives the configuration the family's defaults that it lacks. */
void
convert_hf_add_defaults(struct hf *h);
/* keys.c: whether layer_types says that the layer has a window; `other` where
 * there is no such list. */
bool
convert_hf_is_windowed(const struct hf *h, int32_t layer, bool other);
/* pooling.c: how the vectors of a text become one, if the folder says it. */
void
convert_hf_read_pooling(struct hf *h);
/* rerank.c: of Qwen 3, which may be a reranker. */
void
convert_hf_keys_qwen3(struct hf *h);

/* Rotary positions: keys, and divisors where the scaling has some. */
void
convert_hf_read_rope(struct hf *h);

void
convert_hf_add_tensors(struct hf *h);
/* Tensors of a list, whose names have these in front there and here. */
void
convert_hf_take_list(struct hf *h, const char *prefix, const char *to_prefix,
                     const struct hf_name *list);
/* Fails where there are tensors of pictures or sounds that nothing has taken.
 */
void
convert_hf_check_media_left(struct hf *h, const char *model);
/* Fails where the activation is none of the family's. */
void
convert_hf_check_activation(struct hf *h);
/* general.name */
void
convert_hf_set_name(struct hf *h);

/* tensors.c: how many MTP layers the folder has, of a family that takes them.
 */
int32_t
convert_hf_count_mtp(struct hf *h);

/* The type of a tensor's rows. */
enum ggml_type
convert_hf_type_of(struct hf *h, const struct safetensors_tensor *t,
                   const struct hf_rows *rows);

/* Reads a tensor of n values, by its whole name. */
bool
convert_hf_read_vector(struct hf *h, const char *name, int32_t n, float *out);

/* Takes the tensor, or, where the name has "%d", those of all experts, under
 * its complete name, as `how` says. False: there is none. */
bool
convert_hf_take(struct hf *h, const char *from, const char *to, unsigned how);

#endif
