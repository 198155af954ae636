/* test_drafters.c - drafts by drafters that read a model's inside change no id,
 * whatever the cache's type, threads or slots; and some are accepted */
#include "engine/draft_test.h"
#include "fixtures/drafters.h"
#include "session/session.h"

static const struct pair {
    const char *target;
    struct drafter_spec drafter;
} random_pairs[] = {
    { "llama-f32", { .n_target = 64 } },
    { "gemma3-q8_0",
      { .norm_before_fc = true, .own_embd = true, .n_drafted = 120 } },
    { "qwen35trunk-f32", /* recurrent */
      { .layers = { 1, 2, 4 }, .n_drafted = 150 } },
    { "gpt-oss-f32", { .norm_before_residual = true, .own_output = true } },
};

static void
write_pair(const char *target, bool sure, const struct drafter_spec *drafter)
{
    struct model_spec spec;

    if (!models_named(target, &spec))
        exit(99);
    spec.untied = spec.sure = sure;
    if (spec.d_key == 0) { /* of whole blocks of any type */
        spec.n_head = spec.n_head_kv = 2;
        spec.d_key = 32;
    }
    if (!models_write(&spec, scratch_path()) ||
        !drafters_write(drafter, scratch_file("drafter.gguf")))
        exit(99);
}

static struct gg_model *
open_pair(bool drafts)
{
    return open_drafts(scratch_path(), drafts, scratch_file("drafter.gguf"));
}

/* Each kind of cache that the model can have. */
static const struct cache {
    const char *name;
    enum gg_cache_type type;
} caches[] = {
    { "f16", GG_CACHE_F16 },   { "f32", GG_CACHE_F32 },
    { "bf16", GG_CACHE_BF16 }, { "q8_0", GG_CACHE_Q8_0 },
    { "q5_0", GG_CACHE_Q5_0 }, { "q4_0", GG_CACHE_Q4_0 },
};

enum {
    N_CACHES = sizeof(caches) / sizeof(caches[0]),
};

static const struct gg_sampler_params samplers[] = {
    { .greedy = true },
    { .temperature = 1.5f, .seed = 4 }, /* of all logits */
    { .temperature = 0.7f, .top_k = 20, .repeat_penalty = 1.3f, .seed = 5 },
};

/* Drafts change no id, in any number of slots. */
static void
check_sampler(const struct gg_model *plain, const struct gg_model *m,
              const char *title, size_t i)
{
    struct gg_sampler *sampler;
    struct made want, got;
    uint64_t drafted = 0;
    char text[200];
    bool all = true;

    must(gg_sampler_new(&samplers[i], &sampler, &err));
    make(plain, sampler, N_TEXTS, false, &want);
    for (int slots = 1; slots <= N_TEXTS + 1; slots++) {
        fixed = slots == 2 ? 0 : 2;
        drafted += make(m, sampler, slots, true, &got).n_drafted;
        all = all && !memcmp(&got, &want, sizeof(got));
    }
    snprintf(text, sizeof(text), "%s, sampler %zu: the same ids", title, i);
    ok(all && drafted > 0, text);
    gg_sampler_free(sampler);
}

static void
check_random(const struct pair *p)
{
    struct gg_model *plain, *m;
    char title[160];

    write_pair(p->target, false, &p->drafter);
    plain = open_pair(false);
    m = open_pair(true);
    for (int i = 0; i < N_CACHES; i++) {
        session_params =
            (struct gg_session_params){ .cache_type = caches[i].type,
                                        .n_threads = 1 + i % 3 };
        snprintf(title, sizeof(title), "%s, %s", p->target, caches[i].name);
        check_sampler(plain, m, title,
                      (size_t)i % (sizeof(samplers) / sizeof(samplers[0])));
    }
    for (size_t i = 0; i < sizeof(samplers) / sizeof(samplers[0]); i++) {
        session_params = (struct gg_session_params){ .n_batch = 7 };
        snprintf(title, sizeof(title), "%s, batches of 7", p->target);
        check_sampler(plain, m, title, i);
    }
    gg_model_free(plain);
    gg_model_free(m);
}

/* ---- what is accepted ---------------------------------------------------- */

static int32_t
likeliest(const float *logits)
{
    int32_t best = 0;

    for (int32_t i = 1; i < V; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}

/* How often the id that is drafted after a draw is the model's likeliest. */
static double
agreement(const struct gg_model *m, enum gg_cache_type type)
{
    enum {
        N = 150
    };
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .cache_type = type });
    float drafted[V], made[V];
    int agree = 0;

    eval_ids(s, 0, ids, 0, 1, made);
    for (int p = 1; p <= N; p++) {
        struct model_guess q = {
            .past = p, .ids = ids + p, .n = 1, .logits = drafted
        };

        must(session_mtp_guess(s, &q, 1, &err));
        eval_ids(s, 0, ids, p, p + 1, made);
        agree += likeliest(drafted) == likeliest(made);
    }
    gg_session_free(s);
    return (double)agree / N;
}

static void
check_accepted(const char *target, const struct drafter_spec *drafter)
{
    struct gg_sampler *sampler;
    struct gg_draft_stats s;
    struct gg_model *m;
    struct made made;
    char title[160];
    double f16;

    write_pair(target, true, drafter);
    m = open_pair(true);
    session_params = (struct gg_session_params){ 0 };
    must(gg_sampler_new(&samplers[0], &sampler, &err));
    s = make(m, sampler, N_TEXTS, true, &made);
    gg_sampler_free(sampler);
    printf("# %d of %d accepted\n", (int)s.n_accepted, (int)s.n_drafted);
    snprintf(title, sizeof(title), "%s: drafts are accepted", target);
    ok(s.n_accepted > 0 && s.n_accepted * 10 > s.n_drafted * 8, title);
    f16 = agreement(m, GG_CACHE_F16);
    for (int i = 0; i < N_CACHES; i++) {
        double rate = agreement(m, caches[i].type);

        snprintf(title, sizeof(title), "%s, %s: %.3f of ids, %.3f with f16",
                 target, caches[i].name, rate, f16);
        ok(f16 > 0.9 && rate > f16 - 0.05, title);
    }
    gg_model_free(m);
}

static void
check_memory(void)
{
    struct gg_model *m;

    write_pair("llama-f32", false,
               &(struct drafter_spec){ .n_drafted = 100, .own_embd = true });
    m = open_pair(true);
    session_params = (struct gg_session_params){ 0 };
    check_want(m);
    gg_model_free(m);
    check_opening(scratch_file("drafter.gguf"));
}

int
main(void)
{
    const struct drafter_spec sure = { .sure = true };
    const struct drafter_spec sure_of_recurrent = { .layers = { 1, 2, 4 },
                                                    .sure = true };

    fill_ids(ids, 512);
    for (size_t i = 0; i < sizeof(random_pairs) / sizeof(random_pairs[0]); i++)
        check_random(&random_pairs[i]);
    check_accepted("llama-f32", &sure);
    check_accepted("qwen35trunk-f32", &sure_of_recurrent);
    check_memory();
    return tap_done();
}
