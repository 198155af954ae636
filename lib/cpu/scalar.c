/* scalar.c - single elements of tensors in host memory */
#include <ggml-cpu.h>

#include "core/half.h"
#include "cpu/exec/task.h"

static char *
element(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
        int64_t i3)
{
    return (char *)t->data + (size_t)i0 * t->nb[0] + (size_t)i1 * t->nb[1] +
           (size_t)i2 * t->nb[2] + (size_t)i3 * t->nb[3];
}

static char *
element_1d(const struct ggml_tensor *t, int i)
{
    int64_t i0, i1, i2, i3;

    ggml_unravel_index(t, i, &i0, &i1, &i2, &i3);
    return element(t, i0, i1, i2, i3);
}

/* Loads a number of any type: T is the C type of the result. */
#define LOAD(T, type, p)                                                       \
    ((type) == GGML_TYPE_F32 ? (T) * (const float *)(const void *)(p)          \
     : (type) == GGML_TYPE_F16                                                 \
         ? (T)half_to_float(*(const uint16_t *)(const void *)(p))              \
     : (type) == GGML_TYPE_BF16                                                \
         ? (T)core_bf16_to_float(*(const uint16_t *)(const void *)(p))         \
     : (type) == GGML_TYPE_I8  ? (T) * (const int8_t *)(p)                     \
     : (type) == GGML_TYPE_I16 ? (T) * (const int16_t *)(const void *)(p)      \
     : (type) == GGML_TYPE_I32 ? (T) * (const int32_t *)(const void *)(p)      \
                               : (refuse_type(type), (T)0))

static void
refuse_type(enum ggml_type type)
{
    GGML_ABORT("no scalars of type %s", ggml_type_name(type));
}

static void
store_float(enum ggml_type type, char *p, float v)
{
    if (type == GGML_TYPE_F32)
        *(float *)(void *)p = v;
    else if (type == GGML_TYPE_F16)
        *(uint16_t *)(void *)p = half_from_float(v);
    else if (type == GGML_TYPE_BF16)
        *(uint16_t *)(void *)p = core_bf16_from_float(v);
    else
        refuse_type(type);
}

static void
store_int(enum ggml_type type, char *p, int32_t v)
{
    if (type == GGML_TYPE_I8)
        *(int8_t *)p = (int8_t)v;
    else if (type == GGML_TYPE_I16)
        *(int16_t *)(void *)p = (int16_t)v;
    else if (type == GGML_TYPE_I32)
        *(int32_t *)(void *)p = v;
    else
        store_float(type, p, (float)v);
}

/* A float into an integer tensor is cut to an integer. */
static void
store(enum ggml_type type, char *p, float v)
{
    if (type == GGML_TYPE_I8 || type == GGML_TYPE_I16 || type == GGML_TYPE_I32)
        store_int(type, p, (int32_t)v);
    else
        store_float(type, p, v);
}

int32_t
ggml_get_i32_1d(const struct ggml_tensor *tensor, int i)
{
    return LOAD(int32_t, tensor->type, element_1d(tensor, i));
}

int32_t
ggml_get_i32_nd(const struct ggml_tensor *tensor, int i0, int i1, int i2,
                int i3)
{
    return LOAD(int32_t, tensor->type, element(tensor, i0, i1, i2, i3));
}

float
ggml_get_f32_1d(const struct ggml_tensor *tensor, int i)
{
    return LOAD(float, tensor->type, element_1d(tensor, i));
}

float
ggml_get_f32_nd(const struct ggml_tensor *tensor, int i0, int i1, int i2,
                int i3)
{
    return LOAD(float, tensor->type, element(tensor, i0, i1, i2, i3));
}

void
ggml_set_i32_1d(const struct ggml_tensor *tensor, int i, int32_t value)
{
    store_int(tensor->type, element_1d(tensor, i), value);
}

void
ggml_set_i32_nd(const struct ggml_tensor *tensor, int i0, int i1, int i2,
                int i3, int32_t value)
{
    store_int(tensor->type, element(tensor, i0, i1, i2, i3), value);
}

void
ggml_set_f32_1d(const struct ggml_tensor *tensor, int i, float value)
{
    store(tensor->type, element_1d(tensor, i), value);
}

void
ggml_set_f32_nd(const struct ggml_tensor *tensor, int i0, int i1, int i2,
                int i3, float value)
{
    store(tensor->type, element(tensor, i0, i1, i2, i3), value);
}

/* Every element of t, through `row` and `i0`. */
#define EACH_ELEMENT(t, p, statement)                                          \
    for (int64_t row_ = 0; row_ < ggml_nrows(t); row_++) {                     \
        char *p = cpu_row_data(t, cpu_row_at(t, row_));                        \
        for (int64_t i_ = 0; i_ < (t)->ne[0]; i_++, p += (t)->nb[0])           \
            statement;                                                         \
    }

struct ggml_tensor *
ggml_set_i32(struct ggml_tensor *tensor, int32_t value)
{
    EACH_ELEMENT(tensor, p, store_int(tensor->type, p, value))
    return tensor;
}

struct ggml_tensor *
ggml_set_f32(struct ggml_tensor *tensor, float value)
{
    EACH_ELEMENT(tensor, p, store(tensor->type, p, value))
    return tensor;
}

struct ggml_tensor *
ggml_new_i32(struct ggml_context *ctx, int32_t value)
{
    GGML_ASSERT(!ggml_get_no_alloc(ctx));
    return ggml_set_i32(ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 1), value);
}

struct ggml_tensor *
ggml_new_f32(struct ggml_context *ctx, float value)
{
    GGML_ASSERT(!ggml_get_no_alloc(ctx));
    return ggml_set_f32(ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1), value);
}
