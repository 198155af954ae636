/* request.h - what a record in JSON asks: prompts, and options of its own in
 * place of the command line's */
#ifndef RECORDS_REQUEST_H
#define RECORDS_REQUEST_H

#include "common/adapters.h"
#include "common/reasoning.h"
#include "common/records/choices.h"
#include "common/records/grammars.h"
#include "common/records/logprobs.h"
#include "common/records/value.h"
#include "common/sampling.h"

enum {
    REQUESTS_UNKNOWN = 16, /* members that are warned of by their names */
};

/* All requests of a job. The first four are the tool's, and outlive it. */
struct requests {
    const struct cli_option *rows; /* options, which members are looked up in */
    const struct adapter_options *adapters;
    const struct sampling_options *sampling;
    const struct reasoning_options *reasoning;
    const struct gg_vocab *vocab; /* for grammars; NULL: none is compiled */
    bool quiet;

    struct grammars grammars;
    char *unknown[REQUESTS_UNKNOWN]; /* that were warned of */
    size_t n_unknown;
};

void
requests_clear(struct requests *all);

enum request_kind {
    REQUEST_TEXT,
    REQUEST_IDS,
    REQUEST_MESSAGES, /* in JSON */
};

/* A prompt; its text is the record's. */
struct request_prompt {
    enum request_kind kind;
    const char *text;
    size_t len;
    int32_t *ids;
    size_t n_ids;
};

struct request_reasoning {
    struct reasoning_options options; /* with its own arguments only */
    bool said, has_effort;            /* something of it */
};

struct request_tools {
    char *list;    /* JSON, as it was written; or NULL */
    char *choice;  /* none, auto, required or a tool's name; or NULL */
    char *allowed; /* an array of some of the tools; or NULL: all */
};

struct request_grammar {
    struct grammar_entry *entry; /* or NULL */
    bool is_json;                /* it is of a JSON schema */
};

/* Arrays that a request's own sampling options point to. */
struct request_owned {
    struct gg_bias *bias;
    char **breakers;
    char *samplers;
    struct gg_stop *ban;
    char *message; /* of its reasoning */
};

struct request {
    uint64_t number; /* in the whole job, from 1 */
    struct sampling_options sampling;
    struct request_owned owned;
    struct request_reasoning reasoning;
    struct request_grammar grammar;
    struct request_tools tools;
    struct choices choices;
    struct gg_stop *stop;     /* its own strings, or NULL */
    float *scales;            /* of adapters, its own, or NULL */
    struct buffer suffix;     /* its own text after the gap; empty: none */
    struct batch *batch;      /* what it has as one of OpenAI's; or NULL */
    struct logprobs logprobs; /* wanted of each answer; no list */
    bool has_seed;
    bool echo;        /* it wants its prompt to be written */
    size_t n_answers; /* wanted to each prompt */
    struct request_prompt *prompts;
    size_t n_prompts;
};

/* One that asks nothing of its own yet. */
void
request_begin(const struct requests *all, uint64_t number, struct request *r);

/* Reads the object: its options, and its prompts, of which there is one at
 * least. The seed of one that has none is request_seed()'s. Clear it even where
 * this fails. */
enum gg_status
request_read(struct requests *all, struct request *r,
             const struct record_object *object, struct gg_error *err);

/* The prompt is to be written with how likely its tokens are. */
bool
request_wants_prompt(const struct request *r);

/* The record's text may go. */
void
request_clear_prompts(struct request *r);

/* No sampler uses its options any more. */
void
request_clear(struct requests *all, struct request *r);

/* Its grammar becomes the text in GBNF, in place of none. */
enum gg_status
request_take_grammar(struct requests *all, struct request *r, const char *text,
                     size_t len, struct gg_error *err);

/* The seed of a record that has none: made of the command line's and its
 * place. */
uint64_t
request_seed(uint64_t seed, uint64_t number);

/* True where the seed of an answer of an earlier run, if it has one, can be
 * that of the request of that number: where this had none, it was made of the
 * command line's, if that was given. */
bool
request_matches_seed(const struct requests *all, uint64_t number,
                     const struct record_value *asked,
                     const struct record_value *answered);

#endif
