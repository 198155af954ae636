/* own_ids.h - whether ids that are read are those of the model's vocabulary
 *
 * A stream of ids does not say whose they are. The first thousand are turned
 * into text and back: a vocabulary's own ids come back as they were, those that
 * a model draws nearly so; of another vocabulary's even the frequent ones do
 * not, or stand amid words. Lines of one id, as a sampler writes them, are not
 * looked at. */
#ifndef COMMON_OWN_IDS_H
#define COMMON_OWN_IDS_H

#include <gg-stream.h>
#include <gg.h>

enum {
    OWN_IDS_SEEN = 1000,
};

struct own_ids {
    const struct gg_vocab *vocab;
    const char *input, *model; /* for the message; NULL: nothing is said */
    uint64_t sequence;         /* of the last id */
    size_t n;
    int32_t ids[OWN_IDS_SEEN]; /* -1: another sequence begins */
};

void
own_ids_start(struct own_ids *o, const struct gg_vocab *vocab,
              const char *input, const char *model, bool quiet);

/* Remembers the ids of a line that was read; says what it finds once there are
 * enough. */
void
own_ids_see(struct own_ids *o, const struct gg_line *line);

/* Like it, after the last line. */
void
own_ids_end(struct own_ids *o);

/* The finding about the ids so far. */
bool
own_ids_look_foreign(const struct own_ids *o);

#endif
