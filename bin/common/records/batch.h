/* batch.h - records of OpenAI's batch files: a request each, by its id
 *
 *     {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions",
 *      "body": {"messages": [...], "n": 2}}
 *
 * The body's members are those of other records, but that `n` is the number of
 * answers. What is written has the form of OpenAI's output files. */
#ifndef RECORDS_BATCH_H
#define RECORDS_BATCH_H

#include "common/records/answer.h"
#include "common/records/request.h"

enum {
    BATCH_MOST = 128, /* answers to one request */
};

enum batch_kind {
    BATCH_TEXT,
    BATCH_CHAT,
    BATCH_EMBEDS, /* it wants embeddings, and no text */
    BATCH_RANKS,  /* it wants scores of documents, and no text */
};

/* Members of a request that other records do not have. */
struct batch {
    enum batch_kind kind;
    bool is_base64; /* each embedding is text of bytes, and no array */
    size_t dims;    /* values of each; 0: all */
    bool returns;   /* scores with the documents, */
    size_t n_best;  /* of the best ones; 0: all */
    bool has_top;   /* top_logprobs was there */
    size_t best_of; /* answers that the best are taken of; 0: not said */
    bool ready;     /* the body can be answered */
    struct buffer custom_id, model; /* JSON; the latter may be empty */
    bool lenient; /* what the model has no place for is left out, with: */
    struct buffer warnings; /* strings in JSON, separated by commas */
};

/* Whether numbers are the answer, and no text. */
static inline bool
batch_has_vectors(const struct batch *b)
{
    return b->kind == BATCH_EMBEDS || b->kind == BATCH_RANKS;
}

/* ---- reading ---- */

/* True for an object with custom_id and body. */
bool
batch_is(const struct record_value *object);

/* Makes the request such a one, and opens its body, which is to be closed even
 * if this fails. */
enum gg_status
batch_open(struct request *r, const struct record_object *object,
           struct record_object *body, struct gg_error *err);

/* Takes a member of the body that other records have not, or that means
 * something else there; *taken says whether it is one. */
enum gg_status
batch_set(struct request *r, const char *key, const struct json_t *value,
          bool *taken, struct gg_error *err);

/* Whether its options go together, and with its prompt. */
enum gg_status
batch_check(struct request *r, const struct record_value *body,
            struct gg_error *err);

/* Takes all members of a body that wants embeddings, or scores; its inputs, or
 * the query and then the documents, become the request's prompts. */
enum gg_status
batch_read_vectors(struct request *r, const struct record_object *body,
                   struct gg_error *err);

/* ---- writing ---- */

/* Tells in the answer that something of the request was left out. */
void
batch_warn(struct batch *b, const char *text);

/* Adds the member "warnings", if there are any. */
void
batch_put_warnings(const struct batch *b, struct buffer *out);

/* Adds an answer: a choice, as OpenAI calls it. */
void
batch_add_answer(const struct batch *b, size_t index,
                 const struct record_answer *a, struct buffer *out);

/* The answers to a request as a whole. */
struct batch_response {
    uint64_t number; /* of the record */
    int64_t date;
    const char *run;   /* what its id has before the number; or NULL */
    const char *model; /* its file, for a request that names none */
    const struct buffer *answers; /* of batch_add_answer() */
    size_t n_answers;
    uint64_t n_prompt, n_made; /* ids */
    const uint64_t *n_cached;  /* of the prompt; NULL: they are not told */
    const uint64_t *seed;      /* that nobody has said; or NULL */
    const struct sampling_options *sampling; /* NULL: nothing was drawn */
};

/* Adds the line. */
void
batch_add_response(const struct batch *b, const struct batch_response *r,
                   struct buffer *out);

/* Why an answer failed: by the request's fault, if the status is below 500. */
struct batch_error {
    int status;
    const char *code; /* or NULL */
    const char *message;
    size_t n_prompt, n_ctx; /* ids that are too many; 0: they are not told */
};

/* The line of an answer that failed. */
void
batch_add_error(const struct batch *b, uint64_t number,
                const struct batch_error *e, struct buffer *out);

/* An embedding; the values are those of its text, to length 1. */
struct batch_vector {
    float *values;
    size_t n;
};

/* Adds the line of a request for embeddings; r's answers do not count. */
void
batch_add_embeddings(const struct batch *b, const struct batch_response *r,
                     const struct batch_vector *list, size_t n,
                     struct buffer *out);

/* A document, by its place in the request, from 0, and its text. */
struct batch_ranked {
    size_t index;
    const char *text;
    size_t len;
    double score;
};

/* Adds the answer to a request for scores; the list is in falling order. */
void
batch_add_ranks(const struct batch *b, const struct batch_response *r,
                const struct batch_ranked *list, size_t n, struct buffer *out);

/* ---- an earlier run's ---- */

/* True where the line `answer` could have been written for the record. *asked
 * and *answered get the bodies of both, *failed whether it is an error. */
bool
batch_is_answer(const struct record_value *object,
                const struct record_value *answer, struct record_value *asked,
                struct record_value *answered, bool *failed);

/* The date of an answer's body, as record_value_date(). */
int64_t
batch_date(const struct record_value *answered);

#endif
