/* pair.h - several streams, read record by record together */
#ifndef LOGITS_PAIR_H
#define LOGITS_PAIR_H

#include "gg-logits/record_source.h"

struct pair {
    size_t n;
    struct member {
        const char *path;
        double weight;
        struct record_source *source;
        struct gg_logit_record record;
        int fd;
    } * members;
};

/* Adds a file; nothing is opened yet. */
void
pair_add(struct pair *p, const char *path, double weight);
void
pair_open(struct pair *p);
void
pair_close(struct pair *p);

/* The next record of each; false at the end of all. They are of one kind and,
 * where they are of sequences, of the same one at the same position, but for
 * those that failed in some: *kind is then GG_RECORD_ERROR, and *failed one of
 * these. Ends the tool where they differ, also in size or fingerprint of their
 * vocabularies. */
bool
pair_read(struct pair *p, enum gg_record_kind *kind,
          const struct gg_logit_record **failed);

#endif
