/* recurrence.c - SSM_SCAN, GATED_DELTA_NET, RWKV_WKV6, RWKV_WKV7,
 * GATED_LINEAR_ATTN: recurrences over the tokens of a sequence
 *
 * Time is gone through token by token, so that what a token computes never
 * depends on how many are evaluated together; the heads of all sequences, and
 * the rows of their states, are independent. */
#include <math.h>
#include <string.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

enum {
    ROWS = 32 /* of a state that are advanced together, for locality */
};

static const float *
at(const struct ggml_tensor *t, int64_t i1, int64_t i2, int64_t i3)
{
    return (const float *)(const void *)cpu_row_data(
        t, (struct cpu_row){ i1, i2, i3 });
}

/* Rows of a head's state, through all tokens of a sequence. */
struct row_block {
    int64_t seq, head, first, n_rows;
    float *scratch; /* the thread's: three rows of the state, then ROWS */
    float *states;  /* (or NULL) that are written instead of dst's */
};

struct recurrence {
    int64_t n;      /* floats of a row of the state */
    int64_t n_rows; /* of a head */
    int64_t n_head, n_tokens, n_seqs;
    int64_t K; /* states that are kept: as ggml_gated_delta_net() says */
    int64_t rows_at_once;
};

static size_t
scratch_size(const struct recurrence *s)
{
    return (size_t)(3 * s->n + ROWS) * sizeof(float);
}

static int64_t
blocks_of_head(const struct recurrence *s)
{
    return (s->n_rows + s->rows_at_once - 1) / s->rows_at_once;
}

static struct row_block
block_at(const struct cpu_task *t, const struct recurrence *s, int64_t i)
{
    int64_t each = blocks_of_head(s), part = i % each;
    int64_t first = part * s->rows_at_once, rest = s->n_rows - first;

    return (struct row_block){ .seq = i / each / s->n_head,
                               .head = i / each % s->n_head,
                               .first = first,
                               .n_rows = rest < s->rows_at_once
                                             ? rest
                                             : s->rows_at_once,
                               .scratch = cpu_scratch(t, scratch_size(s)),
                               .states = t->state };
}

/* The output of a token; outputs stand before all states. */
static float *
token_out(struct ggml_tensor *dst, const struct recurrence *s,
          const struct row_block *u, int64_t token)
{
    int64_t row = (u->seq * s->n_tokens + token) * s->n_head + u->head;

    return (float *)dst->data + row * s->n_rows + u->first;
}

static int64_t
state_size(const struct recurrence *s)
{
    return s->n * s->n_rows * s->n_head;
}

/* Floats before the states. */
static int64_t
outs_size(const struct recurrence *s)
{
    return s->n_rows * s->n_head * s->n_tokens * s->n_seqs;
}

/* The block's rows of the state `back` tokens before the last. */
static float *
state_out(struct ggml_tensor *dst, const struct recurrence *s,
          const struct row_block *u, int64_t back)
{
    int64_t state = back * s->n_seqs + u->seq;
    float *states = u->states ? u->states : (float *)dst->data + outs_size(s);

    return states + state * state_size(s) +
           (u->head * s->n_rows + u->first) * s->n;
}

/* After a token: the last one's state is there, earlier ones are copied. */
static void
keep_state(struct ggml_tensor *dst, const struct recurrence *s,
           const struct row_block *u, int64_t token)
{
    int64_t back = s->n_tokens - 1 - token;

    if (back > 0 && back < s->K)
        memcpy(state_out(dst, s, u, back), state_out(dst, s, u, 0),
               (size_t)(u->n_rows * s->n) * sizeof(float));
}

/* Advances the block's rows by a token: *p has where they come from and go to,
 * and what the token gives. */
typedef void (*step_fn)(const struct cpu_task *t, struct ggml_tensor *dst,
                        const struct row_block *u, int64_t token,
                        struct cpu_recurrence *p);

static void
recur_block(const struct cpu_task *t, struct ggml_tensor *dst,
            const struct recurrence *s, const struct row_block *u,
            const float *state, step_fn step)
{
    float *to = state_out(dst, s, u, 0);
    const float *from = state + (u->head * s->n_rows + u->first) * s->n;

    if (s->n_tokens == 0)
        memmove(to, from, (size_t)(u->n_rows * s->n) * sizeof(float));
    for (int64_t token = 0; token < s->n_tokens; token++) {
        struct cpu_recurrence p = { .n = s->n,
                                    .n_rows = u->n_rows,
                                    .from = token ? to : from,
                                    .to = to,
                                    .out = token_out(dst, s, u, token) };

        step(t, dst, u, token, &p);
        keep_state(dst, s, u, token);
    }
}

static void
splat(int64_t n, float *y, float x)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x;
}

/* ---- GATED_DELTA_NET: q, k, v, g, beta, state ---------------------------- */

static struct recurrence
delta_recurrence(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *v = dst->src[2];

    return (struct recurrence){ .n = v->ne[0],
                                .n_rows = v->ne[0],
                                .n_head = v->ne[1],
                                .n_tokens = v->ne[2],
                                .n_seqs = v->ne[3],
                                .K = tensor_get_i32(dst, 0),
                                .rows_at_once = ROWS };
}

/* The row of q or k for a head of values. */
static const float *
key_row(const struct ggml_tensor *x, const struct ggml_tensor *v,
        const struct row_block *u, int64_t token)
{
    return at(x, u->head % x->ne[1], token, u->seq / (v->ne[3] / x->ne[3]));
}

static void
step_delta(const struct cpu_task *t, struct ggml_tensor *dst,
           const struct row_block *u, int64_t token, struct cpu_recurrence *p)
{
    const struct ggml_tensor *v = dst->src[2], *g = dst->src[3];
    float *w = u->scratch, *a = w + p->n;

    t->k->exp(g->ne[0], w, at(g, u->head, token, u->seq));
    if (g->ne[0] == 1)
        splat(p->n, w, w[0]);
    p->k = key_row(dst->src[1], v, u, token);
    t->k->mul(p->n, a, w, p->k);
    p->w = w;
    p->a = a;
    p->r = key_row(dst->src[0], v, u, token);
    p->x = at(v, u->head, token, u->seq) + u->first;
    p->beta = *at(dst->src[4], u->head, token, u->seq);
    p->scale = 1 / sqrtf((float)p->n);
    t->k->recur(p);
}

/* ---- SSM_SCAN: s, x, dt, A, B, C, ids ------------------------------------ */

static struct recurrence
scan_recurrence(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *s = dst->src[0], *x = dst->src[1];

    return (struct recurrence){ .n = s->ne[0],
                                .n_rows = s->ne[1],
                                .n_head = x->ne[1],
                                .n_tokens = x->ne[2],
                                .n_seqs = x->ne[3],
                                .K = tensor_get_i32(dst, 0),
                                .rows_at_once = ROWS };
}

static float
softplus(float x)
{
    return x > 20 ? x : log1pf(expf(x));
}

static void
step_scan(const struct cpu_task *t, struct ggml_tensor *dst,
          const struct row_block *u, int64_t token, struct cpu_recurrence *p)
{
    const struct ggml_tensor *x = dst->src[1], *A = dst->src[3];
    const struct ggml_tensor *B = dst->src[4];
    int64_t group = u->head / (x->ne[1] / B->ne[1]);
    float *w = u->scratch, *xs = w + 3 * p->n;
    float dt = softplus(at(dst->src[2], token, u->seq, 0)[u->head]);

    t->k->scale(A->ne[0], w, at(A, u->head, 0, 0), dt, 0);
    t->k->exp(A->ne[0], w, w);
    if (A->ne[0] == 1)
        splat(p->n, w, w[0]);
    t->k->scale(u->n_rows, xs, at(x, u->head, token, u->seq) + u->first, dt, 0);
    p->w = w;
    p->x = xs;
    p->k = at(B, group, token, u->seq);
    p->r = at(dst->src[5], group, token, u->seq);
    p->scale = 1;
    t->k->recur(p);
}

/* ---- RWKV_WKV7: r, w, k, v, a, b, state ---------------------------------- */

/* The recurrence of ops whose tokens are those of all sequences, one after the
 * other; src[n] is the state. */
static struct recurrence
matrix_recurrence(const struct ggml_tensor *dst, int n, int64_t rows_at_once)
{
    const struct ggml_tensor *x = dst->src[0];
    int64_t n_seqs = dst->src[n]->ne[1];

    return (struct recurrence){ .n = x->ne[0],
                                .n_rows = x->ne[0],
                                .n_head = x->ne[1],
                                .n_tokens = n_seqs ? x->ne[2] / n_seqs : 0,
                                .n_seqs = n_seqs,
                                .K = 1,
                                .rows_at_once = rows_at_once };
}

static void
step_wkv7(const struct cpu_task *t, struct ggml_tensor *dst,
          const struct row_block *u, int64_t token, struct cpu_recurrence *p)
{
    struct recurrence s = matrix_recurrence(dst, 6, ROWS);
    int64_t i = u->seq * s.n_tokens + token;

    p->r = at(dst->src[0], u->head, i, 0);
    p->w = at(dst->src[1], u->head, i, 0);
    p->k = at(dst->src[2], u->head, i, 0);
    p->x = at(dst->src[3], u->head, i, 0) + u->first;
    p->a = at(dst->src[4], u->head, i, 0);
    p->b = at(dst->src[5], u->head, i, 0);
    p->scale = 1;
    t->k->recur(p);
}

/* ---- RWKV_WKV6: k, v, r, tf, td, state; GATED_LINEAR_ATTN: k, v, q, g, state
 */

/* The number of the source that is the state. */
static int
outer_state(const struct ggml_tensor *dst)
{
    return dst->op == GGML_OP_RWKV_WKV6 ? 5 : 4;
}

/* The output of a token is a sum over rows: they are not parted. */
static struct recurrence
outer_recurrence(const struct ggml_tensor *dst)
{
    return matrix_recurrence(dst, outer_state(dst), dst->src[0]->ne[0]);
}

static struct cpu_outer_recurrence
outer_step(const struct cpu_task *t, struct ggml_tensor *dst,
           const struct recurrence *s, const struct row_block *u, int64_t token)
{
    bool wkv6 = dst->op == GGML_OP_RWKV_WKV6;
    int64_t i = u->seq * s->n_tokens + token;
    const float *q = at(dst->src[2], u->head, i, 0);

    if (!wkv6)
        t->k->scale(s->n, u->scratch, q, tensor_get_f32(dst, 0), 0);
    return (struct cpu_outer_recurrence){
        .n = s->n,
        .n_rows = s->n,
        .to = state_out(dst, s, u, 0),
        .w = at(dst->src[wkv6 ? 4 : 3], u->head, i, 0),
        .k = at(dst->src[0], u->head, i, 0),
        .q = wkv6 ? q : u->scratch,
        .u = wkv6 ? (const float *)dst->src[3]->data + u->head * s->n : NULL,
        .v = at(dst->src[1], u->head, i, 0),
        .out = token_out(dst, s, u, token),
    };
}

static void
recur_outer_block(const struct cpu_task *t, struct ggml_tensor *dst,
                  const struct recurrence *s, const struct row_block *u,
                  const float *state)
{
    const float *from = state + u->head * s->n * s->n;

    if (s->n_tokens == 0)
        memmove(state_out(dst, s, u, 0), from,
                (size_t)(s->n * s->n) * sizeof(float));
    for (int64_t token = 0; token < s->n_tokens; token++) {
        struct cpu_outer_recurrence p = outer_step(t, dst, s, u, token);

        p.from = token ? p.to : from;
        splat(s->n, p.out, 0);
        t->k->recur_outer(&p);
    }
}

/* ---- all ----------------------------------------------------------------- */

static struct recurrence
recurrence_of(const struct ggml_tensor *dst)
{
    switch (dst->op) {
    case GGML_OP_GATED_DELTA_NET:
        return delta_recurrence(dst);
    case GGML_OP_SSM_SCAN:
        return scan_recurrence(dst);
    case GGML_OP_RWKV_WKV7:
        return matrix_recurrence(dst, 6, ROWS);
    default:
        return outer_recurrence(dst);
    }
}

/* The number of the source that is the state. */
static int
state_source(const struct ggml_tensor *dst)
{
    switch (dst->op) {
    case GGML_OP_SSM_SCAN:
        return 0;
    case GGML_OP_GATED_DELTA_NET:
        return 5;
    case GGML_OP_RWKV_WKV7:
        return 6;
    default:
        return outer_state(dst);
    }
}

/* The state that the block's sequence begins with; for SSM_SCAN an id says
 * which it is. */
static const float *
first_state(const struct ggml_tensor *dst, const struct recurrence *s,
            const struct row_block *u)
{
    const struct ggml_tensor *ids = dst->src[6];
    int64_t i = dst->op == GGML_OP_SSM_SCAN
                    ? ((const int32_t *)ids->data)[u->seq]
                    : u->seq;

    return (const float *)dst->src[state_source(dst)]->data + i * state_size(s);
}

static bool
is_recurrence(const struct ggml_tensor *dst)
{
    return dst->op == GGML_OP_GATED_DELTA_NET || dst->op == GGML_OP_SSM_SCAN ||
           dst->op == GGML_OP_RWKV_WKV7 || dst->op == GGML_OP_RWKV_WKV6 ||
           dst->op == GGML_OP_GATED_LINEAR_ATTN;
}

bool
cpu_state_of(const struct ggml_tensor *dst, struct cpu_state *state)
{
    struct recurrence s;

    if (!is_recurrence(dst))
        return false;
    s = recurrence_of(dst);
    *state = (struct cpu_state){
        .source = dst->src[state_source(dst)],
        .at = (size_t)outs_size(&s) * sizeof(float),
        .size = (size_t)state_size(&s) * sizeof(float),
    };
    return s.n_seqs == 1 && s.K == 1;
}

static void
compute_block(const struct cpu_task *t, struct ggml_tensor *dst,
              const struct recurrence *s, const struct row_block *u)
{
    static const step_fn steps[GGML_OP_COUNT] = {
        [GGML_OP_GATED_DELTA_NET] = step_delta,
        [GGML_OP_SSM_SCAN] = step_scan,
        [GGML_OP_RWKV_WKV7] = step_wkv7,
    };
    const float *state = first_state(dst, s, u);

    if (steps[dst->op])
        recur_block(t, dst, s, u, state, steps[dst->op]);
    else
        recur_outer_block(t, dst, s, u, state);
}

static void
compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct recurrence s = recurrence_of(dst);
    struct cpu_range blocks =
        cpu_share(t, blocks_of_head(&s) * s.n_head * s.n_seqs);

    for (int64_t i = blocks.first; i < blocks.end; i++) {
        struct row_block u = block_at(t, &s, i);

        compute_block(t, dst, &s, &u);
    }
}

static int64_t
cost(const struct ggml_tensor *dst)
{
    struct recurrence s = recurrence_of(dst);

    return state_size(&s) * s.n_tokens * s.n_seqs / 4;
}

static size_t
work_size(const struct ggml_tensor *dst, int n_threads,
          const struct cpu_kernels *k)
{
    struct recurrence s = recurrence_of(dst);

    (void)k;
    return cpu_pad(scratch_size(&s)) * (size_t)n_threads;
}

/* All sources are F32 but the ids of SSM_SCAN, its seventh. */
static bool
supports(const struct ggml_tensor *dst)
{
    int n = dst->op == GGML_OP_SSM_SCAN ? 6 : GGML_MAX_SRC;

    for (int i = 0; i < n && dst->src[i]; i++)
        if (!cpu_is_plain(dst->src[i]))
            return false;
    return cpu_is_plain(dst) && ggml_is_contiguous(dst);
}

#define OP(name)                                                               \
    const struct cpu_op cpu_op_##name = { .compute = compute,                  \
                                          .supports = supports,                \
                                          .cost = cost,                        \
                                          .work_size = work_size };
OP(ssm_scan)
OP(gated_delta_net)
OP(rwkv_wkv6)
OP(rwkv_wkv7)
OP(gated_linear_attn)
