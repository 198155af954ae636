/* op_table.c - the table of ops */
#include "cpu/ops/op_table.h"

#include "tensor/tensor.h"

static const struct cpu_op *const ops[GGML_OP_COUNT] = {
    [GGML_OP_DUP] = &cpu_op_copy,
    [GGML_OP_ADD] = &cpu_op_add,
    [GGML_OP_ADD_ID] = &cpu_op_add_id,
    [GGML_OP_ADD1] = &cpu_op_add,
    [GGML_OP_ACC] = &cpu_op_acc,
    [GGML_OP_SUB] = &cpu_op_sub,
    [GGML_OP_MUL] = &cpu_op_mul,
    [GGML_OP_DIV] = &cpu_op_div,
    [GGML_OP_SQR] = &cpu_op_sqr,
    [GGML_OP_SQRT] = &cpu_op_sqrt,
    [GGML_OP_LOG] = &cpu_op_log,
    [GGML_OP_SIN] = &cpu_op_sin,
    [GGML_OP_COS] = &cpu_op_cos,
    [GGML_OP_SUM] = &cpu_op_sum,
    [GGML_OP_SUM_ROWS] = &cpu_op_sum_rows,
    [GGML_OP_CUMSUM] = &cpu_op_cumsum,
    [GGML_OP_MEAN] = &cpu_op_mean,
    [GGML_OP_ARGMAX] = &cpu_op_argmax,
    [GGML_OP_COUNT_EQUAL] = &cpu_op_count_equal,
    [GGML_OP_REPEAT] = &cpu_op_repeat,
    [GGML_OP_REPEAT_BACK] = &cpu_op_repeat_back,
    [GGML_OP_CONCAT] = &cpu_op_concat,
    [GGML_OP_SILU_BACK] = &cpu_op_silu_back,
    [GGML_OP_NORM] = &cpu_op_norm,
    [GGML_OP_RMS_NORM] = &cpu_op_rms_norm,
    [GGML_OP_RMS_NORM_BACK] = &cpu_op_rms_norm_back,
    [GGML_OP_GROUP_NORM] = &cpu_op_group_norm,
    [GGML_OP_L2_NORM] = &cpu_op_l2_norm,
    [GGML_OP_MUL_MAT] = &cpu_op_mul_mat,
    [GGML_OP_MUL_MAT_ID] = &cpu_op_mul_mat_id,
    [GGML_OP_OUT_PROD] = &cpu_op_out_prod,
    [GGML_OP_SCALE] = &cpu_op_scale,
    [GGML_OP_SET] = &cpu_op_set,
    [GGML_OP_CPY] = &cpu_op_copy,
    [GGML_OP_CONT] = &cpu_op_copy,
    [GGML_OP_GET_ROWS] = &cpu_op_get_rows,
    [GGML_OP_GET_ROWS_BACK] = &cpu_op_get_rows_back,
    [GGML_OP_SET_ROWS] = &cpu_op_set_rows,
    [GGML_OP_DIAG] = &cpu_op_diag,
    [GGML_OP_DIAG_MASK_INF] = &cpu_op_diag_mask_inf,
    [GGML_OP_DIAG_MASK_ZERO] = &cpu_op_diag_mask_zero,
    [GGML_OP_SOFT_MAX] = &cpu_op_soft_max,
    [GGML_OP_SOFT_MAX_BACK] = &cpu_op_soft_max_back,
    [GGML_OP_ROPE] = &cpu_op_rope,
    [GGML_OP_ROPE_BACK] = &cpu_op_rope,
    [GGML_OP_CLAMP] = &cpu_op_clamp,
    [GGML_OP_CONV_TRANSPOSE_1D] = &cpu_op_conv_transpose_1d,
    [GGML_OP_IM2COL] = &cpu_op_im2col,
    [GGML_OP_IM2COL_BACK] = &cpu_op_im2col_back,
    [GGML_OP_IM2COL_3D] = &cpu_op_im2col_3d,
    [GGML_OP_COL2IM_1D] = &cpu_op_col2im_1d,
    [GGML_OP_CONV_2D] = &cpu_op_conv_2d,
    [GGML_OP_CONV_3D] = &cpu_op_conv_3d,
    [GGML_OP_CONV_2D_DW] = &cpu_op_conv_2d_dw,
    [GGML_OP_CONV_TRANSPOSE_2D] = &cpu_op_conv_transpose_2d,
    [GGML_OP_POOL_1D] = &cpu_op_pool_1d,
    [GGML_OP_POOL_2D] = &cpu_op_pool_2d,
    [GGML_OP_POOL_2D_BACK] = &cpu_op_pool_2d_back,
    [GGML_OP_UPSCALE] = &cpu_op_upscale,
    [GGML_OP_PAD] = &cpu_op_pad,
    [GGML_OP_PAD_REFLECT_1D] = &cpu_op_pad_reflect_1d,
    [GGML_OP_ROLL] = &cpu_op_roll,
    [GGML_OP_ARANGE] = &cpu_op_arange,
    [GGML_OP_TIMESTEP_EMBEDDING] = &cpu_op_timestep_embedding,
    [GGML_OP_ARGSORT] = &cpu_op_argsort,
    [GGML_OP_TOP_K] = &cpu_op_top_k,
    [GGML_OP_LEAKY_RELU] = &cpu_op_leaky_relu,
    [GGML_OP_TRI] = &cpu_op_tri,
    [GGML_OP_FILL] = &cpu_op_fill,
    [GGML_OP_FLASH_ATTN_EXT] = &cpu_op_flash_attn,
    [GGML_OP_SSM_CONV] = &cpu_op_ssm_conv,
    [GGML_OP_SSM_SCAN] = &cpu_op_ssm_scan,
    [GGML_OP_WIN_PART] = &cpu_op_win_part,
    [GGML_OP_WIN_UNPART] = &cpu_op_win_unpart,
    [GGML_OP_GET_REL_POS] = &cpu_op_get_rel_pos,
    [GGML_OP_ADD_REL_POS] = &cpu_op_add_rel_pos,
    [GGML_OP_RWKV_WKV6] = &cpu_op_rwkv_wkv6,
    [GGML_OP_GATED_LINEAR_ATTN] = &cpu_op_gated_linear_attn,
    [GGML_OP_RWKV_WKV7] = &cpu_op_rwkv_wkv7,
    [GGML_OP_SOLVE_TRI] = &cpu_op_solve_tri,
    [GGML_OP_GATED_DELTA_NET] = &cpu_op_gated_delta_net,
    [GGML_OP_LIGHTNING_INDEXER] = &cpu_op_lightning_indexer,
    [GGML_OP_DSV4_HC_COMB] = &cpu_op_hyper_comb,
    [GGML_OP_DSV4_HC_PRE] = &cpu_op_hyper_pre,
    [GGML_OP_DSV4_HC_POST] = &cpu_op_hyper_post,
    [GGML_OP_UNARY] = &cpu_op_unary,
    [GGML_OP_MAP_CUSTOM1] = &cpu_op_map_custom1,
    [GGML_OP_MAP_CUSTOM2] = &cpu_op_map_custom2,
    [GGML_OP_MAP_CUSTOM3] = &cpu_op_map_custom3,
    [GGML_OP_CUSTOM] = &cpu_op_custom,
    [GGML_OP_CROSS_ENTROPY_LOSS] = &cpu_op_cross_entropy_loss,
    [GGML_OP_CROSS_ENTROPY_LOSS_BACK] = &cpu_op_cross_entropy_loss_back,
    [GGML_OP_OPT_STEP_ADAMW] = &cpu_op_opt_step_adamw,
    [GGML_OP_OPT_STEP_SGD] = &cpu_op_opt_step_sgd,
    [GGML_OP_GLU] = &cpu_op_glu,
};

const struct cpu_op *
cpu_op(const struct ggml_tensor *dst)
{
    return (unsigned)dst->op < GGML_OP_COUNT ? ops[dst->op] : NULL;
}

bool
cpu_supports(const struct ggml_tensor *dst)
{
    const struct cpu_op *op = cpu_op(dst);

    if (tensor_is_view_op(dst->op))
        return true;
    return op && (!op->supports || op->supports(dst));
}
