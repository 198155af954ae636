/* importance_cases.c - importance matrices, good and hostile */
#include "importance_cases.h"

#include <ggml.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct importance_case importance_cases[] = {
    { .name = "a sound file" },
    { .name = "all sums are zero", .zero = true },
    { .name = "no id came to a tensor", .tensor = 1, .set = true },
    { .name = "no id came to an expert", .tensor = 3, .set = true },
    { .name = "a sum of minus zero", .set = true, .value = -0.0f },
    { .name = "the greatest sum", .set = true, .value = 6.9e20f },
    { .name = "the smallest sum", .set = true, .value = 1e-45f },
    { .name = "a model", .type = "model", .message = "not an importance" },
    { .name = "a longer type", .type = "imatrix2",
      .message = "not an importance" },
    { .name = "a type that is a number", .type_is_number = true,
      .message = "not an importance" },
    { .name = "sums without counts", .tensor = 3, .called = "b.other",
      .message = "b.in_sum2: its .counts are missing" },
    { .name = "counts without sums", .tensor = 2, .called = "other",
      .message = "b.counts: its .in_sum2 are missing" },
    { .name = "control characters in a name", .tensor = 2,
      .called = "\033[31m\n.in_sum2",
      .message = "\\x1b[31m\\n.in_sum2: its .counts are missing" },
    { .name = "a tensor twice", .tensor = 2, .called = "a.in_sum2",
      .message = "a.in_sum2" },
    { .name = "sums of half precision", .half = true,
      .message = "a.in_sum2: not of type f32" },
    { .name = "counts of half precision", .tensor = 1, .half = true,
      .message = "a.counts: not of type f32" },
    { .name = "a count too many", .tensor = 1, .ne0 = 1, .ne1 = 2,
      .message = "a.counts is not 1 x 1" },
    { .name = "a count too few", .tensor = 3, .ne0 = 1, .ne1 = 1,
      .message = "b.counts is not 1 x 2" },
    { .name = "counts in a row", .tensor = 3, .ne0 = 2, .ne1 = 1,
      .message = "b.counts is not 1 x 2" },
    { .name = "a sum that is no number", .set = true, .value = NAN,
      .message = "a.in_sum2: nan is no sum" },
    { .name = "an infinite sum", .tensor = 2, .set = true, .value = INFINITY,
      .message = "b.in_sum2: inf is no sum" },
    { .name = "a negative sum", .set = true, .value = -1e-30f,
      .message = "a.in_sum2: -1e-30 is no sum" },
    { .name = "a count that is no number", .tensor = 3, .set = true,
      .value = NAN, .message = "b.counts: nan is no sum" },
    { .name = "a negative count", .tensor = 1, .set = true, .value = -1,
      .message = "a.counts: -1 is no sum" },
    { .name = "a count next to nothing", .tensor = 1, .set = true,
      .value = 1e-40f, .message = "is too much" },
    { .name = "a sum too great", .set = true, .value = 7.1e20f,
      .message = "a.in_sum2: 7.1e+20 / 7 is too much" },
    { .name = "the data end early", .cut = 1, .message = "b.counts" },
    { .name = "no data", .cut = 3112, .message = "a.in_sum2" },
    { .name = "columns of another model", .ne0 = 128, .ne1 = 1, .late = true,
      .message = "a.in_sum2 is 128 x 1, but a wants 256 x 1" },
    { .name = "a model of no experts", .tensor = 0, .ne0 = 128, .ne1 = 2,
      .message = "a.counts is not 1 x 2" },
};

const size_t n_importance_cases =
    sizeof(importance_cases) / sizeof(importance_cases[0]);

enum {
    N_TENSORS = 4,
    ALIGNMENT = 32,
};

struct tensor {
    const char *name;
    uint64_t ne0, ne1;
    bool half;
};

static struct tensor
tensor_of(const struct importance_case *c, int i)
{
    static const struct tensor sound[N_TENSORS] = {
        { "a.in_sum2", IMPORTANCE_COLUMNS, 1, false },
        { "a.counts", 1, 1, false },
        { "b.in_sum2", IMPORTANCE_COLUMNS, IMPORTANCE_EXPERTS, false },
        { "b.counts", 1, IMPORTANCE_EXPERTS, false },
    };
    struct tensor t = sound[i];

    if (i != c->tensor)
        return t;
    if (c->called)
        t.name = c->called;
    if (c->ne0)
        t.ne0 = c->ne0, t.ne1 = c->ne1;
    t.half = c->half;
    return t;
}

static size_t
size_of(const struct tensor *t)
{
    size_t size = (size_t)(t->ne0 * t->ne1) * (t->half ? 2 : 4);

    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Sums that rise with the column; counts of 7. */
static void
put_numbers(const struct importance_case *c, int i, struct bytes *b)
{
    struct tensor t = tensor_of(c, i);
    bool sums = i % 2 == 0;

    for (uint64_t k = 0; k < t.ne0 * t.ne1; k++) {
        float v = sums ? (c->zero ? 0 : 0.5f + (float)k) : 7;

        if (i == c->tensor && c->set && k == 0)
            v = c->value;
        if (t.half)
            put_u8(b, 0), put_u8(b, 0x3c);
        else
            put_f32(b, v);
    }
}

void
importance_build(const struct importance_case *c, struct bytes *b)
{
    size_t at = 0;

    put_head(b, 3, N_TENSORS, 2);
    if (c->type_is_number)
        put_kv_u32(b, "general.type", 1);
    else
        put_kv_str(b, "general.type", c->type ? c->type : "imatrix");
    put_kv_u32(b, "imatrix.chunk_count", 3);
    for (int i = 0; i < N_TENSORS; i++) {
        struct tensor t = tensor_of(c, i);

        put_tensor2(b, t.name, t.ne0, t.ne1,
                    t.half ? GGML_TYPE_F16 : GGML_TYPE_F32, at);
        at += size_of(&t);
    }
    for (int i = 0; i < N_TENSORS; i++) {
        put_pad(b, ALIGNMENT);
        put_numbers(c, i, b);
    }
    b->n -= c->cut;
}

struct gguf_context *
importance_model(void)
{
    struct ggml_init_params params = {
        .mem_size = 2 * ggml_tensor_overhead(), .no_alloc = true
    };
    struct ggml_context *ctx = ggml_init(params);
    struct gguf_context *gguf = gguf_init_empty();
    struct ggml_tensor *a, *b;

    if (!ctx || !gguf)
        abort();
    a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, IMPORTANCE_COLUMNS,
                           IMPORTANCE_ROWS);
    b = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, IMPORTANCE_COLUMNS,
                           IMPORTANCE_ROWS, IMPORTANCE_EXPERTS);
    gguf_add_tensor(gguf, ggml_set_name(a, "a"));
    gguf_add_tensor(gguf, ggml_set_name(b, "b"));
    ggml_free(ctx);
    return gguf;
}
