/* draft_test.h - texts with drafts by what reads a model's inside: ids of three
 * texts at once, which shift */
#ifndef ENGINE_DRAFT_TEST_H
#define ENGINE_DRAFT_TEST_H

#include <gg-engine.h>

#include "core/mem.h"
#include "engine/draft.h"
#include "harness/session_test.h"

enum {
    N_TEXTS = 3,
    N_MADE = 60,
    PROMPT = 30,
};

static int32_t ids[512];

struct made {
    int32_t ids[N_TEXTS][N_MADE];
    size_t n[N_TEXTS];
};

struct bench {
    struct gg_session *session;
    struct gg_engine *engine;
    struct gg_sequence *sequence[N_TEXTS];
    struct gg_text *text[N_TEXTS];
};

/* The session's, but for slots and the context. */
static struct gg_session_params session_params;
static size_t fixed = 2; /* ids of each draft; 0: as many as pay */

static inline enum gg_status
start(struct bench *b, const struct gg_model *m, struct gg_sampler *sampler,
      int n_slots, bool mtp)
{
    struct gg_session_params params = session_params;
    const struct gg_engine_params shift = { .shift = true };
    enum gg_status st;

    params.n_slots = n_slots;
    params.n_ctx = 128;
    *b = (struct bench){ 0 };
    st = gg_session_new(m, &params, &b->session, &err);
    if (st == GG_OK)
        st = gg_engine_new(m, b->session, &shift, &b->engine, &err);
    if (st == GG_OK && mtp)
        st = gg_engine_draft_mtp(b->engine, &err);
    if (st == GG_OK && mtp)
        b->engine->draft->length.fixed = fixed;
    if (n_slots > N_TEXTS) /* prompts enter in pieces */
        gg_engine_bound_steps(b->engine, 9, 0);
    for (int i = 0; i < N_TEXTS && st == GG_OK; i++) {
        struct gg_text_params p = { .sampler = sampler,
                                    .sequence = (uint64_t)i,
                                    .ignore_eog = i == 1,
                                    .max_ids = N_MADE };

        st = gg_sequence_new(b->engine, &b->sequence[i], &err);
        if (st == GG_OK)
            st = gg_sequence_put(b->sequence[i], ids + 7 * i,
                                 (size_t)(PROMPT + 20 * i), &err);
        if (st == GG_OK)
            st = gg_text_new(b->sequence[i], &p, &b->text[i], &err);
    }
    return st;
}

static inline void
end(struct bench *b)
{
    for (int i = 0; i < N_TEXTS; i++) {
        gg_text_free(b->text[i]);
        gg_sequence_free(b->sequence[i]);
    }
    gg_engine_free(b->engine);
    gg_session_free(b->session);
}

static inline enum gg_status
run(struct bench *b, struct made *out)
{
    enum gg_status st = GG_OK;
    struct gg_text *open[N_TEXTS];
    size_t n = 1;

    while (st == GG_OK && n > 0) {
        n = 0;
        for (int i = 0; i < N_TEXTS; i++)
            if (gg_text_finish(b->text[i]) == GG_FINISH_NONE)
                open[n++] = b->text[i];
        if (n)
            st = gg_engine_step(b->engine, open, n, &err);
    }
    for (int i = 0; i < N_TEXTS && st == GG_OK; i++) {
        const int32_t *made = gg_text_ids(b->text[i], &out->n[i]);

        memcpy(out->ids[i], made, out->n[i] * sizeof(*made));
    }
    return st;
}

static inline struct gg_draft_stats
make(const struct gg_model *m, struct gg_sampler *sampler, int n_slots,
     bool mtp, struct made *out)
{
    struct gg_draft_stats stats;
    struct bench b;

    memset(out, 0, sizeof(*out));
    must(start(&b, m, sampler, n_slots, mtp));
    must(run(&b, out));
    stats = gg_engine_draft_stats(b.engine);
    end(&b);
    return stats;
}

/* The model, with what it drafts by or without: a drafter of that file, or, if
 * it is NULL, layers of its own. */
static inline struct gg_model *
open_drafts(const char *path, bool drafts, const char *drafter)
{
    const struct gg_model_params params = { .mtp = drafts,
                                            .mtp_path = drafter };
    struct gg_model *m;

    must(gg_model_open(path, &params, &m, &err));
    return m;
}

/* Greedy texts with drafts, wherever memory is wanting. */
static inline void
check_want(const struct gg_model *m)
{
    const struct gg_sampler_params greedy = { .greedy = true };
    struct gg_sampler *sampler;
    enum gg_status st = GG_ERR_NOMEM;
    bool clean = true;
    long n = 0;

    must(gg_sampler_new(&greedy, &sampler, &err));
    for (; st != GG_OK && n < 100000; n += 13) {
        struct bench b;
        struct made got;

        mem_fail_after(n);
        st = start(&b, m, sampler, N_TEXTS, true);
        if (st == GG_OK)
            st = run(&b, &got);
        mem_fail_after(-1);
        clean = clean && (st == GG_OK || st == GG_ERR_NOMEM);
        end(&b);
    }
    ok(clean && n > 100 && n < 100000, "want of memory is a status");
    gg_sampler_free(sampler);
}

/* A model that is opened with too little memory leaves nothing. */
static inline void
check_opening(const char *drafter)
{
    const struct gg_model_params params = { .mtp = true, .mtp_path = drafter };
    enum gg_status st = GG_ERR_NOMEM;
    bool clean = true;
    long n = 0;

    for (; st != GG_OK && n < 100000; n++) {
        struct gg_model *m = NULL;

        mem_fail_after(n);
        st = gg_model_open(scratch_path(), &params, &m, &err);
        mem_fail_after(-1);
        clean = clean && (st == GG_OK || st == GG_ERR_NOMEM);
        gg_model_free(st == GG_OK ? m : NULL);
    }
    ok(clean && n > 100 && n < 100000, "so it is where the model is opened");
}

#endif
