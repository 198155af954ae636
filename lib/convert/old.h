/* old.h - what is in a file of ggml, ggmf or ggjt
 *
 *     magic, version (not in ggml), hyper-parameters, the tokens, then tensors
 *     one after the other: n_dims, length of the name, type, dimensions, name,
 *     and the data, which in ggjt begins on 32 bytes
 *
 * Source: the loaders of ggml's examples/gpt-2 and of llama.cpp until August
 * 2023 (llama_file_loader). */
#ifndef CONVERT_OLD_H
#define CONVERT_OLD_H

#include "convert/model.h"
#include "core/hash.h"

struct old_tensor {
    struct gguf_str name;
    int64_t ne[2];
    struct blocks blocks;
    const uint8_t *data;
    bool used;
};

/* Hyper-parameters, as they follow each other in the file. */
struct old_gpt2 {
    uint32_t n_vocab, n_ctx, n_embd, n_head, n_layer, ftype;
};
struct old_llama {
    uint32_t n_vocab, n_embd, n_mult, n_head, n_layer, n_rot, ftype;
};

struct old_file {
    struct convert_model *out;
    union {
        struct old_gpt2 gpt2;
        struct old_llama llama;
    } hp;
    enum blocks_layout layout;
    uint32_t n_vocab;
    struct gguf_str *tokens;
    float *scores; /* NULL: the file has none */
    struct old_tensor *tensors;
    size_t n_tensors, cap_tensors;
    struct hash_map names;
};

/* How a tensor of the file is called in GGUF. */
struct old_name {
    const char *from, *to;
    bool optional;
};

/* Adds the tensors of a list under their new names; %d in both is the layer. */
enum gg_status
convert_old_take(struct old_file *f, const struct old_name *names, size_t n,
                 uint32_t layer, struct gg_error *err);

/* NULL where the file has none. */
struct old_tensor *
convert_old_find(const struct old_file *f, const char *name);

/* The families: adds all keys, tokens and tensors. */
enum gg_status
convert_old_take_gpt2(struct old_file *f, struct gg_error *err);
enum gg_status
convert_old_take_llama(struct old_file *f, struct gg_error *err);

enum {
    OLD_MAX_LAYERS = 512, /* GGUF files are built in time square to this */
    OLD_MAX_NAME = 64,
};

#endif
