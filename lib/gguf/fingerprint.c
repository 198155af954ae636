/* fingerprint.c - a number that tells models apart */
#include "gguf/context.h"

#include <string.h>

enum {
    SAMPLES = 8, /* of a tensor's data, from its first to its last bytes */
    SAMPLE = 32, /* bytes */
};

static uint64_t
hash_number(uint64_t h, uint64_t v)
{
    return hash_bytes(h, &v, sizeof(v));
}

/* Sums of such do not depend on the order. */
static uint64_t
mixed(uint64_t h)
{
    h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

/* ---- keys --------------------------------------------------------------- */

/* Whether logits or the meaning of ids may depend on it: hyper-parameters and
 * tokens, but neither names nor how a file was split. */
static bool
counts(const struct gguf_kv *kv, const struct gguf_str *arch)
{
    static const char tokens[] = "tokenizer.ggml.";

    if (strcmp(kv->key, "general.architecture") == 0 ||
        strncmp(kv->key, tokens, sizeof(tokens) - 1) == 0)
        return true;
    return kv->key_len > arch->n && kv->key[arch->n] == '.' &&
           memcmp(kv->key, arch->s, arch->n) == 0;
}

static uint64_t
hash_key(const struct gguf_kv *kv)
{
    uint64_t h = hash_bytes(HASH_START, kv->key, kv->key_len);

    h = hash_number(h, kv->type);
    h = hash_number(h, kv->n);
    if (kv->type != GGUF_TYPE_STRING)
        return hash_bytes(h, gguf_kv_data(kv),
                          kv->n * gguf_type_bytes(kv->type));
    for (size_t i = 0; i < kv->n; i++) {
        h = hash_number(h, kv->strings[i].n);
        h = hash_bytes(h, kv->strings[i].s, kv->strings[i].n);
    }
    return h;
}

/* ---- tensors ------------------------------------------------------------ */

static uint64_t
hash_data(uint64_t h, const char *data, size_t size)
{
    size_t n = size < SAMPLE ? size : SAMPLE, step = (size - n) / (SAMPLES - 1);

    for (size_t i = 0; i < SAMPLES; i++)
        h = hash_bytes(h, data + i * step, n);
    return hash_bytes(h, data + size - n, n);
}

static uint64_t
hash_tensor(const struct gguf_tensor *t)
{
    uint64_t h = hash_bytes(HASH_START, t->name, strlen(t->name));

    h = hash_number(h, t->type);
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        h = hash_number(h, (uint64_t)t->ne[i]);
    return t->data ? hash_data(h, t->data, t->size) : h;
}

uint64_t
gguf_fingerprint(const struct gguf_context *ctx)
{
    struct gguf_str arch = { "", 0 };
    uint64_t sum = 0;

    (void)gguf_opt_str(ctx, "general.architecture", &arch, NULL);
    for (size_t i = 0; i < ctx->n_kv; i++)
        if (counts(&ctx->kv[i], &arch))
            sum += mixed(hash_key(&ctx->kv[i]));
    for (size_t i = 0; i < ctx->n_tensors; i++)
        if (!ctx->tensors[i].taken)
            sum += mixed(hash_tensor(&ctx->tensors[i]));
    return mixed(sum);
}
