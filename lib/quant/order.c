/* order.c - where the numbers of several bytes are in blocks */
#include "quant/order.h"

#include <assert.h>

#include "core/order.h"
#include "quant/types.h"

/* Numbers besides the F16 scales of the table of types: n of `size` bytes. */
static const struct {
    enum ggml_type type;
    size_t at, size, n;
} numbers[] = {
    { GGML_TYPE_IQ1_S, 34, 2, 8 },  { GGML_TYPE_IQ2_XXS, 2, 2, 32 },
    { GGML_TYPE_IQ2_XS, 2, 2, 32 }, { GGML_TYPE_IQ4_XS, 2, 2, 1 },
    { GGML_TYPE_Q8_K, 0, 4, 1 },    { GGML_TYPE_Q8_K, 4 + 256, 2, 16 },
};

static void
swap_block(enum ggml_type type, const struct quant_type *t, uint8_t *block)
{
    for (int i = 0; i < t->n_scales; i++)
        core_swap_array(block + t->scale_at[i], 1, 2);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (numbers[i].type == type)
            core_swap_array(block + numbers[i].at, numbers[i].n,
                            numbers[i].size);
}

void
quant_swap_order(enum ggml_type type, void *blocks, size_t size)
{
    const struct quant_type *t = quant_type(type);
    size_t each;
    uint8_t *p = blocks;

    assert(t);
    each = t->traits.type_size;
    if (!t->traits.is_quantized)
        core_swap_array(p, size / each, each);
    for (size_t i = 0; t->traits.is_quantized && i < size / each; i++)
        swap_block(type, t, p + i * each);
}
