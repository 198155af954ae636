/* op_table.h - the ops of each family, for the table */
#ifndef CPU_OPS_OP_TABLE_H
#define CPU_OPS_OP_TABLE_H

#include "cpu/exec/task.h"

extern const struct cpu_op cpu_op_add, cpu_op_sub, cpu_op_mul, cpu_op_div;
extern const struct cpu_op cpu_op_sqr, cpu_op_sqrt, cpu_op_scale, cpu_op_clamp;
extern const struct cpu_op cpu_op_log, cpu_op_sin, cpu_op_cos, cpu_op_fill;
extern const struct cpu_op cpu_op_unary, cpu_op_leaky_relu, cpu_op_glu;
extern const struct cpu_op cpu_op_sum, cpu_op_sum_rows, cpu_op_mean;
extern const struct cpu_op cpu_op_cumsum, cpu_op_norm, cpu_op_rms_norm;
extern const struct cpu_op cpu_op_l2_norm, cpu_op_group_norm;
extern const struct cpu_op cpu_op_copy, cpu_op_repeat, cpu_op_concat;
extern const struct cpu_op cpu_op_get_rows, cpu_op_set_rows;
extern const struct cpu_op cpu_op_diag, cpu_op_tri;
extern const struct cpu_op cpu_op_win_part, cpu_op_win_unpart;
extern const struct cpu_op cpu_op_im2col_3d, cpu_op_col2im_1d;
extern const struct cpu_op cpu_op_conv_2d, cpu_op_conv_3d;
extern const struct cpu_op cpu_op_diag_mask_zero;
extern const struct cpu_op cpu_op_diag_mask_inf, cpu_op_soft_max;
extern const struct cpu_op cpu_op_mul_mat, cpu_op_mul_mat_id, cpu_op_add_id;
extern const struct cpu_op cpu_op_argsort, cpu_op_top_k, cpu_op_argmax;
extern const struct cpu_op cpu_op_rope, cpu_op_flash_attn;
extern const struct cpu_op cpu_op_im2col, cpu_op_conv_2d_dw;
extern const struct cpu_op cpu_op_conv_transpose_1d, cpu_op_conv_transpose_2d;
extern const struct cpu_op cpu_op_pool_1d, cpu_op_pool_2d, cpu_op_upscale;
extern const struct cpu_op cpu_op_pad, cpu_op_pad_reflect_1d, cpu_op_roll;
extern const struct cpu_op cpu_op_arange, cpu_op_timestep_embedding;
extern const struct cpu_op cpu_op_get_rel_pos, cpu_op_add_rel_pos;
extern const struct cpu_op cpu_op_ssm_conv, cpu_op_ssm_scan;
extern const struct cpu_op cpu_op_gated_delta_net, cpu_op_rwkv_wkv6;
extern const struct cpu_op cpu_op_gated_linear_attn, cpu_op_rwkv_wkv7;
extern const struct cpu_op cpu_op_solve_tri, cpu_op_lightning_indexer;
extern const struct cpu_op cpu_op_hyper_comb, cpu_op_hyper_pre;
extern const struct cpu_op cpu_op_hyper_post, cpu_op_choose;
extern const struct cpu_op cpu_op_attention_rows;
extern const struct cpu_op cpu_op_map_custom1, cpu_op_map_custom2;
extern const struct cpu_op cpu_op_map_custom3, cpu_op_custom;
extern const struct cpu_op cpu_op_acc, cpu_op_set, cpu_op_out_prod;
extern const struct cpu_op cpu_op_silu_back, cpu_op_rms_norm_back;
extern const struct cpu_op cpu_op_soft_max_back, cpu_op_repeat_back;
extern const struct cpu_op cpu_op_get_rows_back, cpu_op_im2col_back;
extern const struct cpu_op cpu_op_pool_2d_back, cpu_op_count_equal;
extern const struct cpu_op cpu_op_cross_entropy_loss;
extern const struct cpu_op cpu_op_cross_entropy_loss_back;
extern const struct cpu_op cpu_op_opt_step_adamw, cpu_op_opt_step_sgd;

/* Where a recurrence has its last state. */
struct cpu_state {
    const struct ggml_tensor *source; /* that has the first state, whole */
    size_t at, size;                  /* bytes, of the result */
};

/* False if dst is no recurrence, or one of several sequences or states. */
bool
cpu_state_of(const struct ggml_tensor *dst, struct cpu_state *state);

/* The slope of ALiBi for a head of n (Press et al. 2021): powers of two where
 * n is one, the interleaved sequence for the rest; 1 for max_bias 0. */
float
cpu_alibi_slope(int64_t head, int64_t n, float max_bias);

/* Memory that a node's angles take, which nodes of a run share one after the
 * other; 0: it has none. */
size_t
cpu_angles_size(const struct ggml_tensor *dst);
/* Before a run. */
void
cpu_angles_clear(struct cpu_angles *a);

/* A head's score without an element; -infinity where there are no sinks. */
float
cpu_sink(const struct ggml_tensor *sinks, int64_t head);

#endif
