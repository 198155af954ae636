/* attention_ref.c - what attention multiplies, in plain C */
#include <math.h>
#include <string.h>

#include "core/half.h"
#include "cpu/ref/reference_kernels.h"
#include "quant/bits.h"
#include "quant/blocks.h"

static void
multiply_panel(const struct cpu_panel *p)
{
    for (int64_t i = 0; i < p->m; i++) {
        const float *a = p->a + (size_t)i * p->a_stride;
        float *c = p->c + (size_t)i * p->c_stride;

        for (int64_t j = 0; j < p->n && !p->add; j++)
            c[j] = 0;
        for (int64_t k = 0; k < p->k; k++)
            for (int64_t j = 0; j < p->n; j++)
                c[j] += a[k] * p->b[(size_t)k * p->b_stride + (size_t)j];
    }
}

/* As reduce() of products_ref.c. */
static float
add_lanes(float *lane, int n)
{
    for (int half = n / 2; half; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] += lane[i + half];
    return lane[0];
}

static void
multiply_lanes(const struct cpu_panel *p)
{
    for (int64_t i = 0; i < p->m; i++) {
        const float *a = p->a + (size_t)i * p->a_stride;

        for (int64_t j = 0; j < p->n; j++) {
            float lane[16] = { 0 };

            for (int64_t k = 0; k < p->k; k++)
                lane[k % 16] +=
                    a[k] * p->b[(size_t)(k * (int64_t)p->b_stride + j)];
            p->c[(size_t)i * p->c_stride + (size_t)j] = add_lanes(lane, 16);
        }
    }
}

/* Code i of a block of 32 that has four bits of each. */
static int
nibble(const uint8_t *qs, int64_t i)
{
    return quant_nibble_at(qs, (int)i, QUANT_BLOCK);
}

static float
q4_0_value(const struct block_q4_0 *b, int64_t i)
{
    return half_to_float(b->d) * (float)(nibble(b->qs, i) - 8);
}

static float
q5_0_value(const struct block_q5_0 *b, int64_t i)
{
    int fifth = b->qh[i / 8] >> i % 8 & 1;

    return half_to_float(b->d) * (float)((nibble(b->qs, i) | fifth << 4) - 16);
}

/* Values of a row of b, by type. */
static float
row_value(enum ggml_type type, const char *row, int64_t i)
{
    const struct block_q8_0 *block;
    uint16_t half;
    float v;

    if (type == GGML_TYPE_Q8_0) {
        block = (const struct block_q8_0 *)(const void *)row + i / 32;
        return half_to_float(block->d) * block->qs[i % 32];
    }
    if (type == GGML_TYPE_Q5_0)
        return q5_0_value((const struct block_q5_0 *)(const void *)row + i / 32,
                          i % 32);
    if (type == GGML_TYPE_Q4_0)
        return q4_0_value((const struct block_q4_0 *)(const void *)row + i / 32,
                          i % 32);
    if (type == GGML_TYPE_F32) {
        memcpy(&v, row + 4 * i, sizeof(v));
        return v;
    }
    memcpy(&half, row + 2 * i, sizeof(half));
    return type == GGML_TYPE_F16 ? half_to_float(half)
                                 : core_bf16_to_float(half);
}

static void
qk_any_type(enum ggml_type type, const struct cpu_small_batch *p)
{
    for (int64_t i = 0; i < p->m; i++) {
        const float *a = p->a + (size_t)i * p->a_stride;
        const char *b = p->b;

        for (int64_t j = 0; j < p->n; j++, b += p->b_stride) {
            float lane[16] = { 0 };

            for (int64_t k = 0; k < p->k; k++)
                lane[k % 16] += a[k] * row_value(type, b, k);
            p->c[(size_t)i * p->c_stride + (size_t)j] = add_lanes(lane, 16);
        }
    }
}

static void
pv_any_type(enum ggml_type type, const struct cpu_small_batch *p)
{
    for (int64_t i = 0; i < p->m; i++) {
        const float *a = p->a + (size_t)i * p->a_stride;
        const char *b = p->b;
        float *c = p->c + (size_t)i * p->c_stride;

        for (int64_t j = 0; j < p->n; j++, b += p->b_stride)
            for (int64_t k = 0; k < p->k && a[j] != 0; k++)
                c[k] += a[j] * row_value(type, b, k);
    }
}

#define OF_TYPE(name, type)                                                    \
    static void qk_##name(const struct cpu_small_batch *p)                     \
    {                                                                          \
        qk_any_type(type, p);                                                  \
    }                                                                          \
    static void pv_##name(const struct cpu_small_batch *p)                     \
    {                                                                          \
        pv_any_type(type, p);                                                  \
    }
OF_TYPE(f32, GGML_TYPE_F32)
OF_TYPE(f16, GGML_TYPE_F16)
OF_TYPE(bf16, GGML_TYPE_BF16)
OF_TYPE(q8_0, GGML_TYPE_Q8_0)
OF_TYPE(q5_0, GGML_TYPE_Q5_0)
OF_TYPE(q4_0, GGML_TYPE_Q4_0)

static void
transpose(int64_t n_rows, int64_t n, const float *x, size_t x_stride, float *y,
          size_t y_stride)
{
    for (int64_t r = 0; r < n_rows; r++)
        for (int64_t i = 0; i < n; i++)
            y[(size_t)i * y_stride + (size_t)r] =
                x[(size_t)r * x_stride + (size_t)i];
}

static void
mask_scores(int64_t n, float *s, const uint16_t *m, float slope)
{
    for (int64_t i = 0; i < n; i++) {
        float v = half_to_float(m[i]);

        s[i] = v == -INFINITY ? v : s[i] + slope * v;
    }
}

void
cpu_fill_panels(struct cpu_kernels *k)
{
    k->multiply_panel = multiply_panel;
    k->multiply_lanes = multiply_lanes;
    k->dot_rows[GGML_TYPE_F32] = qk_f32;
    k->dot_rows[GGML_TYPE_F16] = qk_f16;
    k->dot_rows[GGML_TYPE_BF16] = qk_bf16;
    k->dot_rows[GGML_TYPE_Q8_0] = qk_q8_0;
    k->dot_rows[GGML_TYPE_Q5_0] = qk_q5_0;
    k->dot_rows[GGML_TYPE_Q4_0] = qk_q4_0;
    k->add_weighted_rows[GGML_TYPE_F32] = pv_f32;
    k->add_weighted_rows[GGML_TYPE_F16] = pv_f16;
    k->add_weighted_rows[GGML_TYPE_BF16] = pv_bf16;
    k->add_weighted_rows[GGML_TYPE_Q8_0] = pv_q8_0;
    k->add_weighted_rows[GGML_TYPE_Q5_0] = pv_q5_0;
    k->add_weighted_rows[GGML_TYPE_Q4_0] = pv_q4_0;
    k->transpose = transpose;
    k->mask_scores = mask_scores;
}
