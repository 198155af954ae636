/* test_mtp_drafts.c - drafts by MTP layers, or by drafters that read the
 * target's keys and values, change no id */
#include <config.h>

#include "engine/draft_test.h"
#include "fixtures/assistants.h"
#include "fixtures/folder_case.h"

/* A model of the tests, or a folder of its own, or a file and a drafter. */
static const char *own_folder, *own_drafter;

static struct gg_model *
open_named(const char *name, bool mtp)
{
    struct model_spec spec;

    if (own_folder)
        return open_drafts(own_folder, mtp, own_drafter);
    if (!models_named(name, &spec) || !models_write(&spec, scratch_path()))
        exit(99);
    return open_drafts(scratch_path(), mtp, own_drafter);
}

static void
check_samplers(const char *name, bool sure)
{
    const struct gg_sampler_params kinds[] = {
        gg_sampler_params_default(),
        { .greedy = true },
        { .temperature = 1.5f, .seed = 4 }, /* of all logits */
        { .temperature = 0.7f, .repeat_penalty = 1.3f, .seed = 5 },
    };
    struct gg_model *plain = open_named(name, false);
    struct gg_model *m = open_named(name, true);

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct gg_sampler *sampler;
        struct gg_draft_stats stats = { 0 };
        struct made want, got;
        char title[160];
        bool all = true;

        must(gg_sampler_new(&kinds[i], &sampler, &err));
        make(plain, sampler, N_TEXTS, false, &want);
        for (int slots = 1; slots <= N_TEXTS + 1; slots++) {
            fixed = slots == 2 ? 0 : 2;
            stats = make(m, sampler, slots, true, &got);
            all = all && !memcmp(&got, &want, sizeof(got));
        }
        snprintf(title, sizeof(title), "%s, sampler %zu: the same ids", name,
                 i);
        ok(all, title);
        printf("# %d drafted, %d accepted\n", (int)stats.n_drafted,
               (int)stats.n_accepted);
        ok(sure && i == 1 ? stats.n_accepted * 10 > stats.n_drafted * 8 &&
                                stats.n_accepted > 0
                          : stats.n_drafted > stats.n_accepted || sure,
           sure ? "what is sure is accepted" : "and drafts were rejected");
        gg_sampler_free(sampler);
    }
    gg_model_free(m);
    gg_model_free(plain);
}

static void
check_assistant(const char *name, struct assistant_spec spec)
{
    char path[SCRATCH_PATH + 16];

    snprintf(path, sizeof(path), "%s", scratch_file("drafter.gguf"));
    if (!assistants_write_model(scratch_path()) ||
        !assistants_write(&spec, path))
        exit(99);
    own_folder = scratch_path();
    own_drafter = path;
    check_samplers(name, false);
    own_folder = own_drafter = NULL;
}

/* Accepted ids of greedy drafts; a model that is sure accepts most. */
static double
accepted_with(const struct gg_model *m, enum gg_cache_type type)
{
    const struct gg_sampler_params greedy = { .greedy = true };
    struct gg_sampler *sampler;
    struct gg_draft_stats stats;
    struct made got;

    must(gg_sampler_new(&greedy, &sampler, &err));
    session_params = (struct gg_session_params){ .cache_type = type };
    fixed = 1;
    stats = make(m, sampler, N_TEXTS, true, &got);
    session_params = (struct gg_session_params){ 0 };
    gg_sampler_free(sampler);
    return stats.n_drafted ? (double)stats.n_accepted / (double)stats.n_drafted
                           : 0;
}

/* Drafts are accepted as often with each type of the KV cache as with F16. */
static void
check_caches(const char *name)
{
    static const enum gg_cache_type types[] = { GG_CACHE_F32, GG_CACHE_BF16,
                                                GG_CACHE_Q8_0, GG_CACHE_Q5_0,
                                                GG_CACHE_Q4_0 };
    struct gg_model *m = open_named(name, true);
    double usual = accepted_with(m, GG_CACHE_F16);
    bool blocks = !strncmp(name, "qwen35", 6); /* keys of whole blocks */

    for (int i = 0; i < (blocks ? 5 : 2); i++) {
        double rate = accepted_with(m, types[i]);

        printf("# %s: %.3f, with f16 %.3f\n", name, rate, usual);
        ok(usual > 0.8 && rate > usual - 0.05, "as many with another cache");
    }
    gg_model_free(m);
}

static void
count_wrong(void *data, size_t at, int32_t *drafted, size_t n)
{
    size_t *made = data;

    (void)at;
    *made += n;
    if (n > 0) /* what these models never draw */
        drafted[0] = V - 1;
}

/* Drafts that are never right are made aside, seldom, and never evaluated. */
static void
check_never_right(void)
{
    const struct gg_sampler_params greedy = { .greedy = true };
    struct gg_model *plain = open_named("mimo2sure-f32", false);
    struct gg_model *m = open_named("mimo2sure-f32", true);
    struct gg_sampler *sampler;
    struct made want, got;
    struct bench b;
    size_t made = 0;

    must(gg_sampler_new(&greedy, &sampler, &err));
    make(plain, sampler, N_TEXTS, false, &want);
    fixed = 0;
    must(start(&b, m, sampler, N_TEXTS, true));
    b.engine->draft->replace = count_wrong;
    b.engine->draft->data = &made;
    memset(&got, 0, sizeof(got));
    must(run(&b, &got));
    ok(!memcmp(&got, &want, sizeof(got)), "never right: the same ids");
    printf("# %d made\n", (int)made);
    is((long long)gg_engine_draft_stats(b.engine).n_drafted, 0,
       "none is evaluated");
    ok(made > 0 && made < N_TEXTS * N_MADE / 8, "and few are made");
    end(&b);
    gg_sampler_free(sampler);
    gg_model_free(plain);
    gg_model_free(m);
}

static void
check_refused(void)
{
    struct gg_model *m = open_named("qwen35mtp-f32", false);
    struct gg_sampler *sampler;
    struct gg_sampler_params greedy = { .greedy = true };
    struct bench b;

    must(gg_sampler_new(&greedy, &sampler, &err));
    is(start(&b, m, sampler, 1, true), GG_ERR_ARG,
       "a model without MTP layers drafts none");
    end(&b);
    is(gg_engine_draft_mtp(NULL, &err), GG_ERR_ARG, "nor does no engine");
    gg_sampler_free(sampler);
    gg_model_free(m);
}

static void
check_memory(void)
{
    struct gg_model *m = open_named("mimo2sure-f32", true);

    check_want(m);
    gg_model_free(m);
}

#ifdef HAVE_JANSSON
static void
check_case(const char *folder, const char *name)
{
    struct folder_case c;
    char from[1024];

    snprintf(from, sizeof(from), "%s/%s.case", folder, name);
    own_folder = scratch_file(name);
    folder_case_write(from, scratch_file("case.gguf"), own_folder, &c);
    check_samplers(name, false);
    own_folder = NULL;
}
#endif

int
main(void)
{
    fill_ids(ids, 512);
#ifdef HAVE_JANSSON
    ok(folder_case_each("families", "bailingmoe3-mtp", check_case),
       "there is such a case");
#endif
    check_samplers("qwen35mtp-f32", false);
    check_samplers("qwen35sure-f32", true);
    check_samplers("mimo2mtp-f32", false);
    check_samplers("mimo2sure-f32", true);
    check_assistant("a copy", (struct assistant_spec){ .copies = true });
    check_assistant("random", (struct assistant_spec){ 0 });
    check_assistant("clusters", (struct assistant_spec){ .n_clusters = 30,
                                                         .n_likeliest = 10 });
    check_caches("qwen35sure-f32");
    check_caches("mimo2sure-f32");
    check_never_right();
    check_refused();
    check_memory();
    return tap_done();
}
