/* model_summary.h - what a user asks first about a model */
#ifndef INSPECT_MODEL_SUMMARY_H
#define INSPECT_MODEL_SUMMARY_H

#include "common/sampling.h"
#include "gg-inspect/adapter_summary.h"
#include "gg-inspect/projector_summary.h"

/* A member is 0 if the file lacks it or gives it by a value of a strange type.
 */
struct model_summary {
    struct text architecture, name, size_label;
    bool known;  /* gg-eval can run such a model */
    bool drafts; /* it is a drafter for another */
    struct totals by_type[GGML_TYPE_COUNT], all;
    uint64_t active;     /* parameters that a token meets; 0: all of them */
    uint64_t file_bytes; /* of all files that were read */
    uint64_t n_files;    /* that were read */
    struct range split_no, split_count;
    struct range context, layers, embedding, heads, heads_kv;
    struct range key_length, value_length, feed_forward;
    struct range experts, experts_used, experts_shared, window;
    struct text scaling; /* of positions */
    double scaling_factor;
    struct range scaling_from; /* the context that it starts from */
    bool frequency_factors;    /* a tensor has a divisor for each frequency */
    struct text vocab, split;  /* kind of vocabulary, rule */
    uint64_t n_vocab;
    bool state; /* it is no model, but what --save of gg-eval leaves, */
    struct text state_of; /* with one of that family */
    uint64_t state_sequences, state_ids;
    struct adapter_summary adapter;
    struct projector_summary projector;
    struct text chat; /* the template */
    bool chat_parses;
    struct text chats[8]; /* names of others */
    size_t n_chats;
    struct sampling_options sampling; /* that the file asks for */
    char *sampling_line;              /* NULL: it does not */
    struct gg_error chat_error;       /* why not */
};

void
model_summary_make(const struct gguf_context *ctx,
                   const struct inspect_options *o, struct model_summary *out);

void
model_summary_clear(struct model_summary *s);

/* Aligned lines for people. */
void
model_summary_text(const struct model_summary *s);

/* A JSON object, indented by two. */
void
model_summary_json(const struct model_summary *s);

#endif
