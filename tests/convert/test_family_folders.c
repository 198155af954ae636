/* test_family_folders.c - folders of other families, as transformers saves
 * them: what the converted model computes against the library in float64, and
 * what sessions do with it
 *
 * With a name only that case, and where it is afterwards. */
#include <config.h>

#include <math.h>

#include "api/model.h"
#include "fixtures/folder_case.h"
#include "graph/arch.h"
#include "harness/session_test.h"

enum {
    MOST = 1000,   /* ids of a sequence: more than windowed layers keep */
    LAST = 8301,   /* of a row: more than Llama 4's chunks have */
    LEARNED = 512, /* positions, where they are learned */
    REST = 30,     /* ids after a cut */
    BATCH = 32,
};

static int32_t ids[LAST];

/* NMSE of a row against the golden one. */
static double
row_nmse(const struct folder_case_row *row, const float *x, int n)
{
    double error = 0, power = 0;

    for (int i = 0; i < FOLDER_CASE_VALUES; i++) {
        double want = row->values[i];
        double d = (double)x[folder_case_values[i] % n] - want;

        error += d * d;
        power += want * want;
    }
    return isnan(error) ? INFINITY : error / power;
}

/* The NMSE of scores, as many as there are values. */
static double
scores_nmse(const struct folder_case_row *row, const float *x)
{
    double error = 0, power = 0;

    for (int i = 0; i < FOLDER_CASE_VALUES; i++) {
        double d = (double)x[i] - row->values[i];

        error += d * d;
        power += row->values[i] * row->values[i];
    }
    return isnan(error) ? INFINITY : error / power;
}

/* The number of an encoder's ids, where the model has a decoder, too. */
static int
n_encoded(const struct gg_model *m)
{
    return m->model->hp.n_encoder > 0 ? FOLDER_CASE_ENCODED : 0;
}

/* In pieces that end at the positions. */
static double
worst_logits(const struct gg_model *m, const struct folder_case *c)
{
    struct gg_session_params params = { .cache_type = GG_CACHE_F32,
                                        .n_encoder_ids = n_encoded(m) };
    struct gg_session *s = new_session(m, params);
    double worst = 0;
    float logits[FOLDER_CASE_VOCAB];

    for (int i = 0, done = 0; i < c->n_rows; i++) {
        int end = c->rows[i].position + 1;

        if (end > LAST)
            return INFINITY;
        eval_ids(s, 0, ids, done, end, logits);
        worst = fmax(worst, row_nmse(&c->rows[i], logits, FOLDER_CASE_VOCAB));
        done = end;
    }
    gg_session_free(s);
    return worst;
}

/* The error of the score of a pair that [SEP] parts; two answers count by how
 * much the first is more likely. */
static double
worst_score(const struct gg_model *m, const struct folder_case *c)
{
    struct gg_session_params params = { .cache_type = GG_CACHE_F32 };
    struct gg_session *s = new_session(m, params);
    int32_t pair[FOLDER_CASE_PAIR];
    float score[2] = { 0 };
    struct gg_chunk chunk = { .ids = pair,
                              .n = FOLDER_CASE_PAIR,
                              .embed.values = score,
                              .embed.pooling = GG_POOL_RANK };
    double want = c->rows[0].values[0], d;

    memcpy(pair, ids, sizeof(pair));
    pair[FOLDER_CASE_SEPARATOR] = 3;
    must(gg_session_eval(s, &chunk, 1, &err));
    gg_session_free(s);
    d = (double)score[0] - (double)score[1] - want;
    return gg_model_n_scores(m) <= 2 ? d * d / (want * want) : INFINITY;
}

/* All scores of the same pair. */
static double
worst_labels(const struct gg_model *m, const struct folder_case *c)
{
    struct gg_session *s = new_session(m, gg_session_params_default());
    int32_t pair[FOLDER_CASE_PAIR];
    float scores[FOLDER_CASE_VALUES] = { 0 };
    struct gg_chunk chunk = { .ids = pair,
                              .n = FOLDER_CASE_PAIR,
                              .embed.values = scores,
                              .embed.pooling = GG_POOL_RANK };

    if (gg_model_n_scores(m) > FOLDER_CASE_VALUES)
        return INFINITY;
    memcpy(pair, ids, sizeof(pair));
    pair[FOLDER_CASE_SEPARATOR] = 3;
    must(gg_session_eval(s, &chunk, 1, &err));
    gg_session_free(s);
    return scores_nmse(&c->rows[0], scores);
}

/* The worst error where each id has scores. */
static double
worst_tokens(const struct gg_model *m, const struct folder_case *c)
{
    struct gg_session *s = new_session(m, gg_session_params_default());
    int n = (int)gg_model_n_scores(m);
    float *x =
        calloc((size_t)n * FOLDER_CASE_IDS + FOLDER_CASE_VALUES, sizeof(*x));
    struct gg_chunk chunk = { .ids = ids,
                              .n = FOLDER_CASE_IDS,
                              .embed.values = x,
                              .embed.pooling = GG_POOL_TOKENS };
    double worst = 0;

    must(gg_session_eval(s, &chunk, 1, &err));
    gg_session_free(s);
    for (int i = 0; i < c->n_rows; i++) {
        float scores[FOLDER_CASE_VALUES] = { 0 };

        memcpy(scores, x + (size_t)n * (size_t)c->rows[i].position,
               (size_t)n * sizeof(*x));
        worst = fmax(worst, scores_nmse(&c->rows[i], scores));
    }
    free(x);
    return n <= FOLDER_CASE_VALUES ? worst : INFINITY;
}

static double
worst_vector(const struct gg_model *m, const struct folder_case *c,
             enum gg_pooling pooling)
{
    struct gg_session *s = new_session(m, gg_session_params_default());
    int n = (int)gg_model_vector_length(m, pooling);
    float *x = malloc(sizeof(*x) * (size_t)n);
    struct gg_chunk chunk = { .ids = ids,
                              .n = FOLDER_CASE_IDS,
                              .embed.values = x,
                              .embed.pooling = pooling };
    double worst;

    must(gg_session_eval(s, &chunk, 1, &err));
    worst = row_nmse(&c->rows[0], x, n);
    free(x);
    gg_session_free(s);
    return worst;
}

/* ---- sessions ------------------------------------------------------------ */

/* The state of s that is saved after `cut` ids goes on in another session. */
static bool
goes_on_from_file(const struct gg_model *m, struct gg_session *s, int cut,
                  const float *truth)
{
    struct gg_state_sequence q = { .ids = ids,
                                   .n_ids = (size_t)cut,
                                   .n_held = (size_t)cut };
    struct gg_state state = { .sequences = &q, .n_sequences = 1 };
    struct gg_session_params params = { .n_slots = 2,
                                        .n_ctx = cut + REST,
                                        .n_encoder_ids = n_encoded(m) };
    struct gg_session *other = new_session(m, params);
    const char *path = scratch_file("state");
    struct gg_state_file *f;
    float logits[V];
    bool good;

    must(gg_session_save(s, &state, path, &err));
    must(gg_state_open(path, other, &f, &err));
    good = gg_session_load(other, 1, f, 0) == cut;
    gg_state_close(f);
    eval_ids(other, 1, ids, cut, cut + REST, logits);
    gg_session_free(other);
    return good && same(logits, truth);
}

/* A copy of the first `cut` ids goes on, and so does the sequence from a little
 * before; or, where layers have a recurrent state, from further back. */
static bool
goes_on_from_slots(struct gg_session *s, int cut, bool recurs,
                   const float *truth)
{
    int earlier = cut - 10, left;
    float a[V], b[V];
    bool good = gg_session_copy(s, 1, 0, cut) == cut;

    eval_ids(s, 1, ids, cut, cut + REST, a);
    left = gg_session_truncate(s, 0, earlier);
    good = good && (left == earlier || (recurs && left < earlier));
    eval_ids(s, 0, ids, left, cut + REST, b);
    return good && same(a, truth) && same(b, truth);
}

static bool
has_learned_positions(const struct gg_model *m)
{
    struct gg_session_params params = { .n_ctx = MOST };
    struct gg_session *s;
    bool has = gg_session_new(m, &params, &s, &err) != GG_OK;

    if (!has)
        gg_session_free(s);
    return has;
}

static bool
recurs(const struct gg_model *m)
{
    const struct model_arch *arch = m->model->arch;

    return arch->recur || arch->time_mix || m->model->hp.n_compression > 0;
}

static void
check_session(const struct gg_model *m, const char *name)
{
    int n = has_learned_positions(m) ? LEARNED : MOST, cut = n - REST;
    int first = n_encoded(m) + 1;
    struct gg_session_params whole = { .n_ctx = n,
                                       .n_encoder_ids = n_encoded(m) };
    struct gg_session_params pieces = { .n_ctx = n,
                                        .n_slots = 2,
                                        .n_batch = BATCH,
                                        .n_encoder_ids = n_encoded(m) };
    struct gg_session *s = new_session(m, whole);
    float truth[V];
    char title[160];
    bool file, slots;

    eval_ids(s, 0, ids, 0, n, truth);
    gg_session_free(s);
    s = new_session(m, pieces);
    eval_ids(s, 0, ids, 0, first, NULL);
    eval_ids(s, 0, ids, first, cut, NULL);
    file = goes_on_from_file(m, s, cut, truth);
    slots = goes_on_from_slots(s, cut, recurs(m), truth);
    gg_session_free(s);
    snprintf(title, sizeof(title), "%s: a state goes on, the same bytes", name);
    ok(file, title);
    snprintf(title, sizeof(title), "%s: so do a copy and what is left", name);
    ok(slots, title);
}

/* The last row of the first n ids, `step` of them at a time, in batches with
 * ids of another sequence, which is `ahead` of them. */
static void
eval_by_steps(const struct gg_model *m, int n, int step, int ahead,
              float *logits)
{
    struct gg_session_params params = { .n_ctx = n + ahead,
                                        .n_slots = 2,
                                        .n_batch = 2 * step };
    struct gg_session *s = new_session(m, params);

    eval_ids(s, 1, ids, 0, ahead, NULL);
    for (int i = 0, k = step; i < n; i += k) {
        struct gg_chunk both[2];

        k = n - i < step ? n - i : step;
        both[0] = (struct gg_chunk){ .slot = 1,
                                     .ids = ids + ahead + i,
                                     .n = (size_t)k };
        both[1] = (struct gg_chunk){ .ids = ids + i,
                                     .n = (size_t)k,
                                     .rows.logits = logits };
        must(gg_session_eval(s, both, 2, &err));
    }
    gg_session_free(s);
}

/* Blocks of ids begin and end in any batch. */
static void
check_blocks(const struct gg_model *m, const char *name)
{
    static const int steps[] = { 1, 3, 7, 130 };
    enum {
        N = 301, /* ids: whole blocks, and some of another */
        AHEAD = 2
    };
    struct gg_session_params whole = { .n_ctx = N };
    struct gg_session *s = new_session(m, whole);
    float truth[V], logits[V];
    char title[160];

    eval_ids(s, 0, ids, 0, N, truth);
    gg_session_free(s);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        eval_by_steps(m, N, steps[i], AHEAD, logits);
        snprintf(title, sizeof(title), "%s: %d ids at a time, the same bytes",
                 name, steps[i]);
        ok(same(logits, truth), title);
    }
}

/* Rows of latent attention are keys and values at once. */
static void
check_few_bits(const struct gg_model *m, const char *name)
{
    struct gg_session_params p = { .cache_type = GG_CACHE_Q4_0 };
    struct gg_session *s = NULL;

    ok(gg_session_new(m, &p, &s, &err) == GG_ERR_UNSUPPORTED && !s &&
           strstr(err.message, "latent attention"),
       name);
}

/* ---- cases --------------------------------------------------------------- */

static void
check(const char *folder, const char *name)
{
    const char *to = scratch_file(name);
    struct gg_model *m;
    struct folder_case c;
    char path[1024], title[160];
    double worst;

    snprintf(path, sizeof(path), "%s/%s.case", folder, name);
    folder_case_write(path, scratch_path(), to, &c);
    if (gg_model_open(to, NULL, &m, &err) != GG_OK) {
        printf("# %s\n", err.message);
        ok(false, name);
        return;
    }
    worst = c.rows[0].token            ? worst_tokens(m, &c)
            : c.rows[0].position == -3 ? worst_labels(m, &c)
            : c.rows[0].position == -2 ? worst_score(m, &c)
            : c.rows[0].position == -1 ? worst_vector(m, &c, GG_POOL_MEAN)
            : c.rows[0].position == -4 ? worst_vector(m, &c, GG_POOL_LAST)
                                       : worst_logits(m, &c);
    snprintf(title, sizeof(title), "%s: NMSE %.1e <= 1e-09", name, worst);
    ok(worst <= 1e-9, title);
    if (!gg_model_is_encoder(m))
        check_session(m, name);
    if (m->model->hp.n_compression > 0)
        check_blocks(m, name);
    if (strncmp(name, "deepseek", 8) == 0)
        check_few_bits(m, name);
    gg_model_free(m);
}

int
main(int argc, char **argv)
{
#ifndef HAVE_JANSSON
    puts("1..0 # SKIP built without Jansson");
    return 0;
#endif
    fill_ids(ids, LAST);
    ok(folder_case_each("families", argc > 1 ? argv[1] : NULL, check),
       "there are cases");
    return tap_done();
}
