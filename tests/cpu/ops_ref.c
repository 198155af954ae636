/* ops_ref.c - the numbers that cases of ops have as inputs */
#include "cpu/ops_ref.h"

#include <ggml-backend.h>
#include <stdlib.h>
#include <string.h>

struct ref_graph made;

static uint64_t state;

void
ref_seed(uint64_t seed)
{
    state = seed;
}

static uint32_t
draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

/* Blocks that nobody quantises: any bits will do but for the scale, F16 1/16
 * at their front; IQ1_M has it in the upper four bits of its last words. */
static void
fill_blocks(enum ggml_type type, uint8_t *p, size_t size)
{
    const uint16_t scale = 0x2c00;
    size_t block = ggml_type_size(type);

    for (size_t i = 0; i < size; i++)
        p[i] = (uint8_t)draw();
    for (size_t i = 0; i < size; i += block) {
        memcpy(p + i, &scale, type == GGML_TYPE_IQ1_M ? 0 : sizeof(scale));
        for (size_t k = 0; k < 4 && type == GGML_TYPE_IQ1_M; k++) {
            uint8_t *high = p + i + block - 8 + 2 * k + 1;

            *high = (uint8_t)((*high & 0xf) | (scale >> 4 * k & 0xf) << 4);
        }
    }
}

static void
fill_floats(enum ggml_type type, void *data, int64_t rows, int64_t row)
{
    float *x = malloc((size_t)(rows * row) * sizeof(*x));

    for (int64_t i = 0; i < rows * row; i++)
        x[i] = (float)(int32_t)draw() * 0x1p-31f;
    /* some kernels take activations as BF16 where weights are: these are */
    for (int64_t i = 0; i < rows * row && made.bf16; i++)
        x[i] = ggml_bf16_to_fp32(ggml_fp32_to_bf16(x[i]));
    ggml_quantize_chunk(type, x, data, 0, rows, row, NULL);
    free(x);
}

/* Integers differ as long as there are no more of them than the limit. */
static void
fill_integers(const struct ggml_tensor *t, void *data)
{
    for (int i = 0; i < (int)ggml_nelements(t); i++)
        if (t->type == GGML_TYPE_I64)
            ((int64_t *)data)[i] = i * 7 % made.limit;
        else
            ((int32_t *)data)[i] = i * 7 % made.limit;
}

static void
fill_mask(const struct ggml_tensor *t, uint16_t *data)
{
    for (int64_t i = 0; i < ggml_nelements(t); i++)
        data[i] = draw() % 3 ? ggml_fp32_to_fp16((float)(i % 5) / 4) : 0xfc00;
}

void
ref_fill(struct ggml_tensor *t)
{
    const struct ggml_type_traits *traits = ggml_get_type_traits(t->type);
    size_t size = ggml_nbytes(t);
    void *data = malloc(size);

    if (strcmp(t->name, "mask") == 0)
        fill_mask(t, data);
    else if (t->type == GGML_TYPE_I32 || t->type == GGML_TYPE_I64)
        fill_integers(t, data);
    else if (traits->is_quantized && !traits->from_float_ref)
        fill_blocks(t->type, data, size);
    else
        fill_floats(t->type, data, ggml_nrows(t), t->ne[0]);
    ggml_backend_tensor_set(t, data, 0, size);
    free(data);
}
