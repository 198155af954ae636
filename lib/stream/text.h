/* text.h - the candidates that `gg-eval --top K` writes, read as records */
#ifndef STREAM_TEXT_H
#define STREAM_TEXT_H

#include <gg-stream.h>

#include "stream/io.h"

struct text_reader {
    uint64_t line; /* of the input, from 1 */
    size_t n;      /* candidates of the record so far */
    size_t ids_cap, logits_cap;
    bool numbered, started, failed;
    uint64_t sequence, position;
    int32_t *ids;
    float *logits;
    char *message;
};

void
stream_text_reader_clear(struct text_reader *t);

/* The next record: a sparse vector of log-probabilities, or an error. Fills in
 * all but record->head. GG_EOF after the last. */
enum gg_status
stream_text_read(struct text_reader *t, struct stream_in *in,
                 struct gg_logit_record *record, struct gg_error *err);

#endif
