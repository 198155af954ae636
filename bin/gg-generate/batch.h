/* batch.h - records of OpenAI's batch files: a request each, by its id
 *
 *     {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions",
 *      "body": {"messages": [...], "n": 2}}
 *
 * The body's members are those of other records, but that `n` is the number of
 * answers. What is written has the form of OpenAI's output files. */
#ifndef GENERATE_BATCH_H
#define GENERATE_BATCH_H

#include "common/json.h"

#include "gg-generate/records.h"

enum {
    BATCH_MOST = 128, /* answers to one request */
};

/* What a request is, beside a record. */
struct batch {
    bool is_chat;
    bool has_top;   /* top_logprobs was there */
    size_t best_of; /* answers that the best are taken of; 0: not said */
    bool ready;     /* the body can be answered */
    struct buffer custom_id, model; /* JSON; the latter may be empty */
};

/* True for an object with custom_id and body. */
bool
batch_is(const json_t *object);

/* Makes the record such a one, and finds its body, of which *text gets the
 * text. */
enum gg_status
batch_open(struct generate *g, struct record *r, json_t *object,
           const char *line, json_t **body, const char **text,
           struct gg_error *err);

/* Takes a member of the body that other records have not, or that means
 * something else there; *taken says whether it is one. */
enum gg_status
batch_set(struct record *r, const char *key, const json_t *value, bool *taken,
          struct gg_error *err);

/* Whether its options go together, and with its prompt. */
enum gg_status
batch_check(struct record *r, const json_t *body, struct gg_error *err);

/* How its answers are written. */
extern const struct writer batch_writer;

/* As of a form: of a record and an answer that were parsed. */
bool
batch_matches(struct generate *g, struct record *r, const json_t *object,
              const json_t *answer, bool *failed);

#endif
