/* output.h - records of gg-eval: a logit stream, or text for eyes and awk */
#ifndef EVAL_OUTPUT_H
#define EVAL_OUTPUT_H

#include <gg-stream.h>

#include "common/engine.h"

struct output_options {
    enum gg_vector_encoding encoding;
    size_t keep;  /* likeliest ids of a sparse record */
    size_t top;   /* lines of text of a record; 0: a stream */
    bool none;    /* nothing is written */
    bool score;   /* a line of text a record: output_score() */
    bool embed;   /* vectors are embeddings: output_embedding() */
    bool rank;    /* a line of text a record: output_rank() */
    int32_t dims; /* values of an embedding that are written; 0: all */
};

struct output;

struct output *
output_new(const struct output_options *o, const struct engine *engine);
void
output_free(struct output *out);

/* Sets the line on sampling of a stream, which outlives the output, or NULL: it
 * replaces that of the model's file. */
void
output_set_sampling(struct output *out, const char *line);

/* Sets the number of values of an embedding. */
void
output_set_values(struct output *out, size_t n);

/* Writes what a stream without records has, too: so that `line`, which says
 * whether it is numbered, need not be followed by one. */
void
output_begin(struct output *out, const struct gg_line *line);

/* Each is written at once: the likeliest, if these are what is written
 * (best->k > 0), or all logits. The first decides whether the stream is
 * numbered. What cannot be written ends the tool. False, and nothing is
 * written: the logits give no probabilities. */
bool
output_logits(struct output *out, const struct gg_line *line, uint64_t position,
              const float *logits, const struct gg_best *best);

/* The next record is the first of a sequence that held these ids before, which
 * live until it is written; and what Mirostat has learnt, or NULL. */
void
output_past(struct output *out, const int32_t *ids, size_t n,
            const double *mirostat);

/* The chunk of that number has n ids whose log-probabilities make up `sum`;
 * *greedy says whether each is the likeliest, NULL: nobody asks. */
void
output_score(struct output *out, const struct gg_line *line, uint64_t chunk,
             size_t n, double sum, const bool *greedy);

void
output_embedding(struct output *out, const struct gg_line *line,
                 uint64_t position, const float *vector);

/* The scores of a reranker. */
void
output_rank(struct output *out, const struct gg_line *line, const double *x,
            int32_t n);

/* How many of the likeliest are written; 0: all logits. */
size_t
output_keeps(const struct output *out);
/* The line has failed; where no tool before has told so, it is told. */
void
output_error(struct output *out, const struct gg_line *line,
             const char *message);
void
output_close(struct output *out, const struct gg_line *line);
void
output_end(struct output *out);

/* True while somebody may read what is written. */
bool
output_wanted(void);

#endif
