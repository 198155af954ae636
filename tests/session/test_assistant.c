/* test_assistant.c - drafters that read the target's keys and values: logits of
 * transformers in float64, whatever the cache keeps and however ids came */
#include <config.h>

#include <math.h>
#include <stdio.h>

#include "fixtures/assistants.h"
#include "fixtures/folder_case.h"
#include "session/caches_test.h"
#include "session/session.h"

enum {
    PAST = 70, /* beyond windows, as golden_assistants.py has it, */
    STEPS = 4, /* and ids that are drafted after them */
    SLOTS = 3,
    TEXT = 500,
};

static int32_t ids[TEXT + STEPS + 1];

static void
guess(struct gg_session *s, int32_t slot, int past, float out[][V])
{
    struct model_guess q = { .slot = slot, .past = past, .ids = ids + past };

    for (q.n = 1; q.n <= STEPS; q.n++) {
        q.logits = out[q.n - 1];
        must(session_mtp_guess(s, &q, 1, &err));
    }
}

/* ---- truth --------------------------------------------------------------- */

/* The NMSE of tokens that have logits. */
static double
row_error(const struct folder_case_row *row, const float *x)
{
    double error = 0, power = 0;

    for (int i = 0; i < FOLDER_CASE_VALUES; i++) {
        double want = row->values[i], got = (double)x[folder_case_values[i]];
        bool out = want < -1e29;

        if (out != (got < -1e29) || isnan(got))
            return INFINITY;
        error += out ? 0 : (got - want) * (got - want);
        power += out ? 0 : want * want;
    }
    return error / power;
}

static double
worst_error(const struct folder_case *c, float out[][V])
{
    double worst = 0;

    for (int i = 0; i < c->n_rows; i++)
        worst = fmax(worst, row_error(&c->rows[i], out[i]));
    return worst;
}

static void
check_steps(const struct gg_model *m, const struct folder_case *c)
{
    static const int steps[] = { 1, 7, PAST };
    const struct gg_session_params exact = { .cache_type = GG_CACHE_F32 };
    float out[STEPS][V], last[V];

    for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++) {
        struct gg_session *s = new_session(m, exact);
        double e;

        for (int i = 0; i < PAST; i += steps[k])
            eval_ids(s, 0, ids, i, i + steps[k] < PAST ? i + steps[k] : PAST,
                     last);
        guess(s, 0, PAST, out);
        e = worst_error(c, out);
        printf("# %d at a time: NMSE %.1e\n", steps[k], e);
        okn(c->n_rows == STEPS && e < 1e-9, "logits of float64");
        gg_session_free(s);
    }
}

static const char *
case_path(const char *folder, const char *case_name)
{
    static char path[2][SCRATCH_PATH + 100];
    static int turn;
    const char *source = getenv("top_srcdir");

    turn = !turn;
    snprintf(path[turn], sizeof(path[turn]), "%s/tests/fixtures/%s/%s.case",
             source ? source : "..", folder, case_name);
    return path[turn];
}

static void
check_case(const char *case_name)
{
    char target[SCRATCH_PATH + 80], drafter[SCRATCH_PATH + 80];
    struct folder_case of_target, c;
    struct gg_model *m;

    name = case_name;
    snprintf(target, sizeof(target), "%s", scratch_file("target"));
    snprintf(drafter, sizeof(drafter), "%s.%s", scratch_file("drafter"), name);
    folder_case_write(case_path("families", "gemma4"), scratch_file("s.gguf"),
                      target, &of_target);
    folder_case_write(case_path("drafter_cases", name), scratch_file("s.gguf"),
                      drafter, &c);
    m = open_model(target, drafter);
    check_steps(m, &c);
    gg_model_free(m);
}

/* ---- types of caches ----------------------------------------------------- */

/* Logits of the model after the ids, and of drafts. */
static void
rows_of(const struct gg_model *m, struct gg_session_params params,
        float model[V], float drafts[][V])
{
    struct gg_session *s = new_session(m, params);

    eval_ids(s, 0, ids, 0, PAST, model);
    guess(s, 0, PAST, drafts);
    gg_session_free(s);
}

/* The NMSE of tokens that have logits in both rows. */
static double
difference(const float *a, const float *b)
{
    double error = 0, power = 0;

    for (int i = 0; i < V; i++) {
        double d = (double)a[i] - (double)b[i];

        if (a[i] < -1e29f || b[i] < -1e29f)
            continue;
        error += d * d;
        power += (double)b[i] * (double)b[i];
    }
    return error / power;
}

/* Rounded keys and values change the first draft about as much as they change
 * the model's own logits. */
static void
check_rounded(const struct gg_model *m)
{
    const struct gg_session_params exact = { .cache_type = GG_CACHE_F32 };
    float want[STEPS][V], got[STEPS][V], of_model[V], is_now[V];

    rows_of(m, exact, of_model, want);
    for (size_t k = 0; k < N_CACHES; k++) {
        double own, draft;

        rows_of(m, caches[k], is_now, got);
        own = difference(is_now, of_model);
        draft = difference(got[0], want[0]);
        print_cache(&caches[k]);
        printf(" NMSE %.1e of the model, %.1e of a draft\n", own, draft);
        okn(draft < 8 * own, "with rounded keys and values");
    }
}

/* ---- sessions ------------------------------------------------------------ */

static void
check_slots(const struct gg_model *m)
{
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_slots = SLOTS });
    struct gg_chunk chunks[SLOTS] = {
        { .slot = 0, .ids = ids + 3, .n = 40 },
        { .slot = 1, .ids = ids, .n = PAST },
        { .slot = 2, .ids = ids + 5, .n = 1 },
    };
    float out[SLOTS][V], alone[V];
    struct model_guess q[SLOTS];

    must(gg_session_eval(s, chunks, SLOTS, &err));
    for (int i = 0; i < SLOTS; i++)
        q[i] = (struct model_guess){ .slot = i,
                                     .past = (int32_t)chunks[i].n,
                                     .ids = ids + 20,
                                     .n = 1,
                                     .logits = out[i] };
    must(session_mtp_guess(s, q, SLOTS, &err));
    for (int i = 0; i < SLOTS; i++) {
        q[i].logits = alone;
        must(session_mtp_guess(s, &q[i], 1, &err));
        okn(same(alone, out[i]), "slots together: the same bytes");
    }
    okn(!same(out[0], out[1]), "which differ");
    gg_session_free(s);
}

/* A prefix that slots have in common, longer than a block of the cache. */
static void
check_prefix(const struct gg_model *m)
{
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_slots = SLOTS });
    struct gg_session *t = new_session(m, gg_session_params_default());
    float want[STEPS][V], got[SLOTS][V], last[V];
    struct model_guess q[SLOTS];
    bool all = true;

    eval_ids(t, 0, ids, 0, TEXT, last);
    guess(t, 0, TEXT, want);
    eval_ids(s, 0, ids, 0, TEXT - 20, last);
    for (int i = 1; i < SLOTS; i++)
        all = all && gg_session_copy(s, i, 0, TEXT - 20) == TEXT - 20;
    for (int i = 0; i < SLOTS; i++) {
        eval_ids(s, i, ids, TEXT - 20, TEXT, last);
        q[i] = (struct model_guess){
            .slot = i, .past = TEXT, .ids = ids + TEXT, .n = 1, .logits = got[i]
        };
    }
    must(session_mtp_guess(s, q, SLOTS, &err));
    for (int i = 0; i < SLOTS; i++)
        all = all && same(want[0], got[i]);
    okn(all, "slots with a common prefix draft what one alone does");
    gg_session_free(s);
    gg_session_free(t);
}

/* Ids that were evaluated after the text, and taken back, are not seen. */
static void
check_back(const struct gg_model *m)
{
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_slots = 2 });
    float want[STEPS][V], got[STEPS][V], last[V];
    int32_t wrong[6] = { 9, 8, 7, 6, 5, 4 };

    eval_ids(s, 0, ids, 0, PAST, last);
    guess(s, 0, PAST, want);
    eval_ids(s, 0, wrong, 0, 6, last);
    okn(gg_session_truncate(s, 0, PAST) == PAST, "ids are taken back");
    guess(s, 0, PAST, got);
    okn(!memcmp(want, got, sizeof(got)), "and change no draft");
    okn(gg_session_copy(s, 1, 0, PAST) == PAST && session_mtp_can(s, 1, PAST),
        "a copy has what it needs");
    eval_ids(s, 0, wrong, 0, 1, last);
    guess(s, 1, PAST, got);
    okn(!memcmp(want, got, sizeof(got)), "and drafts the same");
    gg_session_free(s);
}

static void
check_bytes(const struct gg_model *m, const char *path)
{
    struct gg_session *s = new_session(m, gg_session_params_default()), *t;
    struct gg_model *plain;
    float a[V], b[V], out[STEPS][V];
    bool all = true;

    must(gg_model_open(path, NULL, &plain, &err));
    t = new_session(plain, gg_session_params_default());
    for (int at = 0; at < PAST; at += 14) {
        eval_ids(s, 0, ids, at, at + 14, a);
        eval_ids(t, 0, ids, at, at + 14, b);
        all = all && same(a, b);
        guess(s, 0, at + 14 <= PAST - STEPS ? at + 14 : PAST, out);
    }
    okn(all, "the model's logits are what they were");
    gg_session_free(s);
    gg_session_free(t);
    gg_model_free(plain);
}

static void
check_memory(const struct gg_model *m)
{
    struct gg_session *s = new_session(m, gg_session_params_default());
    struct gg_memory memory;
    size_t weights, cache;

    okn(gg_session_mtp(s, &weights, &cache) > 0 && weights > 0 &&
            cache == 48 * ASSISTANT_EMBD * sizeof(float),
        "it keeps hidden vectors, and no keys");
    must(gg_model_memory(m, NULL, &memory, &err));
    okn(memory.mtp_weights == weights && memory.mtp_cache == cache,
        "as was known before");
    gg_session_free(s);
}

static void
check_kind(const struct assistant_spec *spec, const char *called)
{
    const char *drafter = scratch_file("drafter.gguf");
    struct gg_model *m;

    name = called;
    if (!assistants_write_model(scratch_path()) ||
        !assistants_write(spec, drafter))
        exit(99);
    m = open_model(scratch_path(), drafter);
    check_rounded(m);
    if (spec->copies)
        check_cache_types(m, ids, TEXT);
    check_slots(m);
    check_back(m);
    check_prefix(m);
    check_bytes(m, scratch_path());
    check_memory(m);
    gg_model_free(m);
}

/* ---- files --------------------------------------------------------------- */

static void
refused(const struct assistant_spec *spec, enum gg_status st, const char *says)
{
    const char *path = scratch_file("refused.gguf");
    const struct gg_model_params params = { .mtp = true, .mtp_path = path };

    if (!assistants_write(spec, path))
        exit(99);
    okn(opens_as(scratch_path(), &params, st, says), says);
}

static void
set(struct gguf_context *g, const char *key, int value)
{
    char full[96];

    snprintf(full, sizeof(full), "gemma4-assistant.%s", key);
    gguf_set_val_u32(g, full, (uint32_t)value);
}

static void
other_width(struct gguf_context *g)
{
    set(g, "embedding_length_out", ASSISTANT_EMBD + 1);
}

static void
other_window(struct gguf_context *g)
{
    set(g, "attention.sliding_window", ASSISTANT_WINDOW + 1);
}

static void
other_heads(struct gguf_context *g)
{
    const int32_t heads[] = { 2, 2, 2 };

    gguf_set_arr_data(g, "gemma4-assistant.attention.head_count_kv",
                      GGUF_TYPE_INT32, heads, 3);
}

static void
other_length(struct gguf_context *g)
{
    set(g, "attention.key_length_swa", 16);
}

static void
too_many_layers(struct gguf_context *g)
{
    set(g, "block_count", 5);
}

static void
too_many_likeliest(struct gguf_context *g)
{
    set(g, "centroid_top_k", 31);
}

static void
check_refused(void)
{
    struct assistant_spec s = { 0 };
    const struct assistant_spec clusters = { .n_clusters = 30,
                                             .n_likeliest = 3 };

    name = "refused";
    s.spoil = other_width;
    refused(&s, GG_ERR_FORMAT, "embedding_length_out");
    s.spoil = other_window;
    refused(&s, GG_ERR_FORMAT, "sliding_window");
    s.spoil = other_heads;
    refused(&s, GG_ERR_FORMAT, "head_count_kv");
    s.spoil = other_length;
    refused(&s, GG_ERR_FORMAT, "rope.dimension_count_swa");
    s.spoil = too_many_layers;
    refused(&s, GG_ERR_FORMAT, "");
    s.spoil = NULL;
    s.skip = "nextn.post_projection.weight";
    refused(&s, GG_ERR_FORMAT, s.skip);
    s.skip = "blk.1.attn_q.weight";
    refused(&s, GG_ERR_FORMAT, s.skip);
    s.skip = NULL;
    s.shrink = "nextn.pre_projection.weight";
    refused(&s, GG_ERR_FORMAT, s.shrink);
    s.shrink = "token_embd.weight";
    refused(&s, GG_ERR_FORMAT, s.shrink);
    s = clusters;
    s.n_clusters = 31;
    refused(&s, GG_ERR_FORMAT, "masked_embd_centroids");
    s = clusters;
    s.spoil = too_many_likeliest;
    refused(&s, GG_ERR_FORMAT, "masked_embd_centroids");
    s = clusters;
    s.order = V;
    refused(&s, GG_ERR_FORMAT, "masked_embd_ordering");
    s.order = -1;
    refused(&s, GG_ERR_FORMAT, "masked_embd_ordering");
    s = clusters;
    s.shrink = "masked_embd_ordering";
    refused(&s, GG_ERR_FORMAT, "masked_embd_ordering");
    s = (struct assistant_spec){ 0 };
    if (!models_write(&(struct model_spec){ .arch = "llama" }, scratch_path()))
        exit(99);
    refused(&s, GG_ERR_UNSUPPORTED, "gemma4");
}

int
main(void)
{
    const struct assistant_spec copy = { .copies = true }, random = { 0 },
                                clusters = { .n_clusters = 30,
                                             .n_likeliest = 10 };

    fill_ids(ids, TEXT + STEPS + 1);
#ifdef HAVE_JANSSON
    check_case("gemma4-assistant");
    check_case("gemma4-assistant-centroids");
#endif
    check_kind(&copy, "a copy");
    check_kind(&random, "random weights");
    check_kind(&clusters, "clusters");
    check_refused();
    return tap_done();
}
