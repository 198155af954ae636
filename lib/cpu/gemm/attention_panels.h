/* attention_panels.h - GEMM of floats for attention's prefill: scores from
 * transposed keys, and weighted sums of values */
#ifndef CPU_GEMM_ATTENTION_PANELS_H
#define CPU_GEMM_ATTENTION_PANELS_H

#include <math.h>

#include "cpu/vector.h"

/* A tile: rows by vectors; its sums, a row of b and an element of a fill the
 * registers. */
#define PANEL_ROWS    6
#define PANEL_VECTORS (REGISTERS >= 32 ? 4 : 2)

/* R rows from row i on, V vectors from column j on. */
INLINE void
panel_tile(int R, int V, const struct cpu_panel *p, int64_t i, int64_t j)
{
    const float *a = p->a + (size_t)i * p->a_stride, *b = p->b + j;
    float *c = p->c + (size_t)i * p->c_stride + j;
    vec sum[PANEL_ROWS][PANEL_VECTORS], row[PANEL_VECTORS];

    UNROLL for (int r = 0; r < R; r++) UNROLL for (int v = 0; v < V; v++)
        sum[r][v] = p->add ? v_load_f32(c + (size_t)r * p->c_stride + VEC * v)
                           : v_splat(0);
    for (int64_t k = 0; k < p->k; k++, b += p->b_stride) {
        UNROLL for (int v = 0; v < V; v++) row[v] = v_load_f32(b + VEC * v);
        UNROLL for (int r = 0; r < R; r++)
        {
            vec x = v_splat(a[(size_t)r * p->a_stride + (size_t)k]);

            UNROLL for (int v = 0; v < V; v++) sum[r][v] =
                v_fused(x, row[v], sum[r][v]);
        }
    }
    UNROLL for (int r = 0; r < R; r++) UNROLL for (int v = 0; v < V; v++)
        v_store_f32(c + (size_t)r * p->c_stride + VEC * v, sum[r][v]);
}

/* V vectors of all rows from column j on: what they read of b stays in L1. */
INLINE void
panel_columns(int V, const struct cpu_panel *p, int64_t j)
{
    int64_t i = 0;

    for (; i + PANEL_ROWS <= p->m; i += PANEL_ROWS)
        panel_tile(PANEL_ROWS, V, p, i, j);
    switch (p->m - i) {
    case 5:
        panel_tile(5, V, p, i, j);
        break;
    case 4:
        panel_tile(4, V, p, i, j);
        break;
    case 3:
        panel_tile(3, V, p, i, j);
        break;
    case 2:
        panel_tile(2, V, p, i, j);
        break;
    case 1:
        panel_tile(1, V, p, i, j);
    }
}

static void
multiply_panel(const struct cpu_panel *p)
{
    int64_t j = 0;

    for (; j + PANEL_VECTORS * VEC <= p->n; j += PANEL_VECTORS * VEC)
        panel_columns(PANEL_VECTORS, p, j);
    for (; j < p->n; j += VEC)
        panel_columns(1, p, j);
}

/* A tile of multiply_lanes(): as many sums wait in registers for each other as
 * their tree is deep. A row of b is read once for all rows of a tile. */
#define LANE_ROWS    (REGISTERS >= 32 ? 3 : 1)
#define LANE_VECTORS 2
/* A tile of long rows has more of them: its waiting sums go to memory, which is
 * little next to a lane of DEEP_K / VEC products. */
#define DEEP_ROWS (REGISTERS >= 32 ? 6 : 4)
#define DEEP_K    (VEC * 16)

struct lanes {
    vec sum[DEEP_ROWS][LANE_VECTORS];
};

/* As chains end in float_sums.h. */
INLINE void
end_lane(int R, int V, struct lanes *s, struct lanes *total)
{
    UNROLL for (int r = 0; r < R; r++) UNROLL for (int v = 0; v < V; v++)
    {
        total->sum[r][v] += s->sum[r][v];
        s->sum[r][v] = v_splat(0);
    }
}

/* Sums of lane `lane` of a product of rows. */
INLINE struct lanes
one_lane(int R, int V, const struct cpu_panel *p, const float *a,
         const float *b, int lane)
{
    const int64_t chain = cpu_chain_values(GGML_TYPE_F32);
    struct lanes s, total;

    UNROLL for (int r = 0; r < R; r++) UNROLL for (int v = 0; v < V; v++)
        s.sum[r][v] = total.sum[r][v] = v_splat(0);
    a += lane;
    b += (size_t)lane * p->b_stride;
    for (int64_t k = 0; k < p->k; k += VEC, a += VEC, b += VEC * p->b_stride) {
        vec row[LANE_VECTORS];

        if (chain && k && k % chain == 0)
            end_lane(R, V, &s, &total);
        UNROLL for (int v = 0; v < V; v++)
        {
            row[v] = v_load_f32(b + VEC * v);
            if (LANE_ROWS > 1)
                IN_REGISTER(row[v]);
        }
        UNROLL for (int r = 0; r < R; r++)
        {
            vec x = v_splat(a[(size_t)r * p->a_stride]);

            UNROLL for (int v = 0; v < V; v++) s.sum[r][v] =
                v_fused(x, row[v], s.sum[r][v]);
        }
    }
    if (chain)
        end_lane(R, V, &s, &total);
    return chain ? total : s;
}

/* The sum of twice as many lanes as `half` gives, those so far apart. */
#define TWICE(name, half, apart)                                               \
    INLINE struct lanes name(int R, int V, const struct cpu_panel *p,          \
                             const float *a, const float *b, int lane)         \
    {                                                                          \
        struct lanes s = half(R, V, p, a, b, lane);                            \
        struct lanes t = half(R, V, p, a, b, lane + (apart));                  \
        UNROLL for (int r = 0; r < R; r++) UNROLL for (int v = 0; v < V; v++)  \
            s.sum[r][v] += t.sum[r][v];                                        \
        return s;                                                              \
    }
#ifdef NEIGHBOURS_FIRST
#define SPAN(n) ((n) / 2)
#else
#define SPAN(n) (VEC / (n))
#endif
TWICE(two_lanes, one_lane, SPAN(2))
TWICE(four_lanes, two_lanes, SPAN(4))
#if VEC == 4
#define all_lanes four_lanes
#elif VEC == 8
TWICE(all_lanes, four_lanes, SPAN(8))
#else
TWICE(eight_lanes, four_lanes, SPAN(8))
TWICE(all_lanes, eight_lanes, SPAN(16))
#endif

/* R rows from row i on, V vectors from column j on: lanes of a product of rows
 * are vectors here, added as v_add_lanes() does it, so without shuffles. */
INLINE void
lanes_tile(int R, int V, const struct cpu_panel *p, int64_t i, int64_t j)
{
    float *c = p->c + (size_t)i * p->c_stride + j;
    struct lanes s =
        all_lanes(R, V, p, p->a + (size_t)i * p->a_stride, p->b + j, 0);

    UNROLL for (int r = 0; r < R; r++) UNROLL for (int v = 0; v < V; v++)
        v_store_f32(c + (size_t)r * p->c_stride + VEC * v, s.sum[r][v]);
}

/* Tiles of R rows from row i on, V vectors from column j on; returns the row
 * after them. */
INLINE int64_t
lanes_rows(int R, int V, const struct cpu_panel *p, int64_t i, int64_t j)
{
    for (; i + R <= p->m; i += R)
        lanes_tile(R, V, p, i, j);
    return i;
}

static void
multiply_lanes(const struct cpu_panel *p)
{
    const int V = LANE_VECTORS;
    int64_t i, j = 0;

    for (; j + V * VEC <= p->n; j += V * VEC) {
        i = p->k >= DEEP_K ? lanes_rows(DEEP_ROWS, V, p, 0, j) : 0;
        i = lanes_rows(LANE_ROWS, V, p, i, j);
        lanes_rows(1, V, p, i, j);
    }
    for (; j < p->n; j += VEC)
        lanes_rows(1, 1, p, 0, j);
}

/* Four columns of VEC rows at a time: the four floats of every fourth row
 * come into the lanes of a register each. */
static void
transpose(int64_t n_rows, int64_t n, const float *x, size_t x_stride, float *y,
          size_t y_stride)
{
    for (int64_t r = 0; r < n_rows; r += VEC)
        for (int64_t i = 0; i < n; i += 4) {
            const float *from = x + (size_t)r * x_stride + i;
            float *to = y + (size_t)i * y_stride + r;
            vec v[4], low[2], high[2];

            UNROLL for (int j = 0; j < 4; j++) v[j] =
                v_load_rows_of_4(from + (size_t)j * x_stride, 4 * x_stride);
            UNROLL for (int j = 0; j < 2; j++)
            {
                low[j] = v_interleave_low(v[2 * j], v[2 * j + 1]);
                high[j] = v_interleave_high(v[2 * j], v[2 * j + 1]);
            }
            v_store_f32(to, v_concat_low(low[0], low[1]));
            v_store_f32(to + y_stride, v_concat_high(low[0], low[1]));
            v_store_f32(to + 2 * y_stride, v_concat_low(high[0], high[1]));
            v_store_f32(to + 3 * y_stride, v_concat_high(high[0], high[1]));
        }
}

static void
mask_scores(int64_t n, float *s, const uint16_t *m, float slope)
{
    const vec hidden = v_splat(-INFINITY), by = v_splat(slope);

    for (int64_t i = 0; i < n; i += VEC) {
        vec v = v_load(GGML_TYPE_F16, n - i, m + i);
        vec sum = v_fused(by, v, v_load_floats(n - i, s + i));

        v_store(n - i, s + i, v_choose_where((vec_bits)(v == hidden), v, sum));
    }
}

static void
cpu_fill_panel_kernels(struct cpu_kernels *k)
{
    k->multiply_panel = multiply_panel;
    k->multiply_lanes = multiply_lanes;
    k->transpose = transpose;
    k->mask_scores = mask_scores;
}

#endif
