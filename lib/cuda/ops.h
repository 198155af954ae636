/* ops.h - the functions of the table of ops, a line a family */
#ifndef CUDA_OPS_H
#define CUDA_OPS_H

#include "cuda/kernels.h"

/* Types, of enum ggml_type, of blocks that a KV cache may have: they are
 * written, too. */
static inline bool
cuda_can_quantize(int type)
{
    return type == GGML_TYPE_Q8_0 || type == GGML_TYPE_Q5_0 ||
           type == GGML_TYPE_Q4_0;
}

#ifdef __cplusplus
extern "C" {
#endif

#define CUDA_OP(name)                                                          \
    bool cuda_supports_##name(const struct ggml_tensor *dst);                  \
    void cuda_run_##name(struct cuda_ctx *c, struct ggml_tensor *dst)

CUDA_OP(argmax);
CUDA_OP(binary);
CUDA_OP(add_id);
CUDA_OP(unary);
CUDA_OP(glu);
CUDA_OP(norm);
CUDA_OP(sum_rows);
CUDA_OP(rope);
CUDA_OP(soft_max);
CUDA_OP(diag_mask);
CUDA_OP(copy);
CUDA_OP(repeat);
CUDA_OP(concat);
CUDA_OP(get_rows);
CUDA_OP(set_rows);
CUDA_OP(sort);
CUDA_OP(mul_mat);
CUDA_OP(mul_mat_id);
CUDA_OP(attention);
CUDA_OP(ssm_conv);
CUDA_OP(ssm_scan);
CUDA_OP(delta_net);
CUDA_OP(wkv6);
CUDA_OP(wkv7);
CUDA_OP(linear_attention);
CUDA_OP(solve_tri);
CUDA_OP(put_part);
CUDA_OP(cumsum);
CUDA_OP(sum);
CUDA_OP(count_equal);
CUDA_OP(silu_back);
CUDA_OP(norm_back);
CUDA_OP(repeat_back);
CUDA_OP(get_rows_back);
CUDA_OP(out_prod);
CUDA_OP(cross_entropy);
CUDA_OP(cross_entropy_back);
CUDA_OP(opt_step);
CUDA_OP(im2col);
CUDA_OP(im2col_back);
CUDA_OP(pad);
CUDA_OP(pool);
CUDA_OP(pool_back);
#undef CUDA_OP

#ifdef __cplusplus
}
#endif

#endif
