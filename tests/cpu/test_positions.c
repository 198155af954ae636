/* test_positions.c - rotary positions, several a token: time, height, width
 *
 * What each pair turns by is written out as in the papers' pictures: a letter a
 * pair, of the position that it goes by. */
#include "cpu_test.h"

enum {
    TOKENS = 5,
    HEAD = 20
};

/* The case that is being tested. */
static struct {
    const char *letters; /* of "tyxe", a pair each */
    const int *numbers;  /* by which frequencies go; NULL: 0, 1, ... */
    int n_dims, apart, offset;
} c;

static double
t_rope(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
       int64_t i3)
{
    const struct ggml_tensor *a = t->src[0];
    int64_t i = i0 - c.offset, pair = i % c.apart;
    double x, y, angle;
    int which, number;

    if (i < 0 || i >= 2 * c.apart)
        return test_at(a, i0, i1, i2, i3);
    which = (int)(strchr("tyxe", c.letters[pair]) - "tyxe");
    number = c.numbers ? c.numbers[pair] : (int)pair;
    angle = ggml_get_i32_1d(t->src[1], which * TOKENS + (int)i2) *
            pow(10000, -2.0 * number / c.n_dims) * 0.5;
    if (t->src[2])
        angle /= test_at(t->src[2], pair, 0, 0, 0);
    x = test_at(a, c.offset + pair, i1, i2, i3);
    y = test_at(a, c.offset + pair + c.apart, i1, i2, i3);
    return 1.25 * (i < c.apart ? x * cos(angle) - y * sin(angle)
                               : x * sin(angle) + y * cos(angle));
}

static struct ggml_tensor *
positions(struct ggml_context *ctx)
{
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 4 * TOKENS);

    for (int i = 0; i < 4 * TOKENS; i++)
        ggml_set_i32_1d(t, i, (i * 7919 + 11) % 5000);
    return t;
}

static struct ggml_tensor *
rope(struct ggml_context *ctx, struct ggml_tensor *a, bool factors, int mode,
     const int sections[4])
{
    struct ggml_tensor *f = NULL;
    int s[4] = { sections[0], sections[1], sections[2], sections[3] };

    if (factors) {
        f = test_tensor(ctx, GGML_TYPE_F32, c.apart, 1, 1, 1);
        for (int i = 0; i < c.apart; i++)
            ggml_set_f32_1d(f, i, 2 + ggml_get_f32_1d(f, i));
    }
    return ggml_rope_multi(ctx, a, positions(ctx), f, c.n_dims, s, mode, 4096,
                           10000, 0.5f, 0, 1.25f, 32, 1);
}

static void
test_case(int mode, const int sections[4], const char *name)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, HEAD, 3, TOKENS, 2);
    struct ggml_tensor *h = test_tensor(ctx, GGML_TYPE_F16, HEAD, 3, TOKENS, 1);

    test_op(ctx, rope(ctx, a, false, mode, sections), t_rope, 1e-6, name);
    test_op(ctx, rope(ctx, a, true, mode, sections), t_rope, 1e-6,
            "with factors");
    test_op(ctx, rope(ctx, h, false, mode, sections), t_rope, 1e-3, "of F16");
    if (mode != GGML_ROPE_TYPE_VISION) {
        c.offset = 2;
        test_op(ctx,
                ggml_rope_set_offset(rope(ctx, a, false, mode, sections), 2),
                t_rope, 1e-6, "with an offset");
        c.offset = 0;
    }
    ggml_free(ctx);
}

/* Two of one graph share no angles if their sections differ. */
static void
test_sections_differ(void)
{
    static const int first[] = { 4, 2, 2, 0 }, second[] = { 2, 2, 4, 0 };
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, HEAD, 3, TOKENS, 1);
    struct ggml_tensor *one = rope(ctx, a, false, GGML_ROPE_TYPE_MROPE, first);
    struct ggml_tensor *two = rope(ctx, a, false, GGML_ROPE_TYPE_MROPE, second);

    test_run(ctx, ggml_add(ctx, one, two), 2);
    c.letters = "ttttyyxx";
    ok(test_error(one, t_rope) < 1e-6, "one of two of one graph");
    c.letters = "ttyyxxxx";
    ok(test_error(two, t_rope) < 1e-6, "the other");
    ggml_free(ctx);
}

static void
test_yarn_ends(void)
{
    float dims[2];

    ggml_rope_yarn_corr_dims(64, 4096, 10000, 32, 1, dims);
    ok(dims[0] == 10 && dims[1] == 23, "the pairs between which YaRN blends");
}

int
main(void)
{
    static const int sections[] = { 4, 2, 2, 0 }, three[] = { 2, 1, 1, 2 };
    static const int turns[] = { 4, 2, 2, 0 }, halves[] = { 5, 5, 0, 0 };
    static const int anew[] = { 0, 1, 2, 3, 4, 0, 1, 2, 3, 4 };

    c.n_dims = 16;
    c.apart = 8;
    c.letters = "ttttyyxx";
    test_case(GGML_ROPE_TYPE_MROPE, sections, "three sections");
    c.letters = "ttyxeetty";
    test_case(GGML_ROPE_TYPE_MROPE, three, "four sections, again and again");
    c.letters = "tyxtyxte";
    test_case(GGML_ROPE_TYPE_IMROPE, turns, "positions that take turns");
    test_sections_differ();
    c.n_dims = 10;
    c.apart = 10;
    c.letters = "tttttyyyyy";
    c.numbers = anew;
    test_case(GGML_ROPE_TYPE_VISION, halves, "vision");
    test_yarn_ends();
    return tap_done();
}
