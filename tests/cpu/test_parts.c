/* test_parts.c - attention to keys that come in parts: near softmax in double
 * precision, and the same bytes as attention to all of them at once */
#include "cpu_test.h"
#include "tensor/sparse.h"

enum {
    D = 32,
    KEYS = 330,
    PREFIX = 256,
};

struct parts_case {
    enum ggml_type type;
    int heads, kv_heads;
    int n, tokens; /* sequences, and queries of each */
    float bias, cap;
    bool sinks;
};

static const float scale = 0.3f;

/* Each run takes room for its graph and its scratch. */
static struct ggml_context *
room_for_all(void)
{
    struct ggml_init_params params = { .mem_size = (size_t)256 << 20 };

    return ggml_init(params);
}

/* Values of a head: no multiple of what kernels take, but for whole blocks. */
static int
columns_of(enum ggml_type type)
{
    return ggml_is_quantized(type) ? 64 : 40;
}

/* ---- keys and values in double precision --------------------------------- */

static double
dot(const struct ggml_tensor *q, const struct ggml_tensor *k, int64_t key,
    int64_t head, int64_t token)
{
    double s = 0;

    for (int64_t i = 0; i < q->ne[0]; i++)
        s += test_at(q, i, token, head, 0) *
             test_at(k, i, key, head / (q->ne[2] / k->ne[2]), 0);
    return s * (double)scale;
}

/* One part: what it adds to the sum of the weights and to that of the
 * values. */
static void
add_keys_of_part(const struct ggml_tensor *t, int64_t i0, int64_t head,
                 int64_t token, double *total, double *sum)
{
    const struct ggml_tensor *q = t->src[0], *k = t->src[1], *v = t->src[2];

    for (int64_t key = 0; key < k->ne[1]; key++) {
        double w = t->src[3] ? test_at(t->src[3], key, token, 0, 0) : 0;

        w = exp(w + dot(q, k, key, head, token));
        *total += w;
        *sum += w * test_at(v, i0, key, head / (q->ne[2] / v->ne[2]), 0);
    }
}

static double
truth(const struct ggml_tensor *t, int64_t i0, int64_t head, int64_t token,
      int64_t batch)
{
    double total = 0, sum = 0;

    (void)batch;
    for (; t; t = t->src[TENSOR_PART_BEFORE])
        add_keys_of_part(t, i0, head, token, &total, &sum);
    return sum / total;
}

/* ---- parts of one sequence ----------------------------------------------- */

static struct ggml_tensor *
keys_of(struct ggml_context *ctx, struct ggml_tensor *x, int first, int n)
{
    return ggml_view_3d(ctx, x, x->ne[0], n, x->ne[2], x->nb[1], x->nb[2],
                        (size_t)first * x->nb[1]);
}

/* Query i of a sequence sees all but the last tokens - 1 - i keys. */
static struct ggml_tensor *
causal(struct ggml_context *ctx, const struct parts_case *c)
{
    struct ggml_tensor *m =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F16, KEYS, c->tokens);

    EACH_INDEX(m)
    {
        int64_t place = KEYS - c->tokens + i1;

        ggml_set_f32_nd(m, (int)i0, (int)i1, 0, 0,
                        i0 > place    ? -INFINITY
                        : c->bias > 0 ? (float)(i0 - place) / 8
                                      : 0);
    }
    return m;
}

static struct ggml_tensor *
sinks_of(struct ggml_context *ctx, const struct parts_case *c)
{
    struct ggml_tensor *s =
        c->sinks ? ggml_new_tensor_1d(ctx, GGML_TYPE_F32, c->heads) : NULL;

    for (int i = 0; s && i < c->heads; i++)
        ggml_set_f32_1d(s, i, (float)(2 * i - 4));
    return s;
}

/* The keys before each of the edges, and those after the last of them. */
static struct ggml_tensor *
attend_parts(struct ggml_context *ctx, const struct ggml_tensor *whole,
             const struct parts_case *c, const int *edges, int n_edges)
{
    struct ggml_tensor *m = whole->src[3], *t = NULL;
    int first = 0;

    for (int i = 0; i <= n_edges; i++) {
        bool more = i < n_edges;
        int n = (more ? edges[i] : KEYS) - first;
        struct tensor_part p = {
            .q = whole->src[0],
            .k = keys_of(ctx, whole->src[1], first, n),
            .v = keys_of(ctx, whole->src[2], first, n),
            .mask = ggml_view_2d(ctx, m, n, c->tokens, m->nb[1],
                                 (size_t)first * m->nb[0]),
            .sinks = more ? NULL : whole->src[4],
            .before = t,
            .scale = scale,
            .max_bias = c->bias,
            .softcap = c->cap,
            .more = more,
        };

        t = tensor_attend_part(ctx, &p);
        first += n;
    }
    return t;
}

static struct ggml_tensor *
attend_whole(struct ggml_context *ctx, struct ggml_tensor *q,
             const struct parts_case *c, struct ggml_tensor *m)
{
    struct ggml_tensor *k = test_tensor(ctx, c->type, D, KEYS, c->kv_heads, 1);
    struct ggml_tensor *v =
        test_tensor(ctx, c->type, columns_of(c->type), KEYS, c->kv_heads, 1);
    struct ggml_tensor *t =
        ggml_flash_attn_ext(ctx, q, k, v, m, scale, c->bias, c->cap);

    ggml_flash_attn_ext_add_sinks(t, sinks_of(ctx, c));
    return t;
}

static bool
same_as_whole(struct ggml_context *ctx, struct ggml_tensor *whole,
              struct ggml_tensor *parts)
{
    size_t size = ggml_nbytes(whole);
    bool same = ggml_nbytes(parts) == size;

    for (int reference = 0; reference < 2; reference++) {
        test_use_ref = reference;
        test_run(ctx, whole, 1);
        for (int threads = 1; threads < 5; threads++) {
            test_run(ctx, parts, threads);
            same = same && memcmp(whole->data, parts->data, size) == 0;
        }
    }
    test_use_ref = false;
    return same;
}

static void
check_one(const struct parts_case *c)
{
    static const int edges[] = { 64, 128, 256, 320 };
    struct ggml_context *ctx = room_for_all();
    struct ggml_tensor *q =
        test_tensor(ctx, GGML_TYPE_F32, D, c->tokens, c->heads, 1);
    struct ggml_tensor *whole = attend_whole(ctx, q, c, causal(ctx, c));
    struct ggml_tensor *two = attend_parts(ctx, whole, c, edges + 2, 1);
    struct ggml_tensor *many = attend_parts(ctx, whole, c, edges, 4);
    char name[120];

    snprintf(name, sizeof(name), "%s, %d / %d heads, %d queries",
             ggml_type_name(c->type), c->heads, c->kv_heads, c->tokens);
    if (c->bias <= 0 && c->cap == 0 && !c->sinks)
        test_op(ctx, many, truth, 5e-6, name);
    ok(same_as_whole(ctx, whole, two) && same_as_whole(ctx, whole, many), name);
    ggml_free(ctx);
}

/* ---- a prefix of many sequences ------------------------------------------ */

/* Tokens of a sequence in the tensor of all. */
static struct ggml_tensor *
tokens_of_one(struct ggml_context *ctx, struct ggml_tensor *x, int i, int n,
              int dim)
{
    int64_t ne[3] = { x->ne[0], x->ne[1], x->ne[2] };

    ne[dim] = n;
    return ggml_view_3d(ctx, x, ne[0], ne[1], ne[2], x->nb[1], x->nb[2],
                        (size_t)(i * n) * x->nb[dim]);
}

/* Sequence i has the first one's keys of the prefix. */
static void
share_prefix(struct ggml_tensor *x, const struct ggml_tensor *from)
{
    for (int64_t head = 0; head < x->ne[2]; head++)
        memcpy((char *)x->data + (size_t)head * x->nb[2],
               (const char *)from->data + (size_t)head * x->nb[2],
               PREFIX * x->nb[1]);
}

/* The prefix is attended to once, by the queries of all, without a mask. */
static void
check_shared(const struct parts_case *c)
{
    struct ggml_context *ctx = room_for_all();
    struct ggml_tensor *q =
        test_tensor(ctx, GGML_TYPE_F32, D, c->n * c->tokens, c->heads, 1);
    struct ggml_tensor *m = causal(ctx, c), *first = NULL, *prefix = NULL;
    bool same = true;
    char name[120];

    for (int i = 0; i < c->n; i++) {
        struct ggml_tensor *whole =
            attend_whole(ctx, tokens_of_one(ctx, q, i, c->tokens, 1), c, m);
        struct tensor_part p = { .scale = scale, .softcap = c->cap };

        first = first ? first : whole;
        share_prefix(whole->src[1], first->src[1]);
        share_prefix(whole->src[2], first->src[2]);
        p.more = true;
        p.q = q;
        p.k = keys_of(ctx, first->src[1], 0, PREFIX);
        p.v = keys_of(ctx, first->src[2], 0, PREFIX);
        prefix = prefix ? prefix : tensor_attend_part(ctx, &p);
        p.more = false;
        p.q = whole->src[0];
        p.k = keys_of(ctx, whole->src[1], PREFIX, KEYS - PREFIX);
        p.v = keys_of(ctx, whole->src[2], PREFIX, KEYS - PREFIX);
        p.mask = ggml_view_2d(ctx, m, KEYS - PREFIX, c->tokens, m->nb[1],
                              PREFIX * m->nb[0]);
        p.sinks = whole->src[4];
        p.before = tokens_of_one(ctx, prefix, i, c->tokens, 2);
        same = same && same_as_whole(ctx, whole, tensor_attend_part(ctx, &p));
    }
    snprintf(name, sizeof(name),
             "%s, %d / %d heads: a prefix of %d sequences, %d queries each",
             ggml_type_name(c->type), c->heads, c->kv_heads, c->n, c->tokens);
    ok(same, name);
    ggml_free(ctx);
}

/* Anything but a number stays so, and a query that sees nothing of a part has
 * nothing of it. */
static void
check_edges(void)
{
    struct parts_case c = { GGML_TYPE_F16, 4, 2, 1, 3, 0, 0, false };
    struct ggml_context *ctx = room_for_all();
    struct ggml_tensor *q = test_tensor(ctx, GGML_TYPE_F32, D, 3, 4, 1);
    struct ggml_tensor *m = causal(ctx, &c);
    struct ggml_tensor *whole = attend_whole(ctx, q, &c, m);
    struct ggml_tensor *parts = attend_parts(ctx, whole, &c, (int[]){ 128 }, 1);

    for (int i = 0; i < 128; i++)
        ggml_set_f32_nd(m, i, 1, 0, 0, -INFINITY);
    for (int i = 0; i < KEYS; i++)
        ggml_set_f32_nd(m, i, 2, 0, 0, -INFINITY);
    ok(same_as_whole(ctx, whole, parts),
       "a part that is hidden, and all of them");
    ggml_set_f32_nd(whole->src[1], 1, 70, 0, 0, NAN);
    ggml_set_f32_nd(whole->src[2], 2, 200, 1, 0, INFINITY);
    ok(same_as_whole(ctx, whole, parts), "a key or value that is no number");
    ggml_free(ctx);
}

int
main(void)
{
    static const enum ggml_type types[] = { GGML_TYPE_F16, GGML_TYPE_F32,
                                            GGML_TYPE_BF16, GGML_TYPE_Q8_0,
                                            GGML_TYPE_F16 };
    static const int counts[] = { 1, 2, 5, 17, 40 };

    for (int i = 0; i < 5; i++) {
        struct parts_case c = {
            types[i], 6, i == 4 ? 6 : 2, 3, 1, 0, 0, false
        };

        for (int k = 0; k < 5; k++) {
            c.tokens = counts[k];
            check_one(&c);
        }
        for (int k = 0; k < 5; k++) {
            c.n = counts[k];
            c.tokens = k < 3 ? 2 : 1;
            check_shared(&c);
        }
    }
    check_one(&(struct parts_case){ GGML_TYPE_F16, 6, 3, 1, 9, 8, 0, false });
    check_one(&(struct parts_case){ GGML_TYPE_F16, 4, 1, 1, 20, 0, 5, false });
    check_one(&(struct parts_case){ GGML_TYPE_F16, 4, 1, 1, 7, 0, 0, true });
    check_shared(&(struct parts_case){ GGML_TYPE_F16, 4, 1, 9, 3, 0, 5, true });
    check_edges();
    return tap_done();
}
