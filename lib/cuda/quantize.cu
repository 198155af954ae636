/* quantize.cu - floats to eight bits: columns for products, rows of Q8_0
 *
 * A warp a unit of 32 values, a lane a value. */
#include "cuda/also.h"
#include "cuda/q8.h"
#include "quant/blocks.h"

KERNEL
quantize_columns(struct view x, char *columns, int64_t stride, int64_t n_items)
{
    int64_t units = x.ne[0] / LANES, n_warps = block_size() / LANES;

    take_turn();
    for (int64_t item = block_id() * n_warps + warp_id(); item < n_items;
         item += grid_size() * n_warps) {
        int64_t unit, column = divide(item, units, &unit);
        const char *from = row_data(&x, row_at(&x, column));
        int64_t i = unit * LANES + lane_id();

        store_bytes(columns + column * stride, x.ne[0], i,
                    load_element(&x, from, i));
    }
}

void
cuda_quantize_columns(struct cuda_ctx *c, const struct view *x, void *columns)
{
    int64_t n = x->ne[0] / LANES * x->ne[1] * x->ne[2] * x->ne[3];

    if (n > 0)
        LAUNCH(quantize_columns,
               shape_of(cuda_pieces(n, CUDA_THREADS / LANES), CUDA_THREADS), c,
               *x, (char *)columns, column_size(x->ne[0]), n);
}

struct to_rows {
    struct view y, x, ids;
    bool by_id;
};

/* A block of Q8_0, as quant/q8.c makes it: halves away from zero. */
KERNEL
quantize_q8_0(struct to_rows p, int64_t n_items)
{
    int64_t units = p.x.ne[0] / LANES, n_warps = block_size() / LANES;

    take_turn();
    for (int64_t item = block_id() * n_warps + warp_id(); item < n_items;
         item += grid_size() * n_warps) {
        int64_t unit, i = divide(item, units, &unit);
        struct row r = row_at(&p.x, i), to = r;
        float v =
            load_element(&p.x, row_data(&p.x, r), unit * LANES + lane_id());
        float d = greatest(v) / 127;
        struct block_q8_0 *b;

        if (p.by_id)
            to.i1 = target_row(&p.ids, &p.y, r);
        if (to.i1 < 0)
            continue;
        b = (struct block_q8_0 *)(void *)row_data(&p.y, to) + unit;
        b->qs[lane_id()] =
            (int8_t)clamp_byte(roundf(v * (d != 0 ? 1.0f / d : 0)));
        if (lane_id() == 0)
            b->d = to_f16(d);
    }
}

void
cuda_quantize_q8_0(struct cuda_ctx *c, const struct view *y,
                   const struct view *x, const struct view *ids)
{
    struct to_rows p = { *y, *x, ids ? *ids : *x, ids != NULL };
    int64_t n = x->ne[0] / LANES * x->ne[1] * x->ne[2] * x->ne[3];

    if (n > 0)
        LAUNCH(quantize_q8_0,
               shape_of(cuda_pieces(n, CUDA_THREADS / LANES), CUDA_THREADS), c,
               p, n);
}

/* -- SET_ROWS: dst (a view of src2): row src1[i] becomes row i of src0 -- */
KERNEL
set_rows(struct to_rows p, int64_t n)
{
    take_turn();
    EACH_ELEMENT(p.x, c, i, n)
    {
        struct row to = c.row;

        to.i1 = target_row(&p.ids, &p.y, c.row);
        if (to.i1 >= 0)
            store_element(&p.y, row_data(&p.y, to), i,
                          load_element(&p.x, row_data(&p.x, c.row), i));
    }
}

bool
cuda_supports_set_rows(const struct ggml_tensor *dst)
{
    return (is_float_type(dst->type) || dst->type == GGML_TYPE_Q8_0) &&
           dst->nb[0] == ggml_type_size(dst->type) &&
           is_float_type(dst->src[0]->type) &&
           (dst->src[1]->type == GGML_TYPE_I32 ||
            dst->src[1]->type == GGML_TYPE_I64);
}

void
cuda_run_set_rows(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct to_rows p = { view_of(dst), view_of(dst->src[0]),
                         view_of(dst->src[1]), true };
    int64_t n = chunks_of(dst->src[0]);

    if (n == 0)
        return;
    if (dst->type == GGML_TYPE_Q8_0)
        cuda_quantize_q8_0(c, &p.y, &p.x, &p.ids);
    else
        LAUNCH(set_rows, shape_of(n, CUDA_THREADS), c, p, n);
}
