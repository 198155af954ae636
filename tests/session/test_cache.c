/* test_cache.c - types of the cache: how near, and the same bytes always */
#include <math.h>

#include "harness/session_test.h"

enum {
    N = 600, /* beyond two blocks of keys */
};

static int32_t ids[N];

static struct gg_session_params
params_of(enum gg_cache_type type)
{
    return (struct gg_session_params){ .n_ctx = N, .cache_type = type };
}

/* The mean square of the difference over that of `truth`. */
static double
nmse(const float *x, const float *truth)
{
    double error = 0, power = 0;

    for (int i = 0; i < V; i++) {
        double d = (double)x[i] - (double)truth[i];

        error += d * d;
        power += (double)truth[i] * (double)truth[i];
    }
    return error / power;
}

/* A value of Q8_0 is off by at most 1/254 of its block's largest, which of 32
 * normal ones is about 2.1 deviations: an NMSE of 2.3e-5 of keys and values.
 * Halves have 11 bits: 2^-24 / 3 at most, 2e-8. Logits inherit a part. */
static void
check_precision(const struct gg_model *m, const char *name)
{
    float f32[V], f16[V], q8_0[V];
    char title[120];
    double e;

    in_steps(m, params_of(GG_CACHE_F32), ids, N, N, f32);
    in_steps(m, params_of(GG_CACHE_F16), ids, N, N, f16);
    in_steps(m, params_of(GG_CACHE_Q8_0), ids, N, N, q8_0);
    e = nmse(f16, f32);
    snprintf(title, sizeof(title), "%s: f16: NMSE %.1e <= 2e-8", name, e);
    ok(e > 0 && e <= 2e-8, title);
    e = nmse(q8_0, f32);
    snprintf(title, sizeof(title), "%s: q8_0: NMSE %.1e <= 2.3e-5", name, e);
    ok(e > 1e-8 && e <= 2.3e-5, title);
}

/* The largest of a block of Q5_0 is 16 steps, of Q4_0 8: a value is off by 1/32
 * or 1/16 of it at most, of 2.1 deviations, and by a third of its square: NMSE
 * of 1.4e-3 and 5.7e-3. */
static void
check_few_bits(const struct gg_model *m)
{
    struct gg_session_params mixed = params_of(GG_CACHE_Q4_0);
    struct gg_session_params plain = mixed, keys = mixed;
    float f32[V], out[V], five[V], other[V];

    in_steps(m, params_of(GG_CACHE_F32), ids, N, N, f32);
    in_steps(m, params_of(GG_CACHE_BF16), ids, N, N, out);
    ok(nmse(out, f32) > 2e-8 && nmse(out, f32) <= 2e-6, "bf16");
    in_steps(m, params_of(GG_CACHE_Q5_0), ids, N, N, five);
    printf("# q5_0: NMSE %.1e\n", nmse(five, f32));
    ok(nmse(five, f32) > 1e-6 && nmse(five, f32) <= 1.4e-3, "q5_0");
    in_steps(m, mixed, ids, N, N, out);
    printf("# q4_0: NMSE %.1e\n", nmse(out, f32));
    ok(nmse(out, f32) > nmse(five, f32) && nmse(out, f32) <= 5.7e-3, "q4_0");
    plain.no_rotation = true;
    in_steps(m, plain, ids, N, N, other);
    ok(!same(out, other) && nmse(other, f32) <= 2e-2, "without a rotation");
    keys.value_type = GG_CACHE_F32;
    keys.has_value_type = true;
    in_steps(m, keys, ids, N, N, other);
    ok(nmse(other, f32) <= 5.7e-3 && nmse(other, f32) > 1e-8, "keys alone");
    mixed.cache_type = GG_CACHE_F32;
    mixed.value_type = GG_CACHE_Q4_0;
    mixed.has_value_type = true;
    in_steps(m, mixed, ids, N, N, five);
    ok(nmse(five, f32) <= 5.7e-3 && nmse(five, f32) > 1e-8 &&
           !same(five, other),
       "values alone");
}

/* Bytes are the same however ids come, and whatever their neighbours. */
static void
check_bytes(const struct gg_model *m, struct gg_session_params p)
{
    static const int steps[] = { 1, 17, 256, 599 };
    float truth[V], out[V];
    struct gg_session *s;
    bool all = true;

    in_steps(m, p, ids, N, N, truth);
    p.n_threads = 3;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        p.n_batch = 40 + steps[i];
        in_steps(m, p, ids, steps[i], N, out);
        all = all && same(out, truth);
    }
    ok(all, "the same bytes for any cut and batch");
    p.n_slots = 3;
    p.n_batch = 100;
    s = new_session(m, p);
    for (int i = 0, n = 0; i < N; i = n) {
        struct gg_chunk c[] = {
            { .slot = 2, .ids = ids + i / 2, .n = 30 },
            { .ids = ids + i, .n = 150, .rows.logits = out },
            { .slot = 1, .ids = ids + i / 3, .n = 1 },
        };

        n = i + 150;
        must(gg_session_eval(s, c, 3, &err));
    }
    ok(same(out, truth), "and beside neighbours");
    is(gg_session_copy(s, 1, 0, 300), 300, "a copy");
    eval_ids(s, 1, ids, 300, N, out);
    ok(same(out, truth), "is as good as what it was made of");
    gg_session_free(s);
}

static void
check_size(const struct gg_model *m)
{
    struct gg_session_params p = { .n_ctx = N };
    struct gg_memory f16, q8_0;

    p.cache_type = GG_CACHE_F16;
    must(gg_model_memory(m, &p, &f16, &err));
    p.cache_type = GG_CACHE_Q8_0;
    must(gg_model_memory(m, &p, &q8_0, &err));
    is(q8_0.cache * 64, f16.cache * 34, "q8_0 takes 34/64 of f16's memory");
    p.cache_type = GG_CACHE_Q4_0;
    p.no_rotation = true;
    must(gg_model_memory(m, &p, &q8_0, &err));
    is(q8_0.cache * 64, f16.cache * 18, "q4_0 takes 18/64");
    p.value_type = GG_CACHE_Q5_0;
    p.has_value_type = true;
    must(gg_model_memory(m, &p, &q8_0, &err));
    is(q8_0.cache * 64, f16.cache * 20, "with values of q5_0 20/64");
    p.no_rotation = false;
    must(gg_model_memory(m, &p, &f16, &err));
    ok(f16.cache > q8_0.cache && f16.cache < q8_0.cache + (1 << 20),
       "the matrix that rotates is counted");
}

/* Nothing said is a cache of F16. */
static void
check_zero(const struct gg_model *m)
{
    struct gg_session_params p = { .n_ctx = 64 }, f16 = p, f32 = p;
    struct gg_memory zero = { 0 }, small = { 0 }, large = { 0 };

    f16.cache_type = GG_CACHE_F16;
    f32.cache_type = GG_CACHE_F32;
    must(gg_model_memory(m, &p, &zero, &err));
    must(gg_model_memory(m, &f16, &small, &err));
    must(gg_model_memory(m, &f32, &large, &err));
    ok(zero.cache == small.cache && 2 * zero.cache == large.cache,
       "zero is the default");
}

static void
check_model(const char *name, const struct model_spec *spec)
{
    struct gg_model *m = new_model(spec);

    check_precision(m, name);
    check_few_bits(m);
    check_bytes(m, params_of(GG_CACHE_Q8_0));
    check_bytes(m, params_of(GG_CACHE_F32));
    check_bytes(m, params_of(GG_CACHE_BF16));
    check_bytes(m, params_of(GG_CACHE_Q4_0));
    check_bytes(m, (struct gg_session_params){ .n_ctx = N,
                                               .cache_type = GG_CACHE_Q5_0,
                                               .value_type = GG_CACHE_Q4_0,
                                               .has_value_type = true });
    check_size(m);
    check_zero(m);
    gg_model_free(m);
}

/* Heads of 16. */
static void
check_odd(void)
{
    struct gg_model *m = new_model(&(struct model_spec){ "gpt2", .seed = 1 });
    struct gg_session_params p = { .cache_type = GG_CACHE_Q8_0 };
    struct gg_session *s = NULL;
    struct gg_memory memory;

    ok(gg_session_new(m, &p, &s, &err) == GG_ERR_ARG && !s &&
           strstr(err.message, "q8_0") && strstr(err.message, "16"),
       "heads that are no whole blocks are refused, with a word why");
    is(gg_model_memory(m, &p, &memory, &err), GG_ERR_ARG, "here, too");
    gg_model_free(m);
}

/* The name of the family, and why. */
static void
check_refused(const char *name, const char *family, const char *why)
{
    struct model_spec spec;
    struct gg_model *m;
    struct gg_session_params p = { .cache_type = GG_CACHE_Q4_0 };
    struct gg_session *s = NULL;

    if (!models_named(name, &spec)) {
        ok(false, name);
        return;
    }
    m = new_model(&spec);
    ok(gg_session_new(m, &p, &s, &err) == GG_ERR_UNSUPPORTED && !s &&
           strstr(err.message, family) && strstr(err.message, why),
       err.message);
    p.cache_type = GG_CACHE_F32;
    p.value_type = GG_CACHE_Q5_0;
    p.has_value_type = true;
    ok(gg_session_new(m, &p, &s, &err) == GG_ERR_UNSUPPORTED && !s,
       err.message);
    gg_model_free(m);
}

int
main(void)
{
    fill_ids(ids, N);
    check_model("llama", &(struct model_spec){ "llama", .n_head = 2, .seed = 3,
                                               .n_ctx = N });
    check_model("gpt2", &(struct model_spec){ "gpt2", .n_embd = 128, .n_ctx = N,
                                              .seed = 5 });
    check_odd();
    check_refused("mamba2-f32", "mamba2", "keeps no keys and values");
    check_refused("rwkv7-f32", "rwkv7", "keeps no keys and values");
    check_refused("bert-f32", "bert", "keeps no keys and values");
    return tap_done();
}
