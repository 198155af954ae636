/* models.h - small models of random weights, made by code */
#ifndef TESTS_MODELS_H
#define TESTS_MODELS_H

#include <gguf.h>

/* A number that is 0 stands for what is customary. */
struct model_spec {
    const char *arch;    /* "gpt2", "llama" */
    enum ggml_type type; /* of the matrices */
    int n_embd, n_layer, n_head, n_head_kv, n_ff, n_ctx, n_vocab;
    int d_key, n_rot;
    float rope_base, rope_factor;
    bool rope_freqs; /* llama: with a tensor of frequency divisors */
    bool biases;     /* llama: attn_q, attn_k, attn_v have biases */
    bool untied;     /* the output has a matrix of its own */
    bool no_vocab;   /* without tokens; n_vocab may be small then */
    uint64_t seed;

    /* Damage, for tests of the reader. */
    void (*spoil)(struct gguf_context *gguf); /* changes the metadata */
    const char *skip;                         /* leaves out this tensor */
    const char *shrink; /* takes a row (or an element) off this one */
    const char *retype; /* stores this one as f16 */
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

#endif
