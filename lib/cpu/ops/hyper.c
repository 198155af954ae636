/* hyper.c - DSV4_HC_COMB, _PRE, _POST: hyper-connections, residual streams
 * side by side that a layer reads and writes as weighted sums */
#include <math.h>
#include <string.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

enum {
    CHUNK = 256 /* elements that are weighted together */
};

/* ---- COMB: a doubly stochastic matrix ----------------------------------- */

struct streams {
    int64_t n;
    float *m; /* [from][to] */
};

/* Each row's exponentials over their sum, plus eps. */
static void
soft_max_rows(const struct streams *s, float eps)
{
    for (int64_t i = 0; i < s->n; i++) {
        float *row = s->m + i * s->n, max = row[0], sum = 0;

        for (int64_t j = 1; j < s->n; j++)
            max = fmaxf(max, row[j]);
        for (int64_t j = 0; j < s->n; j++)
            sum += row[j] = expf(row[j] - max);
        for (int64_t j = 0; j < s->n; j++)
            row[j] = row[j] / sum + eps;
    }
}

/* Divides lines, whose elements are `step` floats apart, by their sums. */
static void
divide_by_sums(const struct streams *s, int64_t line, int64_t step, float eps)
{
    for (int64_t i = 0; i < s->n; i++) {
        float *x = s->m + i * line, sum = eps;

        for (int64_t j = 0; j < s->n; j++)
            sum += x[j * step];
        for (int64_t j = 0; j < s->n; j++)
            x[j * step] /= sum;
    }
}

static float
element(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2)
{
    const char *p = (const char *)t->data + (size_t)i0 * t->nb[0] +
                    (size_t)i1 * t->nb[1] + (size_t)i2 * t->nb[2];

    return *(const float *)(const void *)p;
}

static void
comb_token(struct ggml_tensor *dst, int64_t token)
{
    const struct ggml_tensor *mixes = dst->src[0], *base = dst->src[2];
    struct cpu_row r = { 0, token, 0 };
    struct streams s = { dst->ne[0], (float *)(void *)cpu_row_data(dst, r) };
    float scale = element(dst->src[1], 2, 0, 0);
    float eps = tensor_get_f32(dst, 0);

    for (int64_t i = 0; i < s.n * s.n; i++)
        s.m[i] = element(mixes, 2 * s.n + i, token, 0) * scale +
                 element(base, 2 * s.n + i, 0, 0);
    soft_max_rows(&s, eps);
    divide_by_sums(&s, 1, s.n, eps);
    for (int i = 1; i < tensor_get_i32(dst, 1); i++) {
        divide_by_sums(&s, s.n, 1, eps);
        divide_by_sums(&s, 1, s.n, eps);
    }
}

static void
compute_comb(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range tokens = cpu_share(t, dst->ne[2]);

    for (int64_t i = tokens.first; i < tokens.end; i++)
        comb_token(dst, i);
}

static int64_t
cost_comb(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst) * (8 + tensor_get_i32(dst, 1));
}

const struct cpu_op cpu_op_hyper_comb = { .compute = compute_comb,
                                          .cost = cost_comb };

/* ---- PRE and POST: weighted sums of rows -------------------------------- */

/* y += w x */
static void
add_weighted(const struct cpu_task *t, int64_t n, float *y, const float *x,
             float w)
{
    float product[CHUNK];

    for (int64_t i = 0; i < n; i += CHUNK) {
        int64_t some = n - i < CHUNK ? n - i : CHUNK;

        t->k->scale(some, product, x + i, w, 0);
        t->k->add(some, y + i, y + i, product);
    }
}

/* y += sigmoid(gate) x */
static void
add_gated(const struct cpu_task *t, int64_t n, float *y, const float *x,
          const float *gate)
{
    float product[CHUNK];

    for (int64_t i = 0; i < n; i += CHUNK) {
        int64_t some = n - i < CHUNK ? n - i : CHUNK;

        t->k->sigmoid(some, product, gate + i);
        t->k->mul(some, product, product, x + i);
        t->k->add(some, y + i, y + i, product);
    }
}

static void
pre_token(const struct cpu_task *t, struct ggml_tensor *dst, int64_t token)
{
    const struct ggml_tensor *x = dst->src[0], *w = dst->src[1];
    float *y =
        (float *)(void *)cpu_row_data(dst, (struct cpu_row){ token, 0, 0 });
    bool gated = tensor_get_i32(dst, 1) != 0;
    int64_t n = dst->ne[0];

    memset(y, 0, (size_t)n * sizeof(*y));
    for (int64_t i = 0; i < x->ne[1]; i++) {
        struct cpu_row r = { i, token, 0 };
        const float *row = cpu_load_row(t, x, r, cpu_row_buffer(t, dst, 0));

        if (gated)
            add_gated(t, n, y, row,
                      cpu_load_row(t, w, r, cpu_row_buffer(t, dst, 1)));
        else
            add_weighted(t, n, y, row, element(w, i, token, 0));
    }
    t->k->scale(n, y, y, tensor_get_f32(dst, 0), 0);
}

static void
compute_pre(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range tokens = cpu_share(t, dst->ne[1]);

    for (int64_t i = tokens.first; i < tokens.end; i++)
        pre_token(t, dst, i);
}

static int64_t
cost_pre(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst->src[0]) / 2;
}

const struct cpu_op cpu_op_hyper_pre = { .compute = compute_pre,
                                         .cost = cost_pre,
                                         .work_size = cpu_rows_work_size };

/* Stream i of a token: what the layer made, and what the streams had. */
static void
post_row(const struct cpu_task *t, struct ggml_tensor *dst, struct cpu_row at)
{
    const struct ggml_tensor *residual = dst->src[1], *comb = dst->src[3];
    int64_t token = at.i2, n = dst->ne[0];
    float *y = (float *)(void *)cpu_row_data(dst, at);
    float *buffer = cpu_row_buffer(t, dst, 0);
    const float *x =
        cpu_load_row(t, dst->src[0], (struct cpu_row){ token, 0, 0 }, buffer);

    t->k->scale(n, y, x, element(dst->src[2], at.i1, token, 0), 0);
    for (int64_t i = 0; i < residual->ne[1]; i++) {
        const float *from =
            cpu_load_row(t, residual, (struct cpu_row){ i, token, 0 }, buffer);

        if (comb)
            add_weighted(t, n, y, from, element(comb, at.i1, i, token));
        else if (i == at.i1)
            t->k->add(n, y, y, from);
    }
}

static void
compute_post(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));

    for (int64_t i = rows.first; i < rows.end; i++)
        post_row(t, dst, cpu_row_at(dst, i));
}

static int64_t
cost_post(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst) * dst->ne[1] / 2;
}

const struct cpu_op cpu_op_hyper_post = { .compute = compute_post,
                                          .cost = cost_post,
                                          .work_size = cpu_rows_work_size };
