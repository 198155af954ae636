/* families.h - the families: names of their tensors there and here, their keys
 *
 * A family is a line in one of the tables that families.c lists, which tensors.c
 * and keys.c go by; what only it has is in special.c. */
#ifndef CONVERT_HF_FAMILIES_H
#define CONVERT_HF_FAMILIES_H

#include "convert/hf/model.h"

enum {
    HF_HEADS_Q = 1 << 0,   /* HF_PAIRS by heads of queries */
    HF_HEADS_K = 1 << 1,   /* and of keys */
    HF_QKV = 1 << 2,       /* HF_PARTS */
    HF_TRANSPOSE = 1 << 3, /* rows become columns */
    HF_PLUS_1 = 1 << 4,    /* 1 is added */
    HF_F32 = 1 << 5,       /* stays exact whatever the others become */
    HF_OPTIONAL = 1 << 6,
    HF_OR_NEXT = 1 << 7, /* where it is missing, the next one stands for it */
    HF_EXACT = 1 << 8,   /* both names are complete: no weight, no bias */
    HF_GATES = 1 << 9,   /* the first half of a block's rows */
    HF_UPS = 1 << 10,    /* the second */
    HF_EVEN = 1 << 11,   /* every second column, from the first on; turned */
    HF_ODD = 1 << 12,    /* from the second on */
    HF_VOCAB = 1 << 14,  /* a row an id: those that lack are the first */
    HF_MXFP4 = 1 << 13,  /* blocks, with scales; rows are rows here */
    HF_HALF = 1 << 18,   /* %d is one of half as many */
    HF_EITHER = 1 << 15, /* HF_TRANSPOSE unless gates' and ups' rows, or other
                            tensors' columns, are as long as the embedding */
    HF_POSITIONS = 1 << 16, /* without the rows of what pads */
    HF_STACKED = 1 << 17,   /* rows of all experts, one after the other */
    HF_ONLY_Q = 1 << 19,    /* of a matrix that makes queries, keys and values
                               those rows, by HF_PAIRS */
    HF_ONLY_K = 1 << 20,    /* of keys, by HF_PAIRS */
    HF_ONLY_V = 1 << 21,    /* of values */
    HF_GROUPED = 1 << 22,   /* and it has them group by group; alone, of a
                               vector: a row a group */
    HF_LATENT_K = 1 << 23, /* of a matrix that makes keys and values of a latent
                              row, keys: of each head, rows become columns */
    HF_LATENT_V = 1 << 24, /* and values */
    HF_DECAYS = 1 << 25,   /* -exp(x); where it has four dimensions, a column */
    HF_SQUEEZE = 1 << 26,  /* the middle one of three dimensions is left out;
                              a vector becomes a column */
    /* Of a gated delta rule: rows, or columns, of values become HF_TILED; of
     * what makes all in one, HF_FLAT, or gates. */
    HF_TILED_ROWS = 1 << 27,
    HF_TILED_COLUMNS = 1 << 28,
    HF_DELTA_QKV = 1 << 29,
    HF_DELTA_GATES = 1 << 30,
};

enum {
    HF_LISTS = 7, /* of names of a layer's tensors */
};

/* What a tensor is called there and here; "%d" is the layer in front of it, or
 * an expert. */
struct hf_name {
    const char *from, *to;
    unsigned how;
};

/* MTP layers, for ids beyond the next. */
struct hf_mtp {
    /* What their names begin with, counted from 0, and those of what stands
     * beside; NULL: they are layers after the last, and it is in them. */
    const char *layers, *beside;
    const struct hf_name *names; /* the first of what all have */
};
extern const struct hf_mtp convert_hf_mtp; /* as DeepSeek V3 has them */

struct hf_family {
    const char *model;  /* architectures[0] in config.json */
    const char *arch;   /* general.architecture */
    const char *layers; /* "model.layers." */
    const struct hf_name *whole, *layer[HF_LISTS]; /* ended by one without
                                                    a name */
    bool layer_norm;                               /* with means; else RMS */
    double epsilon; /* unless the configuration says it; 0: the customary */
    bool encoder;   /* no logits */
    bool positions; /* learned ones; else rotary */
    const char *activations;    /* "silu": those that the graph has */
    bool tied;                  /* unless the configuration says otherwise */
    void (*keys)(struct hf *h); /* what is special; or NULL */
    int full_every;       /* every so many layers one sees all; 0: all alike */
    int full_at;          /* which of so many */
    const char *windowed; /* as layer_types calls the others; NULL:
                             sliding_attention */
    bool listed;          /* it is any layer that layer_types says */
    bool any_layers;      /* layer_types is for .keys to read */
    bool half_turns;      /* of heads of layers that see all, half turns; files
                             name the whole, and divisors of it */
    /* The base by which windowed layers turn, where the configuration names
     * none; below 0: that of the others; 0: files have none. */
    double windowed_base;
    /* The line counts where the configuration has this setting, and it is
     * neither null nor 0; NULL: always. */
    const char *setting;
    bool (*counts)(struct core_json_keys *config); /* or where this says so */
    /* Multipliers that are in the weights of files: sets .bands of the rows
     * that become tensor `to`. NULL: there are none. */
    void (*scale)(struct hf *h, const char *to, struct hf_rows *rows);
    bool no_heads;               /* of attention: the configuration has none */
    const char *to;              /* "enc.blk."; NULL: "blk." */
    const char *const *left_out; /* parts of names; ended by NULL; or NULL */
    int32_t n_ctx;               /* where nothing says it; 0: 2048 */
    const struct hf_mtp *mtp;    /* NULL: they are left out */
};

/* Ended by one without a name: encoders.c, dense.c, mixtures.c, pictures.c,
 * patterns.c, windows.c, llamas.c, latents.c, deltas.c, states.c,
 * hybrids.c. */
extern const struct hf_family convert_hf_encoders[];
extern const struct hf_family convert_hf_dense[];
extern const struct hf_family convert_hf_mixtures[];
extern const struct hf_family convert_hf_pictures[];
extern const struct hf_family convert_hf_patterns[];
extern const struct hf_family convert_hf_windows[];
extern const struct hf_family convert_hf_llamas[];
extern const struct hf_family convert_hf_latents[];
extern const struct hf_family convert_hf_deltas[];
extern const struct hf_family convert_hf_states[];
extern const struct hf_family convert_hf_hybrids[];

/* Lists of names that several families have. */
extern const struct hf_name convert_hf_usual[];     /* beside the layers */
extern const struct hf_name convert_hf_attention[]; /* self_attn.q_proj, ... */
extern const struct hf_name convert_hf_attention_pairs[]; /* by HF_PAIRS */
extern const struct hf_name convert_hf_head_norms[];
extern const struct hf_name convert_hf_norms[];
extern const struct hf_name convert_hf_mlp[]; /* mlp.gate_proj, ... */
/* Of mixtures, all optional: one tensor an expert; layers without experts; the
 * experts of all ids. */
extern const struct hf_name convert_hf_expert_names[];
extern const struct hf_name convert_hf_dense_names[];
extern const struct hf_name convert_hf_shared_names[];
/* Of Granite with experts. */
extern const struct hf_name convert_hf_granite_experts[];
extern const struct hf_name convert_hf_granite_shared[];

/* encoder_keys.c. */
void
convert_hf_keys_bert(struct hf *h);
void
convert_hf_keys_bert_rank(struct hf *h);
void
convert_hf_keys_roberta(struct hf *h);
void
convert_hf_keys_roberta_rank(struct hf *h);
void
convert_hf_keys_nomic(struct hf *h);
void
convert_hf_keys_nomic_moe(struct hf *h);
void
convert_hf_keys_jina_v2(struct hf *h);
void
convert_hf_keys_jina_v3(struct hf *h);
void
convert_hf_keys_modern(struct hf *h);
void
convert_hf_keys_modern_rank(struct hf *h);
void
convert_hf_keys_eurobert(struct hf *h);
void
convert_hf_keys_neo(struct hf *h);
void
convert_hf_keys_neo_rank(struct hf *h);
void
convert_hf_keys_t5(struct hf *h);

/* The line of the model that such a configuration names; or NULL. */
const struct hf_family *
convert_hf_family_find(const char *model, struct core_json_keys *config);

void
convert_hf_read_keys(struct hf *h);
/* keys.c: whether layer_types says that the layer has a window; `other` where
 * there is no such list. */
bool
convert_hf_is_windowed(const struct hf *h, int32_t layer, bool other);
/* pooling.c: how the vectors of a text become one, if the folder says it. */
void
convert_hf_read_pooling(struct hf *h);
/* special.c: what only some families have. */
void
convert_hf_set_experts(struct hf *h, int64_t used);
void
convert_hf_keys_window(struct hf *h);
void
convert_hf_keys_gpt_neox(struct hf *h);
void
convert_hf_keys_falcon(struct hf *h);
void
convert_hf_keys_mixtral(struct hf *h);
void
convert_hf_keys_qwen(struct hf *h);
/* Of all with experts; `used` where the configuration does not say it. */
void
convert_hf_keys_qwen_moe(struct hf *h, int64_t used);
/* rerank.c. */
void
convert_hf_keys_qwen3(struct hf *h);
void
convert_hf_keys_qwen2moe(struct hf *h);
void
convert_hf_keys_qwen3moe(struct hf *h);
void
convert_hf_keys_gemma2(struct hf *h);
void
convert_hf_keys_gemma3(struct hf *h);
void
convert_hf_keys_gemma_embedding(struct hf *h);
void
convert_hf_keys_gemma3n(struct hf *h);
void
convert_hf_keys_gemma4(struct hf *h);
void
convert_hf_keys_phi2(struct hf *h);
void
convert_hf_keys_phi3(struct hf *h);
void
convert_hf_keys_gpt_oss(struct hf *h);
void
convert_hf_keys_smollm3(struct hf *h);
void
convert_hf_keys_listed(struct hf *h);
/* The same; without a list, all but the first of each four. */
void
convert_hf_keys_listed_behind(struct hf *h);
void
convert_hf_keys_granite(struct hf *h);
/* As DeepSeek V3 has it: dense layers in front, groups of experts. */
void
convert_hf_keys_deepseek3(struct hf *h);
/* pictures.c: how many pairs turn by which position. */
void
convert_hf_set_sections(struct hf *h);
/* deci.c. */
void
convert_hf_keys_deci(struct hf *h);

/* Rotary positions: keys, and divisors where the scaling has some. */
void
convert_hf_read_rope(struct hf *h);

void
convert_hf_add_tensors(struct hf *h);

/* tensors.c: how many MTP layers the folder has, of a family that takes them.
 */
int32_t
convert_hf_count_mtp(struct hf *h);

/* The type of a tensor's rows. */
enum ggml_type
convert_hf_type_of(struct hf *h, const struct safetensors_tensor *t,
                   const struct hf_rows *rows);

/* Takes the tensor, or, where the name has "%d", those of all experts, under
 * its complete name, as `how` says. False: there is none. */
bool
convert_hf_take(struct hf *h, const char *from, const char *to, unsigned how);

#endif
