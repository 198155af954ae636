/* draft_length.h - how many ids to draft: as many as pay
 *
 * A drafted id is accepted with a probability, which is learned, and each that
 * is not makes those after it useless. An evaluation's time grows with the
 * number of its ids, which is measured. So there is a number of ids with which
 * most ids a second can be expected; it may be 0.
 *
 * Drafts cost time before it is known what they are worth. Where making one
 * costs little, the first ones are made aside: they are not evaluated, and the
 * id that is drawn next tells whether they were right. As long as that does not
 * make drafts pay, there are fewer and fewer of them. An account has the time
 * of all drafts, less the time of evaluations that accepted ids have spared. It
 * may have at most one percent of all time and a little to begin with: more is
 * drafted only as time goes by. */
#ifndef ENGINE_DRAFT_LENGTH_H
#define ENGINE_DRAFT_LENGTH_H

#include <stdbool.h>
#include <stddef.h>

enum {
    DRAFT_MOST = 15,
    DRAFT_LIKELY = 2, /* the most hopeful of three kinds */
    DRAFT_FORCED,     /* bytes that must come, of ids that may be others */
    DRAFT_KINDS,
    DRAFT_PLACES = 4,  /* ids of a draft, the last for all after it */
    DRAFT_SIZES = 5,   /* numbers of texts: 1, 2, up to 4, up to 8, more */
    DRAFT_SAMPLES = 5, /* times that are remembered */
};

/* Times in us, the last first. */
struct draft_time {
    double last[DRAFT_SAMPLES];
    size_t n;
};

struct draft_length {
    /* How many ids of each kind and place were tried and accepted lately. */
    struct draft_odds {
        double tried, accepted;
    } odds[DRAFT_KINDS][DRAFT_PLACES];
    struct draft_times {
        struct draft_time of[DRAFT_MOST + 1]; /* i: of an evaluation with i ids
                                                 more than one a text, */
        struct draft_time each;               /* to draft one a text, or, */
        double plain;                         /* mean of of[0] for longer, */
        size_t n_plain;                       /* of N, at most MANY */
        size_t since;                         /* evaluations since then */
    } times[DRAFT_SIZES];
    bool at_once;       /* where that is one step, all of them */
    size_t n_texts;     /* of the evaluation under way; 0 is 1 */
    double drafting;    /* time that its drafts took */
    double spent, owed; /* time: all, and the account */
    size_t rests;       /* drafts in a row that were thought not to pay */
    bool pays;          /* what is drafted at a cost did, when last tried; else
                           it is made aside: */
    size_t asides;      /* how many since then, */
    size_t waits;       /* and evaluations since the last of these */
    /* The model goes back to where an evaluation began: then what was accepted
     * of a draft that was not accepted whole is evaluated again. `again` counts
     * these ids. */
    bool goes_back;
    size_t again;
    size_t given; /* ids that are drafted already, as good as accepted */
    size_t fixed; /* for measurements: so many, whatever pays; 0: learned */
};

void
engine_draft_length_init(struct draft_length *d);

/* Drafts for n texts are next. */
void
engine_draft_length_begin(struct draft_length *d, size_t n_texts);

/* How many of that kind, `most` at most, after those that are given. */
size_t
engine_draft_length_best(struct draft_length *d, int kind, size_t most);

/* How many of that kind, `most` at most, are accepted in half of all cases. */
size_t
engine_draft_length_likely(const struct draft_length *d, int kind, size_t most);

/* Likewise where drafts are made at a cost. *aside: one id is made, and not
 * evaluated. */
size_t
engine_draft_length_try(struct draft_length *d, int kind, size_t most,
                        bool *aside);

/* Whether it is known how long evaluations without drafts take. */
bool
engine_draft_length_timed(struct draft_length *d);

/* The first `accepted` of n ids were accepted; fewer than n: the next was
 * not. */
void
engine_draft_length_learn(struct draft_length *d, int kind, size_t n,
                          size_t accepted);

/* An id that was made aside was right, or was not. */
void
engine_draft_length_tried(struct draft_length *d, int kind, bool right);

/* None of that kind was drafted; so that it is tried again some time. */
void
engine_draft_length_skipped(struct draft_length *d, int kind);

/* An evaluation with n ids more than one a text has taken so long; drafting n
 * ids a text, another time. */
void
engine_draft_length_evaluated(struct draft_length *d, size_t n, double us);
void
engine_draft_length_drafted(struct draft_length *d, size_t n, double us);

/* None can be made of that kind this time. */
void
engine_draft_length_wait(struct draft_length *d);

/* Drafts do not pay, and have not for a while, and the next is not made soon.
 */
bool
engine_draft_length_rests(const struct draft_length *d);

#endif
