/* engine_test.h - what tests of the engine share */
#ifndef ENGINE_TEST_H
#define ENGINE_TEST_H

#include <gg-engine.h>
#include <math.h>

#include "harness/session_test.h"

static int32_t ids[700];

/* A session and an engine of a model: engines come and go. */
struct bench {
    const struct gg_model *model;
    struct gg_session *session;
    struct gg_engine *engine;
};

static inline void
open_bench(struct bench *b, const struct gg_model *m, int32_t n_slots,
           int32_t n_ctx, struct gg_engine_params params)
{
    b->model = m;
    b->session = new_session(m, (struct gg_session_params){ .n_slots = n_slots,
                                                            .n_ctx = n_ctx,
                                                            .n_threads = 2 });
    must(gg_engine_new(m, b->session, &params, &b->engine, &err));
}

static inline void
close_bench(struct bench *b)
{
    gg_engine_free(b->engine);
    gg_session_free(b->session);
}

static const struct model_spec plain_model = { .arch = "llama",
                                               .type = GGML_TYPE_F32,
                                               .n_ctx = 256 };

#endif
