/* ops_ref_image.c - cases of ops of images: convolutions, pools, windows */
#include "cpu/ops_ref.h"

BUILD(interpolate, ggml_interpolate(g, a, n[0] * 2 + 1, n[1] * 2 - 3, n[2],
                                    n[3], (uint32_t)c->arg))
BUILD(pool_1d, ggml_pool_1d(g, a, (enum ggml_op_pool)c->arg, 3, 2, 1))
BUILD(pool_2d, ggml_pool_2d(g, a, (enum ggml_op_pool)c->arg, 3, 2, 2, 1, 1, 1))
BUILD(im2col, ggml_im2col(g, in(GGML_TYPE_F16, 3, 2, n[2], 1), a, 2, 1, 1, 2, 1,
                          2, true, c->other))
BUILD(im2col_3d, ggml_im2col_3d(g, in(GGML_TYPE_F16, 3, 2, 2, 10), a, 5, 2, 1,
                                1, 1, 2, 0, 1, 2, 1, c->other))
BUILD(col2im, ggml_col2im_1d(g, a, 3, 5, 2))
BUILD(conv_2d,
      ggml_conv_2d(g, in(c->other, 3, 2, n[2], 5), a, 2, 1, 1, 2, 1, 2))
BUILD(conv_2d_direct, ggml_conv_2d_direct(g, in(c->other, 3, 2, n[2], 5), a,
                                          c->arg, 1, 1, 2, 1, 2))
BUILD(conv_2d_dw,
      ggml_conv_2d_dw(g, in(c->other, 3, 2, 1, n[2]), a, 2, 1, 1, 2, 1, 2))
BUILD(conv_2d_dw_direct, ggml_conv_2d_dw_direct(g, in(c->other, 3, 2, 1, n[2]),
                                                a, c->arg, 1, 1, 2, 1, 2))
BUILD(conv_2d_dw_inner, ggml_conv_2d_dw_direct(g, in(c->other, 3, 2, 1, n[0]),
                                               ggml_permute(g, a, 2, 0, 1, 3),
                                               c->arg, 1, 1, 2, 1, 2))
BUILD(conv_3d_direct,
      ggml_conv_3d_direct(g, in(c->other, 3, 2, 2, 5 * 4), a, c->arg, 1, 1, 1,
                          2, 0, 1, 2, 1, 5, 2, 4))
BUILD(conv_1d, ggml_conv_1d(g, in(c->other, 3, n[1], 9, 1), a, 2, 1, 1))
BUILD(conv_1d_dw, ggml_conv_1d_dw(g, in(c->other, 3, 1, n[1], 1), a, 1, 1, 2))
BUILD(conv_transpose_1d,
      ggml_conv_transpose_1d(g, in(c->other, 5, 9, n[1], 1), a, 3, 0, 1))
BUILD(conv_transpose_2d,
      ggml_conv_transpose_2d_p0(g, in(c->other, 3, 2, 5, n[2]), a, 2))
BUILD(win_part, ggml_win_part(g, a, 4))
BUILD(win_unpart, ggml_win_unpart(g, a, 10, 7, 4))
BUILD(get_rel_pos, ggml_get_rel_pos(g, a, 7, 7))
BUILD(add_rel_pos, ggml_add_rel_pos(g, a, in(GGML_TYPE_F32, 5, 4, 3, n[2]),
                                    in(GGML_TYPE_F32, 5, 4, 3, n[2])))

const struct op_case ref_image[] = {
    CASE("nearest", interpolate, 0, F32, F32, 13, 7, 3, 2, 0),
    CASE("bilinear", interpolate, 0, F32, F32, 13, 7, 3, 2, 1),
    CASE("bicubic", interpolate, 0, F32, F32, 13, 7, 3, 2, 2),
    CASE("antialiased", interpolate, 0, F32, F32, 13, 7, 3, 2, 1 | 512),
    CASE("pool_1d, max", pool_1d, 0, F32, F32, 33, 5, 3, 2, 0),
    CASE("pool_1d, mean", pool_1d, 0, F16, F32, 33, 5, 3, 2, 1),
    CASE("pool_2d, max", pool_2d, 0, F32, F32, 33, 5, 3, 2, 0),
    CASE("pool_2d, mean", pool_2d, 0, F16, F32, 33, 5, 3, 2, 1),
    CASE("im2col", im2col, 0, F32, F16, 33, 9, 5, 2, 0),
    CASE("im2col as F32", im2col, 0, F32, F32, 33, 9, 5, 2, 0),
    CASE("im2col_3d", im2col_3d, 0, F32, F16, 17, 7, 5, 10, 0),
    CASE("col2im_1d", col2im, 0, F32, F32, 35, 9, 1, 1, 0),
    CASE("col2im_1d of F16", col2im, 1e-7, F16, F32, 35, 9, 1, 1, 0),
    CASE("conv_2d", conv_2d, 1e-12, F32, F16, 33, 9, 5, 2, 0),
    CASE("conv_2d, F32", conv_2d, 1e-12, F32, F32, 33, 9, 5, 2, 0),
    CASE("conv_2d_direct", conv_2d_direct, 1e-12, F32, F16, 33, 9, 5, 2, 1),
    CASE("conv_2d_direct in steps", conv_2d_direct, 1e-12, F32, F32, 33, 9, 5,
         2, 2),
    CASE("conv_2d_dw", conv_2d_dw, 1e-12, F32, F16, 33, 9, 5, 2, 0),
    CASE("conv_2d_dw_direct", conv_2d_dw_direct, 1e-12, F32, F32, 73, 9, 5, 2,
         1),
    CASE("conv_2d_dw_direct in steps", conv_2d_dw_direct, 1e-12, F32, F16, 73,
         9, 5, 2, 2),
    CASE("conv_2d_dw, channels innermost", conv_2d_dw_inner, 1e-12, F32, F32,
         37, 11, 9, 2, 2),
    CASE("conv_3d_direct", conv_3d_direct, 1e-12, F32, F16, 17, 7, 5, 10, 1),
    CASE("conv_3d_direct in steps", conv_3d_direct, 1e-12, F32, F32, 17, 7, 5,
         10, 2),
    CASE("conv_1d", conv_1d, 1e-12, F32, F16, 33, 9, 2, 1, 0),
    CASE("conv_1d_dw", conv_1d_dw, 1e-12, F32, F16, 33, 9, 1, 1, 0),
    CASE("conv_transpose_1d", conv_transpose_1d, 1e-12, F32, F16, 33, 9, 1, 1,
         0),
    CASE("conv_transpose_2d", conv_transpose_2d, 1e-12, F32, F32, 33, 9, 5, 2,
         0),
    CASE("win_part", win_part, 0, F32, F32, 19, 10, 7, 1, 0),
    CASE("win_unpart", win_unpart, 0, F32, F32, 19, 4, 4, 6, 0),
    CASE("get_rel_pos", get_rel_pos, 0, F16, F32, 33, 13, 1, 1, 0),
    CASE("add_rel_pos", add_rel_pos, 0, F32, F32, 25, 12, 3, 1, 0),
    { .name = NULL },
};
