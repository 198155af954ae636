/* reference.c - the logits of a model, computed plainly in double precision
 *
 * Shares nothing with the library but the reading of the file and of its
 * types: loops over the formulas of the papers and models' cards (Radford et
 * al. 2019; Wang and Komatsuzaki 2021; Touvron et al. 2023; soft caps: Gemma 2;
 * sinks: gpt-oss), one token after another. What a layer has shows in its
 * tensors; what it does beside, in the table of architectures. */
#include "reference_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one evaluation holds: keys and values of every layer and position. */
struct state {
    const struct reference *r;
    double *keys, *values; /* [layer][position][n_head_kv * d] */
    int n;                 /* positions */
};

/* ---- the formulas -------------------------------------------------------- */

/* (x - mean) / sqrt(variance + eps), or x / sqrt(mean square + eps) */
static void
norm_values(const struct reference *r, const double *x, int n, double *y)
{
    double mean = 0, square = 0;

    for (int i = 0; i < n && r->arch->means; i++)
        mean += x[i] / n;
    for (int i = 0; i < n; i++)
        square += (x[i] - mean) * (x[i] - mean) / n;
    for (int i = 0; i < n; i++)
        y[i] = (x[i] - mean) / sqrt(square + r->eps);
}

/* False, and y = x: the layer has no such norm. */
static bool
norm(const struct reference *r, int layer, const char *name, const double *x,
     double *y)
{
    const struct weight *w = reference_weight(r, layer, name, "weight");
    const struct weight *b = reference_weight(r, layer, name, "bias");

    if (!w) {
        memmove(y, x, (size_t)r->n_embd * sizeof(*y));
        return false;
    }
    norm_values(r, x, r->n_embd, y);
    for (int i = 0; i < r->n_embd; i++)
        y[i] = y[i] * w->x[i] + (b ? b->x[i] : 0);
    return true;
}

/* Norms queries or keys: each head, or all together. */
static void
norm_heads(const struct reference *r, int layer, const char *name, double *x,
           int n_head)
{
    const struct weight *w = reference_weight(r, layer, name, "weight");

    for (int i = 0; w && i < n_head * r->d; i += w->n) {
        norm_values(r, x + i, w->n, x + i);
        for (int j = 0; j < w->n; j++)
            x[i + j] *= w->x[j];
    }
}

static double
cap(double x, double limit)
{
    return limit > 0 ? limit * tanh(x / limit) : x;
}

/* ---- attention ----------------------------------------------------------- */

static double
score(const struct reference *r, const double *q, const double *k)
{
    double sum = 0;

    for (int i = 0; i < r->d; i++)
        sum += q[i] * k[i];
    return cap(sum * r->attention_scale, r->attention_cap);
}

/* y = softmax(q k^T scale) v over positions first..last, for one head; a sink
 * takes part in the softmax and has no value. */
static void
attend(const struct reference *r, const double *q, const double *keys,
       const double *values, int first, int last, double sink, double *y)
{
    size_t stride = (size_t)(r->n_head_kv * r->d);
    double *p = reference_new(last + 1);
    double max = sink, sum;

    for (int t = first; t <= last; t++) {
        p[t] = score(r, q, keys + (size_t)t * stride);
        max = fmax(max, p[t]);
    }
    sum = exp(sink - max);
    for (int t = first; t <= last; t++)
        sum += p[t] = exp(p[t] - max);
    for (int i = 0; i < r->d; i++) {
        y[i] = 0;
        for (int t = first; t <= last; t++)
            y[i] += p[t] / sum * values[(size_t)t * stride + (size_t)i];
    }
    free(p);
}

static void
project(const struct reference *r, int layer, int position, const double *x,
        double *q, double *k, double *v)
{
    int n_q = r->n_head * r->d, n_kv = r->n_head_kv * r->d;

    if (reference_weight(r, layer, "attn_qkv", "weight")) {
        double *qkv = reference_new(n_q + 2 * n_kv);

        reference_linear(r, layer, "attn_qkv", r->n_embd, n_q + 2 * n_kv, x,
                         qkv);
        memcpy(q, qkv, (size_t)n_q * sizeof(*q));
        memcpy(k, qkv + n_q, (size_t)n_kv * sizeof(*k));
        memcpy(v, qkv + n_q + n_kv, (size_t)n_kv * sizeof(*v));
        free(qkv);
    } else {
        reference_linear(r, layer, "attn_q", r->n_embd, n_q, x, q);
        reference_linear(r, layer, "attn_k", r->n_embd, n_kv, x, k);
        reference_linear(r, layer, "attn_v", r->n_embd, n_kv, x, v);
    }
    norm_heads(r, layer, "attn_q_norm", q, r->n_head);
    norm_heads(r, layer, "attn_k_norm", k, r->n_head_kv);
    reference_rotate(r, layer, q, r->n_head, position);
    reference_rotate(r, layer, k, r->n_head_kv, position);
}

static void
attention(struct state *s, int layer, int position, const double *x, double *y)
{
    const struct reference *r = s->r;
    const struct weight *sinks =
        reference_weight(r, layer, "attn_sinks", "weight");
    int n_q = r->n_head * r->d, n_kv = r->n_head_kv * r->d;
    size_t start = (size_t)layer * (size_t)s->n * (size_t)n_kv;
    double *keys = s->keys + start, *values = s->values + start;
    double *q = reference_new(n_q), *out = reference_new(n_q);
    int first = 0;

    if (reference_windowed(r, layer) && position >= r->window)
        first = position - r->window + 1;
    project(r, layer, position, x, q, keys + (size_t)position * (size_t)n_kv,
            values + (size_t)position * (size_t)n_kv);
    for (int h = 0; h < r->n_head; h++) {
        int kv = h / (r->n_head / r->n_head_kv) * r->d;

        attend(r, q + h * r->d, keys + kv, values + kv, first, position,
               sinks ? sinks->x[h] : -INFINITY, out + h * r->d);
    }
    reference_linear(r, layer, "attn_output", n_q, r->n_embd, out, y);
    free(q);
    free(out);
}

/* ---- layers -------------------------------------------------------------- */

static void
embed(const struct reference *r, int32_t id, int position, double *x)
{
    const struct weight *tokens =
        reference_weight(r, -1, "token_embd", "weight");
    const struct weight *positions =
        reference_weight(r, -1, "position_embd", "weight");

    for (int i = 0; i < r->n_embd; i++) {
        x[i] = tokens->x[id * r->n_embd + i] * r->token_scale;
        if (positions)
            x[i] += positions->x[position * r->n_embd + i];
    }
}

static void
add_to(const struct reference *r, double *x, const double *y)
{
    for (int i = 0; i < r->n_embd; i++)
        x[i] += r->residual_scale * y[i];
}

/* x += attention(norm(x)); x += feed_forward(norm(x)); in parallel, both of
 * the x before. */
static void
layer(struct state *s, int l, int position, double *x)
{
    const struct reference *r = s->r;
    double *before = reference_new(r->n_embd);
    double *y = reference_new(r->n_embd), *z = reference_new(r->n_embd);

    memcpy(before, x, (size_t)r->n_embd * sizeof(*x));
    if (!norm(r, l, "attn_norm_2", before, y))
        norm(r, l, "attn_norm", before, y);
    attention(s, l, position, y, z);
    if (!r->arch->ffn_norm_post)
        norm(r, l, "post_attention_norm", z, z);
    add_to(r, x, z);

    if (!r->parallel)
        memcpy(before, x, (size_t)r->n_embd * sizeof(*x));
    if (!norm(r, l, r->arch->ffn_norm_post ? "post_attention_norm" : "ffn_norm",
              before, y) &&
        r->parallel)
        norm(r, l, "attn_norm", before, y);
    reference_feed_forward(r, l, y, z);
    norm(r, l, "post_ffw_norm", z, z);
    add_to(r, x, z);
    free(before);
    free(y);
    free(z);
}

static void
forward(struct state *s, int32_t id, int position, double *logits)
{
    const struct reference *r = s->r;
    double *x = reference_new(r->n_embd);
    bool tied = !reference_weight(r, -1, "output", "weight");

    embed(r, id, position, x);
    for (int l = 0; l < r->n_layer; l++)
        layer(s, l, position, x);
    norm(r, -1, "output_norm", x, x);
    reference_linear(r, -1, tied ? "token_embd" : "output", r->n_embd,
                     r->n_vocab, x, logits);
    for (int i = 0; i < r->n_vocab; i++)
        logits[i] = cap(logits[i] * r->logit_scale, r->final_cap);
    free(x);
}

void
reference_logits(const struct reference *r, const int32_t *ids, int n,
                 double *out)
{
    size_t cells =
        (size_t)r->n_layer * (size_t)n * (size_t)(r->n_head_kv * r->d);
    struct state s = {
        .r = r,
        .keys = malloc(cells * sizeof(double)),
        .values = malloc(cells * sizeof(double)),
        .n = n,
    };

    for (int i = 0; i < n; i++)
        forward(&s, ids[i], i, out + (size_t)i * (size_t)r->n_vocab);
    free(s.keys);
    free(s.values);
}

/* ---- encoders ------------------------------------------------------------ */

/* x = norm(x + y) */
static void
add_and_norm(const struct reference *r, int l, const char *name, double *x,
             const double *y)
{
    add_to(r, x, y);
    norm(r, l, name, x, x);
}

/* y = attention of all ids to all ids */
static void
attend_to_all(const struct reference *r, int l, int n, const double *x,
              double *y)
{
    int e = r->n_embd, m = r->n_head * r->d;
    double *q = reference_new(n * m), *k = reference_new(n * m);
    double *v = reference_new(n * m), *out = reference_new(m);

    for (int i = 0; i < n; i++)
        project(r, l, i, x + i * e, q + i * m, k + i * m, v + i * m);
    for (int i = 0; i < n; i++) {
        for (int h = 0; h < m; h += r->d)
            attend(r, q + i * m + h, k + h, v + h, 0, n - 1, -INFINITY,
                   out + h);
        reference_linear(r, l, "attn_output", m, e, out, y + i * e);
    }
    free(q);
    free(k);
    free(v);
    free(out);
}

void
reference_encode(const struct reference *r, const int32_t *ids, int n,
                 double *out)
{
    const struct weight *type =
        reference_weight(r, -1, "token_types", "weight");
    int e = r->n_embd;
    double *y = reference_new(n * e);

    for (int i = 0; i < n; i++) {
        embed(r, ids[i], i, out + i * e);
        add_and_norm(r, -1, "token_embd_norm", out + i * e, type->x);
    }
    for (int l = 0; l < r->n_layer; l++) {
        attend_to_all(r, l, n, out, y);
        for (int i = 0; i < n; i++) {
            add_and_norm(r, l, "attn_output_norm", out + i * e, y + i * e);
            reference_feed_forward(r, l, out + i * e, y + i * e);
            add_and_norm(r, l, "layer_output_norm", out + i * e, y + i * e);
        }
    }
    free(y);
}

double
reference_nmse(const float *x, const double *truth, int n)
{
    double error = 0, power = 0;

    for (int i = 0; i < n; i++) {
        error += ((double)x[i] - truth[i]) * ((double)x[i] - truth[i]);
        power += truth[i] * truth[i];
    }
    return error / power;
}
