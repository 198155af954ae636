/* test_scores.c - log-probabilities of all ids of a chunk
 *
 * Truth: the logits after each id, one call for each, and their logarithmic
 * softmax in double precision. */
#include <math.h>

#include "api/model.h"
#include "session/cache.h"
#include "session/compute.h"
#include "harness/session_test.h"

enum {
    N = 300,
};

static int32_t ids[N];

static void
find_truth(const struct gg_model *m, float *truth)
{
    struct gg_session *s = new_session(m, gg_session_params_default());
    float out[V];

    for (int i = 0; i < N - 1; i++) {
        double sum = 0;

        eval_ids(s, 0, ids, i, i + 1, out);
        for (int k = 0; k < V; k++)
            sum += exp((double)out[k] - (double)out[ids[i + 1]]);
        truth[i] = (float)-log(sum);
    }
    gg_session_free(s);
}

/* Ids of the first call, whose last logits go to `logits`, and of all others;
 * the log-probability of each call's first id is not known. */
static void
score(const struct gg_model *m, struct gg_session_params p, int first, int step,
      float *out, float *logits)
{
    struct gg_session *s = new_session(m, p);

    for (int i = 0; i < N; i += i ? step : first) {
        int n = i ? step : first;
        struct gg_chunk c = { .ids = ids + i,
                              .n = (size_t)(i + n < N ? n : N - i),
                              .rows.logits = logits,
                              .scores.logprobs = out + i };

        must(gg_session_eval(s, &c, 1, &err));
    }
    gg_session_free(s);
}

static bool
near(const float *a, const float *b)
{
    for (int i = 0; i < N - 1; i++)
        if (!(fabsf(a[i] - b[i]) < 2e-6f * (1 + fabsf(b[i]))))
            return false;
    return true;
}

static struct gg_model *
named_model(const char *name)
{
    struct model_spec spec;

    if (!models_named(name, &spec))
        exit(99);
    return new_model(&spec);
}

static void
check_family(const char *name)
{
    struct gg_model *m = named_model(name);
    struct gg_session_params p = gg_session_params_default();
    float truth[N], out[N], same_out[N], logits[V], with[V];
    bool all = true;

    find_truth(m, truth);
    in_steps(m, p, ids, N, N, logits);
    score(m, p, N, N, out, with);
    ok(near(out, truth), "those of every id are those of its logits");
    ok(same(logits, with), "and the last logits what they are without");
    for (int n = 1; n < 600; n = 3 * n + 7) {
        p.n_batch = n;
        p.n_threads = n % 4 + 1;
        score(m, p, N, N, same_out, NULL);
        all = all && !memcmp(same_out, out, (N - 1) * sizeof(*out));
    }
    ok(all, "the same bytes for any batch, any threads");
    p = gg_session_params_default();
    memcpy(same_out, out, sizeof(out));
    score(m, p, 100, 67, same_out, logits);
    all = same(logits, with);
    for (int i = 0; i < N - 1; i++)
        all = all && same_out[i] == out[i];
    ok(all, "and however the text is cut");
    gg_model_free(m);
}

/* Chunks that want this and that, in one call. */
static void
check_neighbours(const struct gg_model *m)
{
    struct gg_session_params p = { .n_slots = 4,
                                   .n_batch = 50,
                                   .cache_type = GG_CACHE_F16 };
    struct gg_session *s = new_session(m, p);
    float truth[N], logits[V], a[N], b[V], c[N], d[V];
    struct gg_chunk chunks[] = {
        { .slot = 2, .ids = ids, .n = N, .scores.logprobs = a },
        { .ids = ids + 7, .n = 40, .rows.logits = b },
        { .slot = 3,
          .ids = ids + 3,
          .n = 1,
          .rows.logits = d,
          .scores.logprobs = c },
        { .slot = 1, .ids = ids, .n = 50 },
    };

    score(m, p, N, N, truth, NULL);
    c[0] = 7;
    must(gg_session_eval(s, chunks, 4, &err));
    ok(!memcmp(a, truth, (N - 1) * sizeof(*a)), "neighbours change nothing");
    in_steps(m, p, ids + 7, 40, 40, logits);
    ok(same(b, logits), "and get their logits");
    in_steps(m, p, ids + 3, 1, 1, logits);
    ok(same(d, logits) && c[0] == 7, "one id has none that follows");
    gg_session_free(s);
}

/* Each call says which id may follow its last one, so that none is left out;
 * and wants logits after some of its last ids. */
static void
check_next(const struct gg_model *m)
{
    struct gg_session_params p = { .n_batch = 40, .cache_type = GG_CACHE_F16 };
    struct gg_session *s = new_session(m, p);
    float truth[N], out[N], rows[60 * V], logits[V];
    bool all = true;
    int n_last = 0;

    score(m, gg_session_params_default(), N, N, truth, NULL);
    for (int i = 0, n; i < N - 1; i += n) {
        n = i % 67 + 1 < N - 1 - i ? i % 67 + 1 : N - 1 - i;
        n_last = (n + 2) / 3;
        must(
            gg_session_eval(s,
                            &(struct gg_chunk){ .ids = ids + i,
                                                .n = (size_t)n,
                                                .rows.logits = rows,
                                                .scores.logprobs = out + i,
                                                .scores.next = ids + i + n,
                                                .rows.n_last = (size_t)n_last },
                            1, &err));
    }
    ok(!memcmp(out, truth, (N - 1) * sizeof(*out)),
       "the id that follows has its own, too");
    for (int i = 0; i < n_last; i++) {
        in_steps(m, p, ids, 40, N - n_last + i, logits);
        all = all && same(rows + i * V, logits);
    }
    ok(all && n_last > 1, "and the last ids their logits");
    gg_session_free(s);
}

/* Only some values are computed; each of several ids may be the next. */
static void
check_some(const struct gg_model *m)
{
    struct gg_session_params p = { .n_batch = 40, .cache_type = GG_CACHE_F16 };
    struct gg_session *s = new_session(m, p);
    const int32_t next[] = { ids[100], 0, V - 1, ids[100] };
    float truth[N], out[34], logits[V];
    double sum = 0, most = -INFINITY;
    bool all = true;
    struct gg_chunk chunk = { .ids = ids,
                              .n = 100,
                              .scores.logprobs = out,
                              .scores.first = 71,
                              .scores.next = next,
                              .scores.n_next = 4 };

    score(m, gg_session_params_default(), N, N, truth, NULL);
    out[33] = 7;
    must(gg_session_eval(s, &chunk, 1, &err));
    ok(!memcmp(out, truth + 70, 30 * sizeof(*out)) && out[33] == 7 &&
           out[32] == out[29],
       "what is left out is, and the rest is the same");
    in_steps(m, p, ids, 40, 100, logits);
    for (int i = 0; i < V; i++)
        most = logits[i] > most ? (double)logits[i] : most;
    for (int i = 0; i < V; i++)
        sum += exp((double)logits[i] - most);
    for (int i = 0; i < 4; i++)
        all = all && fabs((double)logits[next[i]] - most - log(sum) -
                          (double)out[29 + i]) < 1e-4;
    ok(all, "each id that may be next has its probability");
    chunk.scores.first = 101;
    is(gg_session_eval(s, &chunk, 1, &err), GG_ERR_ARG,
       "no more can be left out than there are");
    gg_session_free(s);
}

/* Logits after the last ids of each chunk, without log-probabilities. */
static void
check_last(const struct gg_model *m)
{
    struct gg_session_params p = { .n_slots = 2,
                                   .n_batch = 50,
                                   .cache_type = GG_CACHE_F16 };
    struct gg_session *s = new_session(m, p);
    float a[60 * V], b[9 * V], logits[V];
    int32_t next = V;
    struct gg_chunk chunks[] = {
        { .slot = 1,
          .ids = ids,
          .n = 100,
          .rows.logits = a,
          .rows.n_last = 60 },
        { .ids = ids + 7, .n = 9, .rows.logits = b, .rows.n_last = 9 },
    };
    struct gg_chunk bad[] = {
        { .ids = ids, .n = 2, .rows.logits = a, .rows.n_last = 3 },
        { .ids = ids, .n = 2, .scores.logprobs = a, .scores.next = &next },
    };
    bool all = true;

    must(gg_session_eval(s, chunks, 2, &err));
    for (int i = 0; i < 60; i++) {
        in_steps(m, p, ids, 100, 41 + i, logits);
        all = all && same(a + i * V, logits);
    }
    for (int i = 0; i < 9; i++) {
        in_steps(m, p, ids + 7, 1, 1 + i, logits);
        all = all && same(b + i * V, logits);
    }
    ok(all, "logits after many ids are those after each");
    ok(gg_session_eval(s, &bad[0], 1, &err) == GG_ERR_ARG &&
           gg_session_eval(s, &bad[1], 1, &err) == GG_ERR_ARG,
       "more than there are, and no id of the vocabulary, are refused");
    gg_session_free(s);
}

/* A batch as the session makes it, with a slice of 7 rows. */
static bool
score_in_slices(const struct model *m, struct cache *cache, struct compute *c,
                float *out)
{
    struct gg_chunk chunk = { .ids = ids, .n = 100, .scores.logprobs = out };
    struct batch b;
    struct media media;
    struct slots slots;
    bool done = false;

    session_media_init(&media, m->hp.n_vocab, m->hp.n_embd);
    if (session_slots_init(&slots, 1, false, 0, &media) &&
        session_batch_init(&b, 128, 1, &m->hp, &slots) &&
        session_logprobs_start(&c->logprobs, m, c->backends, c->n_backends,
                               false, &err) == GG_OK) {
        c->logprobs.max_rows = 7;
        session_batch_start(&b);
        done = session_batch_add(&b, cache, &chunk, 0, chunk.n, 0, NULL) == 100;
        session_batch_finish(&b);
        done = done && session_compute_run(c, cache, &b, NULL, &err) == GG_OK;
    }
    session_batch_clear(&b);
    session_slots_clear(&slots);
    return done;
}

static void
check_slices(const struct gg_model *model)
{
    const struct model *m = model->model;
    const struct cache_form halves = { .types = { GGML_TYPE_F16,
                                                  GGML_TYPE_F16 } };
    struct cache cache;
    struct compute c;
    float truth[N], out[N];

    score(model, gg_session_params_default(), N, N, truth, NULL);
    must(session_cache_init(&cache, m, &halves, 1, 256, 128, &err));
    must(session_compute_init(&c, m, &cache, 128, 1, 2, NULL, NULL, &err));
    ok(score_in_slices(m, &cache, &c, out) &&
           !memcmp(out, truth, 99 * sizeof(*out)),
       "slices change nothing");
    session_compute_clear(&c);
    session_cache_clear(&cache);
}

/* Ids whose probabilities are too small for a float. */
static void
check_extremes(const struct gg_model *m)
{
    struct gg_session *s = new_session(m, gg_session_params_default());
    size_t before, after;
    float out[N];
    struct gg_chunk c = { .ids = ids, .n = N, .scores.logprobs = out };
    bool all = true, some = false;

    gg_session_memory(s, NULL, &before);
    must(gg_session_eval(s, &c, 1, &err));
    gg_session_memory(s, NULL, &after);
    for (int i = 0; i < N - 1; i++)
        all = all && isfinite(out[i]) && out[i] <= 0;
    for (int i = 0; i < N - 1; i++)
        some = some || out[i] < -200;
    ok(all && some, "logarithms stay finite where probabilities are none");
    ok(after > before, "the memory that it takes is told");
    gg_session_free(s);
}

/* Its logits are hundreds apart. */
static struct gg_model *
steep_model(void)
{
    struct model_spec spec;

    if (!models_named("granite-f32", &spec))
        exit(99);
    for (int i = 0; i < 8; i++)
        if (spec.keys[i].name && !strcmp(spec.keys[i].name, "logit_scale"))
            spec.keys[i].number = 1e-3;
    return new_model(&spec);
}

int
main(void)
{
    struct gg_model *m;

    fill_ids(ids, N);
    check_family("llama-q4_0");
    check_family("gpt2-f16");
    m = named_model("llama-f32");
    check_neighbours(m);
    check_next(m);
    check_last(m);
    check_some(m);
    check_slices(m);
    gg_model_free(m);
    m = steep_model();
    check_extremes(m);
    gg_model_free(m);
    return tap_done();
}
