/* models.h - small models of random weights, made by code */
#ifndef TESTS_MODELS_H
#define TESTS_MODELS_H

#include <gguf.h>

/* What a model's layers are made of, beyond norm, attention, norm, feed
 * forward. Those of an architecture are known by its name; a specification may
 * add some. */
enum {
    MODELS_LAYER_NORM = 1 << 0,    /* with means and biases; else RMS */
    MODELS_POSITIONS = 1 << 1,     /* learned ones, added to the tokens */
    MODELS_ROT_KEYS = 1 << 2,      /* the rotary keys are always written */
    MODELS_QKV = 1 << 3,           /* one tensor for queries, keys, values */
    MODELS_QKV_BIAS = 1 << 4,      /* biases of queries, keys, values */
    MODELS_OUT_BIAS = 1 << 5,      /* a bias of the attention's output */
    MODELS_QK_NORM = 1 << 6,       /* queries and keys are normed by heads */
    MODELS_QK_NORM_WHOLE = 1 << 7, /* and here the heads together */
    MODELS_SINKS = 1 << 8,         /* a logit per head that takes weight */
    MODELS_NO_ATTN_NORM = 1 << 9,
    MODELS_ATTN_NORM_2 = 1 << 10, /* attn_norm_2: the attention's own */
    MODELS_POST_NORMS = 1 << 11,  /* after attention and feed forward */
    MODELS_NO_FFN_NORM = 1 << 12,
    MODELS_FFN_NORM_POST = 1 << 13, /* it is named post_attention_norm */
    MODELS_GATED = 1 << 14,         /* ffn_gate */
    MODELS_GATED_UP = 1 << 15,      /* gates and ups in ffn_up */
    MODELS_FFN_BIAS = 1 << 16,
    MODELS_OUTPUT_BIAS = 1 << 17,  /* the logits' */
    MODELS_KEY_LENGTH = 1 << 18,   /* attention.key_length always written */
    MODELS_SMALL_TOKENS = 1 << 19, /* tokens are scaled up by the model */
    MODELS_ENCODER = 1 << 20,      /* norms after the blocks; no output */
    MODELS_SCALES = 1 << 21,       /* of all products, as NVFP4 has them */
};

/* A key of the architecture: "rope.scaling.type". */
struct model_key {
    const char *name;
    /* u32, f32, bool, string by their first letter; e: the number for each
     * layer, in an array; l: a list of bools, "1101" of 4; 0: none */
    char kind;
    double number;
    const char *text;
};

/* A number that is 0 stands for what is customary. */
struct model_spec {
    const char *arch;    /* "gpt2", "llama", ... */
    enum ggml_type type; /* of the matrices */
    int n_embd, n_layer, n_head, n_head_kv, n_ff, n_ctx, n_vocab;
    int d_key, n_rot;
    float rope_base, rope_factor;
    bool rope_freqs; /* llama: with a tensor of frequency divisors */
    bool biases;     /* llama: attn_q, attn_k, attn_v have biases */
    bool untied;     /* the output has a matrix of its own */
    bool no_vocab;   /* without tokens; n_vocab may be small then */
    uint64_t seed;

    unsigned traits;             /* beyond the architecture's */
    int n_expert, n_expert_used; /* the customary: none, 2 */
    int n_ff_expert, n_ff_shared;
    float eps;                /* of norms; 1e-5 */
    int llama3_n_ctx;         /* frequency divisors 1 to 8, as of Llama 3.1 */
    bool rope_long;           /* divisors for short and long contexts */
    struct model_key keys[8]; /* more of them */

    /* Damage, for tests of the reader. */
    void (*spoil)(struct gguf_context *gguf); /* changes the metadata */
    const char *skip;                         /* leaves out this tensor */
    const char *shrink; /* takes a row (or an element) off this one */
    const char *retype; /* stores this one as f16 */
    const char *extra;  /* adds this one, of 3 values */
    const char *nan;    /* and this one has no numbers */
};

enum {
    MODELS_N_VOCAB = 300, /* 256 bytes, pairs of letters, <|control|> */
};

/* Writes the model with a small byte-level BPE vocabulary in which no id ends a
 * generation; the same bytes for the same specification. False: it could not
 * be written. */
bool
models_write(const struct model_spec *spec, const char *path);

/* By name, "llama-q8_0" or "gpt2-f32", as make_model and the tests of the
 * tools use them. False: there is no such name. */
bool
models_named(const char *name, struct model_spec *out);

/* The name before the type, one after another; NULL after the last. Encoders,
 * which have no logits, are none of these. */
const char *
models_family(size_t i);

#endif
