/* session_test.h - what tests of sessions begin with */
#ifndef SESSION_TEST_H
#define SESSION_TEST_H

#include <gg.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/models.h"
#include "scratch.h"
#include "tap.h"

enum {
    V = MODELS_N_VOCAB,
};

static struct gg_error err;

static inline void
must(enum gg_status st)
{
    if (st != GG_OK) {
        printf("Bail out! %s\n", err.message);
        exit(99);
    }
}

static inline void
fill_ids(int32_t *ids, int n)
{
    for (int i = 0; i < n; i++)
        ids[i] = (int32_t)((i * 37LL + (long long)i * i * 11) % V);
}

static inline struct gg_model *
new_model(const struct model_spec *spec)
{
    struct gg_model *m;

    if (!models_write(spec, scratch_path()))
        exit(99);
    must(gg_model_open(scratch_path(), NULL, &m, &err));
    return m;
}

static inline struct gg_session *
new_session(const struct gg_model *model, struct gg_session_params params)
{
    struct gg_session *s;

    must(gg_session_new(model, &params, &s, &err));
    return s;
}

/* Evaluates ids[from..to) in the slot; the last one's logits to `out`. */
static inline void
eval_ids(struct gg_session *s, int32_t slot, const int32_t *ids, int from,
         int to, float *out)
{
    struct gg_chunk c = { .slot = slot,
                          .ids = ids + from,
                          .n = (size_t)(to - from),
                          .rows.logits = out };

    must(gg_session_eval(s, &c, 1, &err));
}

static inline bool
same(const float *a, const float *b)
{
    return !memcmp(a, b, V * sizeof(*a));
}

/* Logits after ids[0..n) when they come `step` at a time. */
static inline void
in_steps(const struct gg_model *m, struct gg_session_params params,
         const int32_t *ids, int step, int n, float *out)
{
    struct gg_session *s = new_session(m, params);

    for (int i = 0; i < n; i += step)
        eval_ids(s, 0, ids, i, i + step < n ? i + step : n, out);
    gg_session_free(s);
}

#endif
