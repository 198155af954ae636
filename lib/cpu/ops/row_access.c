/* row_access.c - rows of any type and stride as floats, and back */
#include <string.h>

#include "core/half.h"
#include "cpu/exec/task.h"
#include "cpu/prefetch.h"
#include "quant/types.h"

static float
load_element(enum ggml_type type, const char *p)
{
    switch (type) {
    case GGML_TYPE_F32:
        return *(const float *)(const void *)p;
    case GGML_TYPE_F16:
        return half_to_float(*(const uint16_t *)(const void *)p);
    case GGML_TYPE_BF16:
        return core_bf16_to_float(*(const uint16_t *)(const void *)p);
    case GGML_TYPE_I8:
        return *(const int8_t *)p;
    case GGML_TYPE_I16:
        return *(const int16_t *)(const void *)p;
    case GGML_TYPE_I32:
        return (float)*(const int32_t *)(const void *)p;
    case GGML_TYPE_I64:
        return (float)*(const int64_t *)(const void *)p;
    default:
        return (float)*(const double *)(const void *)p;
    }
}

/* Truncates to integers, as a cast does; what does not fit becomes 0. */
static void
store_element(enum ggml_type type, char *p, float v)
{
    double d = v > -0x1p63f && v < 0x1p63f ? (double)v : 0;

    switch (type) {
    case GGML_TYPE_F32:
        *(float *)(void *)p = v;
        break;
    case GGML_TYPE_F16:
        *(uint16_t *)(void *)p = half_from_float(v);
        break;
    case GGML_TYPE_BF16:
        *(uint16_t *)(void *)p = core_bf16_from_float(v);
        break;
    case GGML_TYPE_I8:
        *(int8_t *)p = (int8_t)(int64_t)d;
        break;
    case GGML_TYPE_I16:
        *(int16_t *)(void *)p = (int16_t)(int64_t)d;
        break;
    case GGML_TYPE_I32:
        *(int32_t *)(void *)p = (int32_t)(int64_t)d;
        break;
    case GGML_TYPE_I64:
        *(int64_t *)(void *)p = (int64_t)d;
        break;
    default:
        *(double *)(void *)p = v;
    }
}

bool
cpu_has_elements(enum ggml_type type)
{
    const struct ggml_type_traits *t = quant_traits(type);

    return t && !t->is_quantized;
}

bool
cpu_can_load(const struct ggml_tensor *x)
{
    const struct ggml_type_traits *t = quant_traits(x->type);

    return t && (!t->is_quantized || (t->to_float && x->nb[0] == t->type_size));
}

bool
cpu_can_store(const struct ggml_tensor *x)
{
    const struct ggml_type_traits *t = quant_traits(x->type);

    return t && (!t->is_quantized ||
                 (t->from_float_ref && x->nb[0] == t->type_size));
}

void
cpu_gather(enum ggml_type type, const char *p, size_t stride, int64_t n,
           float *y)
{
    if (type == GGML_TYPE_F32)
        for (int64_t i = 0; i < n; i++)
            y[i] = *(const float *)(const void *)(p + (size_t)i * stride);
    else
        for (int64_t i = 0; i < n; i++)
            y[i] = load_element(type, p + (size_t)i * stride);
}

void
cpu_prefetch_row(const struct ggml_tensor *x, struct cpu_row r, bool written)
{
    const char *row = cpu_row_data(x, r);
    size_t size = ggml_row_size(x->type, x->ne[0]);

    for (size_t at = 0; at < size; at += CPU_LINE)
        if (written)
            PREFETCH_WRITE(row + at);
        else
            PREFETCH_L1(row + at);
}

const float *
cpu_load_row(const struct cpu_task *t, const struct ggml_tensor *x,
             struct cpu_row r, float *buf)
{
    const char *p = cpu_row_data(x, r);

    if (cpu_is_plain(x))
        return (const float *)(const void *)p;
    if (t->k->to_float[x->type] && x->nb[0] == ggml_type_size(x->type)) {
        t->k->to_float[x->type](p, buf, x->ne[0]);
    } else {
        cpu_gather(x->type, p, x->nb[0], x->ne[0], buf);
    }
    return buf;
}

void
cpu_store_row(const struct cpu_task *t, struct ggml_tensor *dst,
              struct cpu_row r, const float *row)
{
    char *p = cpu_row_data(dst, r);

    if ((const char *)row == p)
        return;
    if (t->k->from_float[dst->type] &&
        dst->nb[0] == ggml_type_size(dst->type)) {
        t->k->from_float[dst->type](row, p, dst->ne[0]);
    } else {
        for (int64_t i = 0; i < dst->ne[0]; i++)
            store_element(dst->type, p + (size_t)i * dst->nb[0], row[i]);
    }
}

static size_t
buffer_size(const struct ggml_tensor *dst)
{
    int64_t longest = dst->ne[0];

    for (int i = 0; i < GGML_MAX_SRC && dst->src[i]; i++)
        if (dst->src[i]->ne[0] > longest)
            longest = dst->src[i]->ne[0];
    return cpu_pad((size_t)longest * sizeof(float));
}

/* One for each source and one for the result, so that a buffer's number says
 * whose it is. */
static size_t
n_buffers(const struct ggml_tensor *dst)
{
    size_t n = 1;

    while (n <= GGML_MAX_SRC && dst->src[n - 1])
        n++;
    return n;
}

size_t
cpu_rows_work_size(const struct ggml_tensor *dst, int n_threads,
                   const struct cpu_kernels *k)
{
    bool plain = cpu_is_plain(dst);

    (void)k;
    for (int i = 0; i < GGML_MAX_SRC && dst->src[i]; i++)
        plain = plain && cpu_is_plain(dst->src[i]);
    return plain ? 0 : buffer_size(dst) * n_buffers(dst) * (size_t)n_threads;
}

float *
cpu_row_buffer(const struct cpu_task *t, const struct ggml_tensor *dst, int i)
{
    size_t each = buffer_size(dst);

    if (!t->work)
        return NULL; /* every row is used where it lies */
    return (float *)(void *)((char *)cpu_scratch(t, each * n_buffers(dst)) +
                             each * (size_t)i);
}

bool
cpu_rows_supported(const struct ggml_tensor *dst)
{
    bool yes = cpu_has_elements(dst->type);

    for (int i = 0; i < GGML_MAX_SRC && dst->src[i]; i++)
        yes = yes && cpu_has_elements(dst->src[i]->type);
    return yes;
}

int64_t
cpu_cost_pass(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst) / 4;
}

int64_t
cpu_cost_exp(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst) / 2;
}
