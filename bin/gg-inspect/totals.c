/* totals.c - adds up the tensors of a file by their type */
#include <config.h>

#include "gg-inspect/inspect.h"

static void
add_tensor(struct totals *t, uint64_t values, uint64_t bytes)
{
    t->tensors++;
    if (__builtin_add_overflow(t->values, values, &t->values))
        t->values = UINT64_MAX;
    if (__builtin_add_overflow(t->bytes, bytes, &t->bytes))
        t->bytes = UINT64_MAX;
}

uint64_t
totals_values(const struct gguf_context *ctx, int64_t tensor)
{
    const int64_t *ne = gguf_get_tensor_ne(ctx, tensor);

    return (uint64_t)ne[0] * (uint64_t)ne[1] * (uint64_t)ne[2] *
           (uint64_t)ne[3]; /* the reader has checked that it fits */
}

int
totals_dims(const struct gguf_context *ctx, int64_t tensor)
{
    const int64_t *ne = gguf_get_tensor_ne(ctx, tensor);
    int n = GGML_MAX_DIMS;

    while (n > 1 && ne[n - 1] == 1)
        n--;
    return n;
}

void
totals_count(const struct gguf_context *ctx,
             struct totals by_type[GGML_TYPE_COUNT], struct totals *all)
{
    for (int i = 0; i < GGML_TYPE_COUNT; i++)
        by_type[i] = (struct totals){ 0 };
    *all = (struct totals){ 0 };
    for (int64_t i = 0; i < gguf_get_n_tensors(ctx); i++) {
        uint64_t values = totals_values(ctx, i);
        uint64_t bytes = gguf_get_tensor_size(ctx, i);

        add_tensor(&by_type[gguf_get_tensor_type(ctx, i)], values, bytes);
        add_tensor(all, values, bytes);
    }
}
