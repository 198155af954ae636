/* test_state.c - recurrences that write their last state where it is kept: when
 * they do, and the same bytes as with a copy */
#include "cpu_test.h"

#include "cpu/exec/graph_jobs.h"

enum {
    D = 32,
    HEADS = 8,
    TOKENS = 9,
    SLOTS = 3,
    STATE = D * D * HEADS,
    OUTS = D * HEADS * TOKENS
};

static const enum ggml_op ops[] = {
    GGML_OP_GATED_DELTA_NET,   GGML_OP_SSM_SCAN,  GGML_OP_RWKV_WKV6,
    GGML_OP_GATED_LINEAR_ATTN, GGML_OP_RWKV_WKV7,
};

enum {
    N_OPS = sizeof(ops) / sizeof(ops[0])
};

/* A recurrence, and the copy of its state to a slot. */
struct kept {
    struct ggml_context *ctx;
    struct ggml_tensor *slots, *result, *copy;
    struct ggml_cgraph *graph;
};

static struct ggml_tensor *
heads(struct ggml_context *ctx, int64_t n)
{
    return test_tensor(ctx, GGML_TYPE_F32, n, HEADS, TOKENS, 1);
}

/* The selective scan from the state of slot 1. */
static struct ggml_tensor *
scan(struct ggml_context *ctx, struct ggml_tensor *slots)
{
    struct ggml_tensor *id = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 1);
    struct ggml_tensor *rate = test_tensor(ctx, GGML_TYPE_F32, 1, HEADS, 1, 1);

    ((int32_t *)id->data)[0] = 1;
    for (int i = 0; i < HEADS; i++)
        ((float *)rate->data)[i] = -0.5f - 0.1f * (float)i;
    return ggml_ssm_scan(ctx, ggml_reshape_4d(ctx, slots, D, D, HEADS, SLOTS),
                         heads(ctx, D),
                         test_tensor(ctx, GGML_TYPE_F32, HEADS, TOKENS, 1, 1),
                         rate, heads(ctx, D), heads(ctx, D), id, 1);
}

static struct ggml_tensor *
recurrence(struct ggml_context *ctx, enum ggml_op op, struct ggml_tensor *slots)
{
    struct ggml_tensor *x[6], *s, *row;

    if (op == GGML_OP_SSM_SCAN)
        return scan(ctx, slots);
    for (int i = 0; i < 6; i++)
        x[i] = heads(ctx, D);
    row = ggml_view_2d(ctx, slots, STATE, 1, slots->nb[1], slots->nb[1]);
    switch (op) {
    case GGML_OP_GATED_DELTA_NET:
        s = ggml_view_4d(ctx, slots, D, D, HEADS, 1, D * 4, D * D * 4,
                         slots->nb[1], slots->nb[1]);
        return ggml_gated_delta_net(ctx, x[0], x[1], x[2], heads(ctx, 1),
                                    heads(ctx, 1), s, 1);
    case GGML_OP_RWKV_WKV7:
        return ggml_rwkv_wkv7(ctx, x[0], x[1], x[2], x[3], x[4], x[5], row);
    case GGML_OP_RWKV_WKV6:
        return ggml_rwkv_wkv6(ctx, x[0], x[1], x[2],
                              test_tensor(ctx, GGML_TYPE_F32, D, HEADS, 1, 1),
                              x[3], row);
    default:
        return ggml_gated_linear_attn(ctx, x[0], x[1], x[2], x[3], row, 0.25f);
    }
}

/* The state goes to `offset` bytes after the beginning of the slots. */
static struct kept
make(enum ggml_op op, size_t offset)
{
    struct kept k = { .ctx = test_context() };
    struct ggml_tensor *to;

    test_state = 7;
    k.slots = test_tensor(k.ctx, GGML_TYPE_F32, STATE, SLOTS, 1, 1);
    k.result = recurrence(k.ctx, op, k.slots);
    to = ggml_view_1d(k.ctx, k.slots, STATE, offset);
    k.copy = ggml_cpy(
        k.ctx, ggml_view_1d(k.ctx, k.result, STATE, OUTS * sizeof(float)), to);
    k.graph = ggml_new_graph(k.ctx);
    ggml_build_forward_expand(k.graph, k.result);
    ggml_build_forward_expand(k.graph, k.copy);
    k.graph->serial = 1;
    return k;
}

static struct cpu_job
job_of(const struct kept *k)
{
    struct cpu_job j;
    int first = 0;

    while (k->graph->nodes[first] != k->result)
        first++;
    cpu_job_find(&j, k->graph, first, false, 2, cpu_kernels());
    return j;
}

static bool
is_joined(const struct kept *k)
{
    struct cpu_job j = job_of(k);

    return j.members[0].state == k->copy->data &&
           k->graph->nodes[j.end - 1] == k->copy;
}

static void
test_joined(void)
{
    size_t row = STATE * sizeof(float);

    for (int i = 0; i < N_OPS; i++) {
        struct kept k = make(ops[i], row);

        ok(is_joined(&k), ggml_op_name(ops[i]));
        k.graph->serial = 0;
        ok(!is_joined(&k), "not in a graph of which nothing is known");
        k.graph->serial = 1;
        ggml_set_output(k.result);
        ok(!is_joined(&k), "nor where the result is an output");
        ggml_free(k.ctx);
        k = make(ops[i], row + D * sizeof(float));
        ok(!is_joined(&k), "nor if others of its rows are overwritten");
        ggml_free(k.ctx);
    }
}

static void
test_readers(void)
{
    size_t row = STATE * sizeof(float), at = OUTS * sizeof(float);
    struct kept k = make(GGML_OP_GATED_DELTA_NET, row);

    ggml_build_forward_expand(
        k.graph, ggml_scale(k.ctx, ggml_view_1d(k.ctx, k.result, OUTS, 0), 2));
    ok(is_joined(&k), "where others read what ids give");
    ggml_build_forward_expand(
        k.graph, ggml_scale(k.ctx, ggml_view_1d(k.ctx, k.result, 1, at), 2));
    ok(!is_joined(&k), "not where another reads the state");
    ggml_free(k.ctx);
    k = make(GGML_OP_GATED_DELTA_NET, row);
    ggml_build_forward_expand(k.graph, ggml_scale(k.ctx, k.result, 2));
    ok(!is_joined(&k), "nor all of the result");
    ggml_free(k.ctx);
}

/* Slots and outputs, by n threads. */
static void
compute(const struct kept *k, int n, float *slots, float *outs)
{
    struct ggml_cplan plan = ggml_graph_plan(k->graph, n, NULL);

    plan.work_data = malloc(plan.work_size + 1);
    ggml_graph_compute(k->graph, &plan);
    memcpy(slots, k->slots->data, ggml_nbytes(k->slots));
    memcpy(outs, k->result->data, OUTS * sizeof(*outs));
    free(plan.work_data);
}

static void
test_bytes(enum ggml_op op, int slot)
{
    enum {
        ALL = SLOTS * STATE
    };
    float *v = malloc(2 * (ALL + OUTS) * sizeof(*v));
    bool same = true, joined = true;
    char name[100];

    for (int n = 0; n <= 5; n++) {
        struct kept k = make(op, (size_t)slot * STATE * sizeof(float));
        float *slots = v + (n ? ALL + OUTS : 0);

        k.graph->serial = n > 0; /* first with a copy */
        memset(k.result->data, 0xa5, ggml_nbytes(k.result));
        compute(&k, n ? n : 1, slots, slots + ALL);
        same = same && !memcmp(v, slots, (ALL + OUTS) * sizeof(*v));
        joined =
            joined && (((uint8_t *)k.result->data)[ggml_nbytes(k.result) - 1] ==
                       0xa5) == (n > 0);
        ggml_free(k.ctx);
    }
    snprintf(name, sizeof(name), "%s to slot %d: the same bytes",
             ggml_op_name(op), slot);
    ok(same, name);
    ok(joined, "of which there is one copy");
    free(v);
}

int
main(void)
{
    test_joined();
    test_readers();
    for (int i = 0; i < N_OPS; i++) {
        test_bytes(ops[i], 1);
        test_bytes(ops[i], 2);
    }
    return tap_done();
}
