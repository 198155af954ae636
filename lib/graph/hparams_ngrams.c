/* hparams_ngrams.c - hyper-parameters of embedded n-grams of ids */
#include "graph/keys.h"

#include <string.h>

enum {
    MAX_ROW = 1 << 16,
    MAX_KERNEL = 32,
    MAX_KEPT = 1 << 28, /* floats of a convolution's columns */
};

/* The layer that they are added in front of; -1: there is none. */
static int32_t
read_ngram_layer(struct model_keys *keys, const struct model_hparams *hp)
{
    static const char name[] = "ple.layers";
    struct gguf_array a = { .n = 0 };
    char key[MODEL_MAX_KEY];
    int32_t layer;

    if (keys->status == GG_OK)
        keys->status =
            gguf_opt_array(keys->gguf, graph_key_name(keys, name, key),
                           GGUF_TYPE_INT32, &a, keys->err);
    if (keys->status != GG_OK || a.n == 0)
        return -1;
    layer = gguf_array_i32(&a, 0);
    if (a.n > 1)
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, name,
                         "%zu layers: one has a table of n-grams here", a.n);
    else if (layer < 0 || layer >= hp->n_layer || !hp->layers[layer].recurs)
        graph_key_refuse(keys, GG_ERR_FORMAT, name,
                         "%d is no layer with a recurrence", (int)layer);
    return layer;
}

/* The first n of an array, which has at least n. */
static void
read_ngram_numbers(struct model_keys *keys, const char *name, int32_t n,
                   uint64_t *out)
{
    struct gguf_array a = { .n = 0 };
    char key[MODEL_MAX_KEY];

    if (keys->status != GG_OK)
        return;
    keys->status = gguf_get_array(keys->gguf, graph_key_name(keys, name, key),
                                  GGUF_TYPE_UINT64, &a, keys->err);
    if (keys->status != GG_OK)
        return;
    if (a.n < (size_t)n)
        graph_key_refuse(keys, GG_ERR_FORMAT, name, "%zu numbers, not %d", a.n,
                         (int)n);
    else
        memcpy(out, a.data, (size_t)n * sizeof(*out));
}

/* Rows of the table that the heads choose from, which an int32_t can number. */
static void
read_ngram_ranges(struct model_keys *keys, struct model_ngrams *x,
                  int32_t n_heads)
{
    uint64_t first[MODEL_MAX_NGRAM_HEADS] = { 0 };
    uint64_t size[MODEL_MAX_NGRAM_HEADS] = { 0 };

    read_ngram_numbers(keys, "ple.head_offsets", n_heads, first);
    read_ngram_numbers(keys, "ple.head_vocab_sizes", n_heads, size);
    for (int32_t i = 0; i < n_heads && keys->status == GG_OK; i++) {
        if (size[i] == 0 || size[i] > INT32_MAX ||
            first[i] > INT32_MAX - size[i])
            graph_key_refuse(keys, GG_ERR_FORMAT, "ple.head_vocab_sizes",
                             "%llu rows from %llu on of head %d",
                             (unsigned long long)size[i],
                             (unsigned long long)first[i], (int)i);
        x->heads[i] =
            (struct model_ngram_head){ (int32_t)first[i], (uint32_t)size[i] };
        if (x->n_rows < (int64_t)(first[i] + size[i]))
            x->n_rows = (int64_t)(first[i] + size[i]);
    }
}

static void
read_ngram_hash(struct model_keys *keys, const struct model_hparams *hp,
                struct model_ngrams *x)
{
    int32_t each, last = hp->n_vocab - 1;

    x->n = graph_key_int(keys, "ple.ngram_size", 2, MODEL_MAX_NGRAM, 0);
    each = graph_key_int(keys, "ple.heads_per_ngram", 1,
                         MODEL_MAX_NGRAM_HEADS / (x->n - 1), 0);
    x->n_heads = each * (x->n - 1);
    x->d_row =
        graph_key_int(keys, "embedding_length_per_layer_input", 1, MAX_ROW, 0);
    x->end = graph_key_int(keys, "ple.eos_token_id", 0, last, -1);
    x->medium = graph_key_int(keys, "ple.image_token_id", 0, last, x->end);
    read_ngram_numbers(keys, "ple.layer_multipliers", x->n, x->factors);
    read_ngram_ranges(keys, x, x->n_heads);
}

void
graph_keys_ngrams(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_ngrams *x = &hp->ngrams;
    int64_t kept;

    *x = (struct model_ngrams){ .n = 0 };
    x->layer = read_ngram_layer(keys, hp);
    if (keys->status != GG_OK || x->layer < 0)
        return;
    read_ngram_hash(keys, hp, x);
    x->d_conv = graph_key_int(keys, "ple.conv_kernel", 1, MAX_KERNEL, 0);
    kept = (int64_t)(x->d_conv - 1) * x->n * hp->n_stream * hp->n_embd;
    if (keys->status == GG_OK && kept > MAX_KEPT)
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, "ple.conv_kernel",
                         "columns of %lld numbers are too much",
                         (long long)kept);
    if (keys->status == GG_OK)
        hp->layers[x->layer].n_apart = kept;
    else
        x->n = 0;
}
