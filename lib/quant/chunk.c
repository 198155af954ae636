/* chunk.c - quantising rows of a tensor, and looking for damage in them */
#include <math.h>
#include <string.h>
#include <ggml.h>

#include "quant/sound.h"
#include "quant/blocks.h"
#include "quant/format.h"
#include "quant/types.h"

/* No type here searches in tables that must be built first. */
void
ggml_quantize_init(enum ggml_type type)
{
    (void)type;
}

void
ggml_quantize_free(void)
{
}

bool
ggml_quantize_requires_imatrix(enum ggml_type type)
{
    return type == GGML_TYPE_IQ2_XXS || type == GGML_TYPE_IQ2_XS ||
           type == GGML_TYPE_IQ1_S;
}

/* Weights of up to QUANT_SUPER values, of those of their columns: an error in
 * a large value matters more. */
static void
weigh_values(const float *x, const float *columns, int n, float *w)
{
    float sum = 0;

    for (int j = 0; j < n; j++)
        sum += x[j] * x[j];
    for (int j = 0; j < n; j++)
        w[j] = columns[j] * sqrtf(2 * sum / (float)n + x[j] * x[j]);
}

static void
quantize_weighted(const struct quant_type *t, const float *x, char *out,
                  int64_t n, const float *columns)
{
    if (!t->large_matter) {
        t->quantize_weighted(x, out, n, columns);
        return;
    }
    for (int64_t i = 0; i < n; i += QUANT_SUPER) {
        int count = n - i < QUANT_SUPER ? (int)(n - i) : QUANT_SUPER;
        float w[QUANT_SUPER];

        weigh_values(x + i, columns + i, count, w);
        t->quantize_weighted(x + i, out, count, w);
        out += t->traits.type_size * (size_t)(count / t->traits.blck_size);
    }
}

size_t
ggml_quantize_chunk(enum ggml_type type, const float *src, void *dst,
                    int64_t start, int64_t nrows, int64_t n_per_row,
                    const float *imatrix)
{
    const struct quant_type *t = quant_type(type);
    ggml_from_float_t quantize = quant_writer(type);
    size_t row_size;
    char *out;

    GGML_ASSERT((quantize || t->quantize_weighted) && "no quantiser");
    GGML_ASSERT(n_per_row % t->traits.blck_size == 0);
    GGML_ASSERT(start % n_per_row == 0);
    GGML_ASSERT(imatrix || !ggml_quantize_requires_imatrix(type));
    row_size = ggml_row_size(type, n_per_row);
    out = (char *)dst + (size_t)(start / n_per_row) * row_size;
    src += start;
    for (int64_t i = 0; i < nrows; i++) {
        if (imatrix && t->quantize_weighted)
            quantize_weighted(t, src, out, n_per_row, imatrix);
        else if (quantize)
            quantize(src, out, n_per_row);
        else
            t->quantize_weighted(src, out, n_per_row, NULL);
        src += n_per_row;
        out += row_size;
    }
    return (size_t)nrows * row_size;
}

static bool
block_is_sound(const struct quant_type *t, const char *p)
{
    for (int i = 0; i < t->n_scales; i++)
        if (!quant_sound_f16(p + t->scale_at[i]))
            return false;
    return !t->is_sound || t->is_sound(p);
}

/* Without a branch, so that several are looked at together. */
static bool
all_finite_16(const char *p, size_t n, uint16_t exponent)
{
    bool all = true;

    for (size_t i = 0; i < n; i++)
        all &= quant_is_finite_16(p + 2 * i, exponent);
    return all;
}

static bool
all_finite_32(const char *p, size_t n)
{
    bool all = true;

    for (size_t i = 0; i < n; i++)
        all &= quant_is_finite_32(p + 4 * i);
    return all;
}

bool
ggml_validate_row_data(enum ggml_type type, const void *data, size_t nbytes)
{
    const struct quant_type *t = quant_type(type);
    const char *p = data;

    if (!t || nbytes % t->traits.type_size)
        return false;
    if (type == GGML_TYPE_F32)
        return all_finite_32(p, nbytes / 4);
    if (type == GGML_TYPE_F16)
        return all_finite_16(p, nbytes / 2, QUANT_EXPONENT_F16);
    if (type == GGML_TYPE_BF16)
        return all_finite_16(p, nbytes / 2, QUANT_EXPONENT_BF16);
    for (size_t at = 0; at < nbytes; at += t->traits.type_size)
        if (!block_is_sound(t, p + at))
            return false;
    return true;
}
