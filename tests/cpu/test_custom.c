/* test_custom.c - functions of the program as ops: who is called, and with
 * what */
#include <stdatomic.h>

#include "cpu_test.h"

/* Calls that the functions saw. */
static struct {
    atomic_int calls, pieces[8], wrong;
    int nth;
} seen;

static char tag;

static void
note(int ith, int nth, const void *userdata)
{
    atomic_fetch_add(&seen.calls, 1);
    if (ith < 0 || ith >= nth || nth > 8 || userdata != &tag)
        atomic_fetch_add(&seen.wrong, 1);
    else
        atomic_fetch_add(&seen.pieces[ith], 1);
    if (ith == 0)
        seen.nth = nth;
}

/* dst = a + 2 b + 3 c, of those that are there, in every nth element. */
static void
combine(struct ggml_tensor *dst, const struct ggml_tensor *a,
        const struct ggml_tensor *b, const struct ggml_tensor *c, int ith,
        int nth)
{
    for (int i = ith; i < (int)ggml_nelements(dst); i += nth) {
        float v = ggml_get_f32_1d(a, i);

        v += b ? 2 * ggml_get_f32_1d(b, i) : 0;
        v += c ? 3 * ggml_get_f32_1d(c, i) : 0;
        ggml_set_f32_1d(dst, i, v);
    }
}

static void
one(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith, int nth,
    void *userdata)
{
    note(ith, nth, userdata);
    combine(dst, a, NULL, NULL, ith, nth);
}

static void
two(struct ggml_tensor *dst, const struct ggml_tensor *a,
    const struct ggml_tensor *b, int ith, int nth, void *userdata)
{
    note(ith, nth, userdata);
    combine(dst, a, b, NULL, ith, nth);
}

static void
three(struct ggml_tensor *dst, const struct ggml_tensor *a,
      const struct ggml_tensor *b, const struct ggml_tensor *c, int ith,
      int nth, void *userdata)
{
    note(ith, nth, userdata);
    combine(dst, a, b, c, ith, nth);
}

static void
many(struct ggml_tensor *dst, int ith, int nth, void *userdata)
{
    note(ith, nth, userdata);
    combine(dst, dst->src[0], dst->src[1], dst->src[2], ith, nth);
}

/* Computes as a program does; each of n pieces came once, on its own. */
static bool
called(struct ggml_context *ctx, struct ggml_tensor *t, int n_threads, int n)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    bool once = true;

    memset(&seen, 0, sizeof(seen));
    ggml_build_forward_expand(g, t);
    if (ggml_graph_compute_with_ctx(ctx, g, n_threads) != GGML_STATUS_SUCCESS)
        return false;
    for (int i = 0; i < n; i++)
        once = once && seen.pieces[i] == 1;
    return once && seen.calls == n && seen.nth == n && !seen.wrong;
}

static bool
holds(const struct ggml_tensor *t, float sum)
{
    bool yes = true;

    for (int i = 0; i < (int)ggml_nelements(t); i++)
        yes = yes && ggml_get_f32_1d(t, i) == sum * (float)(i + 1);
    return yes;
}

static struct ggml_tensor *
counting(struct ggml_context *ctx)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 5, 3);

    for (int i = 0; i < 15; i++)
        ggml_set_f32_1d(t, i, (float)(i + 1));
    return t;
}

static void
test_maps(struct ggml_context *ctx)
{
    struct ggml_tensor *a = counting(ctx), *b = counting(ctx);
    struct ggml_tensor *c = counting(ctx), *t;
    const int all = GGML_N_TASKS_MAX;

    t = ggml_map_custom1(ctx, a, one, 2, &tag);
    ok(called(ctx, t, 4, 2) && holds(t, 1), "two tasks of four threads");
    t = ggml_map_custom2(ctx, a, b, two, all, &tag);
    ok(called(ctx, t, 4, 4) && holds(t, 3), "as many as there are threads");
    t = ggml_map_custom3(ctx, a, b, c, three, 1, &tag);
    ok(called(ctx, t, 4, 1) && holds(t, 6), "one task");
    t = ggml_map_custom3(ctx, a, b, c, three, 8, &tag);
    ok(called(ctx, t, 3, 3) && holds(t, 6), "no more than threads");
    t = ggml_map_custom1_inplace(ctx, counting(ctx), one, all, &tag);
    ok(t->view_src && called(ctx, t, 1, 1) && holds(t, 1), "one in place");
    t = ggml_map_custom2_inplace(ctx, counting(ctx), b, two, 3, &tag);
    ok(t->view_src && called(ctx, t, 4, 3) && holds(t->view_src, 3),
       "two in place");
    t = ggml_map_custom3_inplace(ctx, counting(ctx), b, c, three, all, &tag);
    ok(t->view_src && called(ctx, t, 2, 2) && holds(t->view_src, 6),
       "three in place");
}

static void
test_customs(struct ggml_context *ctx)
{
    struct ggml_tensor *args[] = { counting(ctx), counting(ctx),
                                   counting(ctx) };
    struct ggml_tensor *t;

    t = ggml_custom_4d(ctx, GGML_TYPE_F16, 5, 3, 1, 1, args, 3, many,
                       GGML_N_TASKS_MAX, &tag);
    ok(t->type == GGML_TYPE_F16 && t->src[2] == args[2] && !t->src[3] &&
           called(ctx, t, 4, 4) && holds(t, 6),
       "any type, three sources");
    t = ggml_custom_inplace(ctx, counting(ctx), args, 2, many, 2, &tag);
    ok(t->view_src == t->src[0] && t->src[2] == args[1] &&
           called(ctx, t, 4, 2) && holds(t->view_src, 6),
       "in place, the sources behind it");
}

/* The back end's threads are counted as well. */
static void
test_backend(struct ggml_context *ctx)
{
    ggml_backend_t cpu = ggml_backend_cpu_init();
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    struct ggml_tensor *t =
        ggml_map_custom1(ctx, counting(ctx), one, GGML_N_TASKS_MAX, &tag);

    memset(&seen, 0, sizeof(seen));
    ggml_build_forward_expand(g, t);
    ggml_backend_cpu_set_n_threads(cpu, 3);
    ok(ggml_backend_supports_op(cpu, t) &&
           ggml_backend_graph_compute(cpu, g) == GGML_STATUS_SUCCESS &&
           seen.calls == 3 && holds(t, 1),
       "through a back end");
    ggml_backend_free(cpu);
}

/* Only the branch that was selected is computed, whatever the memory of the
 * others holds. */
static void
test_branches(struct ggml_context *ctx)
{
    struct ggml_tensor *first = ggml_sqr(ctx, counting(ctx)), *ends[3];
    ggml_backend_t cpu = ggml_backend_cpu_init();
    struct ggml_cgraph *g = ggml_new_graph(ctx);

    for (int i = 0; i < 3; i++) {
        ends[i] = ggml_map_custom1(ctx, first, one, 1, &tag);
        ggml_set_f32(ends[i], -7);
    }
    ggml_build_forward_select(g, ends, 3, 2);
    memset(&seen, 0, sizeof(seen));
    ok(ggml_backend_graph_compute(cpu, g) == GGML_STATUS_SUCCESS &&
           seen.calls == 1 && ggml_get_f32_1d(ends[0], 3) == -7 &&
           ggml_get_f32_1d(ends[1], 3) == -7 &&
           ggml_get_f32_1d(ends[2], 3) == ggml_get_f32_1d(first, 3),
       "one branch of three is computed");
    ggml_backend_free(cpu);
}

int
main(void)
{
    struct ggml_context *ctx = test_context();

    test_maps(ctx);
    test_customs(ctx);
    test_backend(ctx);
    test_branches(ctx);
    ggml_free(ctx);
    return tap_done();
}
