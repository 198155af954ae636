/* run.h - the state of a job of records, for the files that run it */
#ifndef GENERATE_RUN_H
#define GENERATE_RUN_H

#include "common/ticker.h"
#include "gg-generate/flights.h"
#include "gg-generate/unordered.h"

struct records {
    struct generate *g;
    const struct form *form;
    struct record_input in;
    struct record *first, *last; /* not written yet, in order */
    size_t held;                 /* bytes in them */
    struct record *beginning;    /* not all of its answers are begun; or NULL */
    struct active *active;       /* there is room for n_most */
    size_t n_active, n_most;
    struct flights flights;
    bool ended;       /* the input */
    bool failed;      /* a record */
    size_t n_records; /* done */
    struct resumed resumed;
    struct ticker ticker;
    uint64_t all; /* bytes of the input; 0: unknown */
    struct unordered unordered;
};

/* The record has no answer, or no whole one; it is done. What is no fault of
 * its own ends the tool, but with --unordered: it counts as not answered. */
void
records_fail(struct records *w, struct record *r, enum gg_status st,
             const char *message);

/* Ends it by somebody's wish, which the code tells: the job has not failed. */
void
records_stop(struct records *w, struct record *r, const char *code,
             const char *message);

/* All that is written of the record is there: it is done. */
void
records_finish(struct records *w, struct record *r);

/* Its choices are scored: it gets the likeliest. */
void
records_decide(struct records *w, struct record *r);

/* The answer has ended, and perhaps its record. */
void
records_end_answer(struct records *w, struct active *a);

/* Answers that have ended are active no longer. */
void
records_remove_ended(struct records *w);

/* Bytes that a record which is done takes. */
size_t
records_size(const struct record *r);

/* Writes what is done, in the order of the input, or with --unordered all. */
void
records_write_done(struct records *w);

/* For -v: how much was done, in `us` microseconds. */
void
records_describe(const struct records *w, int64_t us);

/* How much of the job is done is the input that was taken. */
void
records_show_progress(struct records *w);

/* A line that was read waits no more: it is not begun. */
void
records_refuse(struct records *w, struct inbox_item *item, const char *code,
               const char *message);

/* A line that was read waits no more: the record begins. None else is
 * beginning. */
void
records_start(struct records *w, struct inbox_item *item);

#endif
