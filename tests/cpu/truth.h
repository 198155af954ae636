/* truth.h - what an op should give at an index, in double precision */
#ifndef CPU_TRUTH_H
#define CPU_TRUTH_H

#include "cpu_test.h"

#define F16_BOUND 6e-4 /* half a unit of eleven bits */

/* Repeats the tensor. */
static inline double
at(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
    return test_at(t, i0 % t->ne[0], i1 % t->ne[1], i2 % t->ne[2],
                   i3 % t->ne[3]);
}

/* A function of that name: of elements A and B of the sources a and b, at the
 * index i0, i1, i2, i3. */
#define TRUTH(name, expression)                                                \
    static double name(const struct ggml_tensor *t, int64_t i0, int64_t i1,    \
                       int64_t i2, int64_t i3)                                 \
    {                                                                          \
        const struct ggml_tensor *a = t->src[0], *b = t->src[1];               \
        (void)a, (void)b, (void)i0;                                            \
        return expression;                                                     \
    }
#define A at(a, i0, i1, i2, i3)
#define B at(b, i0, i1, i2, i3)

/* 0, step, 2 * step ..., modulo `below`. */
static inline struct ggml_tensor *
test_indices(struct ggml_context *ctx, int64_t n, int64_t n2, int64_t step,
             int64_t below)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(ctx, GGML_TYPE_I32, n, n2);

    for (int64_t i = 0; i < n * n2; i++)
        ggml_set_i32_1d(t, (int)i, (int32_t)(i * step % below));
    return t;
}

#endif
