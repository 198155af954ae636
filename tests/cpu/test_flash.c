/* test_flash.c - attention in one pass against softmax in double precision;
 * and that a query's answer depends on nothing around it */
#include "cpu_test.h"

static float param_scale, param_bias, param_cap;

static double
slope(int64_t head, int64_t n)
{
    int64_t power = 1;

    if (param_bias == 0)
        return 1;
    while (power * 2 <= n)
        power *= 2;
    return head < power
               ? pow(2,
                     -(double)param_bias * (double)(head + 1) / (double)power)
               : pow(2, -(double)param_bias / 2 *
                            (double)(2 * (head - power) + 1) / (double)power);
}

static double
score(const struct ggml_tensor *t, int64_t key, int64_t head, int64_t token,
      int64_t batch)
{
    const struct ggml_tensor *q = t->src[0], *k = t->src[1], *m = t->src[3];
    int64_t group = q->ne[2] / k->ne[2];
    double s = 0;

    for (int64_t j = 0; j < q->ne[0]; j++)
        s += test_at(q, j, token, head, batch) *
             test_at(k, j, key, head / group, batch);
    s *= (double)param_scale;
    if (param_cap != 0)
        s = (double)param_cap * tanh(s / (double)param_cap);
    if (m)
        s += slope(head, q->ne[2]) *
             test_at(m, key, token, head % m->ne[2], batch % m->ne[3]);
    return s;
}

/* Weights of the keys for one query, kept for all elements of its answer. */
static double weights[1024];

static void
find_weights(const struct ggml_tensor *t, int64_t head, int64_t token,
             int64_t batch)
{
    int64_t n = t->src[1]->ne[1];
    double most = -INFINITY, total = 0;

    for (int64_t j = 0; j < n; j++) {
        weights[j] = score(t, j, head, token, batch);
        most = fmax(most, weights[j]);
    }
    if (t->src[4]) {
        double sink = test_at(t->src[4], head, 0, 0, 0);

        most = fmax(most, sink);
        total = exp(sink - most);
    }
    for (int64_t j = 0; j < n; j++)
        total += weights[j] = exp(weights[j] - most);
    for (int64_t j = 0; j < n; j++)
        weights[j] /= total;
}

static double
truth(const struct ggml_tensor *t, int64_t i0, int64_t head, int64_t token,
      int64_t batch)
{
    const struct ggml_tensor *v = t->src[2];
    int64_t group = t->src[0]->ne[2] / v->ne[2];
    double sum = 0;

    if (i0 == 0) /* elements are requested in order */
        find_weights(t, head, token, batch);
    for (int64_t j = 0; j < v->ne[1]; j++)
        sum += weights[j] * test_at(v, i0, j, head / group, batch);
    return sum;
}

/* A query sees the keys up to its own place: those before `past`, too. */
static struct ggml_tensor *
causal_mask(struct ggml_context *ctx, int64_t keys, int64_t tokens,
            int64_t past)
{
    struct ggml_tensor *m =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F16, keys, tokens);

    EACH_INDEX(m)
    ggml_set_f32_nd(m, (int)i0, (int)i1, 0, 0,
                    i0 > past + i1 ? -INFINITY
                                   : -0.125f * (float)(past + i1 - i0));
    return m;
}

static void
test_case(int d, int e, int tokens, int keys, int heads, int kv_heads,
          enum ggml_type type, const char *what)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *q =
        test_tensor(ctx, GGML_TYPE_F32, d, tokens, heads, 2);
    struct ggml_tensor *k = test_tensor(ctx, type, d, keys, kv_heads, 2);
    struct ggml_tensor *v = test_tensor(ctx, type, e, keys, kv_heads, 2);
    struct ggml_tensor *m = causal_mask(ctx, keys, tokens, keys - tokens);
    char name[100];

    param_scale = 1.5f / sqrtf((float)d);
    snprintf(name, sizeof(name), "%s, %s, d %d, %d queries, %d keys", what,
             ggml_type_name(type), d, tokens, keys);
    test_op(ctx,
            ggml_flash_attn_ext(ctx, q, k, v, m, param_scale, param_bias,
                                param_cap),
            truth, 5e-6, name);
    ggml_free(ctx);
}

/* Queries that see few keys, here and there, among some that see only the
 * first or only the last ones. */
static void
test_holes(int heads, int kv_heads)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *q = test_tensor(ctx, GGML_TYPE_F32, 64, 90, heads, 1);
    struct ggml_tensor *k =
        test_tensor(ctx, GGML_TYPE_F16, 64, 150, kv_heads, 1);
    struct ggml_tensor *v =
        test_tensor(ctx, GGML_TYPE_F16, 64, 150, kv_heads, 1);
    struct ggml_tensor *m = ggml_new_tensor_2d(ctx, GGML_TYPE_F16, 150, 90);
    char name[60];

    EACH_INDEX(m)
    {
        bool seen = i1 % 5 == 0   ? i0 < 10
                    : i1 % 5 == 1 ? i0 > 140
                                  : (7 * i0 + 13 * i1) % 11 < 2;

        ggml_set_f32_nd(m, (int)i0, (int)i1, 0, 0,
                        seen ? (float)(i0 % 3) / 4 : -INFINITY);
    }
    param_scale = 0.2f;
    snprintf(name, sizeof(name), "a mask with holes, %d / %d heads", heads,
             kv_heads);
    test_op(ctx, ggml_flash_attn_ext(ctx, q, k, v, m, 0.2f, 0, 0), truth, 5e-6,
            name);
    ggml_free(ctx);
}

/* Every third head has a mask of its own, and so has each batch: for few
 * queries, and for enough that the masks are summarised before. */
static void
test_masks(int tokens)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *q = test_tensor(ctx, GGML_TYPE_F32, 64, tokens, 6, 2);
    struct ggml_tensor *k = test_tensor(ctx, GGML_TYPE_F16, 64, 150, 2, 2);
    struct ggml_tensor *v = test_tensor(ctx, GGML_TYPE_F16, 64, 150, 2, 2);
    struct ggml_tensor *m =
        ggml_new_tensor_4d(ctx, GGML_TYPE_F16, 150, tokens, 3, 2);
    char name[60];

    EACH_INDEX(m)
    {
        int64_t last = (i1 + 50 * i2 + 20 * i3) % 150;

        ggml_set_f32_nd(m, (int)i0, (int)i1, (int)i2, (int)i3,
                        i0 <= last ? 0 : -INFINITY);
    }
    param_scale = 0.2f;
    snprintf(name, sizeof(name), "masks of heads and batches, %d queries",
             tokens);
    test_op(ctx, ggml_flash_attn_ext(ctx, q, k, v, m, 0.2f, 0, 0), truth, 5e-6,
            name);
    ggml_free(ctx);
}

/* Sinks below, among and above the scores. */
static void
test_sinks(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *q = test_tensor(ctx, GGML_TYPE_F32, 64, 5, 6, 1);
    struct ggml_tensor *k = test_tensor(ctx, GGML_TYPE_F16, 64, 140, 2, 1);
    struct ggml_tensor *v = test_tensor(ctx, GGML_TYPE_F16, 64, 140, 2, 1);
    struct ggml_tensor *sinks = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 6);
    struct ggml_tensor *t = ggml_flash_attn_ext(
        ctx, q, k, v, causal_mask(ctx, 140, 5, 135), 0.2f, 0, 0);

    param_scale = 0.2f;
    for (int i = 0; i < 6; i++)
        ggml_set_f32_1d(sinks, i, (float)(4 * i - 10));
    ggml_flash_attn_ext_add_sinks(t, sinks);
    test_op(ctx, t, truth, 5e-6, "sinks");
    ggml_free(ctx);
}

enum {
    BEFORE = 30, /* keys that all queries see */
    HIDDEN = 70,
    ROWS = 200 /* of a group: more than a piece has */
};

/* n tokens from token i on, alone, answer as they did among all. */
static bool
same_alone(struct ggml_context *ctx, const struct ggml_tensor *all, int i,
           int n)
{
    struct ggml_tensor *q = all->src[0], *k = all->src[1], *v = all->src[2];
    int keys = BEFORE + i + n;
    struct ggml_tensor *t = ggml_flash_attn_ext(
        ctx,
        ggml_view_3d(ctx, q, q->ne[0], n, q->ne[2], q->nb[1], q->nb[2],
                     (size_t)i * q->nb[1]),
        ggml_view_3d(ctx, k, k->ne[0], keys, k->ne[2], k->nb[1], k->nb[2], 0),
        ggml_view_3d(ctx, v, v->ne[0], keys, v->ne[2], v->nb[1], v->nb[2], 0),
        causal_mask(ctx, keys, n, keys - n), 0.2f, 0, 0);

    test_run(ctx, t, 1);
    return memcmp(t->data, (char *)all->data + (size_t)i * all->nb[2],
                  (size_t)n * t->nb[2]) == 0;
}

/* A query gives the same bytes with more keys that are masked, among more
 * queries, with more threads; masked keys hold NaN. The way that scores are
 * computed is another for large groups. Keys lie as in a cache, a token's
 * heads side by side. */
static void
test_invariance(enum ggml_type type, int d, int heads, int kv_heads)
{
    int tokens = (ROWS - 1) / (heads / kv_heads) + 1, seen = BEFORE + tokens;
    int room = seen + HIDDEN;
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *q =
        test_tensor(ctx, GGML_TYPE_F32, d, tokens, heads, 1);
    struct ggml_tensor *k = test_tensor(ctx, type, d, kv_heads, room, 1);
    struct ggml_tensor *v = test_tensor(ctx, type, d, kv_heads, room, 1);
    struct ggml_tensor *all;
    bool same = true;
    char name[100];

    for (int i = seen; i < room && !ggml_is_quantized(type); i++)
        for (int h = 0; h < kv_heads; h++)
            for (int j = 0; j < d; j++) {
                ggml_set_f32_nd(k, j, h, i, 0, NAN);
                ggml_set_f32_nd(v, j, h, i, 0, NAN);
            }
    all =
        ggml_flash_attn_ext(ctx, q, ggml_permute(ctx, k, 0, 2, 1, 3),
                            ggml_permute(ctx, v, 0, 2, 1, 3),
                            causal_mask(ctx, room, tokens, BEFORE), 0.2f, 0, 0);
    test_run(ctx, all, 3);
    for (int i = 0; i < tokens; i++)
        same = same && same_alone(ctx, all, i, 1);
    for (int i = 0, n = 2; i + n <= tokens; i += n, n = n % 9 + 1)
        same = same && same_alone(ctx, all, i, n);
    snprintf(name, sizeof(name),
             "%s, d %d, %d / %d heads: an answer is its"
             " query's own",
             ggml_type_name(type), d, heads, kv_heads);
    ok(same, name);
    ggml_free(ctx);
}

/* Two sequences in one cache, each seeing its own keys: what is no number in
 * one does not reach the other. */
static void
test_neighbours(int heads, int kv_heads)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *q = test_tensor(ctx, GGML_TYPE_F32, 32, 12, heads, 1);
    struct ggml_tensor *k =
        test_tensor(ctx, GGML_TYPE_F16, 32, 40, kv_heads, 1);
    struct ggml_tensor *v =
        test_tensor(ctx, GGML_TYPE_F16, 32, 40, kv_heads, 1);
    struct ggml_tensor *m = ggml_new_tensor_2d(ctx, GGML_TYPE_F16, 40, 12);
    struct ggml_tensor *t = ggml_flash_attn_ext(ctx, q, k, v, m, 0.3f, 0, 0);
    float clean[32 * 6 * 6];
    size_t first = (size_t)(32 * heads * 6) * sizeof(float);
    bool other = true;

    EACH_INDEX(m)
    ggml_set_f32_nd(m, (int)i0, (int)i1, 0, 0,
                    (i0 < 20) == (i1 < 6) ? 0 : -INFINITY);
    test_run(ctx, t, 1);
    memcpy(clean, t->data, first);
    for (int j = 0; j < 32 * kv_heads; j++) {
        ggml_set_f32_nd(k, j % 32, 31, j / 32, 0, j % 2 ? NAN : INFINITY);
        ggml_set_f32_nd(v, j % 32, 30, j / 32, 0, j % 2 ? NAN : INFINITY);
    }
    test_run(ctx, t, 1);
    ok(memcmp(clean, t->data, first) == 0, "a neighbour's NaN changes nothing");
    for (int h = 0; h < heads; h++)
        other = other && !isfinite(ggml_get_f32_nd(t, 1, h, 8, 0));
    ok(other, "and is its own");
    ggml_free(ctx);
}

/* No key at all to be seen: zeros. */
static void
test_blind(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *q = test_tensor(ctx, GGML_TYPE_F32, 32, 2, 1, 1);
    struct ggml_tensor *k = test_tensor(ctx, GGML_TYPE_F16, 32, 70, 1, 1);
    struct ggml_tensor *m = ggml_new_tensor_2d(ctx, GGML_TYPE_F16, 70, 2);
    struct ggml_tensor *t;
    bool zero = true;

    ggml_set_f32(m, -INFINITY);
    t = ggml_flash_attn_ext(ctx, q, k, k, m, 1, 0, 0);
    test_run(ctx, t, 1);
    EACH_INDEX(t)
    zero = zero && test_at(t, i0, i1, i2, i3) == 0;
    ok(zero, "a query that sees nothing gets zeros");
    ggml_free(ctx);
}

/* That most keys are hidden may be said, and changes nothing. */
static void
test_bound(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *q = test_tensor(ctx, GGML_TYPE_F32, 32, 3, 2, 1);
    struct ggml_tensor *k = test_tensor(ctx, GGML_TYPE_F16, 32, 70, 2, 1);
    struct ggml_tensor *m = ggml_new_tensor_2d(ctx, GGML_TYPE_F16, 70, 3), *t;
    void *first = malloc(32 * 3 * 2 * sizeof(float));

    for (int i = 0; i < 210; i++)
        ggml_set_f32_1d(m, i, i % 7 ? -INFINITY : 0);
    t = ggml_flash_attn_ext(ctx, q, k, k, m, 1, 0, 0);
    test_run(ctx, t, 1);
    memcpy(first, t->data, ggml_nbytes(t));
    ggml_flash_attn_ext_set_n_kv_max(t, 10);
    memset(t->data, 0, ggml_nbytes(t));
    test_run(ctx, t, 2);
    ok(memcmp(first, t->data, ggml_nbytes(t)) == 0 &&
           ggml_flash_attn_ext_get_prec(t) == GGML_PREC_DEFAULT,
       "a bound on the keys that count");
    free(first);
    ggml_free(ctx);
}

int
main(void)
{
    static const int widths[] = { 64, 80, 96, 128, 256 };
    static const enum ggml_type types[] = { GGML_TYPE_F16,  GGML_TYPE_F32,
                                            GGML_TYPE_BF16, GGML_TYPE_Q8_0,
                                            GGML_TYPE_Q5_0, GGML_TYPE_Q4_0 };

    test_case(64, 64, 1, 5, 4, 4, GGML_TYPE_F16, "few keys");
    test_case(64, 64, 1, 200, 8, 2, GGML_TYPE_F16, "one query, groups");
    test_case(40, 24, 7, 129, 6, 3, GGML_TYPE_F16, "odd sizes");
    test_case(128, 128, 35, 64, 2, 1, GGML_TYPE_F32, "many queries");
    test_case(32, 32, 3, 65, 2, 2, GGML_TYPE_BF16, "BF16");
    test_case(64, 96, 4, 130, 4, 2, GGML_TYPE_Q8_0, "a quantised cache");
    test_case(64, 96, 4, 130, 4, 2, GGML_TYPE_Q5_0, "of five bits");
    test_case(64, 96, 20, 130, 4, 2, GGML_TYPE_Q4_0, "of four bits");
    test_case(32, 32, 70, 70, 8, 2, GGML_TYPE_F16, "more rows than a piece");
    test_case(32, 32, 3, 70, 200, 1, GGML_TYPE_F16, "a group larger than that");
    test_case(80, 80, 9, 90, 4, 2, GGML_TYPE_F32, "odd heads");
    param_bias = 8;
    test_case(32, 32, 5, 70, 6, 3, GGML_TYPE_F16, "ALiBi, six heads");
    param_bias = 0;
    param_cap = 3;
    test_case(32, 32, 5, 70, 4, 4, GGML_TYPE_F32, "soft cap");
    param_cap = 50;
    test_case(64, 64, 20, 300, 8, 2, GGML_TYPE_F16, "soft cap");
    param_cap = 0;
    test_masks(9);
    test_masks(50);
    test_sinks();
    test_holes(2, 2);
    test_holes(6, 1);
    for (int i = 0; i < 5; i++) {
        test_case(widths[i], widths[i], 1, 150, 3, 3, GGML_TYPE_F16,
                  "no groups");
        test_case(widths[i], widths[i], 13, 90, 3, 3, GGML_TYPE_F32,
                  "no groups");
        test_invariance(GGML_TYPE_F16, widths[i], 2, 2);
    }
    for (int group = 1; group <= 6; group++)
        for (int i = 0; i < 4; i++)
            test_invariance(types[i], 64, 2 * group, 2);
    test_invariance(GGML_TYPE_F16, 36, 3, 3);
    test_neighbours(2, 2);
    test_neighbours(4, 2);
    test_neighbours(6, 1);
    test_blind();
    test_bound();
    return tap_done();
}
