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
    check_refused();
    check_memory();
    return tap_done();
}
