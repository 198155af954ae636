/* test_prefix.c - the prefix cache: the same logits with it, of all families;
 * how much it finds; what is another model's, or somebody else's, is not
 * found */
#include "prefix_test.h"

enum {
    PROMPTS = 9,
};

/* ---- the same logits ----------------------------------------------------- */

/* A sequence of prompts, each of which begins like the one before it. */
static void
check_family(const char *family, enum gg_cache_type type)
{
    struct cached with, without = { .session = { .n_ctx = MOST } };
    struct gg_model *m;
    struct model_spec spec;
    float truth[V], out[V];
    uint64_t found = 0;
    bool all = true;
    char name[80];

    snprintf(name, sizeof(name), "%s-f32", family);
    if (!models_named(name, &spec))
        exit(99);
    if (spec.part == MODELS_MTP) /* no whole model */
        return;
    spec.n_ctx = MOST + 300;
    m = new_model(&spec);
    new_folder();
    change_from(0);
    without.session.cache_type = type;
    for (int i = 0; i < PROMPTS && all; i++) {
        size_t n = 1 + random_below(i % 3 ? MOST : 300);

        with = (struct cached){ .session = random_params(7),
                                .prefixes.folder = folder };
        with.session.cache_type = type;
        run_prompt(m, &without, ids, n, truth);
        run_prompt(m, &with, ids, n, out);
        found += with.n_cached;
        all = same(out, truth);
        change_from(random_below(MOST));
    }
    snprintf(name, sizeof(name), "%s, cache of type %d: the same logits",
             family, (int)type);
    printf("# %d ids from %d files\n", (int)found, count_files(NULL));
    ok(all && found > 0, name);
    gg_model_free(m);
}

static bool
is_encoder(const char *family)
{
    return strstr(family, "bert") || strstr(family, "t5");
}

static void
check_families(void)
{
    for (size_t i = 0; models_any_family(i); i++)
        if (!is_encoder(models_any_family(i)))
            check_family(models_any_family(i), GG_CACHE_F16);
    check_family("llama", GG_CACHE_F32);
    check_family("gemma3", GG_CACHE_BF16);
    check_family("qwen35", GG_CACHE_BF16);
}

/* ---- how much is found --------------------------------------------------- */

static uint64_t
found_of(const struct gg_model *m, struct cached c, size_t n)
{
    float truth[V], out[V];
    struct cached without = { .session = c.session, .scales = c.scales };

    run_prompt(m, &without, ids, n, truth);
    run_prompt(m, &c, ids, n, out);
    if (!same(out, truth))
        ok(false, "other logits");
    return c.n_cached;
}

static void
check_found(void)
{
    struct gg_model *m = new_model(&plain_model);
    struct told told = { 0 };
    struct cached c = { .session = { .n_ctx = MOST } };

    new_folder();
    c.prefixes = (struct gg_prefix_params){ .folder = folder,
                                            .stored = tell,
                                            .data = &told };
    change_from(0);
    is((int)found_of(m, c, 100), 0, "of a short prompt nothing is written");
    is(count_files(NULL), 0, "no file");
    is((int)found_of(m, c, 600), 0, "a long one");
    ok(told.n == 3 && count_files(NULL) == 3, "is written, in three pieces");
    is((int)found_of(m, c, 600), 599,
       "then all of it is found but its last id");
    is(told.n, 3, "and it is not written again");
    change_from(501);
    is((int)found_of(m, c, 700), 501,
       "another one has all ids that are its own");
    is((int)found_of(m, c, 700), 699,
       "and what it has beyond them was written");
    c.session.n_ctx = 1000;
    is((int)found_of(m, c, 700), 699, "with a context of another size, too");
    ok(told.why[0] == '\0', "nothing has failed");
    gg_model_free(m);
}

/* Snapshots are made before the end, and where prompts differ. */
static void
check_recurrent(void)
{
    struct cached c = { .session = { .n_ctx = MOST } };
    struct gg_model *m;
    struct model_spec spec;

    if (!models_named("mamba2-f32", &spec))
        exit(99);
    m = new_model(&spec);
    new_folder();
    c.prefixes.folder = folder;
    change_from(0);
    is((int)found_of(m, c, 600), 0, "recurrent: a prompt");
    is((int)found_of(m, c, 600), 599, "recurrent: goes on before its last id");
    change_from(560);
    is((int)found_of(m, c, 600), 536, "recurrent: or 64 ids before its end");
    change_from(560);
    is((int)found_of(m, c, 690), 560,
       "recurrent: and where two prompts differed");
    gg_model_free(m);
}

static void
check_answers(void)
{
    struct gg_model *m = new_model(&plain_model);
    struct cached c = { .session = { .n_ctx = MOST } };
    struct gg_session *s = new_session(m, c.session);
    struct gg_query q = { 0 };
    struct gg_engine *e;

    new_folder();
    c.prefixes.folder = folder;
    change_from(0);
    must(gg_engine_new(m, s, NULL, &e, &err));
    must(gg_engine_cache_prefixes(e, &c.prefixes, &err));
    must(gg_sequence_new(e, &q.sequence, &err));
    for (size_t i = 0; i < 200; i++) {
        must(gg_sequence_put(q.sequence, ids + i, 1, &err));
        must(gg_engine_eval(e, &q, 1, &err));
    }
    is(count_files(NULL), 0, "ids one by one are not written at once");
    gg_sequence_free(q.sequence);
    gg_engine_free(e);
    gg_session_free(s);
    is((int)found_of(m, c, 300), 200, "but when their sequence ends");
    gg_model_free(m);
}

/* ---- what is not found --------------------------------------------------- */

static void
change_weight(struct gguf_context *gguf)
{
    gguf_set_val_f32(gguf, "llama.attention.layer_norm_rms_epsilon", 2e-5f);
}

static void
check_others(void)
{
    struct gg_model *m = new_model(&plain_model), *other;
    struct model_spec spec = plain_model;
    struct gg_model_params rope = { .rope_factor = 2 };
    struct cached c = { .session = { .n_ctx = MOST } }, d;

    new_folder();
    c.prefixes.folder = folder;
    change_from(0);
    (void)found_of(m, c, 600);
    d = c;
    d.session.cache_type = GG_CACHE_BF16;
    is((int)found_of(m, d, 600), 0, "another type of the cache");
    d = c;
    d.session.cache_type = GG_CACHE_F16;
    d.session.value_type = GG_CACHE_F32;
    d.session.has_value_type = true;
    is((int)found_of(m, d, 600), 0, "another type of values");
    d = c;
    d.session.bf16 = true;
    is((int)found_of(m, d, 600), 0, "another precision");
    d = c;
    d.prefixes.key = "model";
    d.prefixes.n_key = 5;
    is((int)found_of(m, d, 600), 0, "another key");
    is((int)found_of(m, d, 600), 599, "finds its own");
    d = c;
    d.user = "eve";
    is((int)found_of(m, d, 600), 0, "another user");
    is((int)found_of(m, d, 600), 599, "finds what is hers");
    is((int)found_of(m, c, 600), 599, "all the same is found");
    must(gg_model_open(scratch_path(), &rope, &other, &err));
    is((int)found_of(other, c, 600), 0, "other rotary positions");
    gg_model_free(other);
    spec.spoil = change_weight;
    other = new_model(&spec);
    is((int)found_of(other, c, 600), 0, "another model");
    gg_model_free(other);
    gg_model_free(m);
}

/* Engines and folders that cannot have a cache. */
static void
check_refused(void)
{
    struct gg_model *m = new_model(&plain_model);
    struct gg_prefix_params p = { .folder = folder };
    struct gg_engine_params scores = { .score = true };
    struct bench b;

    new_folder();
    open_bench(&b, m, 1, 100, scores);
    is(gg_engine_cache_prefixes(b.engine, &p, &err), GG_ERR_ARG,
       "not of an engine that scores");
    close_bench(&b);
    open_bench(&b, m, 1, 100, (struct gg_engine_params){ 0 });
    p.folder = scratch_path();
    is(gg_engine_cache_prefixes(b.engine, &p, &err), GG_ERR_IO, "a file");
    p.folder = scratch_file("nowhere");
    is(gg_engine_cache_prefixes(b.engine, &p, &err), GG_ERR_IO, "no folder");
    p.folder = folder;
    must(gg_engine_cache_prefixes(b.engine, &p, &err));
    is(gg_engine_cache_prefixes(b.engine, &p, &err), GG_ERR_ARG, "two");
    close_bench(&b);
    gg_model_free(m);
}

int
main(void)
{
    check_families();
    check_found();
    check_recurrent();
    check_answers();
    check_others();
    check_refused();
    return tap_done();
}
