/* test_dflash_drafts.c - drafts of blocks change no id */
#include "engine/draft_test.h"
#include "fixtures/dflash.h"
#include "session/impl.h"

static const char *drafter; /* its file */

static void
write_pair(const struct model_spec *model, const struct dflash_spec *spec)
{
    if (!models_write(model, scratch_path()) || !dflash_write(spec, drafter))
        exit(99);
}

/* ---- random drafters ----------------------------------------------------- */

static void
check_pair(const char *name, const struct gg_model *plain,
           const struct gg_model *m, const struct gg_sampler_params *kind)
{
    struct gg_sampler *sampler;
    struct gg_draft_stats stats;
    struct made want, got;
    uint64_t drafted = 0, accepted = 0;
    char title[160];
    bool all = true;

    must(gg_sampler_new(kind, &sampler, &err));
    make(plain, sampler, N_TEXTS, false, &want);
    for (int slots = 1; slots <= N_TEXTS + 1; slots++) {
        session_params.n_threads = 1 + slots % 2;
        fixed = slots == 2 ? 15 : slots == 3 ? 4 : 0;
        stats = make(m, sampler, slots, true, &got);
        all = all && !memcmp(&got, &want, sizeof(got));
        drafted += stats.n_drafted;
        accepted += stats.n_accepted;
    }
    printf("# %d drafted, %d accepted\n", (int)drafted, (int)accepted);
    snprintf(title, sizeof(title), "%s: the same ids", name);
    ok(all && drafted > accepted, title);
    gg_sampler_free(sampler);
}

static void
check_samplers(const char *name, const struct dflash_spec *spec)
{
    const struct gg_sampler_params kinds[] = {
        gg_sampler_params_default(),
        { .greedy = true },
        { .temperature = 1.5f, .seed = 4 }, /* of all logits */
        { .temperature = 0.7f, .repeat_penalty = 1.3f, .seed = 5 },
    };
    struct gg_model *plain, *m;
    struct model_spec model;

    if (!models_named(name, &model))
        exit(99);
    write_pair(&model, spec);
    plain = open_drafts(scratch_path(), false, drafter);
    m = open_drafts(scratch_path(), true, drafter);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        check_pair(name, plain, m, &kinds[i]);
    gg_model_free(m);
    gg_model_free(plain);
}

/* ---- an echo --------------------------------------------------------------
 */

/* A model that says its last id again and again, mostly, and a drafter which
 * expects that. */
static void
write_echo(void)
{
    struct model_spec model = {
        .arch = "qwen3", .n_head_kv = 2, .d_key = 32, .n_ff = 96, .sure = true
    };
    struct dflash_spec spec = dflash_usual();

    spec.s.n_layer = 1;
    spec.s.n_head = spec.s.n_head_kv = 2;
    spec.layers[0] = 0;
    spec.n_layers = 1;
    spec.echo = true;
    write_pair(&model, &spec);
}

static double
acceptance(const struct gg_model *plain, const struct gg_model *m,
           enum gg_cache_type type)
{
    const struct gg_sampler_params warm = { .temperature = 6, .seed = 4 };
    struct gg_draft_stats stats;
    struct gg_sampler *sampler;
    struct made want, got;
    double rate;

    must(gg_sampler_new(&warm, &sampler, &err));
    fixed = 6;
    session_params = (struct gg_session_params){ .cache_type = type };
    make(plain, sampler, N_TEXTS, false, &want);
    stats = make(m, sampler, N_TEXTS, true, &got);
    ok(!memcmp(&got, &want, sizeof(got)), "an echo: the same ids");
    rate = (double)stats.n_accepted / (double)stats.n_drafted;
    printf("# cache type %d: %.3f accepted\n", (int)type, rate);
    gg_sampler_free(sampler);
    return rate;
}

static void
check_types(void)
{
    static const enum gg_cache_type types[] = { GG_CACHE_F32, GG_CACHE_BF16,
                                                GG_CACHE_Q8_0, GG_CACHE_Q5_0,
                                                GG_CACHE_Q4_0 };
    struct gg_model *plain, *m;
    double f16;

    write_echo();
    plain = open_drafts(scratch_path(), false, drafter);
    m = open_drafts(scratch_path(), true, drafter);
    f16 = acceptance(plain, m, GG_CACHE_F16);
    ok(f16 > 0.2 && f16 < 0.9, "some of it is accepted");
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        ok(acceptance(plain, m, types[i]) > f16 - 0.05,
           "with other types of keys and values as much");
    gg_model_free(m);
    gg_model_free(plain);
}

/* ---- rest ---- */

enum {
    LONG = 200, /* ids of a text, of which the first */
    WRONG = 150 /* have drafts that are wrong */
};

struct wrong {
    struct bench *b;
    int made, right; /* drafts, and those after the rest */
};

static void
replace_first(void *data, size_t at, int32_t *drafted, size_t n)
{
    struct wrong *w = data;
    size_t n_made;
    bool wrong;

    (void)at;
    (void)gg_text_ids(w->b->text[0], &n_made);
    wrong = n_made < WRONG;
    w->made += n > 0 && wrong;
    w->right += n > 0 && !wrong;
    if (n > 0 && wrong) /* what the model never draws */
        drafted[0] = V - 1;
}

/* A long text; returns how many of its evaluations have fed the drafter while
 * drafts were wrong. */
static int
make_long(struct bench *b, struct gg_sampler *sampler, int32_t *out)
{
    const struct gg_text_params p = { .sampler = sampler,
                                      .ignore_eog = true,
                                      .max_ids = LONG };
    struct engine_draft *d = b->engine->draft;
    int fed = 0;
    size_t n;

    gg_text_free(b->text[0]);
    must(gg_text_new(b->sequence[0], &p, &b->text[0], &err));
    while (gg_text_finish(b->text[0]) == GG_FINISH_NONE) {
        if (d)
            d->length.owed = -1e12; /* whatever it takes here */
        must(gg_engine_step(b->engine, &b->text[0], 1, &err));
        (void)gg_text_ids(b->text[0], &n);
        fed += n <= WRONG && b->session->batch.feed != GRAPH_FEED_NONE;
        if (d && n == WRONG)
            d->length.fixed = 3;
    }
    memcpy(out, gg_text_ids(b->text[0], &n), LONG * sizeof(*out));
    return fed;
}

/* Drafts that are never right let the drafter rest; it is fed again before it
 * is tried, and drafts after it has rested are right. */
static void
check_rest(void)
{
    const struct gg_sampler_params greedy = { .greedy = true };
    struct gg_model *plain, *m;
    struct gg_sampler *sampler;
    struct bench b;
    struct wrong w = { .b = &b };
    int32_t want[LONG], got[LONG];
    int fed;

    write_echo();
    session_params = (struct gg_session_params){ 0 };
    fixed = 0;
    plain = open_drafts(scratch_path(), false, drafter);
    m = open_drafts(scratch_path(), true, drafter);
    must(gg_sampler_new(&greedy, &sampler, &err));
    must(start(&b, plain, sampler, N_TEXTS, false));
    make_long(&b, sampler, want);
    end(&b);
    must(start(&b, m, sampler, N_TEXTS, true));
    b.engine->draft->replace = replace_first;
    b.engine->draft->data = &w;
    fed = make_long(&b, sampler, got);
    printf("# %d fed, %d made, then %d\n", fed, w.made, w.right);
    ok(!memcmp(got, want, sizeof(got)), "after a rest: the same ids");
    ok(fed > 20 && fed < WRONG / 2, "a drafter that is never right rests");
    ok(w.made >= 6 && w.made < 12, "and is tried at times");
    ok(gg_engine_draft_stats(b.engine).n_accepted > 0, "then it is right");
    end(&b);
    gg_sampler_free(sampler);
    gg_model_free(plain);
    gg_model_free(m);
}

/* ---- want of memory -------------------------------------------------------
 */

static void
check_memory(void)
{
    struct gg_model *m;

    write_echo();
    fixed = 8;
    session_params = (struct gg_session_params){ 0 };
    m = open_drafts(scratch_path(), true, drafter);
    check_want(m);
    gg_model_free(m);
}

static void
check_opening_few(void)
{
    struct dflash_spec spec = dflash_usual();
    struct model_spec model;

    spec.n_drafted = 100;
    if (!models_named("llama-f32", &model))
        exit(99);
    write_pair(&model, &spec);
    check_opening(drafter);
}

int
main(void)
{
    struct dflash_spec spec = dflash_usual();
    char path[SCRATCH_PATH];

    fill_ids(ids, 512);
    strcpy(path, scratch_file("dflash.gguf"));
    drafter = path;
    check_samplers("llama-f32", &spec);
    check_samplers("qwen35mtp-f32", &spec); /* a recurrent model */
    spec.block = 5;
    spec.n_drafted = 100;
    check_samplers("gemma2-f32", &spec); /* one with windows */
    check_types();
    check_rest();
    check_memory();
    check_opening_few();
    return tap_done();
}
