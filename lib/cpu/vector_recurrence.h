/* vector_recurrence.h - steps of recurrences for any vectors */
#ifndef CPU_VECTOR_RECURRENCE_H
#define CPU_VECTOR_RECURRENCE_H

#include "cpu/vector.h"

/* The lanes of `rows` vectors, 1 or 4, added up: the same way for both. */
INLINE void
add_row_lanes(int rows, float *sums, const vec *v)
{
    if (rows == 4)
        v_store_sums(sums, v);
    else
        sums[0] = v_add_lanes(v[0]);
}

/* e = a . row */
INLINE void
correlate_rows(const struct cpu_recurrence *p, int64_t i, int rows, float *e)
{
    vec s[4] = { v_splat(0), v_splat(0), v_splat(0), v_splat(0) };

    for (int64_t j = 0; j < p->n; j += VEC) {
        vec a = v_load_floats(p->n - j, p->a + j);

        UNROLL for (int r = 0; r < rows; r++) s[r] = v_fused(
            v_load_floats(p->n - j, p->from + (i + r) * p->n + j), a, s[r]);
    }
    add_row_lanes(rows, e, s);
}

/* row = w row + c k + e b, out = scale (r . row) */
INLINE void
advance_rows(const struct cpu_recurrence *p, int64_t i, int rows,
             const float *c, const float *e)
{
    vec s[4] = { v_splat(0), v_splat(0), v_splat(0), v_splat(0) };
    float sums[4];

    for (int64_t j = 0; j < p->n; j += VEC) {
        int64_t m = p->n - j;
        vec w = v_load_floats(m, p->w + j), k = v_load_floats(m, p->k + j);
        vec q = v_load_floats(m, p->r + j);
        vec b = p->b ? v_load_floats(m, p->b + j) : v_splat(0);

        UNROLL for (int r = 0; r < rows; r++)
        {
            vec v = v_load_floats(m, p->from + (i + r) * p->n + j);

            v = v_fused(k, v_splat(c[r]), v * w);
            if (p->b)
                v = v_fused(b, v_splat(e[r]), v);
            v_store(m, p->to + (i + r) * p->n + j, v);
            s[r] = v_fused(v, q, s[r]);
        }
    }
    add_row_lanes(rows, sums, s);
    for (int r = 0; r < rows; r++)
        p->out[i + r] = p->scale * sums[r];
}

INLINE void
recur_rows(const struct cpu_recurrence *p, int64_t i, int rows)
{
    float e[4] = { 0 }, c[4];

    if (p->a)
        correlate_rows(p, i, rows, e);
    for (int r = 0; r < rows; r++)
        c[r] = p->a && !p->b ? p->beta * (p->x[i + r] - e[r]) : p->x[i + r];
    advance_rows(p, i, rows, c, e);
}

static void
cpu_recur(const struct cpu_recurrence *p)
{
    int64_t i = 0;

    for (; i + 4 <= p->n_rows; i += 4)
        recur_rows(p, i, 4);
    for (; i < p->n_rows; i++)
        recur_rows(p, i, 1);
}

INLINE void
recur_outer_row(const struct cpu_outer_recurrence *p, int64_t i)
{
    const float *from = p->from + i * p->n;
    float *to = p->to + i * p->n;
    vec w = v_splat(p->w[i]), k = v_splat(p->k[i]), q = v_splat(p->q[i]);
    vec uk = v_splat(p->u ? p->u[i] * p->k[i] : 0);

    for (int64_t j = 0; j < p->n; j += VEC) {
        int64_t m = p->n - j;
        vec old = v_load_floats(m, from + j), v = v_load_floats(m, p->v + j);
        vec new = v_fused(k, v, old * w);
        vec seen = p->u ? v_fused(uk, v, old) : new;

        v_store(m, p->out + j, v_fused(seen, q, v_load_floats(m, p->out + j)));
        v_store(m, to + j, new);
    }
}

static void
cpu_recur_outer(const struct cpu_outer_recurrence *p)
{
    for (int64_t i = 0; i < p->n_rows; i++)
        recur_outer_row(p, i);
}

static void
cpu_fill_recurrences(struct cpu_kernels *k)
{
    k->recur = cpu_recur;
    k->recur_outer = cpu_recur_outer;
}

#endif
