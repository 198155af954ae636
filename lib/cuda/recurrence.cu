/* recurrence.cu - SSM_SCAN, GATED_DELTA_NET, RWKV_WKV6, RWKV_WKV7,
 * GATED_LINEAR_ATTN, SSM_CONV, SOLVE_TRI
 *
 * A warp has a row of a head's state in its registers, or a column where keys
 * belong to rows, and goes through the tokens of a sequence with it: so nothing
 * is synchronised but its lanes. */
#include "cuda/tensor_view.h"

enum kind {
    DELTA,  /* q, k, v, g, beta, state */
    SCAN,   /* s, x, dt, A, B, C, ids */
    WKV7,   /* r, w, k, v, a, b, state */
    WKV6,   /* k, v, r, tf, td, state */
    LINEAR, /* k, v, q, g, state */
};

enum {
    WARPS = 4,         /* of a block */
    MOST_PER_LANE = 8, /* floats of a row */
};

struct recurrence {
    struct view src[7];
    float *out;     /* what tokens give, then states */
    int64_t n;      /* floats that a warp has of a state */
    int64_t n_rows; /* of a head, a warp each */
    int64_t n_head, n_tokens, n_seqs;
    int64_t K; /* states that are kept */
    float scale;
};

struct place {
    int64_t seq, head, row;
};

DEVICE struct place
place_at(const struct recurrence *p, int64_t i)
{
    struct place at;

    i = cuda_divide(i, p->n_rows, &at.row);
    at.seq = cuda_divide(i, p->n_head, &at.head);
    return at;
}

DEVICE const float *
floats_at(const struct view *v, int64_t i1, int64_t i2, int64_t i3)
{
    return (const float *)(v->data + i1 * v->nb[1] + i2 * v->nb[2] +
                           i3 * v->nb[3]);
}

/* ---- states ------------------------------------------------------------- */

/* A head's state in memory: from element to element of what the warp has, and
 * from the first of a row to the first of the next. */
template <int kind>
DEVICE int64_t
element_stride(const struct recurrence *p)
{
    return kind == WKV6 || kind == LINEAR ? p->n_rows : 1;
}

template <int kind>
DEVICE int64_t
row_stride(const struct recurrence *p)
{
    return kind == WKV6 || kind == LINEAR ? 1 : p->n;
}

template <int kind>
DEVICE const float *
first_state(const struct recurrence *p, struct place at)
{
    int64_t size = p->n * p->n_rows, seq = at.seq;
    const struct view *v = &p->src[kind == SCAN     ? 0
                                   : kind == LINEAR ? 4
                                   : kind == WKV7   ? 6
                                                    : 5];
    const float *heads;

    if (kind == SCAN)
        seq = ((const int32_t *)p->src[6].data)[seq];
    heads = kind == SCAN || kind == DELTA
                ? floats_at(v, 0, 0, seq)
                : (const float *)v->data + seq * size * p->n_head;
    return heads + at.head * size + at.row * row_stride<kind>(p);
}

template <int kind>
DEVICE float *
last_state(const struct recurrence *p, struct place at, int64_t back)
{
    int64_t size = p->n * p->n_rows;
    int64_t outs = p->n_rows * p->n_head * p->n_tokens * p->n_seqs;

    return p->out + outs +
           ((back * p->n_seqs + at.seq) * p->n_head + at.head) * size +
           at.row * row_stride<kind>(p);
}

template <int kind, int each>
DEVICE void
load_state(const struct recurrence *p, struct place at, int lane, float *s)
{
    const float *from = first_state<kind>(p, at);

    UNROLL for (int m = 0; m < each; m++)
    {
        int64_t j = lane + LANES * m;

        s[m] = j < p->n ? from[j * element_stride<kind>(p)] : 0;
    }
}

template <int kind, int each>
DEVICE void
store_state(const struct recurrence *p, struct place at, int lane, int64_t back,
            const float *s)
{
    float *to = last_state<kind>(p, at, back);

    UNROLL for (int m = 0; m < each; m++)
    {
        int64_t j = lane + LANES * m;

        if (j < p->n)
            to[j * element_stride<kind>(p)] = s[m];
    }
}

/* ---- steps: each returns what the row gives ----------------------------- */

/* Element j of a row of floats, or 0 after its end. */
DEVICE float
element(const float *row, int64_t j, int64_t n)
{
    return j < n ? row[j] : 0;
}

template <int each>
DEVICE float
step_delta(const struct recurrence *p, struct place at, int64_t token, int lane,
           float *s)
{
    const struct view *v = &p->src[2], *g = &p->src[3];
    int64_t keys = p->src[1].ne[1], key_seqs = v->ne[3] / p->src[1].ne[3];
    const float *k =
        floats_at(&p->src[1], at.head % keys, token, at.seq / key_seqs);
    const float *q = floats_at(&p->src[0], at.head % p->src[0].ne[1], token,
                               at.seq / (v->ne[3] / p->src[0].ne[3]));
    const float *gate = floats_at(g, at.head, token, at.seq);
    float beta = *floats_at(&p->src[4], at.head, token, at.seq);
    float x = floats_at(v, at.head, token, at.seq)[at.row];
    float e = 0, y = 0, c;

    UNROLL for (int m = 0; m < each; m++)
    {
        int64_t j = lane + LANES * m;

        s[m] *= expf(g->ne[0] == 1 ? *gate : element(gate, j, p->n));
        e += s[m] * element(k, j, p->n);
    }
    c = beta * (x - cuda_warp_sum(e));
    UNROLL for (int m = 0; m < each; m++)
    {
        int64_t j = lane + LANES * m;

        s[m] += c * element(k, j, p->n);
        y += s[m] * element(q, j, p->n);
    }
    return p->scale * cuda_warp_sum(y);
}

template <int each>
DEVICE float
step_scan(const struct recurrence *p, struct place at, int64_t token, int lane,
          float *s)
{
    const struct view *A = &p->src[3], *B = &p->src[4];
    int64_t group = at.head / (p->n_head / B->ne[1]);
    const float *a = floats_at(A, at.head, 0, 0);
    const float *b = floats_at(B, group, token, at.seq);
    const float *c = floats_at(&p->src[5], group, token, at.seq);
    float dt = floats_at(&p->src[2], token, at.seq, 0)[at.head];
    float x = floats_at(&p->src[1], at.head, token, at.seq)[at.row], y = 0;

    dt = dt > 20 ? dt : log1pf(expf(dt));
    UNROLL for (int m = 0; m < each; m++)
    {
        int64_t j = lane + LANES * m;
        float decay = A->ne[0] == 1 ? *a : element(a, j, p->n);

        s[m] = expf(dt * decay) * s[m] + dt * x * element(b, j, p->n);
        y += s[m] * element(c, j, p->n);
    }
    return cuda_warp_sum(y);
}

template <int each>
DEVICE float
step_wkv7(const struct recurrence *p, struct place at, int64_t token, int lane,
          float *s)
{
    int64_t i = at.seq * p->n_tokens + token;
    const float *r = floats_at(&p->src[0], at.head, i, 0);
    const float *w = floats_at(&p->src[1], at.head, i, 0);
    const float *k = floats_at(&p->src[2], at.head, i, 0);
    const float *a = floats_at(&p->src[4], at.head, i, 0);
    const float *b = floats_at(&p->src[5], at.head, i, 0);
    float x = floats_at(&p->src[3], at.head, i, 0)[at.row], e = 0, y = 0;

    UNROLL for (int m = 0; m < each; m++) e +=
        s[m] * element(a, lane + LANES * m, p->n);
    e = cuda_warp_sum(e);
    UNROLL for (int m = 0; m < each; m++)
    {
        int64_t j = lane + LANES * m;

        s[m] = s[m] * element(w, j, p->n) + x * element(k, j, p->n) +
               e * element(b, j, p->n);
        y += s[m] * element(r, j, p->n);
    }
    return cuda_warp_sum(y);
}

/* The warp has a column: `at.row` is its number. */
template <int kind, int each>
DEVICE float
step_column(const struct recurrence *p, struct place at, int64_t token,
            int lane, float *s)
{
    int64_t i = at.seq * p->n_tokens + token;
    const float *k = floats_at(&p->src[0], at.head, i, 0);
    const float *q = floats_at(&p->src[2], at.head, i, 0);
    const float *w = floats_at(&p->src[kind == WKV6 ? 4 : 3], at.head, i, 0);
    const float *u = (const float *)p->src[3].data + at.head * p->n;
    float v = floats_at(&p->src[1], at.head, i, 0)[at.row], y = 0;

    UNROLL for (int m = 0; m < each; m++)
    {
        int64_t j = lane + LANES * m;
        float kv = element(k, j, p->n) * v, old = s[m];

        s[m] = element(w, j, p->n) * old + kv;
        y += element(q, j, p->n) *
             (kind == WKV6 ? old + element(u, j, p->n) * kv : s[m]);
    }
    return p->scale * cuda_warp_sum(y);
}

template <int kind, int each>
DEVICE float
step(const struct recurrence *p, struct place at, int64_t token, int lane,
     float *s)
{
    switch (kind) {
    case DELTA:
        return step_delta<each>(p, at, token, lane, s);
    case SCAN:
        return step_scan<each>(p, at, token, lane, s);
    case WKV7:
        return step_wkv7<each>(p, at, token, lane, s);
    default:
        return step_column<kind, each>(p, at, token, lane, s);
    }
}

/* ---- all tokens --------------------------------------------------------- */

template <int kind, int each>
DEVICE void
recur_row(const struct recurrence *p, struct place at, int lane)
{
    float s[each];

    load_state<kind, each>(p, at, lane, s);
    for (int64_t token = 0; token < p->n_tokens; token++) {
        float y = step<kind, each>(p, at, token, lane, s);
        int64_t i = (at.seq * p->n_tokens + token) * p->n_head + at.head;
        int64_t back = p->n_tokens - 1 - token;

        if (lane == 0)
            p->out[i * p->n_rows + at.row] = y;
        if (back > 0 && back < p->K)
            store_state<kind, each>(p, at, lane, back, s);
    }
    store_state<kind, each>(p, at, lane, 0, s);
}

template <int kind, int each>
KERNEL
BOUNDS(WARPS *LANES, 1) recur(struct recurrence p, int64_t n_all)
{
    int lane = (int)(cuda_thread_id() % LANES);
    int64_t warp = cuda_thread_id() / LANES;

    cuda_grid_dependency_sync();
    for (int64_t i = cuda_block_id() * (int64_t)WARPS + warp; i < n_all;
         i += cuda_grid_size() * (int64_t)WARPS)
        recur_row<kind, each>(&p, place_at(&p, i), lane);
}

template <int kind, int each>
static void
launch_recurrence(struct cuda_ctx *c, const struct recurrence *p)
{
    int64_t n = p->n_rows * p->n_head * p->n_seqs;

    if (n > 0)
        LAUNCH((recur<kind, each>),
               cuda_default_launch(cuda_ceil_div(n, WARPS), WARPS * LANES), c,
               *p, n);
}

template <int kind>
static void
launch_sized(struct cuda_ctx *c, const struct recurrence *p)
{
    if (p->n <= LANES)
        launch_recurrence<kind, 1>(c, p);
    else if (p->n <= 2 * LANES)
        launch_recurrence<kind, 2>(c, p);
    else if (p->n <= 4 * LANES)
        launch_recurrence<kind, 4>(c, p);
    else
        launch_recurrence<kind, MOST_PER_LANE>(c, p);
}

/* ---- from nodes --------------------------------------------------------- */

static struct recurrence
recurrence_of(struct ggml_tensor *dst)
{
    struct recurrence p = {};

    for (int i = 0; i < 7 && dst->src[i]; i++)
        p.src[i] = cuda_view_of(dst->src[i]);
    p.out = (float *)dst->data;
    p.K = p.n_seqs = 1;
    p.scale = 1;
    return p;
}

/* The recurrence of ops whose tokens are those of all sequences, one after the
 * other. */
static struct recurrence
matrix_recurrence(struct ggml_tensor *dst, const struct ggml_tensor *state)
{
    struct recurrence p = recurrence_of(dst);
    const struct ggml_tensor *x = dst->src[0];

    p.n = p.n_rows = x->ne[0];
    p.n_head = x->ne[1];
    p.n_seqs = state->ne[1];
    p.n_tokens = p.n_seqs > 0 ? x->ne[2] / p.n_seqs : 0;
    return p;
}

/* Sources but an id are F32. */
static bool
all_f32(const struct ggml_tensor *dst, int n, int64_t row)
{
    for (int i = 0; i < n; i++)
        if (!cuda_is_f32(dst->src[i]))
            return false;
    return cuda_is_f32(dst) && ggml_is_contiguous(dst) &&
           row <= MOST_PER_LANE * LANES;
}

bool
cuda_supports_delta_net(const struct ggml_tensor *dst)
{
    return all_f32(dst, 6, dst->src[2]->ne[0]);
}

void
cuda_run_delta_net(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct recurrence p = recurrence_of(dst);
    const struct ggml_tensor *v = dst->src[2];

    p.n = p.n_rows = v->ne[0];
    p.n_head = v->ne[1];
    p.n_tokens = v->ne[2];
    p.n_seqs = v->ne[3];
    p.K = tensor_get_i32(dst, 0);
    p.scale = 1 / sqrtf((float)p.n);
    launch_sized<DELTA>(c, &p);
}

bool
cuda_supports_ssm_scan(const struct ggml_tensor *dst)
{
    return all_f32(dst, 6, dst->src[0]->ne[0]);
}

void
cuda_run_ssm_scan(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct recurrence p = recurrence_of(dst);
    const struct ggml_tensor *x = dst->src[1];

    p.n = dst->src[0]->ne[0];
    p.n_rows = x->ne[0];
    p.n_head = x->ne[1];
    p.n_tokens = x->ne[2];
    p.n_seqs = x->ne[3];
    p.K = tensor_get_i32(dst, 0);
    launch_sized<SCAN>(c, &p);
}

bool
cuda_supports_wkv7(const struct ggml_tensor *dst)
{
    return all_f32(dst, 7, dst->src[0]->ne[0]);
}

void
cuda_run_wkv7(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct recurrence p = matrix_recurrence(dst, dst->src[6]);

    launch_sized<WKV7>(c, &p);
}

bool
cuda_supports_wkv6(const struct ggml_tensor *dst)
{
    return all_f32(dst, 6, dst->src[0]->ne[0]);
}

void
cuda_run_wkv6(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct recurrence p = matrix_recurrence(dst, dst->src[5]);

    launch_sized<WKV6>(c, &p);
}

bool
cuda_supports_linear_attention(const struct ggml_tensor *dst)
{
    return all_f32(dst, 5, dst->src[0]->ne[0]);
}

void
cuda_run_linear_attention(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct recurrence p = matrix_recurrence(dst, dst->src[4]);

    p.scale = tensor_get_f32(dst, 0);
    launch_sized<LINEAR>(c, &p);
}

/* ---- SSM_CONV: channels of a token are neighbours in dst ---------------- */

KERNEL
ssm_conv(struct view y, struct view x, struct view w, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(y, c, i, n)
    {
        const float *from = floats_at(&x, i, c.row.i2, 0) + c.row.i1;
        const float *by = floats_at(&w, i, 0, 0);
        float sum = 0;

        for (int64_t j = 0; j < w.ne[0]; j++)
            sum += from[j] * by[j];
        cuda_store_element(&y, cuda_row_data(&y, c.row), i, sum);
    }
}

bool
cuda_supports_ssm_conv(const struct ggml_tensor *dst)
{
    return cuda_is_f32(dst) && cuda_is_f32(dst->src[0]) &&
           cuda_is_f32(dst->src[1]);
}

void
cuda_run_ssm_conv(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    int64_t n = cuda_chunks_of(dst);

    if (n > 0)
        LAUNCH(ssm_conv, cuda_default_launch(n, CUDA_THREADS), c,
               cuda_view_of(dst), cuda_view_of(dst->src[0]),
               cuda_view_of(dst->src[1]), n);
}

/* ---- SOLVE_TRI: a thread a column --------------------------------------- */

DEVICE void
solve_column(const float *a, const float *b, float *x, int64_t n, int64_t m)
{
    for (int64_t i = 0; i < n; i++) {
        float sum = 0;

        for (int64_t j = 0; j < i; j++)
            sum += a[i * n + j] * x[j * m];
        x[i * m] = (b[i * m] - sum) / a[i * n + i];
    }
}

KERNEL
solve_tri(const float *a, const float *b, float *x, int64_t n, int64_t m,
          int64_t n_all)
{
    int64_t step = cuda_grid_size() * (int64_t)cuda_block_size();

    cuda_grid_dependency_sync();
    for (int64_t i =
             cuda_block_id() * (int64_t)cuda_block_size() + cuda_thread_id();
         i < n_all; i += step) {
        int64_t column, matrix = cuda_divide(i, m, &column);
        int64_t at = matrix * n * m + column;

        solve_column(a + matrix * n * n, b + at, x + at, n, m);
    }
}

bool
cuda_supports_solve_tri(const struct ggml_tensor *dst)
{
    return cuda_is_f32(dst) && ggml_is_contiguous(dst);
}

void
cuda_run_solve_tri(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    int64_t n = ggml_nelements(dst) / (dst->ne[1] > 0 ? dst->ne[1] : 1);

    if (n > 0)
        LAUNCH(
            solve_tri,
            cuda_default_launch(cuda_ceil_div(n, CUDA_THREADS), CUDA_THREADS),
            c, (const float *)dst->src[0]->data,
            (const float *)dst->src[1]->data, (float *)dst->data, dst->ne[1],
            dst->ne[0], n);
}
