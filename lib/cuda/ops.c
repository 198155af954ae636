/* ops.c - the table of ops */
#include "cuda/ops.h"

#define OP(name)                                                               \
    {                                                                          \
        cuda_supports_##name, cuda_run_##name                                  \
    }

const struct cuda_op cuda_ops[GGML_OP_COUNT] = {
    [GGML_OP_DUP] = OP(copy),
    [GGML_OP_ADD] = OP(binary),
    [GGML_OP_ADD_ID] = OP(add_id),
    [GGML_OP_SUB] = OP(binary),
    [GGML_OP_MUL] = OP(binary),
    [GGML_OP_DIV] = OP(binary),
    [GGML_OP_SQR] = OP(unary),
    [GGML_OP_SQRT] = OP(unary),
    [GGML_OP_LOG] = OP(unary),
    [GGML_OP_SIN] = OP(unary),
    [GGML_OP_COS] = OP(unary),
    [GGML_OP_SUM_ROWS] = OP(sum_rows),
    [GGML_OP_REPEAT] = OP(repeat),
    [GGML_OP_CONCAT] = OP(concat),
    [GGML_OP_NORM] = OP(norm),
    [GGML_OP_RMS_NORM] = OP(norm),
    [GGML_OP_MUL_MAT] = OP(mul_mat),
    [GGML_OP_MUL_MAT_ID] = OP(mul_mat_id),
    [GGML_OP_SCALE] = OP(unary),
    [GGML_OP_CPY] = OP(copy),
    [GGML_OP_CONT] = OP(copy),
    [GGML_OP_GET_ROWS] = OP(get_rows),
    [GGML_OP_SET_ROWS] = OP(set_rows),
    [GGML_OP_DIAG_MASK_INF] = OP(diag_mask),
    [GGML_OP_SOFT_MAX] = OP(soft_max),
    [GGML_OP_ROPE] = OP(rope),
    [GGML_OP_CLAMP] = OP(unary),
    [GGML_OP_ARGSORT] = OP(sort),
    [GGML_OP_TOP_K] = OP(sort),
    [GGML_OP_LEAKY_RELU] = OP(unary),
    [GGML_OP_FILL] = OP(unary),
    [GGML_OP_FLASH_ATTN_EXT] = OP(attention),
    [GGML_OP_SSM_CONV] = OP(ssm_conv),
    [GGML_OP_SSM_SCAN] = OP(ssm_scan),
    [GGML_OP_RWKV_WKV6] = OP(wkv6),
    [GGML_OP_GATED_LINEAR_ATTN] = OP(linear_attention),
    [GGML_OP_RWKV_WKV7] = OP(wkv7),
    [GGML_OP_SOLVE_TRI] = OP(solve_tri),
    [GGML_OP_GATED_DELTA_NET] = OP(delta_net),
    [GGML_OP_UNARY] = OP(unary),
    [GGML_OP_GLU] = OP(glu),
};
