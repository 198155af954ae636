/* draft_test.h - checks of drafts by layers that read a model's hidden vectors:
 * MTP layers, or a drafter */
#ifndef DRAFT_TEST_H
#define DRAFT_TEST_H

#include <math.h>
#include <stdio.h>

#include "fixtures/reference.h"
#include "session/draft_slots_test.h"

enum {
    STEPS = 5,
};

static inline int
steps_of(const struct gg_session *s)
{
    return session_mtp(s) < STEPS ? session_mtp(s) : STEPS;
}

/* The logits of all steps after the slot's first PAST ids. */
static void
guess(struct gg_session *s, int32_t slot, float out[][V])
{
    struct model_guess q = { .slot = slot, .past = PAST, .ids = ids + PAST };

    for (int i = 0; i < steps_of(s); i++) {
        q.n = i + 1;
        q.logits = out[i];
        must(session_mtp_guess(s, &q, 1, &err));
    }
}

/* NMSE over ids that a draft may have; no other has a logit. */
static inline double
error_of_row(const float *out, const double *is)
{
    float some[V];
    double right[V];
    int n = 0;

    for (int i = 0; i < V; i++) {
        if ((is[i] > -INFINITY) != (out[i] > -INFINITY))
            return NAN;
        if (!(is[i] > -INFINITY))
            continue;
        some[n] = out[i];
        right[n++] = is[i];
    }
    return reference_nmse(some, right, n);
}

/* The worst NMSE. */
static inline double
error_of(struct gg_session *s, float out[][V])
{
    double worst = 0;

    for (int i = 0; i < steps_of(s); i++) {
        double e = error_of_row(out[i], truth + i * V);

        worst = e > worst || !(e == e) ? e : worst;
    }
    printf("# NMSE %.1e\n", worst);
    return worst;
}

static void
check_guess(struct gg_session *s, int32_t slot, const char *what)
{
    float out[STEPS][V];

    okn(session_mtp_can(s, slot, PAST), "the hidden vector is there");
    guess(s, slot, out);
    okn(error_of(s, out) < 1e-9, what);
}

/* Drafts that are rejected leave nothing. */
static inline void
check_rejected(const struct gg_model *m)
{
    struct gg_session *s = new_slots(m, 1);
    int32_t wrong[6] = { 9, 8, 7, 6, 5, 4 };
    float out[V];

    eval_ids(s, 0, ids, 0, PAST - 2, out);
    for (int i = 0; i < 3; i++) {
        memcpy(wrong, ids + PAST - 2, sizeof(*wrong));
        eval_ids(s, 0, wrong, 0, 6, out);
        gg_session_truncate(s, 0, PAST - 2);
    }
    eval_ids(s, 0, ids, gg_session_length(s, 0), PAST, out);
    check_guess(s, 0, "after ids that were taken back");
    gg_session_free(s);
}

static inline void
check_slots(const struct gg_model *m)
{
    struct gg_session *s = new_slots(m, 3);
    struct gg_chunk chunks[] = {
        { .slot = 0, .ids = ids + 3, .n = 40 },
        { .slot = 1, .ids = ids, .n = PAST },
        { .slot = 2, .ids = ids + 5, .n = 1 },
    };
    float out[3][V], alone[V];
    struct model_guess q[3];

    must(gg_session_eval(s, chunks, 3, &err));
    check_guess(s, 1, "among other slots");
    for (int i = 0; i < 3; i++)
        q[i] = (struct model_guess){ .slot = i,
                                     .past = (int32_t)chunks[i].n,
                                     .ids = ids + 20,
                                     .n = 1,
                                     .logits = out[i] };
    must(session_mtp_guess(s, q, 3, &err));
    for (int i = 0; i < 3; i++) {
        q[i].logits = alone;
        must(session_mtp_guess(s, &q[i], 1, &err));
        okn(same(alone, out[i]), "together the same bytes");
    }
    gg_session_copy(s, 2, 1, PAST);
    eval_ids(s, 1, ids + 9, 0, 1, alone);
    check_guess(s, 2, "in a copy");
    gg_session_free(s);
}

/* A shared prefix: one key is missing, and no other. */
static inline void
check_prefix(const struct gg_model *m)
{
    struct gg_session *s = new_slots(m, 2);
    float out[V], first[STEPS][V], other[STEPS][V];
    int32_t n;

    eval_ids(s, 0, ids, 0, PAST, out);
    n = gg_session_copy(s, 1, 0, 20);
    okn(n == 0 || !session_mtp_can(s, 1, n),
        "of a prefix no hidden vector is kept");
    eval_ids(s, 1, ids, n, PAST, out);
    guess(s, 0, first);
    guess(s, 1, other);
    okn(error_of(s, first) < 1e-9, "the logits of the one are right");
    okn(error_of(s, other) < (n ? 0.5 : 1e-9),
        "those of the other miss one key at most");
    gg_session_free(s);
}

/* Logits have the same bytes with the layers as without them. */
static inline void
check_bytes(const struct gg_model *m)
{
    struct gg_model *plain;
    struct gg_session *s, *t;

    must(gg_model_open(scratch_path(), NULL, &plain, &err));
    s = new_session(m, gg_session_params_default());
    t = new_session(plain, gg_session_params_default());
    check_logits(s, t);
    okn(gg_session_mtp(t, NULL, NULL) == 0 && session_mtp(t) == 0,
        "layers that were not requested are not there");
    gg_session_free(s);
    gg_session_free(t);
    gg_model_free(plain);
}

static inline void
check_memory(const struct gg_model *m, int n_mtp)
{
    struct gg_session *s = new_session(m, gg_session_params_default());
    struct gg_memory memory;
    size_t weights, cache;

    okn(gg_session_mtp(s, &weights, &cache) == n_mtp && weights &&
            cache > 48 * 64 * sizeof(float),
        "their number and bytes are known");
    must(gg_model_memory(m, NULL, &memory, &err));
    okn(memory.mtp_weights == weights && memory.mtp_cache == cache &&
            memory.weights > weights,
        "before a session is there, too");
    gg_session_free(s);
}

static inline void
check_state(const struct gg_model *m)
{
    float out[STEPS][V];

    draft_after_state(m, "which has no hidden vectors", out);
}

#endif
