/* test_dflash.c - drafts of blocks: the logits of the formula in double
 * precision, however ids came; and the model's own, which do not change */
#include <math.h>
#include <stdio.h>

#include "fixtures/reference.h"
#include "session/dflash_test.h"
#include "session/draft_slots_test.h"

static int wanted; /* masks after PAST + 1 ids, whose logits `truth` has */

static void
guess(struct gg_session *s, int32_t slot, float out[][V])
{
    struct model_guess q = { .slot = slot,
                             .past = PAST,
                             .ids = ids + PAST,
                             .n = 1,
                             .n_rows = wanted,
                             .logits = out[0] };

    must(session_mtp_guess(s, &q, 1, &err));
}

/* The NMSE; of ids that have no logits both are -INFINITY. */
static double
error_of(float out[][V])
{
    double error = 0, power = 0;

    for (int i = 0; i < wanted * V; i++) {
        double x = (double)out[i / V][i % V], t = truth[i];

        if (isinf(t) && isinf(x))
            continue;
        error += (x - t) * (x - t);
        power += t * t;
    }
    printf("# NMSE %.1e\n", error / power);
    return error / power;
}

static void
check_guess(struct gg_session *s, int32_t slot, const char *what)
{
    float out[MOST][V];

    okn(session_mtp_can(s, slot, PAST), "there are keys");
    guess(s, slot, out);
    okn(error_of(out) < 1e-9, what);
}

/* ---- options ------------------------------------------------------------- */

static void
check_formula(const char *called, const char *model, struct dflash_spec draft,
              int n)
{
    struct reference *r;
    struct gg_model *m;

    name = called;
    wanted = n;
    write_spec(named(model), scratch_path());
    write_drafter(&draft);
    r = reference_open(scratch_path());
    okn(r != NULL, "the reference knows it");
    reference_dflash(r, drafter, ids, PAST, n, truth);
    m = open_model(scratch_path(), drafter);
    check_chunks(m);
    gg_model_free(m);
    reference_free(r);
}

static void
check_keys(void)
{
    check_formula("scales", "llama-f32",
                  WITH({ "embedding_scale", 'f', 3, NULL },
                       { "attention.scale", 'f', 0.3, NULL },
                       { "attention.value_scale", 'f', 0.5, NULL },
                       { "logit_scale", 'f', 0.25, NULL },
                       { "final_logit_softcapping", 'f', 1.5, NULL }),
                  5);
    check_formula("gelu", "llama-f32",
                  WITH({ "hidden_activation", 's', 0, "gelu_pytorch_tanh" }),
                  5);
    check_formula("one way", "llama-f32",
                  WITH({ "attention.causal", 'b', 1, NULL }), 5);
    check_formula("a window", "llama-f32",
                  WITH({ "attention.sliding_window", 'u', 20, NULL },
                       { "attention.sliding_window_pattern", 'l', 0, "10" }),
                  9);
    check_formula("a window next to others", "gemma2-f32",
                  WITH({ "attention.sliding_window", 'u', 33, NULL },
                       { "attention.sliding_window_pattern", 'l', 0, "01" }),
                  9);
    check_formula(
        "YaRN", "llama-f32",
        WITH({ "rope.scaling.type", 's', 0, "yarn" },
             { "rope.scaling.factor", 'f', 4, NULL },
             { "rope.scaling.original_context_length", 'u', 32, NULL }),
        5);
}

static void
check_tensors(void)
{
    struct dflash_spec spec = dflash_usual();

    spec.own_embd = true;
    check_formula("an embedding of its own", "llama-f32", spec, 5);
    spec.own_output = true;
    check_formula("an output of its own", "llama-f32", spec, 5);
    spec = dflash_usual();
    spec.own_embd = true;
    spec.n_drafted = 100;
    check_formula("few ids", "llama-f32", spec, 5);
    spec = dflash_usual();
    spec.no_values = true;
    spec.scaled = true;
    spec.s.traits = MODELS_POST_NORMS | MODELS_SINKS;
    check_formula("norms, sinks, keys as values", "llama-f32", spec, 5);
    spec = dflash_usual();
    spec.s.traits = MODELS_SCALES;
    spec.s.rope_freqs = true;
    check_formula("products' scales", "llama-f32", spec, 5);
    spec = dflash_usual();
    spec.s.n_layer = 3;
    spec.s.n_head = 2;
    spec.s.n_head_kv = 1;
    spec.s.d_key = 24;
    spec.s.n_rot = 8;
    spec.layers[0] = 0;
    spec.layers[2] = 1;
    spec.n_layers = 3;
    check_formula("other shapes", "llama-f32", spec, MOST);
}

static void
check_sizes(void)
{
    static const char *const models[] = { "qwen3-f32", "gemma3-f32",
                                          "qwen35mtp-f32", "gpt2-f32",
                                          "lfm2-f32" };

    for (int n = 1; n <= MOST; n += n < 3 ? 1 : 6)
        check_formula("a block", "llama-f32", dflash_usual(), n);
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
        check_formula(models[i], models[i], dflash_usual(), 6);
}

/* ---- what happens to slots ----------------------------------------------- */

/* Drafts that are rejected leave nothing. */
static void
check_rejected(const struct gg_model *m)
{
    struct gg_session *s = new_slots(m, 1);
    int32_t wrong[6] = { 9, 8, 7, 6, 5, 4 };
    float out[V], drafts[MOST][V];

    eval_ids(s, 0, ids, 0, PAST - 2, out);
    for (int i = 0; i < 3; i++) {
        struct model_guess q = { .past = PAST - 2,
                                 .ids = wrong,
                                 .n = 1,
                                 .n_rows = MOST,
                                 .logits = drafts[0] };

        must(session_mtp_guess(s, &q, 1, &err));
        memcpy(wrong, ids + PAST - 2, sizeof(*wrong));
        eval_ids(s, 0, wrong, 0, 6, out);
        gg_session_truncate(s, 0, PAST - 2);
    }
    eval_ids(s, 0, ids, gg_session_length(s, 0), PAST, out);
    check_guess(s, 0, "after ids that were taken back");
    gg_session_free(s);
}

static void
check_slots(const struct gg_model *m)
{
    struct gg_session *s = new_slots(m, 3);
    struct gg_chunk chunks[] = {
        { .slot = 0, .ids = ids + 3, .n = 40 },
        { .slot = 1, .ids = ids, .n = PAST },
        { .slot = 2, .ids = ids + 5, .n = 1 },
    };
    float out[3][MOST][V], alone[MOST][V];
    struct model_guess q[3];

    must(gg_session_eval(s, chunks, 3, &err));
    check_guess(s, 1, "among other slots");
    for (int i = 0; i < 3; i++)
        q[i] = (struct model_guess){ .slot = i,
                                     .past = (int32_t)chunks[i].n,
                                     .ids = ids + 20,
                                     .n = 1,
                                     .n_rows = 2 + 5 * i,
                                     .logits = out[i][0] };
    must(session_mtp_guess(s, q, 3, &err));
    for (int i = 0; i < 3; i++) {
        q[i].logits = alone[0];
        must(session_mtp_guess(s, &q[i], 1, &err));
        okn(!memcmp(alone, out[i], (size_t)q[i].n_rows * sizeof(alone[0])),
            "together the same bytes");
    }
    gg_session_copy(s, 2, 1, PAST);
    eval_ids(s, 1, ids + 9, 0, 1, alone[0]);
    check_guess(s, 2, "in a copy");
    gg_session_free(s);
}

/* A shared prefix has its keys, too. */
static void
check_prefix(const struct gg_model *m)
{
    struct gg_session *s = new_slots(m, 2);
    float out[V];
    int32_t n;

    eval_ids(s, 0, ids, 0, PAST, out);
    n = gg_session_copy(s, 1, 0, 20);
    eval_ids(s, 1, ids, n, PAST, out);
    check_guess(s, 0, "of a prefix");
    check_guess(s, 1, "and of a copy of it");
    gg_session_free(s);
}

/* Logits have the same bytes with the drafter as without it. */
static void
check_bytes(const struct gg_model *m)
{
    struct gg_model *plain;
    struct gg_session *s, *t;

    must(gg_model_open(scratch_path(), NULL, &plain, &err));
    s = new_session(m, gg_session_params_default());
    t = new_session(plain, gg_session_params_default());
    check_logits(s, t);
    okn(session_mtp(s) == 15 && session_mtp_blocks(s) && session_mtp(t) == 0,
        "a block has 15 guesses");
    gg_session_free(s);
    gg_session_free(t);
    gg_model_free(plain);
}

/* Keys from before a state was loaded are not seen. */
static void
check_state(const struct gg_model *m)
{
    float out[MOST][V];

    draft_after_state(m, "which has no keys of a drafter", out);
    okn(error_of(out) < 2, "and drafts by them");
}

static void
check_model(const char *called)
{
    struct gg_model *m;
    struct reference *r;
    struct dflash_spec draft;

    name = called;
    wanted = 6;
    write_spec(named(called), scratch_path());
    draft = dflash_usual();
    write_drafter(&draft);
    r = reference_open(scratch_path());
    reference_dflash(r, drafter, ids, PAST, wanted, truth);
    m = open_model(scratch_path(), drafter);
    check_rejected(m);
    check_accepted(m);
    check_slots(m);
    check_prefix(m);
    check_bytes(m);
    check_state(m);
    gg_model_free(m);
    reference_free(r);
}

/* ---- types of the cache ---------------------------------------------------
 */

enum {
    N_BLOCKS = 60,
    N_ROWS = 8,
};

static void
draft_all(const struct gg_model *m, enum gg_cache_type type,
          int32_t out[N_BLOCKS][N_ROWS])
{
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .cache_type = type });
    float last[V], logits[N_ROWS][V];

    for (int b = 0; b < N_BLOCKS; b++) {
        struct model_guess q = { .past = b + 8,
                                 .ids = ids + b + 8,
                                 .n = 1,
                                 .n_rows = N_ROWS,
                                 .logits = logits[0] };

        eval_ids(s, 0, ids, b == 0 ? 0 : b + 7, b + 8, last);
        must(session_mtp_guess(s, &q, 1, &err));
        for (int r = 0; r < N_ROWS; r++) {
            out[b][r] = 0;
            for (int32_t id = 1; id < V; id++)
                if (logits[r][id] > logits[r][out[b][r]])
                    out[b][r] = id;
        }
    }
    gg_session_free(s);
}

/* Drafts that are not those of the block before. */
static int
changes_of(int32_t x[N_BLOCKS][N_ROWS])
{
    int n = 0;

    for (int k = N_ROWS; k < N_BLOCKS * N_ROWS; k++)
        n += x[k / N_ROWS][k % N_ROWS] != x[k / N_ROWS - 1][k % N_ROWS];
    return n;
}

/* As many drafts that differ are the most by which acceptance can; the logits
 * of random weights nearly tie, which drafters' do not. */
static void
check_types(void)
{
    static const struct {
        enum gg_cache_type type;
        int most; /* percent */
    } types[] = { { GG_CACHE_F32, 2 },
                  { GG_CACHE_BF16, 5 },
                  { GG_CACHE_Q8_0, 5 },
                  { GG_CACHE_Q5_0, 15 },
                  { GG_CACHE_Q4_0, 25 } };
    static int32_t f16[N_BLOCKS][N_ROWS], other[N_BLOCKS][N_ROWS];
    struct gg_model *m;

    /* keys tell more than the masks */
    check_formula("types", "qwen3-f32",
                  WITH({ "embedding_scale", 'f', 0.02, NULL }), 6);
    m = open_model(scratch_path(), drafter);
    draft_all(m, GG_CACHE_F16, f16);
    okn(changes_of(f16) * 5 > N_BLOCKS * N_ROWS, "drafts change");
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        int differ = 0, all = N_BLOCKS * N_ROWS;

        draft_all(m, types[i].type, other);
        for (int k = 0; k < all; k++)
            differ +=
                f16[k / N_ROWS][k % N_ROWS] != other[k / N_ROWS][k % N_ROWS];
        printf("# %d of %d differ\n", differ, all);
        okn(differ * 100 <= types[i].most * all,
            "the same drafts by other types of keys and values");
    }
    gg_model_free(m);
}

int
main(void)
{
    char path[SCRATCH_PATH];

    fill_ids(ids, PAST + MOST + 1);
    strcpy(path, scratch_file("dflash.gguf"));
    drafter = path;
    truth = malloc(sizeof(*truth) * MOST * V);
    check_keys();
    check_tensors();
    check_sizes();
    check_model("llama-f32");
    check_model("gemma2-f32");
    check_model("qwen35mtp-f32");
    check_types();
    free(truth);
    return tap_done();
}
