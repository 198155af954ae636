/* records.h - one answer for each record of the input, several at once
 *
 * Records are read as there is room for them, and answered in the order in
 * which they end; what is written has the order of the input. */
#ifndef GENERATE_RECORDS_H
#define GENERATE_RECORDS_H

#include <sys/types.h>

#include "common/records/record_input.h"
#include "gg-generate/generate.h"

/* The answers to a record. */
struct record_answers {
    size_t n;                /* that are wanted, as many to each prompt */
    size_t n_begun, n_ended; /* of them */
    uint64_t n_made;         /* ids in those that have ended */
    uint64_t n_cached;       /* ids of their prompts that were there before */
    struct buffer *written;  /* what is written of each that has ended; NULL:
                              * none has begun */
};

struct stream;

/* A record from when it is read until its answer is written. */
struct record {
    struct record *next;    /* in the input */
    struct request request; /* its number: its place in the whole job, from 1,
                             * or what it says with --numbered */
    struct buffer text;     /* of JSON: what is passed through */
    uint64_t sequence;      /* its draws depend on this and on their place */
    bool takes_date;        /* its prompt may depend on it */
    struct prompt prompt;
    struct vectors *vectors; /* what is embedded; NULL: nothing is */
    struct prompt *others;   /* more of them, whose answers come after its */
    size_t n_others;
    struct logprobs likely; /* of the prompt; empty: not wanted, or not yet */
    struct record_answers answers;
    struct buffer out; /* what is written, once it is */
    const struct writer *writer;
    enum gg_status status; /* GG_OK: it has not failed */
    bool is_read;          /* its members are known */
    bool done;
    bool known; /* it was written by an earlier run, as: */
    struct buffer before;
    int64_t date;          /* that its prompt and answers have */
    char *cache_key;       /* or NULL */
    struct buffer id;      /* with --unordered: its own, in JSON; or empty */
    struct stream *stream; /* NULL: it is written at its end */
    const char *stopped;   /* why it was; or NULL */
    size_t least_ids;      /* of a prompt that was not encoded */
    int64_t came, begun;   /* when it was read, and begun: microseconds */
};

/* Records begin with the values of the options from now on. */
void
generate_start_requests(struct generate *g);

/* One that asks nothing of its own yet. */
struct record *
record_new(const struct generate *g, const struct writer *writer,
           uint64_t number);

/* Frees all that the answers were made of; they must have been cleared. */
void
record_forget_input(struct generate *g, struct record *r);
void
record_free(struct generate *g, struct record *r);

/* A text, or a conversation in JSON, becomes the record's ids. */
enum gg_status
record_encode(struct generate *g, struct record *r, bool messages,
              const char *text, size_t len, struct gg_error *err);

/* The text, after that of -p, becomes the record's ids and, with --echo, what
 * r->out begins with. */
enum gg_status
record_take_prompt(struct generate *g, struct record *r, const char *text,
                   size_t len, struct gg_error *err);

/* Begins one of the answers: draws depend on the record's seed, plus one for
 * each answer to the same prompt before it. */
enum gg_status
record_begin(const struct generate *g, struct record *r, size_t which,
             struct answer *a, struct gg_error *err);

/* Ids, after those of a state, become the record's, and with --echo their text
 * what r->out begins with. */
enum gg_status
record_take_ids(struct generate *g, struct record *r, const int32_t *ids,
                size_t n, struct gg_error *err);

/* The prompt just encoded becomes one of several; the next can be encoded, and
 * record_end_prompts() is to follow. */
void
record_next_prompt(struct record *r);
void
record_end_prompts(struct record *r);

/* The prompt of one of the answers. */
const struct prompt *
record_prompt(const struct record *r, size_t which);

/* How much of that was there before. */
size_t
record_cached(const struct record *r, size_t which, const struct answer *a);

/* How answers are written. */
struct writer {
    /* Adds to `out` what is written of an answer that has ended, perhaps by an
     * error; r->out may hold the prompt. */
    void (*add)(const struct generate *g, const struct record *r, size_t which,
                const struct answer *a, struct buffer *out);
    /* Turns r->out into all that is written: with all answers, or, where
     * `message` says why one has failed, what stands in their place. */
    void (*write)(const struct generate *g, struct record *r,
                  const char *message);
    /* Writes what is new of an answer after a step; NULL: nothing. */
    void (*step)(const struct generate *g, struct record *r, size_t which,
                 const struct answer *a);
};

/* How records are read and written. */
struct form {
    /* The ids and options of a record; its text lives during the call. It may
     * set another writer than this one, before it can fail. */
    enum gg_status (*read)(struct generate *g, struct record *r,
                           const char *text, size_t len, struct gg_error *err);
    const struct writer *writer;
    /* With --numbered: the number that a record says; false: it says none. */
    bool (*number)(const char *text, size_t len, uint64_t *number);
    /* True where `out` could be what was written for the record in an earlier
     * run; *failed gets whether that was an error record, if one can tell. */
    bool (*matches)(struct generate *g, struct record *r, const char *text,
                    size_t len, const char *out, size_t out_len, bool *failed);
    /* The model file's line on sampling when `out` was written, which the
     * caller frees, or NULL for nothing; false: `out` does not tell. NULL: it
     * never does. */
    bool (*sampling)(const char *out, size_t len, char **line);
};

/* One of the answers has ended: what is written of it is kept. */
void
record_end(const struct generate *g, struct record *r, size_t which,
           const struct answer *a);

/* Lines, or with -0 records that NUL ends; with --numbered each begins with
 * its number. */
extern const struct form plain_form;

/* Objects in JSON, a line each. Built without Jansson it is NULL. */
extern const struct form *const jsonl_form;

/* ---- --resume ---- */

/* Makes `path` the standard output: what stands there stays, and more is
 * written after it. The returned descriptor reads it from its begin; or the
 * tool ends.
 */
int
resume_open(const char *path);

/* The last record that has its answer: a run with the same input and options
 * would give it again. */
struct resumed {
    uint64_t n;      /* how many have theirs; 0: there is none */
    uint64_t number; /* the last one's */
    struct buffer text, out;
    bool failed; /* some record, if one can tell */
    off_t end;   /* of the file's whole records; -1: nothing is after it */
};

/* Ends the tool where a job whose answers do not tell what it began with could
 * go on with other values. */
void
resume_check_sampling(const struct generate *g);

/* The job goes on with what the model's file said of sampling when it began, as
 * far as its answers tell. */
void
resume_sampling(struct generate *g);

/* Skips the records of `in` that have their answers in the file `fd`. Ends the
 * tool where they do not belong together. */
void
resume_skip(struct generate *g, const struct form *form,
            struct record_input *in, int fd, const char *path,
            struct resumed *last);

/* Before the first answer is added: cuts off an incomplete one at the end. */
void
resume_cut(const char *path, struct resumed *last);

#endif
