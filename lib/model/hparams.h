/* hparams.h - the numbers that give a model its shape */
#ifndef MODEL_HPARAMS_H
#define MODEL_HPARAMS_H

#include <stdint.h>

#include "gguf/reader.h"

/* Every number is bounded, so that products of two of them fit 64 bits, and
 * consistent with the others; that the tensors have these shapes is checked
 * where they are found. */
struct model_hparams {
    int32_t n_vocab;     /* rows of the embedding */
    int32_t n_ctx_train; /* positions that the model was trained for */
    int32_t n_embd;      /* length of a hidden vector */
    int32_t n_layer;
    int32_t n_ff;      /* length of a feed-forward vector */
    int32_t n_head;    /* of queries */
    int32_t n_head_kv; /* of keys and values; divides n_head */
    int32_t d_key;     /* length of a head's query and key */
    int32_t d_value;   /* length of a head's value */
    int32_t n_rot;     /* of d_key, how many are rotated; even; 0: none */
    float rope_base;
    float rope_scale; /* positions are multiplied by it */
    float eps;        /* of the norms */
    int32_t window;   /* keys that an id of a windowed layer sees, its own
                         among them; 0: no layer is windowed */
};

/* Reads values of one file; keys begin with the architecture's name. The
 * first failure sticks: what follows reads nothing, and `status` and `err`
 * tell of it. */
struct model_keys {
    const struct gguf_context *gguf;
    const char *arch;
    enum gg_status status;
    struct gg_error *err;
};

/* ARCH.name, which must lie in min..max. Without a value in the file: `other`,
 * or failure where that is below `min`. */
int32_t
model_key_int(struct model_keys *keys, const char *name, int32_t min,
              int32_t max, int32_t other);
float
model_key_float(struct model_keys *keys, const char *name, float min, float max,
                float other);

/* What every family has: lengths, counts, heads (n_head_kv, d_key, d_value
 * default as is the custom). n_vocab comes from the embedding's shape. */
void
model_keys_common(struct model_keys *keys, struct model_hparams *hp);

/* Attention's window; 0 where the file gives none. */
void
model_keys_window(struct model_keys *keys, struct model_hparams *hp);

/* Rotary embedding: dimension, base, linear scaling. */
void
model_keys_rope(struct model_keys *keys, struct model_hparams *hp);

/* The name of the file's architecture, NUL-ended, into buf. */
enum gg_status
model_key_architecture(const struct gguf_context *gguf, char *buf, size_t size,
                       struct gg_error *err);

#endif
