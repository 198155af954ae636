/* job.h - a stretch of the input, and what is written for it
 *
 * Jobs do not know of each other: any thread may do any of them. */
#ifndef TOKENIZE_JOB_H
#define TOKENIZE_JOB_H

#include "common/buffer.h"
#include "common/media_ids.h"
#include "common/ranked_pair.h"
#include "gg-tokenize/tokenize.h"

struct job {
    /* set by who makes it */
    struct buffer text; /* whole records; or a stretch of the one text */
    bool part;          /* the latter: */
    bool first, last;   /* where the one text begins, ends */
    uint64_t before;    /* its bytes before this stretch */
    uint64_t sequence;  /* of the first record */
    size_t *medium;     /* the next one, which texts in turn move on */

    /* set by job_run() */
    struct buffer out;
    struct buffer warnings; /* each ends with a NUL; for standard error */
    uint64_t n_ids, n_cut;  /* written; texts that --truncate has cut */
    uint64_t n_left_out;    /* bytes without a token */
    unsigned plainer;       /* what templates refused: GG_CHAT_JOINED ... */
    bool failed;            /* a record; or the text, and this is why: */
    struct gg_error err;

    /* kept for the next */
    struct buffer plain;    /* a field without its escapes */
    struct buffer prefixed; /* a text after its prefix */
    struct ranked_pair_ids pair;
    struct media_ids placed;
    int32_t *ids;
    size_t cap_ids;
    struct gg_range *ranges;
    size_t cap_ranges;
};

void
job_run(struct job *job, const struct gg_vocab *vocab,
        const struct tokenize_options *options);

/* Frees what it has. */
void
job_clear(struct job *job);

#endif
