/* conv_axis.h - where the elements under a kernel lie in one dimension */
#ifndef CPU_OPS_CONV_AXIS_H
#define CPU_OPS_CONV_AXIS_H

#include "cpu/exec/task.h"

/* n elements, k of the kernel, strides, zeros before, dilations. */
struct conv_axis {
    int64_t n, k, s, p, d;
};

/* The axis of dimension `dim` of the result of a convolution in n_dims, which
 * records all strides, then all zeros, then all dilations. */
struct conv_axis
cpu_conv_axis(const struct ggml_tensor *dst, int dim, int n_dims);

/* The element under element k of the kernel at a place. */
static inline int64_t
cpu_conv_source(const struct conv_axis *a, int64_t place, int64_t k)
{
    return place * a->s - a->p + k * a->d;
}

static inline bool
cpu_conv_inside(const struct conv_axis *a, int64_t i)
{
    return i >= 0 && i < a->n;
}

/* The elements of a line of x under a row of the kernel; from: the line, NULL
 * outside. */
void
cpu_conv_unfold(const struct conv_axis *w, const struct ggml_tensor *x,
                const char *from, int64_t place, float *y);

/* y += value * a line, under element k of the kernel. */
void
cpu_conv_add_line(const struct cpu_task *t, const struct conv_axis *w,
                  int64_t k, float value, const float *x, int64_t n, float *y);

#endif
