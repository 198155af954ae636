/* conv_transpose.c - CONV_TRANSPOSE_1D, _2D: every element of b lays the
 * kernel, times itself, over the result
 *
 * For each element of the kernel a line of b is summed over its channels, with
 * the kernel's values as weights, and then added to every s-th element of a
 * line of the result: the order of all sums is fixed. */
#include <string.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

/* Elements of b that are summed at a time: lines that lie one after the other
 * go together. */
#define FEW 1024

/* a [kw, kh, out, in], b [w, h, in, n]; without heights in one dimension. */
struct lay {
    const struct ggml_tensor *a, *b;
    int dims; /* before the channels */
    int64_t kh, h, in, out, s;
    int64_t together;      /* lines of b */
    float *weights, *line; /* of one thread: a value a channel; lines of b */
};

static struct lay
make_lay(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *a = dst->src[0], *b = dst->src[1];
    int dims = dst->op == GGML_OP_CONV_TRANSPOSE_1D ? 1 : 2;
    struct lay l = { .a = a,
                     .b = b,
                     .dims = dims,
                     .kh = dims == 1 ? 1 : a->ne[1],
                     .h = dims == 1 ? 1 : b->ne[1],
                     .in = a->ne[dims + 1],
                     .out = a->ne[dims],
                     .s = tensor_get_i32(dst, 0),
                     .together = 1 };

    if (b->ne[0] > 0 && b->nb[1] == (size_t)b->ne[0] * sizeof(float))
        l.together = FEW / b->ne[0] < 1 ? 1 : FEW / b->ne[0];
    return l;
}

static size_t
conv_transpose_scratch_size(const struct ggml_tensor *dst)
{
    struct lay l = make_lay(dst);

    return cpu_pad((size_t)l.in * sizeof(float)) +
           cpu_pad((size_t)(l.together * l.b->ne[0]) * sizeof(float));
}

static size_t
conv_transpose_work_size(const struct ggml_tensor *dst, int n_threads,
                         const struct cpu_kernels *k)
{
    (void)k;
    return conv_transpose_scratch_size(dst) * (size_t)n_threads;
}

/* One element of the kernel for all channels, and some lines of b. */
static void
lay_lines(const struct cpu_task *t, const struct lay *l, const char *from,
          int64_t lines, char *to, size_t stride)
{
    int64_t n = l->b->ne[0];
    struct cpu_small_batch p = { .m = 1,
                                 .n = l->in,
                                 .k = n * lines,
                                 .a = l->weights,
                                 .b = from,
                                 .b_stride = l->b->nb[l->dims],
                                 .c = l->line };

    memset(l->line, 0, (size_t)(n * lines) * sizeof(*l->line));
    t->k->add_weighted_rows[GGML_TYPE_F32](&p);
    for (int64_t j = 0; j < lines; j++) {
        float *y = (float *)(void *)(to + (size_t)(j * l->s) * stride);

        for (int64_t i = 0; i < n; i++)
            y[i * l->s] += l->line[j * n + i];
    }
}

/* The result of one output channel of one image. */
static void
lay_plane(const struct cpu_task *t, const struct lay *l,
          const struct ggml_tensor *dst, int64_t channel, int64_t image)
{
    const struct ggml_tensor *a = l->a, *b = l->b;
    char *plane = (char *)dst->data + (size_t)channel * dst->nb[l->dims] +
                  (size_t)image * dst->nb[3];
    const char *from = (char *)b->data + (size_t)image * b->nb[3];

    for (int64_t i = 0; i < (l->dims == 1 ? 1 : dst->ne[1]); i++)
        memset(plane + (size_t)i * dst->nb[1], 0,
               (size_t)dst->ne[0] * sizeof(float));
    for (int64_t k = 0; k < l->kh * a->ne[0]; k++) {
        int64_t kx = k % a->ne[0], ky = k / a->ne[0];

        cpu_gather(a->type,
                   (char *)a->data + (size_t)channel * a->nb[l->dims] +
                       (size_t)ky * a->nb[1] + (size_t)kx * a->nb[0],
                   a->nb[l->dims + 1], l->in, l->weights);
        for (int64_t i = 0; i < l->h; i += l->together)
            lay_lines(t, l, from + (size_t)i * b->nb[1],
                      l->h - i < l->together ? l->h - i : l->together,
                      plane + (size_t)(i * l->s + ky) * dst->nb[1] +
                          (size_t)kx * sizeof(float),
                      dst->nb[1]);
    }
}

static void
conv_transpose_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct lay l = make_lay(dst);
    struct cpu_range planes = cpu_share(t, l.out * dst->ne[3]);
    char *scratch = cpu_scratch(t, conv_transpose_scratch_size(dst));

    l.weights = (float *)(void *)scratch;
    l.line = (float *)(void *)(scratch + cpu_pad((size_t)l.in * sizeof(float)));
    for (int64_t i = planes.first; i < planes.end; i++)
        lay_plane(t, &l, dst, i % l.out, i / l.out);
}

static bool
conv_transpose_supports(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && cpu_is_plain(dst->src[1]) &&
           cpu_has_elements(dst->src[0]->type);
}

static int64_t
conv_transpose_cost(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *a = dst->src[0], *b = dst->src[1];

    return ggml_nelements(a) / 8 * b->ne[0] *
           (dst->op == GGML_OP_CONV_TRANSPOSE_1D ? 1 : b->ne[1] * b->ne[3]);
}

const struct cpu_op cpu_op_conv_transpose_1d = {
    .compute = conv_transpose_compute,
    .supports = conv_transpose_supports,
    .cost = conv_transpose_cost,
    .work_size = conv_transpose_work_size
};
const struct cpu_op cpu_op_conv_transpose_2d = {
    .compute = conv_transpose_compute,
    .supports = conv_transpose_supports,
    .cost = conv_transpose_cost,
    .work_size = conv_transpose_work_size
};
