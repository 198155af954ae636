/* custom.c - MAP_CUSTOM1 to 3, CUSTOM: functions of the calling program */
#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

static void
compute_map1(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct tensor_custom c = tensor_get_custom(dst);

    ((ggml_custom1_op_t)c.fun)(dst, dst->src[0], t->ith, t->nth, c.userdata);
}

static void
compute_map2(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct tensor_custom c = tensor_get_custom(dst);

    ((ggml_custom2_op_t)c.fun)(dst, dst->src[0], dst->src[1], t->ith, t->nth,
                               c.userdata);
}

static void
compute_map3(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct tensor_custom c = tensor_get_custom(dst);

    ((ggml_custom3_op_t)c.fun)(dst, dst->src[0], dst->src[1], dst->src[2],
                               t->ith, t->nth, c.userdata);
}

static void
compute_custom(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct tensor_custom c = tensor_get_custom(dst);

    ((ggml_custom_op_t)c.fun)(dst, t->ith, t->nth, c.userdata);
}

/* Programs count the calls: exactly what they requested, but no more than
 * threads. */
static int
custom_pieces(const struct ggml_tensor *dst, int n_threads)
{
    int n = tensor_get_custom(dst).n_tasks;

    return n == GGML_N_TASKS_MAX || n > n_threads ? n_threads : n;
}

/* Nobody knows; who asks for several tasks has something to share. */
static int64_t
custom_cost(const struct ggml_tensor *dst)
{
    return tensor_get_custom(dst).n_tasks == 1 ? 0 : 100000;
}

const struct cpu_op cpu_op_map_custom1 = { .compute = compute_map1,
                                           .cost = custom_cost,
                                           .pieces = custom_pieces };
const struct cpu_op cpu_op_map_custom2 = { .compute = compute_map2,
                                           .cost = custom_cost,
                                           .pieces = custom_pieces };
const struct cpu_op cpu_op_map_custom3 = { .compute = compute_map3,
                                           .cost = custom_cost,
                                           .pieces = custom_pieces };
const struct cpu_op cpu_op_custom = { .compute = compute_custom,
                                      .cost = custom_cost,
                                      .pieces = custom_pieces };
