/* model.h - a folder as Hugging Face's transformers saves a model
 *
 * config.json, weights as safetensors, a tokenizer. Names and shapes of the
 * tensors are those of the library's models; what they become is what
 * llama.cpp's convert_hf_to_gguf.py makes of them. This is the model in the
 * making, to which families.h, scaled.h and tokens.h add; folder.c begins
 * and ends it. */
#ifndef CONVERT_HF_MODEL_H
#define CONVERT_HF_MODEL_H

#include "convert/hf/weights.h"
#include "core/json.h"
#include "gguf/reader.h"

struct hf_family;

enum {
    HF_CLASS = 64, /* bytes of the name of a class */
};

struct hf {
    const char *path;
    const struct hf_family *family;
    char class[HF_CLASS]; /* the one of the family's that it is */
    struct core_json_keys config;
    struct core_json_keys here; /* for complaints about the folder */
    const json_t *quantized;    /* how weights were quantised; or NULL */
    json_t *quant_document; /* that this is in, if not in the configuration */
    bool cache_scales;      /* there are some of a KV cache */
    struct {
        size_t n; /* tensors of packed weights that their type rounds */
        char first[GGML_MAX_NAME];
        enum ggml_type type;
    } rounded;
    json_t *document;            /* that the configuration is in */
    struct core_json_keys top;   /* of a projector: the whole document */
    struct core_json_keys input; /* how a projector's media are prepared */
    json_t *input_document;      /* that this is in; or NULL */
    const char *target_path;     /* that a drafter is for; or NULL */
    struct gguf_file target;     /* this, without weights, once it is open */
    char input_path[4096];
    struct gguf_context *gguf;
    struct hf_weights weights;
    struct hf_rows *rows; /* one for each tensor */
    size_t cap_rows;

    int32_t n_mtp;     /* layers after n_layer */
    int32_t n_decoder; /* layers of a decoder, after the others; or 0 */
    int32_t n_vocab, n_ctx, n_embd, n_layer, n_ff, n_head, n_head_kv, d_head;
    int32_t d_own, d_value; /* of heads of latent attention: of a key what is
                               its own, and of a value */
    struct hf_latent {
        int32_t n_head, d_own, d_value;
    } latent_local; /* of layers with a window; no heads: the same */
    struct {
        int32_t n_key, n_value, d_key, d_value; /* heads, and their lengths */
    } delta;                                    /* of a gated delta rule */
    int32_t n_rot, n_expert, n_kinds;           /* of texts, of an encoder */
    int32_t n_pad;    /* rows of positions that no id has */
    int32_t n_shards; /* of a table; 0: there is none */
    struct {
        int32_t n_head, d; /* of an indexer */
    } index;
    int32_t n_steps, n_dense; /* after the pooling; values of the last one */
    bool answers;             /* yes or no, in place of an output */
    bool heads_by_layer;      /* a layer has as many as its rows make */
    float times;  /* what is taken is multiplied by it; 0: by nothing */
    bool weighed; /* the tensors are wanted, not only the keys */
};

/* True while nothing failed. */
bool
convert_hf_good(const struct hf *h);
/* The first failure, or GG_OK. */
enum gg_status
convert_hf_status(const struct hf *h);
/* ARCH.name */
void
convert_hf_set_u32(struct hf *h, const char *name, int64_t value);
void
convert_hf_set_f32(struct hf *h, const char *name, double value);
void
convert_hf_set_str(struct hf *h, const char *name, const char *value);
void
convert_hf_set_bool(struct hf *h, const char *name, bool value);

/* A number or a truth for each layer, and each MTP layer, under the whole name
 * `key`; frees `x`, which NULL says there was no memory for. */
void
convert_hf_set_list(struct hf *h, const char *key, enum gguf_type type,
                    void *x);

/* A list of the configuration with one element a layer, which it must have if
 * it is there; NULL where it is not. */
const json_t *
convert_hf_layers_list(struct hf *h, const char *name);

/* Adds a tensor of such rows; frees what they point to if it cannot. */
void
convert_hf_add(struct hf *h, const char *name, enum ggml_type type,
               const int64_t ne[GGML_MAX_DIMS], const struct hf_rows *rows);

/* Adds a tensor as it is. */
void
convert_hf_add_from(struct hf *h, const char *name,
                    const struct safetensors_tensor *from);

/* A setting must have, or default to, one value. */
void
convert_hf_must_be(struct hf *h, const char *name, bool value, bool other);
void
convert_hf_must_be_int(struct hf *h, const char *name, int64_t value);

#endif
