/* build_recurrent.c - op builders: recurrences over the tokens of a sequence
 *
 * All but the convolution and the solver give two things in one tensor: what
 * each token gives, then the states that the last token leaves. */
#include "tensor/tensor.h"

static struct ggml_tensor *
record(struct ggml_tensor *t, enum ggml_op op, struct ggml_tensor *const *src,
       int n)
{
    t->op = op;
    for (int i = 0; i < n; i++)
        t->src[i] = src[i];
    return t;
}

struct ggml_tensor *
ggml_ssm_conv(struct ggml_context *ctx, struct ggml_tensor *sx,
              struct ggml_tensor *c)
{
    int64_t n_tokens = sx->ne[0] - c->ne[0] + 1;

    GGML_ASSERT(ggml_is_3d(sx) && ggml_is_matrix(c));
    GGML_ASSERT(sx->ne[1] == c->ne[1] && n_tokens >= 0);
    return tensor_record(
        ggml_new_tensor_3d(ctx, GGML_TYPE_F32, c->ne[1], n_tokens, sx->ne[2]),
        GGML_OP_SSM_CONV, sx, c);
}

/* op_params: K. */
struct ggml_tensor *
ggml_ssm_scan(struct ggml_context *ctx, struct ggml_tensor *s,
              struct ggml_tensor *x, struct ggml_tensor *dt,
              struct ggml_tensor *A, struct ggml_tensor *B,
              struct ggml_tensor *C, struct ggml_tensor *ids, int64_t K)
{
    struct ggml_tensor *src[] = { s, x, dt, A, B, C, ids }, *t;
    int64_t n_head = x->ne[1], n_tokens = x->ne[2], n_seqs = x->ne[3];

    GGML_ASSERT(K >= 1 && K <= INT32_MAX);
    GGML_ASSERT(ggml_is_contiguous(s) && ggml_is_contiguous(dt));
    GGML_ASSERT(ggml_is_contiguous(A) && ggml_is_matrix(A));
    for (int i = 1; i < 6; i++)
        GGML_ASSERT(src[i]->nb[0] == ggml_type_size(src[i]->type));
    for (int i = 1; i < 6; i += i == 1 ? 3 : 1)
        GGML_ASSERT(src[i]->nb[1] == (size_t)src[i]->ne[0] * src[i]->nb[0]);
    GGML_ASSERT(s->ne[1] == x->ne[0] && s->ne[2] == n_head);
    GGML_ASSERT(dt->ne[0] == n_head && dt->ne[1] == n_tokens);
    GGML_ASSERT(dt->ne[2] == n_seqs && dt->ne[3] == 1);
    GGML_ASSERT(ggml_are_same_shape(B, C) && B->ne[0] == s->ne[0]);
    GGML_ASSERT(B->ne[2] == n_tokens && B->ne[3] == n_seqs);
    GGML_ASSERT(A->ne[1] == n_head);
    GGML_ASSERT(A->ne[0] == 1 || (A->ne[0] == s->ne[0] && K == 1));
    GGML_ASSERT(ids->type == GGML_TYPE_I32 && ggml_is_vector(ids));
    GGML_ASSERT(ids->ne[0] == n_seqs);
    t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32,
                           ggml_nelements(x) +
                               K * s->ne[0] * s->ne[1] * s->ne[2] * n_seqs);
    tensor_set_i32(t, 0, (int32_t)K);
    return record(t, GGML_OP_SSM_SCAN, src, 7);
}

/* op_params: K. */
struct ggml_tensor *
ggml_gated_delta_net(struct ggml_context *ctx, struct ggml_tensor *q,
                     struct ggml_tensor *k, struct ggml_tensor *v,
                     struct ggml_tensor *g, struct ggml_tensor *beta,
                     struct ggml_tensor *state, int64_t K)
{
    struct ggml_tensor *src[] = { q, k, v, g, beta, state }, *t;
    int64_t n = v->ne[0], n_head = v->ne[1], n_seqs = v->ne[3];

    for (int i = 0; i < 6; i++)
        GGML_ASSERT(src[i]->type == GGML_TYPE_F32);
    for (int i = 0; i < 3; i++)
        GGML_ASSERT(ggml_is_contiguous_rows(src[i]));
    for (int i = 3; i < 6; i++)
        GGML_ASSERT(ggml_is_contiguous(src[i]));
    GGML_ASSERT(g->ne[0] == 1 || g->ne[0] == n);
    GGML_ASSERT(beta->ne[0] == 1);
    GGML_ASSERT(state->ne[0] == n && state->ne[1] == n);
    GGML_ASSERT(state->ne[2] == n_head && state->ne[3] == n_seqs);
    GGML_ASSERT(K >= 1 && K <= INT32_MAX);
    t = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, n * n_head,
                           v->ne[2] * n_seqs + K * n * n_seqs);
    tensor_set_i32(t, 0, (int32_t)K);
    return record(t, GGML_OP_GATED_DELTA_NET, src, 6);
}

/* The result of ops on a state of n x n x heads a sequence, where what a token
 * brings is contiguous and shaped as `first` is: all of src but the state,
 * which is last, and `shared`, which is the same for all tokens. */
static struct ggml_tensor *
matrix_state(struct ggml_context *ctx, enum ggml_op op,
             struct ggml_tensor *const *src, int n_src, int shared)
{
    const struct ggml_tensor *first = src[0], *state = src[n_src - 1];
    int64_t n = first->ne[0], n_head = first->ne[1], n_seqs = state->ne[1];

    for (int i = 0; i < n_src; i++)
        GGML_ASSERT(ggml_is_contiguous(src[i]));
    for (int i = 1; i < n_src - 1; i++)
        GGML_ASSERT(i == shared || ggml_are_same_shape(src[i], first));
    GGML_ASSERT(ggml_nelements(state) == n * n * n_head * n_seqs);
    return record(ggml_new_tensor_2d(ctx, GGML_TYPE_F32, n * n_head,
                                     first->ne[2] + n * n_seqs),
                  op, src, n_src);
}

struct ggml_tensor *
ggml_rwkv_wkv6(struct ggml_context *ctx, struct ggml_tensor *k,
               struct ggml_tensor *v, struct ggml_tensor *r,
               struct ggml_tensor *tf, struct ggml_tensor *td,
               struct ggml_tensor *state)
{
    struct ggml_tensor *src[] = { k, v, r, tf, td, state };

    GGML_ASSERT(ggml_nelements(tf) == k->ne[0] * k->ne[1]);
    return matrix_state(ctx, GGML_OP_RWKV_WKV6, src, 6, 3);
}

/* op_params: what q is multiplied by. */
struct ggml_tensor *
ggml_gated_linear_attn(struct ggml_context *ctx, struct ggml_tensor *k,
                       struct ggml_tensor *v, struct ggml_tensor *q,
                       struct ggml_tensor *g, struct ggml_tensor *state,
                       float scale)
{
    struct ggml_tensor *src[] = { k, v, q, g, state };
    struct ggml_tensor *t =
        matrix_state(ctx, GGML_OP_GATED_LINEAR_ATTN, src, 5, -1);

    tensor_set_f32(t, 0, scale);
    return t;
}

struct ggml_tensor *
ggml_rwkv_wkv7(struct ggml_context *ctx, struct ggml_tensor *r,
               struct ggml_tensor *w, struct ggml_tensor *k,
               struct ggml_tensor *v, struct ggml_tensor *a,
               struct ggml_tensor *b, struct ggml_tensor *state)
{
    struct ggml_tensor *src[] = { r, w, k, v, a, b, state };

    return matrix_state(ctx, GGML_OP_RWKV_WKV7, src, 7, -1);
}

struct ggml_tensor *
ggml_solve_tri(struct ggml_context *ctx, struct ggml_tensor *a,
               struct ggml_tensor *b, bool left, bool lower, bool uni)
{
    GGML_ASSERT(a->type == GGML_TYPE_F32 && b->type == GGML_TYPE_F32);
    GGML_ASSERT(ggml_is_contiguous(a) && ggml_is_contiguous(b));
    GGML_ASSERT(a->ne[0] == a->ne[1] && a->ne[1] == b->ne[1]);
    GGML_ASSERT(a->ne[2] == b->ne[2] && a->ne[3] == b->ne[3]);
    GGML_ASSERT(left && lower && !uni);
    return tensor_record(ggml_new_tensor(ctx, GGML_TYPE_F32, 4, b->ne),
                         GGML_OP_SOLVE_TRI, a, b);
}
