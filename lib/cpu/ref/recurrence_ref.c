/* recurrence_ref.c - steps of recurrences in plain C */
#include "cpu/kernels.h"
#include "cpu/ref/reference_kernels.h"

static float
dot(int64_t n, const float *a, const float *b)
{
    double s = 0;

    for (int64_t i = 0; i < n; i++)
        s += (double)a[i] * b[i];
    return (float)s;
}

static void
recur_row(const struct cpu_recurrence *p, int64_t i)
{
    const float *from = p->from + i * p->n;
    float *to = p->to + i * p->n;
    float e = p->a ? dot(p->n, p->a, from) : 0;
    float c = p->a && !p->b ? p->beta * (p->x[i] - e) : p->x[i];

    for (int64_t j = 0; j < p->n; j++)
        to[j] = from[j] * p->w[j] + c * p->k[j] + (p->b ? e * p->b[j] : 0);
    p->out[i] = p->scale * dot(p->n, p->r, to);
}

static void
recur(const struct cpu_recurrence *p)
{
    for (int64_t i = 0; i < p->n_rows; i++)
        recur_row(p, i);
}

static void
recur_outer_row(const struct cpu_outer_recurrence *p, int64_t i)
{
    const float *from = p->from + i * p->n;
    float *to = p->to + i * p->n;

    for (int64_t j = 0; j < p->n; j++) {
        float old = from[j], kv = p->k[i] * p->v[j];

        to[j] = old * p->w[i] + kv;
        p->out[j] += p->q[i] * (p->u ? old + p->u[i] * kv : to[j]);
    }
}

static void
recur_outer(const struct cpu_outer_recurrence *p)
{
    for (int64_t i = 0; i < p->n_rows; i++)
        recur_outer_row(p, i);
}

void
cpu_fill_reference_recurrences(struct cpu_kernels *k)
{
    k->recur = recur;
    k->recur_outer = recur_outer;
}
