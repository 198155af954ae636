/* reference_ffn.c - feed forward and mixtures in double precision
 *
 * Shazeer 2020 for the gated ones; Jiang et al. 2024 for mixtures of experts;
 * the card of gpt-oss for its clamped gates. */
#include "reference_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double *
reference_new(int n)
{
    return calloc((size_t)n, sizeof(double));
}

static double
scale_of(const struct reference *r, int layer, const char *name, int number)
{
    const struct weight *s = reference_weight(r, layer, name, "scale");

    if (!s)
        s = reference_weight(r, layer, name, "weight.scale");
    return s ? s->x[number] : 1;
}

/* y = s W x + b; of a stack of matrices, the one of that number. */
static void
linear_of(const struct reference *r, int layer, const char *name, int number,
          int n_in, int n_out, const double *x, double *y)
{
    const struct weight *w = reference_weight(r, layer, name, "weight");
    const struct weight *b = reference_weight(r, layer, name, "bias");
    const double *row = w->x + (size_t)number * (size_t)n_out * (size_t)n_in;
    double scale = scale_of(r, layer, name, number);

    for (int i = 0; i < n_out; i++, row += n_in) {
        double sum = 0;

        for (int j = 0; j < n_in; j++)
            sum += row[j] * x[j];
        y[i] = scale * sum + (b ? b->x[number * n_out + i] : 0);
    }
}

void
reference_linear(const struct reference *r, int layer, const char *name,
                 int n_in, int n_out, const double *x, double *y)
{
    linear_of(r, layer, name, 0, n_in, n_out, x, y);
}

static double
sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double
activate(enum activation a, double x)
{
    if (a == GELU_TANH)
        return x / 2 *
               (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
    if (a == GELU_ERF)
        return x / 2 * (1 + erf(x / sqrt(2)));
    return x * sigmoid(x);
}

static double
gated(enum activation a, double gate, double up)
{
    if (a != SILU_CLAMPED)
        return activate(a, gate) * up;
    gate = fmin(gate, 7);
    up = fmin(fmax(up, -7), 7);
    return gate * sigmoid(1.702 * gate) * (up + 1);
}

static void
dense(const struct reference *r, int layer, const double *x, double *y)
{
    const struct weight *w = reference_weight(r, layer, "ffn_up", "weight");
    bool gate = reference_weight(r, layer, "ffn_gate", "weight") != NULL;
    bool fused = w->n == 2 * r->n_ff * r->n_embd;
    double *a = reference_new(2 * r->n_ff), *b = reference_new(2 * r->n_ff);

    reference_linear(r, layer, "ffn_up", r->n_embd,
                     fused ? 2 * r->n_ff : r->n_ff, x, a);
    if (gate)
        reference_linear(r, layer, "ffn_gate", r->n_embd, r->n_ff, x, b);
    for (int i = 0; i < r->n_ff; i++)
        if (gate)
            a[i] = gated(r->arch->activation, b[i], a[i]);
        else if (fused)
            a[i] = gated(r->arch->activation, a[i], a[r->n_ff + i]);
        else
            a[i] = activate(r->arch->activation, a[i]);
    reference_linear(r, layer, "ffn_down", r->n_ff, r->n_embd, a, y);
    free(a);
    free(b);
}

/* y += weight * expert(x) */
static void
add_expert(const struct reference *r, int layer, int expert, double weight,
           const double *x, double *y)
{
    int n = r->n_ff_expert;
    double *up = reference_new(n), *gate = reference_new(n);
    double *z = reference_new(r->n_embd);

    linear_of(r, layer, "ffn_up_exps", expert, r->n_embd, n, x, up);
    linear_of(r, layer, "ffn_gate_exps", expert, r->n_embd, n, x, gate);
    for (int i = 0; i < n; i++)
        up[i] = gated(r->arch->activation, gate[i], up[i]);
    linear_of(r, layer, "ffn_down_exps", expert, n, r->n_embd, up, z);
    for (int i = 0; i < r->n_embd; i++)
        y[i] += weight * z[i];
    free(up);
    free(gate);
    free(z);
}

/* y += sigmoid(g x) * shared expert(x) */
static void
add_shared(const struct reference *r, int layer, const double *x, double *y)
{
    int n = r->n_ff_shared;
    double *up = reference_new(n), *gate = reference_new(n);
    double *z = reference_new(r->n_embd), share;

    reference_linear(r, layer, "ffn_gate_inp_shexp", r->n_embd, 1, x, &share);
    reference_linear(r, layer, "ffn_up_shexp", r->n_embd, n, x, up);
    reference_linear(r, layer, "ffn_gate_shexp", r->n_embd, n, x, gate);
    for (int i = 0; i < n; i++)
        up[i] = gated(r->arch->activation, gate[i], up[i]);
    reference_linear(r, layer, "ffn_down_shexp", n, r->n_embd, up, z);
    for (int i = 0; i < r->n_embd; i++)
        y[i] += sigmoid(share) * z[i];
    free(up);
    free(gate);
    free(z);
}

/* Sets all but the n greatest to 0. */
static void
keep_greatest(double *p, int n_all, int n)
{
    double *kept = reference_new(n_all);

    for (int k = 0; k < n; k++) {
        int best = 0;

        for (int i = 1; i < n_all; i++)
            if (p[i] > p[best])
                best = i;
        kept[best] = p[best];
        p[best] = -1;
    }
    memcpy(p, kept, (size_t)n_all * sizeof(*p));
    free(kept);
}

static void
mixture(const struct reference *r, int layer, const double *x, double *y)
{
    int n = r->n_expert;
    double *p = reference_new(n), max = -INFINITY, sum = 0;

    reference_linear(r, layer, "ffn_gate_inp", r->n_embd, n, x, p);
    for (int i = 0; i < n; i++)
        max = fmax(max, p[i]);
    for (int i = 0; i < n; i++)
        sum += p[i] = exp(p[i] - max);
    keep_greatest(p, n, r->n_expert_used);
    if (!r->arch->kept_weights) {
        sum = 0;
        for (int i = 0; i < n; i++)
            sum += p[i];
    }
    memset(y, 0, (size_t)r->n_embd * sizeof(*y));
    for (int i = 0; i < n; i++)
        if (p[i] > 0)
            add_expert(r, layer, i, p[i] / sum, x, y);
    if (r->n_ff_shared)
        add_shared(r, layer, x, y);
    free(p);
}

void
reference_feed_forward(const struct reference *r, int layer, const double *x,
                       double *y)
{
    r->n_expert ? mixture(r, layer, x, y) : dense(r, layer, x, y);
}
