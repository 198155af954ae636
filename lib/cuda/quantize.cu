/* quantize.cu - quantisation: columns of GEMVs, rows of a KV cache's blocks;
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
DEVICE void
store_q8_0(struct block_q8_0 *b, float v)
{
    float d = cuda_warp_absmax(v) / 127;

    b->qs[cuda_lane_id()] =
        (int8_t)cuda_clamp_s8(roundf(v * (d != 0 ? 1.0f / d : 0)));
    if (cuda_lane_id() == 0)
        b->d = cuda_to_f16(d);
}

/* The first of the values whose absolute value is the largest; NaN if one is. */
DEVICE float
warp_extreme(float v)
{
    float most = cuda_warp_absmax(v);
    int lane = fabsf(v) == most ? (int)cuda_lane_id() : LANES;

    UNROLL for (int m = LANES / 2; m; m /= 2)
    {
        int other = cuda_lane_xor(lane, m);

        lane = other < lane ? other : lane;
    }
    return lane < LANES ? cuda_lane_get(v, lane) : most;
}

/* The lane's code, as quant/q4.c and q5.c make it, where the extreme becomes the
 * least of them; *d: the scale. */
DEVICE int
few_bits_code(float v, int least, float *d)
{
    float inverse, code;

    *d = warp_extreme(v) / (float)least;
    inverse = *d != 0 ? 1.0f / *d : 0;
    code = cuda_multiply_rn(v, inverse) + (0.5f - (float)least);
    if (!(code > 0 && code < 0x1p31f))
        return 0;
    return (int)fminf(code, (float)(-2 * least - 1));
}

/* Codes of lanes 0 to 15 are low halves of bytes, others high ones. */
DEVICE void
store_nibbles(uint8_t *qs, int code)
{
    int high = cuda_lane_xor(code, 16);

    if (cuda_lane_id() < 16)
        qs[cuda_lane_id()] = (uint8_t)((code & 15) | (high & 15) << 4);
}

DEVICE void
store_q4_0(struct block_q4_0 *b, float v)
{
    float d;
    int code = few_bits_code(v, -8, &d);

    store_nibbles(b->qs, code);
    if (cuda_lane_id() == 0)
        b->d = cuda_to_f16(d);
}

/* Eight lanes give a byte of fifth bits. */
DEVICE void
store_q5_0(struct block_q5_0 *b, float v)
{
    float d;
    int code = few_bits_code(v, -16, &d);
    int fifth = (code >> 4 & 1) << cuda_lane_id() % 8;

    store_nibbles(b->qs, code);
    UNROLL for (int m = 4; m; m /= 2) fifth |= cuda_lane_xor(fifth, m);
    if (cuda_lane_id() % 8 == 0)
        b->qh[cuda_lane_id() / 8] = (uint8_t)fifth;
    if (cuda_lane_id() == 0)
        b->d = cuda_to_f16(d);
}

DEVICE void
store_block(int type, char *row, int64_t i, float v)
{
    if (type == GGML_TYPE_Q4_0)
        store_q4_0((struct block_q4_0 *)(void *)row + i, v);
    else if (type == GGML_TYPE_Q5_0)
        store_q5_0((struct block_q5_0 *)(void *)row + i, v);
    else
        store_q8_0((struct block_q8_0 *)(void *)row + i, v);
}

KERNEL
quantize_rows(struct to_rows p, int64_t n_items)
{
    int64_t sub_blocks = p.x.ne[0] / LANES, n_warps = cuda_block_size() / LANES;

    cuda_grid_dependency_sync();
    for (int64_t item = cuda_block_id() * n_warps + cuda_warp_id();
         item < n_items; item += cuda_grid_size() * n_warps) {
        int64_t sub_block, i = cuda_divide(item, sub_blocks, &sub_block);
        struct row r = cuda_row_at(&p.x, i), to = r;
        float v = cuda_load_element(&p.x, cuda_row_data(&p.x, r),
                                    sub_block * LANES + cuda_lane_id());

        if (p.by_id)
            to.i1 = cuda_set_rows_target(&p.ids, &p.y, r);
        if (to.i1 >= 0)
            store_block(p.y.type, cuda_row_data(&p.y, to), sub_block, v);
    }
}

void
cuda_quantize_rows(struct cuda_ctx *c, const struct view *y,
                   const struct view *x, const struct view *ids)
{
    struct to_rows p = { *y, *x, ids ? *ids : *x, ids != NULL };
    int64_t n = x->ne[0] / LANES * x->ne[1] * x->ne[2] * x->ne[3];

    if (n > 0)
        LAUNCH(quantize_rows,
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
    return (cuda_is_float_type(dst->type) || cuda_can_quantize(dst->type)) &&
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
    if (cuda_can_quantize(dst->type))
        cuda_quantize_rows(c, &p.y, &p.x, &p.ids);
    else
        LAUNCH(set_rows, cuda_default_launch(n, CUDA_THREADS), c, p, n);
}
