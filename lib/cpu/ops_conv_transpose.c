/* ops_conv_transpose.c - CONV_TRANSPOSE_1D, _2D: every element of b lays the
 * kernel, times itself, over the result
 *
 * For each element of the kernel a line of b is summed over its channels, with
 * the kernel's values as weights, and then added to every s-th element of a
 * line of the result: the order of all sums is fixed. */
#include <string.h>

#include "cpu/ops.h"
#include "tensor/tensor.h"

/* a [kw, kh, out, in], b [w, h, in, n]; without heights in one dimension. */
struct lay {
    const struct ggml_tensor *a, *b;
    int dims; /* before the channels */
    int64_t kh, in, out, s;
    float *weights, *line; /* of one thread: a value a channel; a line of b */
};

static struct lay
make_lay(const struct ggml_tensor *dst)
{
    int dims = dst->op == GGML_OP_CONV_TRANSPOSE_1D ? 1 : 2;

    return (struct lay){ .a = dst->src[0],
                         .b = dst->src[1],
                         .dims = dims,
                         .kh = dims == 1 ? 1 : dst->src[0]->ne[1],
                         .in = dst->src[0]->ne[dims + 1],
                         .out = dst->src[0]->ne[dims],
                         .s = tensor_get_i32(dst, 0) };
}

static size_t
scratch_size(const struct ggml_tensor *dst)
{
    return cpu_pad((size_t)make_lay(dst).in * sizeof(float)) +
           cpu_pad((size_t)dst->src[1]->ne[0] * sizeof(float));
}

static size_t
work_size(const struct ggml_tensor *dst, int n_threads,
          const struct cpu_kernels *k)
{
    (void)k;
    return scratch_size(dst) * (size_t)n_threads;
}

/* One element of the kernel for all channels, and one line of b. */
static void
lay_line(const struct cpu_task *t, const struct lay *l, const char *from,
         float *y)
{
    int64_t n = l->b->ne[0];

    memset(l->line, 0, (size_t)n * sizeof(*l->line));
    t->k->weigh_rows[GGML_TYPE_F32](n, l->line, from, l->b->nb[l->dims],
                                    l->weights, l->in);
    for (int64_t i = 0; i < n; i++)
        y[i * l->s] += l->line[i];
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
    int64_t height = l->dims == 1 ? 1 : b->ne[1];

    for (int64_t i = 0; i < (l->dims == 1 ? 1 : dst->ne[1]); i++)
        memset(plane + (size_t)i * dst->nb[1], 0,
               (size_t)dst->ne[0] * sizeof(float));
    for (int64_t k = 0; k < l->kh * a->ne[0]; k++) {
        int64_t kx = k % a->ne[0], ky = k / a->ne[0];

        cpu_gather(a->type,
                   (char *)a->data + (size_t)channel * a->nb[l->dims] +
                       (size_t)ky * a->nb[1] + (size_t)kx * a->nb[0],
                   a->nb[l->dims + 1], l->in, l->weights);
        for (int64_t i = 0; i < height; i++)
            lay_line(t, l, from + (size_t)i * b->nb[1],
                     (float *)(void *)(plane +
                                       (size_t)(i * l->s + ky) * dst->nb[1]) +
                         kx);
    }
}

static void
compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct lay l = make_lay(dst);
    struct cpu_range planes = cpu_share(t, l.out * dst->ne[3]);
    char *scratch = cpu_scratch(t, scratch_size(dst));

    l.weights = (float *)(void *)scratch;
    l.line = (float *)(void *)(scratch + cpu_pad((size_t)l.in * sizeof(float)));
    for (int64_t i = planes.first; i < planes.end; i++)
        lay_plane(t, &l, dst, i % l.out, i / l.out);
}

static bool
supports(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && cpu_is_plain(dst->src[1]) &&
           cpu_has_elements(dst->src[0]->type);
}

static int64_t
cost(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *a = dst->src[0], *b = dst->src[1];

    return ggml_nelements(a) / 8 * b->ne[0] *
           (dst->op == GGML_OP_CONV_TRANSPOSE_1D ? 1 : b->ne[1] * b->ne[3]);
}

const struct cpu_op cpu_op_conv_transpose_1d = { .compute = compute,
                                                 .supports = supports,
                                                 .cost = cost,
                                                 .work_size = work_size };
const struct cpu_op cpu_op_conv_transpose_2d = { .compute = compute,
                                                 .supports = supports,
                                                 .cost = cost,
                                                 .work_size = work_size };
