/* arange.c - ARANGE, TIMESTEP_EMBEDDING, PAD_REFLECT_1D, ROLL,
 * GET_REL_POS, ADD_REL_POS: rows that count, shift or tell positions */
#include <math.h>
#include <string.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

static float *
result_row(const struct ggml_tensor *dst, struct cpu_row r)
{
    return (float *)(void *)cpu_row_data(dst, r);
}

static void
compute_arange(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range share = cpu_share(t, dst->ne[0]);
    float start = tensor_get_f32(dst, 0), step = tensor_get_f32(dst, 2);
    float *y = dst->data;

    for (int64_t i = share.first; i < share.end; i++)
        y[i] = start + step * (float)i;
}

const struct cpu_op cpu_op_arange = { .compute = compute_arange,
                                      .supports = cpu_is_plain,
                                      .cost = cpu_cost_pass };

/* In double, so that large times keep their angle. */
static void
embed(float *y, double time, int dim, double max_period)
{
    int half = dim / 2;

    for (int i = 0; i < half; i++) {
        double angle = time * exp(-log(max_period) * i / half);

        y[i] = (float)cos(angle);
        y[i + half] = (float)sin(angle);
    }
    if (dim % 2)
        y[dim - 1] = 0;
}

static void
compute_timestep(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const float *times = dst->src[0]->data;
    struct cpu_range rows = cpu_share(t, dst->ne[1]);

    for (int64_t i = rows.first; i < rows.end; i++)
        embed(result_row(dst, (struct cpu_row){ i, 0, 0 }), (double)times[i],
              tensor_get_i32(dst, 0), tensor_get_i32(dst, 1));
}

static bool
supports_plain(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && cpu_is_plain(dst->src[0]);
}

static int64_t
cost_timestep(const struct ggml_tensor *dst)
{
    return 20 * ggml_nelements(dst);
}

const struct cpu_op cpu_op_timestep_embedding = { .compute = compute_timestep,
                                                  .supports = supports_plain,
                                                  .cost = cost_timestep };

static void
compute_reflect(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    int before = tensor_get_i32(dst, 0), n_after = tensor_get_i32(dst, 1);

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        float *y = result_row(dst, r) + before, *last = y + x->ne[0] - 1;

        memcpy(y, cpu_row_data(x, r), (size_t)x->ne[0] * sizeof(*y));
        for (int j = 1; j <= before; j++)
            y[-j] = y[j];
        for (int j = 1; j <= n_after; j++)
            last[j] = last[-j];
    }
}

const struct cpu_op cpu_op_pad_reflect_1d = { .compute = compute_reflect,
                                              .supports = supports_plain,
                                              .cost = cpu_cost_pass };

/* Where element i of n comes from. */
static int64_t
rolled(const struct ggml_tensor *dst, int dim, int64_t i)
{
    int64_t n = dst->ne[dim];

    return (i - tensor_get_i32(dst, dim) + n) % n;
}

static void
compute_roll(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    size_t size = ggml_type_size(dst->type);
    size_t tail = (size_t)rolled(dst, 0, 0) * size;
    size_t row = (size_t)dst->ne[0] * size;

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        struct cpu_row from = { rolled(dst, 1, r.i1), rolled(dst, 2, r.i2),
                                rolled(dst, 3, r.i3) };
        const char *x = cpu_row_data(dst->src[0], from);
        char *y = cpu_row_data(dst, r);

        memcpy(y, x + tail, row - tail);
        memcpy(y + row - tail, x, tail);
    }
}

static bool
supports_roll(const struct ggml_tensor *dst)
{
    return cpu_has_elements(dst->type) && dst->type == dst->src[0]->type &&
           dst->src[0]->nb[0] == dst->nb[0];
}

const struct cpu_op cpu_op_roll = { .compute = compute_roll,
                                    .supports = supports_roll,
                                    .cost = cpu_cost_pass };

/* Row i1 for query i2: as far from the middle as the two are apart. */
static void
compute_get_rel_pos(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        struct cpu_row from = { dst->ne[1] - 1 - r.i1 + r.i2, 0, 0 };

        cpu_store_row(t, dst, r,
                      cpu_load_row(t, x, from, cpu_row_buffer(t, dst, 0)));
    }
}

const struct cpu_op cpu_op_get_rel_pos = { .compute = compute_get_rel_pos,
                                           .supports = cpu_rows_supported,
                                           .cost = cpu_cost_pass,
                                           .work_size = cpu_rows_work_size };

/* A row of a has a value for each key, line after line. */
static void
compute_add_rel_pos(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *w = dst->src[1], *h = dst->src[2];
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    int64_t k = w->ne[0];

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        struct cpu_row pos = { r.i1 % w->ne[1], r.i1 / w->ne[1], r.i2 };
        const float *x = result_row(dst->src[0], r);
        const float *pw = result_row(w, pos), *ph = result_row(h, pos);
        float *y = result_row(dst, r);

        for (int64_t j = 0; j < k; j++, x += k, y += k)
            for (int64_t l = 0; l < k; l++)
                y[l] = x[l] + pw[l] + ph[j];
    }
}

const struct cpu_op cpu_op_add_rel_pos = { .compute = compute_add_rel_pos,
                                           .supports = supports_plain,
                                           .cost = cpu_cost_pass };
