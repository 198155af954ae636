/* test_decoder.c - sessions of models with an encoder and a decoder: the
 * formula's logits, the same bytes however ids come, states, copies, refusals
 */
#include <stdio.h>

#include "fixtures/reference.h"
#include "harness/session_test.h"

enum {
    ENCODED = 40, /* ids of the encoder */
    N = 170,
    START = V - 1, /* what the decoder begins with */
};

static int32_t ids[N];
static const char *model_name;

static void
okm(bool good, const char *what)
{
    char name[160];

    snprintf(name, sizeof(name), "%s: %s", model_name, what);
    ok(good, name);
}

static struct gg_session *
new_slots(const struct gg_model *m, int32_t n_slots)
{
    struct gg_session_params p = { .n_slots = n_slots, .n_ctx = N };

    return new_session(m, p);
}

/* Ids to[0..n): the first n_encoded are an encoder's, START comes next. */
static void
fill_two(int32_t *to, int n_encoded, int n, int seed)
{
    for (int i = 0; i < n; i++)
        to[i] = (int32_t)((i * 37LL + (long long)i * i * 11 + seed) % START);
    to[n_encoded] = START;
}

/* ---- logits -------------------------------------------------------------- */

static void
check_formula(const struct gg_model *m)
{
    struct gg_session_params p = { .cache_type = GG_CACHE_F32 };
    struct gg_session *s = new_session(m, p);
    struct reference *r = reference_open(scratch_path());
    int n = N - ENCODED;
    double *wanted = malloc(sizeof(*wanted) * (size_t)n * V), worst = 0;
    float out[V];

    if (!r || !wanted)
        exit(99);
    reference_answer(r, ids, ENCODED, N, wanted);
    for (int i = 0; i < n; i++) {
        double e;

        eval_ids(s, 0, ids, i ? ENCODED + i : 0, ENCODED + i + 1, out);
        e = reference_nmse(out, wanted + i * V, V);
        worst = e > worst || !(e == e) ? e : worst;
    }
    printf("# NMSE %.1e\n", worst);
    okm(worst < 1e-9, "the logits are those of the formulas");
    reference_free(r);
    free(wanted);
    gg_session_free(s);
}

static void
in_pieces(struct gg_session *s, int32_t slot, int step, float *out)
{
    eval_ids(s, slot, ids, 0, ENCODED + 1, out);
    for (int i = ENCODED + 1; i < N; i += step)
        eval_ids(s, slot, ids, i, i + step < N ? i + step : N, out);
}

static void
check_pieces(const struct gg_model *m, const float *truth)
{
    static const int steps[] = { 1, 2, 7, 64 };
    bool all = true;
    float out[V];

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        for (int32_t threads = 1; threads <= 3; threads++) {
            struct gg_session_params p = { .n_threads = threads,
                                           .n_batch = ENCODED };
            struct gg_session *s = new_session(m, p);

            in_pieces(s, 0, steps[i], out);
            all = all && same(out, truth);
            gg_session_free(s);
        }
    okm(all, "pieces, batches and threads leave the bytes as they are");
}

/* The number of ids, in place of the id that a decoder begins with. */
static void
check_number(const struct gg_model *m, const float *truth)
{
    struct gg_session_params p = { .n_encoder_ids = ENCODED };
    struct gg_session *s = new_session(m, p);
    float out[V];

    eval_ids(s, 0, ids, 0, N, out);
    okm(same(out, truth), "a number says which ids are the encoder's, too");
    gg_session_free(s);
}

/* Texts of other lengths, begun together, go on together. */
static void
check_together(const struct gg_model *m)
{
    enum {
        SEQUENCES = 4,
        MOST = 60
    };
    static const int encoded[SEQUENCES] = { 1, 40, 7, 33 };
    int32_t list[SEQUENCES][MOST];
    float alone[SEQUENCES][2][V], both[SEQUENCES][2][V];
    struct gg_chunk first[SEQUENCES], later[SEQUENCES];
    struct gg_session *s = new_slots(m, SEQUENCES);
    bool all = true;

    for (int i = 0; i < SEQUENCES; i++) {
        struct gg_session *own = new_slots(m, 1);
        int n = encoded[i] + 3 + i;

        fill_two(list[i], encoded[i], MOST, 13 * i);
        eval_ids(own, 0, list[i], 0, n, alone[i][0]);
        eval_ids(own, 0, list[i], n, n + 5, alone[i][1]);
        gg_session_free(own);
        first[i] = (struct gg_chunk){
            .slot = i, .ids = list[i], .n = (size_t)n, .rows.logits = both[i][0]
        };
        later[i] = (struct gg_chunk){
            .slot = i, .ids = list[i] + n, .n = 5, .rows.logits = both[i][1]
        };
    }
    must(gg_session_eval(s, first, SEQUENCES, &err));
    must(gg_session_eval(s, later, SEQUENCES - 1, &err));
    must(gg_session_eval(s, later + SEQUENCES - 1, 1, &err));
    for (int i = 0; i < SEQUENCES; i++)
        all = all && same(alone[i][0], both[i][0]) &&
              same(alone[i][1], both[i][1]);
    okm(all, "sequences in one batch give what each gives alone");
    gg_session_free(s);
}

/* One begins while another goes on. */
static void
check_mixed(const struct gg_model *m, const float *truth)
{
    struct gg_session *s = new_slots(m, 2);
    float a[V], b[V];
    struct gg_chunk chunks[2] = {
        { .slot = 0, .ids = ids + N - 1, .n = 1, .rows.logits = a },
        { .slot = 1, .ids = ids, .n = N, .rows.logits = b },
    };

    eval_ids(s, 0, ids, 0, N - 1, NULL);
    must(gg_session_eval(s, chunks, 2, &err));
    okm(same(a, truth) && same(b, truth),
        "one begins while another goes on, the same bytes");
    gg_session_free(s);
}

/* ---- what slots hold ----------------------------------------------------- */

static void
check_truncation(const struct gg_model *m, const float *truth)
{
    struct gg_session *s = new_slots(m, 1);
    float out[V];
    bool good;

    eval_ids(s, 0, ids, 0, N, NULL);
    good = gg_session_truncate(s, 0, ENCODED + 20) == ENCODED + 20;
    eval_ids(s, 0, ids, ENCODED + 20, N, out);
    okm(good && same(out, truth), "a decoder goes back");
    good = gg_session_truncate(s, 0, ENCODED) == ENCODED;
    eval_ids(s, 0, ids, ENCODED, N, out);
    okm(good && same(out, truth), "to where it began");
    good = gg_session_truncate(s, 0, ENCODED - 1) == 0;
    eval_ids(s, 0, ids, 0, N, out);
    okm(good && same(out, truth), "but not into the encoder's ids");
    gg_session_free(s);
}

static void
check_copies(const struct gg_model *m, const float *truth)
{
    struct gg_session *s = new_slots(m, 2);
    float out[V];
    bool good;

    eval_ids(s, 0, ids, 0, ENCODED + 50, NULL);
    good = gg_session_copy(s, 1, 0, ENCODED + 10) == ENCODED + 10;
    eval_ids(s, 1, ids, ENCODED + 10, N, out);
    okm(good && same(out, truth), "a copy goes on");
    good = gg_session_copy(s, 1, 0, ENCODED) == ENCODED;
    eval_ids(s, 1, ids, ENCODED, N, out);
    okm(good && same(out, truth), "so does one of the encoder's ids alone");
    okm(gg_session_copy(s, 1, 0, ENCODED / 2) == 0 &&
            gg_session_length(s, 1) == 0,
        "there is none of a part of them");
    eval_ids(s, 0, ids, ENCODED + 50, N, out);
    okm(same(out, truth), "and what was copied goes on, too");
    gg_session_free(s);
}

static void
check_state(const struct gg_model *m, int cut, const float *truth)
{
    struct gg_session *s = new_slots(m, 1), *other = new_slots(m, 3);
    struct gg_state_sequence q = { .ids = ids,
                                   .n_ids = (size_t)cut,
                                   .n_held = (size_t)cut };
    struct gg_state state = { .sequences = &q, .n_sequences = 1 };
    const char *path = scratch_file("state");
    struct gg_state_file *f;
    char what[96];
    float out[V];
    bool good;

    eval_ids(s, 0, ids, 0, ENCODED + 30, NULL);
    gg_session_truncate(s, 0, cut);
    must(gg_session_save(s, &state, path, &err));
    must(gg_state_open(path, other, &f, &err));
    good = gg_session_load(other, 2, f, 0) == cut;
    gg_state_close(f);
    eval_ids(other, 2, ids, cut, N, out);
    snprintf(what, sizeof(what), "a state of %d ids goes on", cut);
    okm(good && same(out, truth), what);
    gg_session_free(s);
    gg_session_free(other);
}

/* Blocks of 32 values need heads of such a length. */
static void
check_kept(const struct gg_model *m, bool blocks)
{
    static const enum gg_cache_type types[] = { GG_CACHE_F16, GG_CACHE_BF16,
                                                GG_CACHE_Q8_0, GG_CACHE_Q4_0 };
    bool all = true;

    for (size_t i = 0; i < (blocks ? 4 : 2); i++) {
        struct gg_session_params p = { .cache_type = types[i], .n_ctx = N };
        struct gg_session *s = new_session(m, p);
        float whole[V], out[V];

        eval_ids(s, 0, ids, 0, N, whole);
        gg_session_truncate(s, 0, ENCODED + 3);
        eval_ids(s, 0, ids, ENCODED + 3, N, out);
        all = all && same(whole, out);
        gg_session_free(s);
    }
    okm(all, "whatever type keys and values have");
}

/* ---- refusals ------------------------------------------------------------ */

static bool
is_refused(struct gg_session *s, struct gg_chunk c, enum gg_status wanted,
           const char *words)
{
    enum gg_status st = gg_session_eval(s, &c, 1, &err);

    if (st == wanted && strstr(err.message, words))
        return true;
    printf("# %d: %s\n", st, st == GG_OK ? "" : err.message);
    return false;
}

static void
check_refusals(const struct gg_model *m, const float *truth)
{
    struct gg_session_params p = { .n_ctx = ENCODED };
    struct gg_session *s = new_slots(m, 1), *narrow = new_session(m, p);
    struct gg_chunk c = { .ids = ids, .n = ENCODED };
    float out[V], rows[8 * V];

    okm(is_refused(s, c, GG_ERR_ARG, "none after them for the decoder"),
        "an encoder's ids alone are refused");
    c = (struct gg_chunk){ .ids = ids + ENCODED, .n = 5 };
    okm(is_refused(s, c, GG_ERR_ARG, "no ids for the encoder"),
        "and a decoder's");
    c = (struct gg_chunk){ .ids = ids, .n = ENCODED + 1 };
    okm(is_refused(narrow, c, GG_ERR_CONTEXT, "above the limit of 40"),
        "more than the context takes");
    c.rows.logits = rows;
    c.rows.n_last = 2;
    okm(is_refused(s, c, GG_ERR_ARG, "of which 1 are the decoder's"),
        "logits of the encoder's ids");
    c = (struct gg_chunk){ .ids = ids,
                           .n = ENCODED + 1,
                           .embed = { .values = rows } };
    okm(is_refused(s, c, GG_ERR_UNSUPPORTED, "makes no embeddings"),
        "embeddings");
    eval_ids(s, 0, ids, 0, N, out);
    okm(same(out, truth), "and a session goes on after all that");
    gg_session_free(s);
    gg_session_free(narrow);
}

static void
check_model(const char *name)
{
    struct model_spec spec;
    struct gg_session *s;
    struct gg_model *m;
    float truth[V];

    model_name = name;
    if (!models_named(name, &spec)) {
        ok(false, name);
        return;
    }
    m = new_model(&spec);
    s = new_slots(m, 1);
    eval_ids(s, 0, ids, 0, N, truth);
    gg_session_free(s);
    check_formula(m);
    check_pieces(m, truth);
    check_number(m, truth);
    check_together(m);
    check_mixed(m, truth);
    check_truncation(m, truth);
    check_copies(m, truth);
    check_state(m, ENCODED + 30, truth);
    check_state(m, ENCODED, truth);
    check_kept(m, spec.d_key == 32);
    check_refusals(m, truth);
    gg_model_free(m);
}

int
main(void)
{
    fill_two(ids, ENCODED, N, 0);
    check_model("t5-f32");
    check_model("flan-t5-f32");
    return tap_done();
}
