/* answer.h - an answer that has ended, as it is written */
#ifndef RECORDS_ANSWER_H
#define RECORDS_ANSWER_H

#include <gg-engine.h>

#include "common/buffer.h"
#include "common/records/logprobs.h"

/* All zero is an empty one. What it points to, or its buffers have, is the
 * caller's. */
struct record_answer {
    struct buffer echo; /* its prompt, which goes before the text */
    struct buffer text, reasoning;
    struct buffer tool_calls; /* in JSON */
    const int32_t *ids;
    size_t n_ids;
    double logprob; /* the sum of theirs */
    enum gg_finish finish;
    const char *stop; /* the string that ended it; NULL: none, or not told */
    size_t n_stop;
    const struct logprobs *logprobs; /* of each; NULL: they are not wanted */
    struct logprobs_texts texts;     /* for these, but for its echo */
    const uint64_t *seed;            /* that nobody has said; or NULL */
};

/* Adds the text, after the prompt, as a string. */
void
record_answer_add_text(const struct record_answer *a, struct buffer *out);

#endif
