/* test_rope.c - RoPE against its definition in double precision */
#include "truth.h"

/* RoPE by its definition. */
static struct {
    int n_dims, mode, n_ctx;
    double base, scale, ext, attn, fast, slow;
} rope;

static double
rope_ramp(int pair)
{
    double first =
        floor(rope.n_dims * log(rope.n_ctx / (rope.fast * 2 * M_PI)) /
              (2 * log(rope.base)));
    double last = ceil(rope.n_dims * log(rope.n_ctx / (rope.slow * 2 * M_PI)) /
                       (2 * log(rope.base)));

    first = fmax(0, first);
    last = fmin(rope.n_dims - 1, last);
    return 1 - fmin(1, fmax(0, (pair - first) / fmax(0.001, last - first)));
}

static double
t_rope(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
       int64_t i3)
{
    const struct ggml_tensor *a = t->src[0];
    bool neox = rope.mode == GGML_ROPE_TYPE_NEOX;
    int64_t half = rope.n_dims / 2;
    int64_t pair = neox ? i0 % half : i0 / 2;
    int64_t first = neox ? pair : 2 * pair;
    int64_t second = neox ? pair + half : first + 1;
    double angle, mix, magnitude = rope.attn, x, y;

    if (i0 >= rope.n_dims)
        return A;
    angle = ggml_get_i32_1d(t->src[1], (int)i2) *
            pow(rope.base, -2.0 * (double)pair / rope.n_dims);
    if (t->src[2])
        angle /= test_at(t->src[2], pair, 0, 0, 0);
    mix = rope.ext != 0 ? rope_ramp((int)pair) * rope.ext : 0;
    if (rope.ext != 0)
        magnitude *= 1 + 0.1 * log(1 / rope.scale);
    angle = rope.scale * angle * (1 - mix) + angle * mix;
    x = test_at(a, first, i1, i2, i3);
    y = test_at(a, second, i1, i2, i3);
    return magnitude * (i0 == first ? x * cos(angle) - y * sin(angle)
                                    : x * sin(angle) + y * cos(angle));
}

static void
test_rope_case(enum ggml_type type, int mode, int n_dims, double ext,
               bool factors, double bound, const char *name)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, type, 48, 3, 5, 2);
    struct ggml_tensor *c = NULL, *pos;

    pos = test_indices(ctx, 5, 1, 1237, 100000);
    if (factors) {
        c = test_tensor(ctx, GGML_TYPE_F32, n_dims / 2, 1, 1, 1);
        for (int i = 0; i < n_dims / 2; i++)
            ggml_set_f32_1d(c, i, 2 + ggml_get_f32_1d(c, i));
    }
    rope.n_dims = n_dims;
    rope.mode = mode;
    rope.n_ctx = 4096;
    rope.base = 10000;
    rope.scale = 0.25;
    rope.ext = ext;
    rope.attn = 1.25;
    rope.fast = 32;
    rope.slow = 1;
    test_op(ctx,
            ggml_rope_ext(ctx, a, pos, c, n_dims, mode, 4096, 10000, 0.25f,
                          (float)ext, 1.25f, 32, 1),
            t_rope, bound, name);
    ggml_free(ctx);
}

/* Names that programs may still use. */
static void
test_rope_custom(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 48, 3, 5, 2);
    struct ggml_tensor *pos = test_indices(ctx, 5, 1, 1237, 100000), *t;

    rope.n_dims = 40;
    rope.mode = GGML_ROPE_TYPE_NEOX;
    rope.ext = 0.5;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    t = ggml_rope_custom(ctx, a, pos, 40, rope.mode, 4096, 10000, 0.25f, 0.5f,
                         1.25f, 32, 1);
    test_op(ctx, t, t_rope, 1e-5, "rope_custom");
    t = ggml_rope_custom_inplace(ctx, a, pos, 40, rope.mode, 4096, 10000, 0.25f,
                                 0.5f, 1.25f, 32, 1);
#pragma GCC diagnostic pop
    ok(t->view_src == a && t->op == GGML_OP_ROPE, "and in place");
    ggml_free(ctx);
}

/* Turns of one graph that share their angles, or must not: each in a graph of
 * its own gives the same. */
static void
test_rope_angles(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 48, 3, 5, 1);
    struct ggml_tensor *c = test_tensor(ctx, GGML_TYPE_F32, 24, 1, 1, 1);
    struct ggml_tensor *d = test_tensor(ctx, GGML_TYPE_F32, 24, 1, 1, 1);
    struct ggml_tensor *pos = test_indices(ctx, 5, 1, 1237, 100000);
    struct ggml_tensor *again = test_indices(ctx, 5, 1, 1237, 100000);
    struct ggml_tensor *later = test_indices(ctx, 5, 1, 99, 100000);
    struct ggml_tensor *few =
        ggml_view_3d(ctx, a, 48, 3, 4, a->nb[1], a->nb[2], 0);
    const int normal = GGML_ROPE_TYPE_NORMAL, neox = GGML_ROPE_TYPE_NEOX;
    struct ggml_tensor *t[] = {
        ggml_rope_ext(ctx, a, pos, NULL, 48, neox, 0, 1e4f, 1, 0, 1, 0, 0),
        ggml_rope_ext(ctx, a, pos, NULL, 48, neox, 0, 1e4f, 1, 0, 1, 0, 0),
        ggml_rope_ext(ctx, a, again, NULL, 48, neox, 0, 1e4f, 1, 0, 1, 0, 0),
        ggml_rope_ext(ctx, a, later, NULL, 48, neox, 0, 1e4f, 1, 0, 1, 0, 0),
        ggml_rope_ext(ctx, a, later, NULL, 48, normal, 0, 1e4f, 1, 0, 1, 0, 0),
        ggml_rope_ext(ctx, a, later, NULL, 40, normal, 0, 1e4f, 1, 0, 1, 0, 0),
        ggml_rope_ext(ctx, a, later, NULL, 40, normal, 0, 500, 1, 0, 1, 0, 0),
        ggml_rope_ext(ctx, a, later, NULL, 40, normal, 0, 500, 2, 0, 1, 0, 0),
        ggml_rope_ext(ctx, a, later, NULL, 40, normal, 0, 500, 2, 0, 3, 0, 0),
        ggml_rope_ext(ctx, a, later, c, 48, normal, 0, 500, 2, 0, 3, 0, 0),
        ggml_rope_ext(ctx, a, later, d, 48, normal, 0, 500, 2, 0, 3, 0, 0),
        ggml_rope_ext(ctx, a, later, d, 48, normal, 4096, 500, 2, .5f, 3, 32,
                      1),
        ggml_rope_ext(ctx, few, ggml_view_1d(ctx, later, 4, 0), d, 48, normal,
                      4096, 500, 2, .5f, 3, 32, 1),
    };
    enum {
        N = sizeof(t) / sizeof(t[0])
    };
    struct ggml_cgraph *all = ggml_new_graph(ctx);
    char *alone = malloc(ggml_nbytes(a));
    bool same = true;

    for (int i = 0; i < N; i++)
        ggml_build_forward_expand(all, t[i]);
    for (int i = 0; i < N; i++) {
        test_run(ctx, t[i], 1);
        memcpy(alone, t[i]->data, ggml_nbytes(t[i]));
        memset(t[i]->data, 0, ggml_nbytes(t[i]));
        same =
            same &&
            ggml_graph_compute_with_ctx(ctx, all, 2) == GGML_STATUS_SUCCESS &&
            !memcmp(alone, t[i]->data, ggml_nbytes(t[i]));
    }
    ok(same, "rope, some in a graph");
    free(alone);
    ggml_free(ctx);
}

/* YaRN by its paper: a pair that turns more than 32 times in the context keeps
 * its angle, one that turns less than once is slowed down, others lie between;
 * all are magnified. */
static void
test_yarn(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 128, 1, 1);
    struct ggml_tensor *pos = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 1), *t;
    double magnitude = 1 + 0.1 * log(8);
    bool good = true;
    int kept = 0, slowed = 0;

    ggml_set_i32_1d(pos, 0, 1);
    for (int i = 0; i < 128; i++)
        ggml_set_f32_1d(a, i, i < 64);
    t = ggml_rope_ext(ctx, a, pos, NULL, 128, GGML_ROPE_TYPE_NEOX, 4096, 10000,
                      0.125f, 1, 1, 32, 1);
    test_run(ctx, t, 1);
    for (int i = 0; i < 64; i++) {
        double x = test_at(t, i, 0, 0, 0), y = test_at(t, i + 64, 0, 0, 0);
        double full = pow(10000, -i / 64.0), turns = 4096 * full / (2 * M_PI);
        double share = atan2(y, x) / full;

        good = good && fabs(hypot(x, y) - magnitude) < 1e-6 &&
               share < 1 + 1e-5 && share > 0.125 - 1e-5;
        if (turns > 32)
            kept++, good = good && fabs(share - 1) < 1e-5;
        if (turns < 1)
            slowed++, good = good && fabs(share - 0.125) < 1e-5;
    }
    ok(good && kept > 10 && slowed > 10, "rope, YaRN's three kinds of pairs");
    ggml_free(ctx);
}

static void
test_rope(void)
{
    test_rope_case(GGML_TYPE_F32, GGML_ROPE_TYPE_NORMAL, 48, 0, false, 1e-6,
                   "rope");
    test_rope_case(GGML_TYPE_F32, GGML_ROPE_TYPE_NEOX, 48, 0, false, 1e-6,
                   "rope, neox");
    test_rope_case(GGML_TYPE_F32, GGML_ROPE_TYPE_NEOX, 22, 0, true, 1e-6,
                   "rope of a part, with factors");
    test_rope_case(GGML_TYPE_F32, GGML_ROPE_TYPE_NORMAL, 48, 1, false, 1e-6,
                   "rope, YaRN");
    test_rope_case(GGML_TYPE_F32, GGML_ROPE_TYPE_NORMAL, 34, 0, true, 1e-6,
                   "rope of a part, with factors, in turn");
    test_rope_case(GGML_TYPE_F32, GGML_ROPE_TYPE_NEOX, 32, 0.75, true, 1e-6,
                   "rope of a part, YaRN in part, with factors, neox");
    test_yarn();
    test_rope_case(GGML_TYPE_F16, GGML_ROPE_TYPE_NORMAL, 48, 0, false, 1e-3,
                   "rope of F16");
    test_rope_custom();
    test_rope_angles();
}

int
main(void)
{
    test_rope();
    return tap_done();
}
