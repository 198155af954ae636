/* draws.h - records of a stream to ids, and what is remembered of sequences */
#ifndef SAMPLE_DRAWS_H
#define SAMPLE_DRAWS_H

#include "common/number_set.h"
#include "common/sampling.h"
#include "common/sequence_table.h"
#include "common/shard.h"
#include "gg-sample/back.h"

/* A corpus may have any number of them. Counts are kept while a sequence is
 * drawn from; of what has ended only ranges of numbers are. */
struct count {
    struct numbered key;
    uint64_t n; /* ids that it has got */
    struct gg_history *history;
    struct back *back; /* NULL: nothing is banned */
};

struct run {
    const struct sampling_options *asked; /* by the command line */
    struct sampling_options now; /* the same with what the stream says */
    const struct sampling_options *sampling; /* either */
    char *line; /* of the stream that began last; or NULL */
    bool quiet, verbose;
    const struct shard *shard;
    const char *name;       /* of the input */
    struct gg_vocab *vocab; /* NULL: none is needed */
    const char *model;      /* its file */
    struct gg_sampler *sampler;
    bool remembers;
    struct gg_logit_reader *reader;
    float *logits; /* scratch: the record's, with some excluded */
    size_t logits_cap;
    bool failed;      /* an error record was seen */
    bool cut;         /* a sequence, by -n, inside its grammar */
    bool loops;       /* what is drawn is fed back */
    bool input_waits; /* the input may depend on the output's end */
    bool numbered;
    bool ended;  /* the one sequence of a stream without numbers */
    bool closed; /* and with it the output */
    struct number_set ended_here;    /* what still comes of them is dropped */
    struct number_set passed;        /* ended upstream, which was passed on */
    struct sequence_table sequences; /* that are drawn from: of struct count */
};

/* Draws an id, and writes it. */
void
draws_record(struct run *r, const struct gg_logit_record *record);

/* The sequence has failed. */
void
draws_error(struct run *r, uint64_t sequence, const char *message);

/* It has ended upstream. */
void
draws_close(struct run *r, uint64_t sequence);

/* All sequences. */
void
draws_forget(struct run *r);

/* ---- news.c ---- */

/* True: there is a gg-loop, which feeds back what is drawn. */
bool
news_find(void);

/* It is told, once, that no more will be written. */
void
news_tell(void);

#endif
