/* test_embed.c - vectors that stand for texts: of encoders against a plain
 * computation in double precision, of other families against their logits */
#include <gguf.h>
#include <math.h>

#include "fixtures/reference.h"
#include "harness/session_test.h"

enum {
    N = 300, /* more than a block of keys */
    E = 64,
};

static int32_t ids[N];

static enum gg_status
embed(struct gg_session *s, int32_t slot, int n, enum gg_pooling pooling,
      float *out)
{
    struct gg_chunk c = { .slot = slot,
                          .ids = ids,
                          .n = (size_t)n,
                          .embed.values = out,
                          .embed.pooling = pooling };

    return gg_session_eval(s, &c, 1, &err);
}

static bool
alike(const float *a, const float *b)
{
    return !memcmp(a, b, E * sizeof(*a));
}

/* ---- encoders ------------------------------------------------------------ */

/* The pooled vector of the rows x[0..n). */
static void
pool(const double *x, int n, enum gg_pooling pooling, double *out)
{
    int first = pooling == GG_POOL_LAST ? n - 1 : 0;
    int last = pooling == GG_POOL_CLS ? 0 : n - 1;

    for (int j = 0; j < E; j++) {
        out[j] = 0;
        for (int i = first; i <= last; i++)
            out[j] += x[i * E + j] / (last - first + 1);
    }
}

static void
check_truth(const char *name, double bound)
{
    static const int lengths[] = { 1, 7, N };
    static double truth[N * E];
    struct gg_model *m;
    struct gg_session *s;
    struct model_spec spec;
    struct reference *r;
    double worst = 0, want[E];
    float got[E];
    char title[100];

    if (!models_named(name, &spec))
        exit(99);
    m = new_model(&spec);
    r = reference_open(scratch_path());
    s = new_session(m, gg_session_params_default());
    for (int i = 0; i < 3; i++) {
        reference_encode(r, ids, lengths[i], truth);
        for (int p = GG_POOL_MEAN; p <= GG_POOL_CLS; p++) {
            gg_session_truncate(s, 0, 0);
            must(embed(s, 0, lengths[i], (enum gg_pooling)p, got));
            pool(truth, lengths[i], (enum gg_pooling)p, want);
            worst = fmax(worst, reference_nmse(got, want, E));
        }
    }
    snprintf(title, sizeof(title), "%s: NMSE %.1e <= %.0e", name, worst, bound);
    ok(worst <= bound, title);
    gg_session_free(s);
    reference_free(r);
    gg_model_free(m);
}

/* Neighbours, slots and threads do not matter. */
static void
check_neighbours(const struct gg_model *m)
{
    struct gg_session_params p = { .n_slots = 3, .n_threads = 3 };
    struct gg_session *s = new_session(m, p);
    float alone[E], among[E], other[E];
    struct gg_chunk c[] = {
        { .slot = 2, .ids = ids + 9, .n = 290, .embed.values = other },
        { .slot = 0, .ids = ids, .n = 250, .embed.values = among },
        { .slot = 1, .ids = ids + 50, .n = 200, .embed.values = other },
    };

    must(gg_session_eval(s, c, 3, &err));
    gg_session_free(s);
    p.n_threads = 1;
    s = new_session(m, p);
    must(embed(s, 1, 250, GG_POOL_MEAN, alone));
    ok(alike(alone, among), "a text has its vector whatever is beside it");
    gg_session_free(s);
}

static void
check_refused(const struct gg_model *m)
{
    struct gg_session *s = new_session(m, gg_session_params_default());
    float out[E], logits[V];
    int32_t best_id[1];
    struct gg_best best = { .k = 1, .ids = best_id, .logits = logits };
    struct gg_chunk c = { .ids = ids, .n = 3, .rows.logits = logits };

    ok(gg_model_is_encoder(m) && gg_model_n_embd(m) == E, "an encoder");
    is(gg_session_eval(s, &c, 1, &err), GG_ERR_UNSUPPORTED, "has no logits");
    must(embed(s, 0, 5, GG_POOL_MEAN, out));
    is(embed(s, 0, 5, GG_POOL_MEAN, out), GG_ERR_UNSUPPORTED,
       "takes a text in one chunk");
    is(gg_session_length(s, 0), 5, "nothing was added");
    is(gg_session_truncate(s, 0, 5), 5, "all of a text can stay");
    is(gg_session_truncate(s, 0, 3), 0, "a part of it cannot");
    must(embed(s, 0, 5, GG_POOL_MEAN, out));
    c = (struct gg_chunk){ .ids = ids, .n = 3, .rows.best = &best };
    is(gg_session_eval(s, &c, 1, &err), GG_ERR_UNSUPPORTED,
       "it has no likeliest ids");
    gg_session_free(s);
}

/* ---- other families ------------------------------------------------------ */

/* The output's matrix makes logits of the vector. */
static void
check_logits(const struct gg_model *m)
{
    struct gg_session *s = new_session(m, gg_session_params_default());
    struct ggml_context *ctx = NULL;
    struct gguf_init_params params = { false, &ctx };
    struct gguf_context *g = gguf_init_from_file(scratch_path(), params);
    const float *w = ggml_get_tensor(ctx, "output.weight")->data;
    float out[E], logits[V];
    double made[V];
    struct gg_chunk c = { .ids = ids,
                          .n = 9,
                          .rows.logits = logits,
                          .embed.values = out,
                          .embed.pooling = GG_POOL_LAST };

    must(gg_session_eval(s, &c, 1, &err));
    for (int i = 0; i < V; i++) {
        made[i] = 0;
        for (int j = 0; j < E; j++)
            made[i] += (double)w[i * E + j] * (double)out[j];
    }
    ok(reference_nmse(logits, made, V) < 1e-12,
       "the last one makes the logits");
    gguf_free(g);
    ggml_free(ctx);
    gg_session_free(s);
}

/* The mean is that of what each id becomes, and the same in any batches. */
static void
check_mean(const struct gg_model *m)
{
    struct gg_session_params p = { .n_batch = 7, .cache_type = GG_CACHE_F16 };
    struct gg_session *s = new_session(m, gg_session_params_default());
    double sum[E] = { 0 };
    float whole[E], parts[E], one[E];

    must(embed(s, 0, 40, GG_POOL_MEAN, whole));
    gg_session_truncate(s, 0, 0);
    for (int i = 0; i < 40; i++) {
        struct gg_chunk c = { .ids = ids + i, .n = 1, .embed.values = one };

        must(gg_session_eval(s, &c, 1, &err));
        for (int j = 0; j < E; j++)
            sum[j] += (double)one[j] / 40;
    }
    ok(reference_nmse(whole, sum, E) < 1e-10, "the mean of all");
    gg_session_truncate(s, 0, 0);
    must(embed(s, 0, 40, GG_POOL_CLS, whole));
    gg_session_truncate(s, 0, 0);
    must(embed(s, 0, 1, GG_POOL_MEAN, one));
    ok(alike(whole, one), "the first one");
    gg_session_truncate(s, 0, 0);
    must(embed(s, 0, 40, GG_POOL_MEAN, whole));
    gg_session_free(s);
    s = new_session(m, p);
    must(embed(s, 0, 40, GG_POOL_MEAN, parts));
    ok(alike(whole, parts), "in batches of 7 the same bytes");
    gg_session_free(s);
}

int
main(void)
{
    struct model_spec spec;
    struct gg_model *m;

    fill_ids(ids, N);
    check_truth("bert-f32", 1e-11);
    check_truth("bert-q8_0", 5e-3);
    check_truth("nomic-bert-f32", 1e-11);
    check_truth("nomic-bert-q4_0", 5e-3);
    if (!models_named("nomic-bert-f32", &spec))
        exit(99);
    m = new_model(&spec);
    check_neighbours(m);
    check_refused(m);
    gg_model_free(m);
    if (!models_named("llama-f32", &spec))
        exit(99);
    m = new_model(&spec);
    check_logits(m);
    check_mean(m);
    gg_model_free(m);
    return tap_done();
}
