/* order.c - files of the other byte order */
#include "gguf/context.h"

#include "quant/order.h"

void
gguf_swap_data(const struct gguf_context *ctx)
{
    for (size_t i = 0; i < ctx->n_tensors; i++) {
        const struct gguf_tensor *t = &ctx->tensors[i];

        if (t->data && t->size)
            gguf_order_data(ctx, t->type, (void *)(uintptr_t)t->data, t->size);
    }
}

void
gguf_set_byte_order(struct gguf_context *ctx, enum gguf_byte_order order)
{
    GGML_ASSERT(order == GGUF_LITTLE_ENDIAN || order == GGUF_BIG_ENDIAN);
    ctx->order = order;
}

void
gguf_order_data(const struct gguf_context *ctx, enum ggml_type type, void *data,
                size_t size)
{
    GGML_ASSERT(size % ggml_type_size(type) == 0);
    if (ctx->order != GGUF_MACHINE_ORDER)
        quant_swap_order(type, data, size);
}
