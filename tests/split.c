/* split.c - writes a GGUF file as shards, as gguf-split does */
#include "split.h"

#include <stdio.h>

char *
vocab_split_name(char *buf, size_t size, const char *stem, int no, int n)
{
    snprintf(buf, size, "%s-%05d-of-%05d.gguf", stem, no + 1, n);
    return buf;
}

/* The tensors from number `from` on, up to `to`. */
static bool
write_shard(const struct gguf_context *whole, struct ggml_context *pool,
            int64_t from, int64_t to, int no, int n, const char *path,
            split_spoil_fn spoil)
{
    struct gguf_context *g = gguf_init_empty();
    bool done;

    if (!g)
        return false;
    if (no == 0)
        gguf_set_kv(g, whole);
    gguf_set_val_u16(g, "split.no", (uint16_t)no);
    gguf_set_val_u16(g, "split.count", (uint16_t)n);
    gguf_set_val_i32(g, "split.tensors.count",
                     (int32_t)gguf_get_n_tensors(whole));
    for (int64_t i = from; i < to; i++)
        gguf_add_tensor(g,
                        ggml_get_tensor(pool, gguf_get_tensor_name(whole, i)));
    if (spoil)
        spoil(g, no);
    done = gguf_write_to_file(g, path, false);
    gguf_free(g);
    return done;
}

bool
split_file(const char *path, const char *stem, int n, bool bare_first,
           split_spoil_fn spoil)
{
    struct ggml_context *pool = NULL;
    struct gguf_init_params params = { .ctx = &pool };
    struct gguf_context *whole = gguf_init_from_file(path, params);
    int parts = n - bare_first;
    int64_t tensors = whole ? gguf_get_n_tensors(whole) : 0;
    bool done = whole != NULL;
    char name[4096];

    for (int i = 0; i < n && done; i++) {
        int part = i - bare_first;
        int64_t from = part < 0 ? 0 : tensors * part / parts;

        done = write_shard(whole, pool, from, tensors * (part + 1) / parts, i,
                           n, vocab_split_name(name, sizeof(name), stem, i, n),
                           spoil);
    }
    gguf_free(whole);
    ggml_free(pool);
    return done;
}
