/* draft_slots_test.h - what happens to slots while something drafts, whatever
 * it is: the test says how it drafts */
#ifndef SESSION_DRAFT_SLOTS_TEST_H
#define SESSION_DRAFT_SLOTS_TEST_H

#include "session/pair_test.h"
#include "session/session.h"

enum {
    PAST = 70, /* more than hidden vectors are kept, and beyond windows */
    MOST = 15, /* ids of a draft */
};

static int32_t ids[PAST + MOST + 1];
static double *truth; /* logits of drafts after PAST ids; -INFINITY: of an id
                         that no draft has */

/* ---- what a test defines ------------------------------------------------- */

/* The logits of all that is drafted after the slot's first PAST ids. */
static void
guess(struct gg_session *s, int32_t slot, float out[][V]);

/* These logits are those of `truth`. */
static void
check_guess(struct gg_session *s, int32_t slot, const char *what);

/* ---- checks -------------------------------------------------------------- */

static inline struct gg_session *
new_slots(const struct gg_model *m, int n)
{
    return new_session(m, (struct gg_session_params){
                              .n_slots = n, .cache_type = GG_CACHE_F32 });
}

static inline void
check_chunks(const struct gg_model *m)
{
    static const int steps[] = { 1, 7, PAST };
    float out[V];

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct gg_session *s = new_slots(m, 1);

        for (int at = 0; at < PAST; at += steps[i])
            eval_ids(s, 0, ids, at, at + steps[i] < PAST ? at + steps[i] : PAST,
                     out);
        check_guess(s, 0, "the logits of the formula");
        gg_session_free(s);
    }
}

/* Some of what was drafted is accepted: a recurrent model goes back further,
 * and what drafts are made of stays. */
static inline void
check_accepted(const struct gg_model *m)
{
    struct gg_session *s = new_slots(m, 1);
    float out[V];

    eval_ids(s, 0, ids, 0, PAST - 3, out);
    eval_ids(s, 0, ids, PAST - 3, PAST + 2, out);
    gg_session_truncate(s, 0, PAST);
    check_guess(s, 0, "after ids that were accepted");
    if (gg_session_length(s, 0) < PAST)
        eval_ids(s, 0, ids, gg_session_length(s, 0), PAST, out);
    check_guess(s, 0, "and were evaluated again");
    gg_session_free(s);
}

/* Logits have the same bytes with drafts as without them. */
static inline void
check_logits(struct gg_session *drafts, struct gg_session *plain)
{
    float a[V], b[V], out[MOST][V];
    bool all = true;

    for (int at = 0; at < PAST; at += 14) {
        eval_ids(drafts, 0, ids, at, at + 14, a);
        eval_ids(plain, 0, ids, at, at + 14, b);
        all = all && same(a, b);
    }
    guess(drafts, 0, out);
    eval_ids(drafts, 0, ids, PAST, PAST + 1, a);
    eval_ids(plain, 0, ids, PAST, PAST + 1, b);
    okn(all && same(a, b), "the model's logits are what they were");
}

/* A state file has nothing to draft by: drafts after it, and more ids. */
static inline void
draft_after_state(const struct gg_model *m, const char *lacks, float out[][V])
{
    struct gg_session *s = new_session(m, gg_session_params_default());
    struct gg_state_sequence q = { .ids = ids, .n_ids = 20, .n_held = 20 };
    struct gg_state state = { .sequences = &q, .n_sequences = 1 };
    char path[SCRATCH_PATH + 8];
    struct gg_state_file *file;
    float a[V], b[V];

    snprintf(path, sizeof(path), "%s.state", scratch_path());
    eval_ids(s, 0, ids, 0, 20, a);
    must(gg_session_save(s, &state, path, &err));
    eval_ids(s, 0, ids, 20, PAST, a);
    gg_session_truncate(s, 0, 0);
    must(gg_state_open(path, s, &file, &err));
    okn(gg_session_load(s, 0, file, 0) == 20, "a state is loaded");
    okn(!session_mtp_can(s, 0, 20), lacks);
    eval_ids(s, 0, ids, 20, PAST, b);
    okn(same(a, b), "and the model's logits are what they were");
    okn(session_mtp_can(s, 0, PAST), "later there are some");
    guess(s, 0, out);
    gg_state_close(file);
    gg_session_free(s);
    remove(path);
}

#endif
