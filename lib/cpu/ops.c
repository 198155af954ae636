/* ops.c - the table of ops */
#include "cpu/ops.h"

#include "tensor/tensor.h"

static const struct cpu_op *const ops[GGML_OP_COUNT] = {
    [GGML_OP_DUP] = &cpu_op_copy,
    [GGML_OP_ADD] = &cpu_op_add,
    [GGML_OP_SUB] = &cpu_op_sub,
    [GGML_OP_MUL] = &cpu_op_mul,
    [GGML_OP_DIV] = &cpu_op_div,
    [GGML_OP_SQR] = &cpu_op_sqr,
    [GGML_OP_SQRT] = &cpu_op_sqrt,
    [GGML_OP_SUM_ROWS] = &cpu_op_sum_rows,
    [GGML_OP_REPEAT] = &cpu_op_repeat,
    [GGML_OP_CONCAT] = &cpu_op_concat,
    [GGML_OP_NORM] = &cpu_op_norm,
    [GGML_OP_RMS_NORM] = &cpu_op_rms_norm,
    [GGML_OP_MUL_MAT] = &cpu_op_mul_mat,
    [GGML_OP_SCALE] = &cpu_op_scale,
    [GGML_OP_CPY] = &cpu_op_copy,
    [GGML_OP_CONT] = &cpu_op_copy,
    [GGML_OP_GET_ROWS] = &cpu_op_get_rows,
    [GGML_OP_SET_ROWS] = &cpu_op_set_rows,
    [GGML_OP_DIAG_MASK_INF] = &cpu_op_diag_mask_inf,
    [GGML_OP_SOFT_MAX] = &cpu_op_soft_max,
    [GGML_OP_ROPE] = &cpu_op_rope,
    [GGML_OP_CLAMP] = &cpu_op_clamp,
    [GGML_OP_FLASH_ATTN_EXT] = &cpu_op_flash_attn,
    [GGML_OP_UNARY] = &cpu_op_unary,
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
