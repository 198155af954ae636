/* test_sparse.c - what tokens attend to and attention to that, by definition
 * and in double precision */
#include "cpu_test.h"
#include "tensor/sparse.h"

/* ---- choices ------------------------------------------------------------ */

enum {
    MOST = 600
};

static int64_t
passed_by(const struct ggml_tensor *seen, int64_t token,
          const struct tensor_choice *c)
{
    int64_t n = 0;

    if (seen->type == GGML_TYPE_I32)
        return ggml_get_i32_1d(seen, (int)token) + 1;
    for (int64_t i = 0; i < seen->ne[0]; i++)
        n = test_at(seen, i, token, 0, 0) == 0 ? i + 1 : n;
    return c->start + n;
}

/* A mask may hide one that is not the last. */
static bool
is_hidden(const struct ggml_tensor *seen, int64_t i, int64_t token,
          const struct tensor_choice *c)
{
    return seen->type == GGML_TYPE_F16 && c->each == 1 &&
           test_at(seen, i, token, 0, 0) < 0;
}

/* Better than any number: NaN. */
static double
score_at(const struct ggml_tensor *scores, int64_t i, int64_t list,
         int64_t token)
{
    double v = test_at(scores, i, list, token, 0);

    return isnan(v) ? INFINITY : v;
}

static double
score_of_block(const struct ggml_tensor *scores, const struct tensor_choice *c,
               int64_t block, int64_t n, int64_t list, int64_t token)
{
    double best = -INFINITY;

    if (!scores)
        return -INFINITY;
    if (c->pooled)
        return score_at(scores, block, list, token);
    for (int64_t i = block * c->block; i < (block + 1) * c->block && i < n; i++)
        best = fmax(best, score_at(scores, i, list, token));
    return best;
}

/* Marks what a token should have in its list. */
static void
mark_chosen(const struct ggml_tensor *t, int64_t list, int64_t token,
            bool *chosen)
{
    const struct ggml_tensor *scores = t->src[TENSOR_CHOOSE_SCORES];
    struct tensor_choice c = tensor_get_choice(t);
    int64_t n = passed_by(t->src[TENSOR_CHOOSE_SEEN], token, &c) / c.each -
                c.start / c.each;
    int64_t n_blocks;

    n = n < tensor_choice_keys(t) ? n : tensor_choice_keys(t);
    n_blocks = (c.tail ? n : n + c.block - 1) / c.block;
    for (int64_t i = 0; i < n; i++)
        chosen[i] = c.tail && i >= n_blocks * c.block;
    for (int64_t left = c.n_best; left > 0; left--) {
        double best = -INFINITY;
        int64_t at = -1;

        for (int64_t b = 0; b < n_blocks; b++) {
            bool local = b >= n_blocks - (scores ? c.n_local : c.n_best);
            double score = local
                               ? (double)INFINITY
                               : score_of_block(scores, &c, b, n, list, token);

            if (!chosen[b * c.block] && (at < 0 || score > best))
                best = score, at = b;
        }
        for (int64_t i = at * c.block; at >= 0 && i < (at + 1) * c.block; i++)
            if (i < n)
                chosen[i] = true;
    }
}

static bool
is_right_list(const struct ggml_tensor *t, int64_t list, int64_t token)
{
    const int32_t *y =
        (const int32_t *)(const void *)((const char *)t->data +
                                        (size_t)list * t->nb[1] +
                                        (size_t)token * t->nb[2]);
    struct tensor_choice c = tensor_get_choice(t);
    bool chosen[MOST] = { false };
    int64_t at = 0;

    mark_chosen(t, list, token, chosen);
    for (int32_t i = 0; i < MOST; i++)
        if (chosen[i] && !is_hidden(t->src[TENSOR_CHOOSE_SEEN], i, token, &c) &&
            (at == t->ne[0] || y[at++] != c.row + i))
            return false;
    while (at < t->ne[0])
        if (y[at++] != -1)
            return false;
    return true;
}

static void
check_choice(struct ggml_context *ctx, struct ggml_tensor *t, const char *name)
{
    for (int n_threads = 1; n_threads <= 3; n_threads += 2) {
        bool right = true;

        test_run(ctx, t, n_threads);
        for (int64_t token = 0; token < t->ne[2]; token++)
            for (int64_t list = 0; list < t->ne[1]; list++)
                right = right && is_right_list(t, list, token);
        ok(right, name);
    }
}

static struct ggml_tensor *
positions(struct ggml_context *ctx, int64_t n, int32_t first, int32_t step)
{
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, n);

    for (int64_t i = 0; i < n; i++)
        ggml_set_i32_1d(t, (int)i, first + (int32_t)i * step);
    return t;
}

/* A mask of keys: token i sees those up to first + i, without `hole`. */
static struct ggml_tensor *
causal_mask(struct ggml_context *ctx, int64_t n, int64_t tokens, int64_t first,
            int64_t hole)
{
    struct ggml_tensor *t =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F16, n, tokens + 3);

    for (int64_t i = 0; i < ggml_nelements(t); i++)
        ggml_set_f32_1d(
            t, (int)i, i % n <= first + i / n && i % n != hole ? 0 : -INFINITY);
    return t;
}

/* With some that are equal, and one that is no number. */
static struct ggml_tensor *
some_scores(struct ggml_context *ctx, int64_t n, int64_t lists, int64_t tokens)
{
    struct ggml_tensor *t =
        test_tensor(ctx, GGML_TYPE_F32, n, lists, tokens, 1);

    for (int64_t i = 0; i < ggml_nelements(t); i++) {
        float v = ggml_get_f32_1d(t, (int)i);

        ggml_set_f32_1d(t, (int)i, i % 3 ? v : roundf(4 * v) / 4 * 0.25f);
    }
    ggml_set_f32_1d(t, 7, NAN);
    return t;
}

static void
test_choices(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *scores = some_scores(ctx, 300, 1, 40);
    struct ggml_tensor *lists = some_scores(ctx, 257, 3, 9);
    struct ggml_tensor *seen = positions(ctx, 40, 2, 7);
    struct ggml_tensor *mask = causal_mask(ctx, 257, 9, 240, 99);
    struct ggml_tensor *of_pools = some_scores(ctx, 60, 2, 11);
    struct tensor_choice best = { .n_best = 16 };
    struct tensor_choice all = { .n_best = 300, .row = 512 };
    struct tensor_choice local = { .n_best = 5, .n_local = 2, .block = 4 };
    struct tensor_choice tail = {
        .n_best = 6, .block = 4, .pooled = true, .tail = true
    };
    struct tensor_choice whole = { .n_best = 3, .block = 7, .pooled = true };
    struct tensor_choice pools = {
        .n_best = 4, .each = 4, .start = 8, .row = 100
    };
    struct tensor_choice newest = { .n_best = 16 };

    check_choice(ctx, tensor_choose(ctx, scores, seen, 0, &best), "the best");
    check_choice(ctx, tensor_choose(ctx, scores, seen, 0, &all), "all");
    check_choice(ctx, tensor_choose(ctx, lists, mask, 0, &best),
                 "the best of each list, by a mask");
    check_choice(ctx, tensor_choose(ctx, lists, mask, 0, &local),
                 "blocks by their best key, the newest always");
    check_choice(
        ctx, tensor_choose(ctx, of_pools, positions(ctx, 11, 0, 25), 0, &tail),
        "pooled blocks, and the tail");
    check_choice(
        ctx, tensor_choose(ctx, of_pools, positions(ctx, 11, 0, 43), 0, &whole),
        "pooled blocks, the last unfinished");
    check_choice(ctx, tensor_choose(ctx, scores, seen, 0, &pools),
                 "keys of several positions");
    check_choice(ctx, tensor_choose(ctx, NULL, seen, 300, &newest),
                 "the newest");
    check_choice(ctx, tensor_choose(ctx, NULL, mask, 257, &tail),
                 "the newest blocks, and the tail");
    ggml_free(ctx);
}

/* ---- attention ---------------------------------------------------------- */

struct listed {
    double weight;
    int64_t row;
    const struct ggml_tensor *v;
    int64_t head;
};

/* Scores of a source's rows for a head of a token, appended to `list`. */
static int64_t
list_scores(const struct ggml_tensor *t, int source, int64_t head,
            int64_t token, struct listed *list)
{
    const struct ggml_tensor *q = t->src[TENSOR_ROWS_Q];
    const struct ggml_tensor *k = t->src[source], *l = t->src[source + 2];
    int64_t head_kv = head / (q->ne[1] / k->ne[2]), n = 0;

    for (int64_t i = 0; i < l->ne[0]; i++) {
        int64_t of = l->ne[1] > 1 ? head_kv : 0;
        double row = test_at(l, i, of, token, 0), sum = 0;
        float scale;

        if (row < 0)
            break;
        memcpy(&scale, t->op_params, sizeof(scale));
        for (int64_t j = 0; j < q->ne[0]; j++)
            sum += test_at(q, j, head, token, 0) *
                   test_at(k, j, (int64_t)row, head_kv, 0);
        list[n++] = (struct listed){ sum * (double)scale, (int64_t)row,
                                     t->src[source + 1], head_kv };
    }
    return n;
}

static double
t_attention(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
            int64_t i3)
{
    static struct listed list[MOST];
    const struct ggml_tensor *sinks = t->src[TENSOR_ROWS_SINKS];
    int64_t n = list_scores(t, TENSOR_ROWS_K, i1, i2, list);
    double most = -INFINITY, total = 0, sum = 0;

    if (t->src[TENSOR_ROWS_MORE])
        n += list_scores(t, TENSOR_ROWS_MORE, i1, i2, list + n);
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, list[i].weight);
    if (n == 0)
        return 0;
    for (int64_t i = 0; i < n; i++) {
        double w = exp(list[i].weight - most);

        total += w;
        sum += w * test_at(list[i].v, i0, list[i].row, list[i].head, i3);
    }
    if (sinks)
        total += exp(test_at(sinks, i1, 0, 0, 0) - most);
    return sum / total;
}

/* Every third row or so, of each list others. */
static struct ggml_tensor *
some_lists(struct ggml_context *ctx, int64_t length, int64_t lists,
           int64_t tokens, int64_t rows)
{
    struct ggml_tensor *t =
        ggml_new_tensor_3d(ctx, GGML_TYPE_I32, length, lists, tokens);
    int32_t *y = t->data;

    for (int64_t i = 0; i < lists * tokens; i++) {
        int64_t row = i % 3;

        for (int64_t j = 0; j < length; j++, row += 1 + (i + j) % 4)
            *y++ = row < rows && j < length - i % 5 ? (int32_t)row : -1;
    }
    return t;
}

struct shape {
    enum ggml_type type;
    int64_t d, e, heads, heads_kv, rows, length, lists, tokens;
};

static void
test_attention(const struct shape *s, const char *name)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *q =
        test_tensor(ctx, GGML_TYPE_F32, s->d, s->heads, s->tokens, 1);
    struct ggml_tensor *sinks =
        test_tensor(ctx, GGML_TYPE_F32, s->heads, 1, 1, 1);
    struct tensor_rows a = {
        .k = test_tensor(ctx, s->type, s->d, s->rows, s->heads_kv, 1),
        .v = test_tensor(ctx, s->type, s->e, s->rows, s->heads_kv, 1),
        .lists = some_lists(ctx, s->length, s->lists, s->tokens, s->rows),
    };
    struct tensor_rows b = a, in_keys = a;
    char text[100];

    b.k = test_tensor(ctx, s->type, s->d, 40, 1, 1);
    b.v = test_tensor(ctx, s->type, s->e, 40, 1, 1);
    b.lists = some_lists(ctx, 9, 1, s->tokens, 40);
    in_keys.v = ggml_view_3d(ctx, a.k, s->e < s->d ? s->e : s->d, s->rows,
                             s->heads_kv, a.k->nb[1], a.k->nb[2], 0);
    test_op(ctx, tensor_attend_rows(ctx, q, &a, NULL, NULL, 0.3f), t_attention,
            1e-5, name);
    snprintf(text, sizeof(text), "%s, of two sources and sinks", name);
    test_op(ctx, tensor_attend_rows(ctx, q, &a, &b, sinks, 0.3f), t_attention,
            1e-5, text);
    snprintf(text, sizeof(text), "%s, values in keys", name);
    test_op(ctx, tensor_attend_rows(ctx, q, &in_keys, NULL, sinks, 0.3f),
            t_attention, 1e-5, text);
    ggml_free(ctx);
}

/* A head's bytes are the same whatever other heads and tokens there are. */
static void
test_alone(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *q = test_tensor(ctx, GGML_TYPE_F32, 96, 24, 5, 1), *all;
    struct tensor_rows rows = {
        .k = test_tensor(ctx, GGML_TYPE_F16, 96, 300, 1, 1),
        .v = test_tensor(ctx, GGML_TYPE_F16, 80, 300, 1, 1),
        .lists = some_lists(ctx, 150, 1, 5, 300),
    };
    struct tensor_rows one = rows;
    bool same = true;

    all = tensor_attend_rows(ctx, q, &rows, NULL, NULL, 0.5f);
    test_run(ctx, all, 2);
    for (int64_t token = 0; token < 5; token++) {
        struct ggml_tensor *t = ggml_view_3d(
            ctx, q, 96, 7, 1, q->nb[1], q->nb[2], (size_t)token * q->nb[2]);

        one.lists =
            ggml_view_3d(ctx, rows.lists, 150, 1, 1, rows.lists->nb[1],
                         rows.lists->nb[2], (size_t)token * rows.lists->nb[2]);
        t = tensor_attend_rows(ctx, t, &one, NULL, NULL, 0.5f);
        test_run(ctx, t, 1);
        same = same &&
               memcmp(t->data, (char *)all->data + (size_t)token * all->nb[2],
                      7 * all->nb[1]) == 0;
    }
    ok(same, "a head of a token alone has the same bytes");
    ggml_free(ctx);
}

int
main(void)
{
    static const struct shape latent = { GGML_TYPE_F16, 72,  64, 24, 1,
                                         400,           200, 1,  7 };
    static const struct shape groups = {
        GGML_TYPE_F32, 40, 40, 6, 2, 90, 30, 2, 5
    };
    static const struct shape blocks = {
        GGML_TYPE_Q8_0, 64, 32, 8, 4, 150, 65, 1, 3
    };
    static const struct shape odd = {
        GGML_TYPE_BF16, 33, 47, 5, 5, 64, 64, 5, 1
    };

    test_choices();
    test_attention(&latent, "latent rows of F16");
    test_attention(&groups, "a list for each head");
    test_attention(&blocks, "rows of Q8_0");
    test_attention(&odd, "odd sizes");
    test_alone();
    return tap_done();
}
