/* ssm_conv.c - SSM_CONV: a short convolution of each channel over time */
#include <string.h>

#include "cpu/ops/op_table.h"

enum {
    CHANNELS = 16, /* whose results share a cache line */
    TOKENS = 32,   /* of a block */
    TAPS = 4       /* of a block */
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

static const float *
channel(const struct ggml_tensor *t, int64_t i, int64_t seq)
{
    return (const float *)(const void *)cpu_row_data(
        t, (struct cpu_row){ i, seq, 0 });
}

/* n of each of the span's channels from `first` on, as rows of CHANNELS: the
 * channels of a row are computed together, each in its own order. */
static void
gather_channels(const struct ggml_tensor *x, const struct span *s,
                int64_t first, int64_t n, float rows[][CHANNELS])
{
    if (s->channels.end - s->channels.first < CHANNELS)
        memset(rows, 0, (size_t)n * sizeof(rows[0]));
    for (int64_t c = s->channels.first; c < s->channels.end; c++) {
        const float *from = channel(x, c, s->seq) + first;

        for (int64_t i = 0; i < n; i++)
            rows[i][c - s->channels.first] = from[i];
    }
}

/* y += x c, for all channels. */
static void
add_tap(float *y, const float *x, const float *c)
{
    for (int i = 0; i < CHANNELS; i++)
        y[i] += x[i] * c[i];
}

/* Tokens of a block, by taps of a block: sums of earlier taps stand in dst. */
static void
convolve_block(struct ggml_tensor *dst, const struct span *s, int64_t token,
               int64_t n, int64_t tap, int64_t n_taps)
{
    float x[TOKENS + TAPS][CHANNELS], c[TAPS][CHANNELS];
    size_t size = (size_t)(s->channels.end - s->channels.first) * sizeof(float);

    gather_channels(dst->src[0], s, token + tap, n + n_taps - 1, x);
    gather_channels(dst->src[1], &(struct span){ 0, s->channels }, tap, n_taps,
                    c);
    for (int64_t i = 0; i < n; i++) {
        float sum[CHANNELS] = { 0 };
        float *y = (float *)(void *)cpu_row_data(
                       dst, (struct cpu_row){ token + i, s->seq, 0 }) +
                   s->channels.first;

        if (tap > 0)
            memcpy(sum, y, size);
        for (int64_t k = 0; k < n_taps; k++)
            add_tap(sum, x[i + k], c[k]);
        memcpy(y, sum, size);
    }
}

static void
convolve_span(struct ggml_tensor *dst, struct span s)
{
    int64_t taps = dst->src[1]->ne[0];

    for (int64_t token = 0; token < dst->ne[1]; token += TOKENS) {
        int64_t n = dst->ne[1] - token < TOKENS ? dst->ne[1] - token : TOKENS;

        for (int64_t tap = 0; tap < taps; tap += TAPS)
            convolve_block(dst, &s, token, n, tap,
                           taps - tap < TAPS ? taps - tap : TAPS);
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
