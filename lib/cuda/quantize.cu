/* quantize.cu - quantisation to 8 bits: columns of GEMVs, rows of Q8_0;
 * SET_ROWS
 *
 * A warp quantises a sub-block of 32 values, a lane a value. */
#include "cuda/fused_output.h"
#include "cuda/set_rows.h"
#include "quant/blocks.h"

KERNEL
quantize_columns(struct view x, char *columns, int64_t stride, int64_t n_items)
{
    int64_t sub_blocks = x.ne[0] / LANES, n_warps = cuda_block_size() / LANES;

    cuda_grid_dependency_sync();
    for (int64_t item = cuda_block_id() * n_warps + cuda_warp_id();
         item < n_items; item += cuda_grid_size() * n_warps) {
        int64_t sub_block, column = cuda_divide(item, sub_blocks, &sub_block);
        const char *from = cuda_row_data(&x, cuda_row_at(&x, column));
        int64_t i = sub_block * LANES + cuda_lane_id();

        cuda_quantize_lane(columns + column * stride, x.ne[0], i,
                           cuda_load_element(&x, from, i));
    }
}

void
cuda_quantize_columns(struct cuda_ctx *c, const struct view *x, void *columns)
{
    int64_t n = x->ne[0] / LANES * x->ne[1] * x->ne[2] * x->ne[3];

    if (n > 0)
        LAUNCH(quantize_columns,
               cuda_default_launch(cuda_ceil_div(n, CUDA_THREADS / LANES),
                                   CUDA_THREADS),
               c, *x, (char *)columns, cuda_q8_column_size(x->ne[0]), n);
}

struct to_rows {
    struct view y, x, ids;
    bool by_id;
};

/* A block of Q8_0, as quant/q8.c makes it: ties away from zero. */
KERNEL
quantize_q8_0(struct to_rows p, int64_t n_items)
{
    int64_t sub_blocks = p.x.ne[0] / LANES, n_warps = cuda_block_size() / LANES;

    cuda_grid_dependency_sync();
    for (int64_t item = cuda_block_id() * n_warps + cuda_warp_id();
         item < n_items; item += cuda_grid_size() * n_warps) {
        int64_t sub_block, i = cuda_divide(item, sub_blocks, &sub_block);
        struct row r = cuda_row_at(&p.x, i), to = r;
        float v = cuda_load_element(&p.x, cuda_row_data(&p.x, r),
                                    sub_block * LANES + cuda_lane_id());
        float d = cuda_warp_absmax(v) / 127;
        struct block_q8_0 *b;

        if (p.by_id)
            to.i1 = cuda_set_rows_target(&p.ids, &p.y, r);
        if (to.i1 < 0)
            continue;
        b = (struct block_q8_0 *)(void *)cuda_row_data(&p.y, to) + sub_block;
        b->qs[cuda_lane_id()] =
            (int8_t)cuda_clamp_s8(roundf(v * (d != 0 ? 1.0f / d : 0)));
        if (cuda_lane_id() == 0)
            b->d = cuda_to_f16(d);
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
               cuda_default_launch(cuda_ceil_div(n, CUDA_THREADS / LANES),
                                   CUDA_THREADS),
               c, p, n);
}

/* -- SET_ROWS: row i of src0 to row src1[i] of dst (a view of src2) -- */
KERNEL
set_rows(struct to_rows p, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(p.x, c, i, n)
    {
        struct row to = c.row;

        to.i1 = cuda_set_rows_target(&p.ids, &p.y, c.row);
        if (to.i1 >= 0)
            cuda_store_element(
                &p.y, cuda_row_data(&p.y, to), i,
                cuda_load_element(&p.x, cuda_row_data(&p.x, c.row), i));
    }
}

bool
cuda_supports_set_rows(const struct ggml_tensor *dst)
{
    return (cuda_is_float_type(dst->type) || dst->type == GGML_TYPE_Q8_0) &&
           dst->nb[0] == ggml_type_size(dst->type) &&
           cuda_is_float_type(dst->src[0]->type) &&
           (dst->src[1]->type == GGML_TYPE_I32 ||
            dst->src[1]->type == GGML_TYPE_I64);
}

void
cuda_run_set_rows(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct to_rows p = { cuda_view_of(dst), cuda_view_of(dst->src[0]),
                         cuda_view_of(dst->src[1]), true };
    int64_t n = cuda_chunks_of(dst->src[0]);

    if (n == 0)
        return;
    if (dst->type == GGML_TYPE_Q8_0)
        cuda_quantize_q8_0(c, &p.y, &p.x, &p.ids);
    else
        LAUNCH(set_rows, cuda_default_launch(n, CUDA_THREADS), c, p, n);
}
