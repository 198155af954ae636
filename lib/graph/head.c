/* head.c - what follows the pooling: a few dense layers of one vector */
#include "graph/head.h"

#include <math.h>

static void
add(struct model_head *head, struct model_dense d)
{
    if (d.weight)
        head->layers[head->n++] = d;
}

static struct model_dense
find_dense(struct model_loader *l, const char *weight, const char *bias,
           int64_t n_in, int64_t n_out, enum model_squash squash)
{
    struct model_dense d = { .squash = squash };

    d.weight = graph_find_on_host(l, weight, n_in, n_out);
    if (d.weight)
        d.bias = graph_find_on_host(l, bias, d.weight->ne[1], 1);
    return d;
}

static void
find_embedding(struct model_loader *l)
{
    int64_t e = l->model->hp.n_embd;
    bool two = gguf_tensor_named(l->gguf, "dense_3.weight");
    struct model_dense d = find_dense(l, "dense_2.weight", "dense_2.bias", e, 0,
                                      MODEL_SQUASH_NONE);

    add(&l->model->dense, d);
    if (two)
        add(&l->model->dense,
            find_dense(l, "dense_3.weight", "dense_3.bias",
                       d.weight ? d.weight->ne[1] : e, 0, MODEL_SQUASH_NONE));
}

/* They go where an embedding would. */
static void
check_scores(struct model_loader *l, const struct gguf_tensor *t)
{
    if (t->ne[1] > l->model->hp.n_embd)
        l->status = gguf_bad_value(l->gguf, t->name, l->err,
                                   "more scores than an embedding has values");
}

/* A classifier of one matrix gives scores; in front of cls.output it is a
 * layer. */
static void
find_rank(struct model_loader *l)
{
    struct model *m = l->model;
    int64_t e = m->hp.n_embd;
    bool two = gguf_tensor_named(l->gguf, "cls.output.weight");
    struct model_dense d =
        find_dense(l, "cls.weight", "cls.bias", e, two ? e : 0,
                   two ? m->hp.rank_squash : MODEL_SQUASH_NONE);

    if (d.weight && two)
        d.norm = graph_find_on_host(l, "cls.norm.weight", e, 1);
    if (d.norm)
        d.norm_bias = graph_find_on_host(l, "cls.norm.bias", e, 1);
    add(&m->rank, d);
    if (d.weight && !two)
        check_scores(l, d.weight);
    if (!two)
        return;
    d = find_dense(l, "cls.output.weight", "cls.output.bias", e, 0,
                   MODEL_SQUASH_NONE);
    if (d.weight)
        check_scores(l, d.weight);
    add(&m->rank, d);
}

void
graph_head_find(struct model_loader *l)
{
    find_embedding(l);
    find_rank(l);
}

int32_t
graph_head_length(const struct model_head *head, int32_t n_embd)
{
    return head->n ? (int32_t)head->layers[head->n - 1].weight->ne[1] : n_embd;
}

int32_t
graph_head_room(const struct model_head *head, int32_t n_embd)
{
    int32_t n = n_embd;

    for (int i = 0; i < head->n; i++)
        if (head->layers[i].weight->ne[1] > n)
            n = (int32_t)head->layers[i].weight->ne[1];
    return n;
}

static const float *
read_row(const struct gguf_tensor *t, int64_t i, float *row)
{
    const char *at =
        (const char *)t->data + (size_t)i * ggml_row_size(t->type, t->ne[0]);

    if (t->type == GGML_TYPE_F32)
        memcpy(row, at, (size_t)t->ne[0] * sizeof(*row));
    else
        ggml_get_type_traits(t->type)->to_float(at, row, t->ne[0]);
    return row;
}

static double
squash(enum model_squash how, double x)
{
    switch (how) {
    case MODEL_SQUASH_TANH:
        return tanh(x);
    case MODEL_SQUASH_GELU:
        return x * 0.5 * (1 + erf(x * 0.70710678118654752440));
    case MODEL_SQUASH_RELU:
        return x > 0 ? x : 0;
    case MODEL_SQUASH_SILU:
        return x / (1 + exp(-x));
    default:
        return x;
    }
}

static void
normalise(const struct model_dense *d, float eps, double *x, int64_t n,
          float *row)
{
    double mean = 0, square = 0, scale;

    for (int64_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (int64_t i = 0; i < n; i++)
        square += (x[i] - mean) * (x[i] - mean) / (double)n;
    scale = 1 / sqrt(square + (double)eps);
    read_row(d->norm, 0, row);
    for (int64_t i = 0; i < n; i++)
        x[i] = (x[i] - mean) * scale * (double)row[i];
    if (!d->norm_bias)
        return;
    read_row(d->norm_bias, 0, row);
    for (int64_t i = 0; i < n; i++)
        x[i] += (double)row[i];
}

static void
apply_one(const struct model_dense *d, float eps, double *x, double *y,
          float *row)
{
    int64_t n_in = d->weight->ne[0], n_out = d->weight->ne[1];

    for (int64_t i = 0; i < n_out; i++) {
        const float *w = read_row(d->weight, i, row);

        y[i] = 0;
        for (int64_t j = 0; j < n_in; j++)
            y[i] += (double)w[j] * x[j];
    }
    if (d->bias)
        read_row(d->bias, 0, row);
    for (int64_t i = 0; i < n_out; i++)
        x[i] = squash(d->squash, y[i] + (d->bias ? (double)row[i] : 0));
    if (d->norm)
        normalise(d, eps, x, n_out, row);
}

void
graph_head_apply(const struct model_head *head, float eps, double *x,
                 double *scratch, float *row)
{
    for (int i = 0; i < head->n; i++)
        apply_one(&head->layers[i], eps, x, scratch, row);
}
