/* names.c - what ops are called
 *
 * Names and symbols are upstream's: back ends and programs compare them. */
#include <assert.h>

#include "tensor/sparse.h"

static const struct {
    const char *name, *symbol;
} ops[] = {
    [GGML_OP_NONE] = { "NONE", "none" },
    [GGML_OP_DUP] = { "DUP", "x" },
    [GGML_OP_ADD] = { "ADD", "x+y" },
    [GGML_OP_ADD_ID] = { "ADD_ID", "x[i]+y" },
    [GGML_OP_ADD1] = { "ADD1", "x+y" },
    [GGML_OP_ACC] = { "ACC", "view(x,nb,offset)+=y->x" },
    [GGML_OP_SUB] = { "SUB", "x-y" },
    [GGML_OP_MUL] = { "MUL", "x*y" },
    [GGML_OP_DIV] = { "DIV", "x/y" },
    [GGML_OP_SQR] = { "SQR", "x^2" },
    [GGML_OP_SQRT] = { "SQRT", "√x" },
    [GGML_OP_LOG] = { "LOG", "log(x)" },
    [GGML_OP_SIN] = { "SIN", "sin(x)" },
    [GGML_OP_COS] = { "COS", "cos(x)" },
    [GGML_OP_SUM] = { "SUM", "Σx" },
    [GGML_OP_SUM_ROWS] = { "SUM_ROWS", "Σx_k" },
    [GGML_OP_CUMSUM] = { "CUMSUM", "cumsum(x)" },
    [GGML_OP_MEAN] = { "MEAN", "Σx/n" },
    [GGML_OP_ARGMAX] = { "ARGMAX", "argmax(x)" },
    [GGML_OP_COUNT_EQUAL] = { "COUNT_EQUAL", "count_equal(x)" },
    [GGML_OP_REPEAT] = { "REPEAT", "repeat(x)" },
    [GGML_OP_REPEAT_BACK] = { "REPEAT_BACK", "repeat_back(x)" },
    [GGML_OP_CONCAT] = { "CONCAT", "concat(x, y)" },
    [GGML_OP_SILU_BACK] = { "SILU_BACK", "silu_back(x)" },
    [GGML_OP_NORM] = { "NORM", "norm(x)" },
    [GGML_OP_RMS_NORM] = { "RMS_NORM", "rms_norm(x)" },
    [GGML_OP_RMS_NORM_BACK] = { "RMS_NORM_BACK", "rms_norm_back(x)" },
    [GGML_OP_GROUP_NORM] = { "GROUP_NORM", "group_norm(x)" },
    [GGML_OP_L2_NORM] = { "L2_NORM", "l2_norm(x)" },
    [GGML_OP_MUL_MAT] = { "MUL_MAT", "X*Y" },
    [GGML_OP_MUL_MAT_ID] = { "MUL_MAT_ID", "X[i]*Y" },
    [GGML_OP_OUT_PROD] = { "OUT_PROD", "X*Y" },
    [GGML_OP_SCALE] = { "SCALE", "x*v" },
    [GGML_OP_SET] = { "SET", "y-\\>view(x)" },
    [GGML_OP_CPY] = { "CPY", "x-\\>y" },
    [GGML_OP_CONT] = { "CONT", "cont(x)" },
    [GGML_OP_RESHAPE] = { "RESHAPE", "reshape(x)" },
    [GGML_OP_VIEW] = { "VIEW", "view(x)" },
    [GGML_OP_PERMUTE] = { "PERMUTE", "permute(x)" },
    [GGML_OP_TRANSPOSE] = { "TRANSPOSE", "transpose(x)" },
    [GGML_OP_GET_ROWS] = { "GET_ROWS", "get_rows(x)" },
    [GGML_OP_GET_ROWS_BACK] = { "GET_ROWS_BACK", "get_rows_back(x)" },
    [GGML_OP_SET_ROWS] = { "SET_ROWS", "set_rows(x)" },
    [GGML_OP_DIAG] = { "DIAG", "diag(x)" },
    [GGML_OP_DIAG_MASK_INF] = { "DIAG_MASK_INF", "diag_mask_inf(x)" },
    [GGML_OP_DIAG_MASK_ZERO] = { "DIAG_MASK_ZERO", "diag_mask_zero(x)" },
    [GGML_OP_SOFT_MAX] = { "SOFT_MAX", "soft_max(x)" },
    [GGML_OP_SOFT_MAX_BACK] = { "SOFT_MAX_BACK", "soft_max_back(x)" },
    [GGML_OP_ROPE] = { "ROPE", "rope(x)" },
    [GGML_OP_ROPE_BACK] = { "ROPE_BACK", "rope_back(x)" },
    [GGML_OP_CLAMP] = { "CLAMP", "clamp(x)" },
    [GGML_OP_CONV_TRANSPOSE_1D] = { "CONV_TRANSPOSE_1D",
                                    "conv_transpose_1d(x)" },
    [GGML_OP_IM2COL] = { "IM2COL", "im2col(x)" },
    [GGML_OP_IM2COL_BACK] = { "IM2COL_BACK", "im2col_back(x)" },
    [GGML_OP_IM2COL_3D] = { "IM2COL_3D", "im2col_3d(x)" },
    [GGML_OP_COL2IM_1D] = { "COL2IM_1D", "col2im_1d(x)" },
    [GGML_OP_CONV_2D] = { "CONV_2D", "conv_2d(x)" },
    [GGML_OP_CONV_3D] = { "CONV_3D", "conv_3d(x)" },
    [GGML_OP_CONV_2D_DW] = { "CONV_2D_DW", "conv_2d_dw(x)" },
    [GGML_OP_CONV_TRANSPOSE_2D] = { "CONV_TRANSPOSE_2D",
                                    "conv_transpose_2d(x)" },
    [GGML_OP_POOL_1D] = { "POOL_1D", "pool_1d(x)" },
    [GGML_OP_POOL_2D] = { "POOL_2D", "pool_2d(x)" },
    [GGML_OP_POOL_2D_BACK] = { "POOL_2D_BACK", "pool_2d_back(x)" },
    [GGML_OP_UPSCALE] = { "UPSCALE", "upscale(x)" },
    [GGML_OP_PAD] = { "PAD", "pad(x)" },
    [GGML_OP_PAD_REFLECT_1D] = { "PAD_REFLECT_1D", "pad_reflect_1d(x)" },
    [GGML_OP_ROLL] = { "ROLL", "roll(x)" },
    [GGML_OP_ARANGE] = { "ARANGE", "arange(start, stop, step)" },
    [GGML_OP_TIMESTEP_EMBEDDING] = { "TIMESTEP_EMBEDDING",
                                     "timestep_embedding(timesteps, dim, "
                                     "max_period)" },
    [GGML_OP_ARGSORT] = { "ARGSORT", "argsort(x)" },
    [GGML_OP_TOP_K] = { "TOP_K", "top_k(x)" },
    [GGML_OP_LEAKY_RELU] = { "LEAKY_RELU", "leaky_relu(x)" },
    [GGML_OP_TRI] = { "TRI", "tri(x)" },
    [GGML_OP_FILL] = { "FILL", "fill(x, c)" },
    [GGML_OP_FLASH_ATTN_EXT] = { "FLASH_ATTN_EXT", "flash_attn_ext(x)" },
    [GGML_OP_FLASH_ATTN_BACK] = { "FLASH_ATTN_BACK", "flash_attn_back(x)" },
    [GGML_OP_SSM_CONV] = { "SSM_CONV", "ssm_conv(x)" },
    [GGML_OP_SSM_SCAN] = { "SSM_SCAN", "ssm_scan(x)" },
    [GGML_OP_WIN_PART] = { "WIN_PART", "win_part(x)" },
    [GGML_OP_WIN_UNPART] = { "WIN_UNPART", "win_unpart(x)" },
    [GGML_OP_GET_REL_POS] = { "GET_REL_POS", "get_rel_pos(x)" },
    [GGML_OP_ADD_REL_POS] = { "ADD_REL_POS", "add_rel_pos(x)" },
    [GGML_OP_RWKV_WKV6] = { "RWKV_WKV6", "rwkv_wkv6(k, v, r, tf, td, s)" },
    [GGML_OP_GATED_LINEAR_ATTN] = { "GATED_LINEAR_ATTN",
                                    "gated_linear_attn(k, v, q, gate, s)" },
    [GGML_OP_RWKV_WKV7] = { "RWKV_WKV7", "rwkv_wkv7(r, w, k, v, a, b, s)" },
    [GGML_OP_SOLVE_TRI] = { "SOLVE_TRI", "A X = B, A triangular, solve X" },
    [GGML_OP_GATED_DELTA_NET] = { "GATED_DELTA_NET",
                                  "gated_delta_net(q, k, v, g, beta, s)" },
    [GGML_OP_LIGHTNING_INDEXER] = { "LIGHTNING_INDEXER",
                                    "lightning_indexer(q, k, weights, mask)" },
    [GGML_OP_DSV4_HC_COMB] = { "DSV4_HC_COMB",
                               "dsv4_hc_comb(mixes, scale, base)" },
    [GGML_OP_DSV4_HC_PRE] = { "DSV4_HC_PRE", "dsv4_hc_pre(x, weights)" },
    [GGML_OP_DSV4_HC_POST] = { "DSV4_HC_POST",
                               "dsv4_hc_post(x, residual, post, comb)" },
    [GGML_OP_UNARY] = { "UNARY", "unary(x)" },
    [GGML_OP_MAP_CUSTOM1] = { "MAP_CUSTOM1", "map_custom(x)" },
    [GGML_OP_MAP_CUSTOM2] = { "MAP_CUSTOM2", "map_custom(x,y)" },
    [GGML_OP_MAP_CUSTOM3] = { "MAP_CUSTOM3", "map_custom(x,y,z)" },
    [GGML_OP_CUSTOM] = { "CUSTOM", "custom(x)" },
    [GGML_OP_CROSS_ENTROPY_LOSS] = { "CROSS_ENTROPY_LOSS",
                                     "cross_entropy_loss(x,y)" },
    [GGML_OP_CROSS_ENTROPY_LOSS_BACK] = { "CROSS_ENTROPY_LOSS_BACK",
                                          "cross_entropy_loss_back(x,y)" },
    [GGML_OP_OPT_STEP_ADAMW] = { "OPT_STEP_ADAMW", "adamw(x)" },
    [GGML_OP_OPT_STEP_SGD] = { "OPT_STEP_SGD", "sgd(x)" },
    [GGML_OP_GLU] = { "GLU", "glu(x)" },
    [TENSOR_OP_CHOOSE] = { "CHOOSE", "choose(seen, scores)" },
    [TENSOR_OP_ATTENTION_ROWS] = { "ATTENTION_ROWS",
                                   "attention_rows(q, k, v, lists)" },
    [TENSOR_OP_ATTENTION_PART] = { "ATTENTION_PART",
                                   "attention_part(q, k, v)" },
};

static const char *const unary_ops[] = {
    [GGML_UNARY_OP_ABS] = "ABS",
    [GGML_UNARY_OP_SGN] = "SGN",
    [GGML_UNARY_OP_NEG] = "NEG",
    [GGML_UNARY_OP_STEP] = "STEP",
    [GGML_UNARY_OP_TANH] = "TANH",
    [GGML_UNARY_OP_ELU] = "ELU",
    [GGML_UNARY_OP_RELU] = "RELU",
    [GGML_UNARY_OP_SIGMOID] = "SIGMOID",
    [GGML_UNARY_OP_GELU] = "GELU",
    [GGML_UNARY_OP_GELU_QUICK] = "GELU_QUICK",
    [GGML_UNARY_OP_SILU] = "SILU",
    [GGML_UNARY_OP_HARDSWISH] = "HARDSWISH",
    [GGML_UNARY_OP_HARDSIGMOID] = "HARDSIGMOID",
    [GGML_UNARY_OP_EXP] = "EXP",
    [GGML_UNARY_OP_EXPM1] = "EXPM1",
    [GGML_UNARY_OP_SOFTPLUS] = "SOFTPLUS",
    [GGML_UNARY_OP_GELU_ERF] = "GELU_ERF",
    [GGML_UNARY_OP_XIELU] = "XIELU",
    [GGML_UNARY_OP_FLOOR] = "FLOOR",
    [GGML_UNARY_OP_CEIL] = "CEIL",
    [GGML_UNARY_OP_ROUND] = "ROUND",
    [GGML_UNARY_OP_TRUNC] = "TRUNC",
};

static const char *const glu_ops[] = {
    [GGML_GLU_OP_REGLU] = "REGLU",
    [GGML_GLU_OP_GEGLU] = "GEGLU",
    [GGML_GLU_OP_SWIGLU] = "SWIGLU",
    [GGML_GLU_OP_SWIGLU_OAI] = "SWIGLU_OAI",
    [GGML_GLU_OP_GEGLU_ERF] = "GEGLU_ERF",
    [GGML_GLU_OP_GEGLU_QUICK] = "GEGLU_QUICK",
    [GGML_GLU_OP_SWIGLU_CLAMP] = "SWIGLU_CLAMP",
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
static_assert(LENGTH(ops) == TENSOR_OPS, "an op has no name");
static_assert(LENGTH(unary_ops) == GGML_UNARY_OP_COUNT, "so");
static_assert(LENGTH(glu_ops) == GGML_GLU_OP_COUNT, "so");

const char *
ggml_op_name(enum ggml_op op)
{
    assert((unsigned)op < TENSOR_OPS);
    return ops[op].name;
}

const char *
ggml_op_symbol(enum ggml_op op)
{
    assert((unsigned)op < TENSOR_OPS);
    return ops[op].symbol;
}

const char *
ggml_unary_op_name(enum ggml_unary_op op)
{
    assert(op < GGML_UNARY_OP_COUNT);
    return unary_ops[op];
}

const char *
ggml_glu_op_name(enum ggml_glu_op op)
{
    assert(op < GGML_GLU_OP_COUNT);
    return glu_ops[op];
}

const char *
ggml_op_desc(const struct ggml_tensor *t)
{
    switch (t->op) {
    case GGML_OP_UNARY:
        return ggml_unary_op_name(ggml_get_unary_op(t));
    case GGML_OP_GLU:
        return ggml_glu_op_name(ggml_get_glu_op(t));
    default:
        return ggml_op_name(t->op);
    }
}

const char *
ggml_status_to_string(enum ggml_status status)
{
    switch (status) {
    case GGML_STATUS_ALLOC_FAILED:
        return "out of memory";
    case GGML_STATUS_FAILED:
        return "failed";
    case GGML_STATUS_SUCCESS:
        return "success";
    case GGML_STATUS_ABORTED:
        return "aborted";
    }
    return "unknown status";
}
