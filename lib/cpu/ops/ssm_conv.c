/* ssm_conv.c - SSM_CONV: a short convolution of each channel over time */
#include "cpu/ops/op_table.h"

enum {
    CHANNELS = 16 /* whose results share a cache line */
};

struct span {
    int64_t seq;
    struct cpu_range channels;
};

static struct span
span_at(const struct ggml_tensor *dst, int64_t i)
{
    int64_t each = (dst->ne[0] + CHANNELS - 1) / CHANNELS;
    int64_t first = i % each * CHANNELS, end = first + CHANNELS;

    return (struct span){ i / each,
                          { first, end < dst->ne[0] ? end : dst->ne[0] } };
}

static float
convolve(int64_t n, const float *x, const float *c)
{
    float sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += x[i] * c[i];
    return sum;
}

static const float *
channel(const struct ggml_tensor *t, int64_t i, int64_t seq)
{
    return (const float *)(const void *)cpu_row_data(
        t, (struct cpu_row){ i, seq, 0 });
}

static void
convolve_span(struct ggml_tensor *dst, struct span s)
{
    const struct ggml_tensor *x = dst->src[0], *c = dst->src[1];

    for (int64_t token = 0; token < dst->ne[1]; token++) {
        float *y = (float *)(void *)cpu_row_data(
            dst, (struct cpu_row){ token, s.seq, 0 });

        for (int64_t i = s.channels.first; i < s.channels.end; i++)
            y[i] = convolve(c->ne[0], channel(x, i, s.seq) + token,
                            channel(c, i, 0));
    }
}

static void
compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    int64_t each = (dst->ne[0] + CHANNELS - 1) / CHANNELS;
    struct cpu_range spans = cpu_share(t, each * dst->ne[2]);

    for (int64_t i = spans.first; i < spans.end; i++)
        convolve_span(dst, span_at(dst, i));
}

static bool
supports(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && cpu_is_plain(dst->src[0]) &&
           cpu_is_plain(dst->src[1]);
}

static int64_t
cost(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst) * dst->src[1]->ne[0] / 2;
}

const struct cpu_op cpu_op_ssm_conv = { .compute = compute,
                                        .supports = supports,
                                        .cost = cost };
