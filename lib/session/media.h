/* media.h - rows that are no tokens': what images and sounds put in the place
 * of embeddings
 *
 * The rows of a session's media are numbered after the vocabulary's ids, in
 * the order in which media came. A batch puts them in the place of embeddings;
 * all others pass their ids along. */
#ifndef SESSION_MEDIA_H
#define SESSION_MEDIA_H

#include <gg.h>

#include "core/sha256.h"

struct medium {
    uint8_t hash[GG_MEDIUM_HASH];
    int32_t first, n; /* ids */
    float *rows;      /* n of them; NULL: they are not here, and no more is
                       * evaluated than what slots hold */
    float *deeper;    /* n_deeper * n; or NULL */
    size_t n_deeper;
    int32_t *positions; /* three a row; or NULL */
    bool bare;          /* without positions and blocks, whatever it has */
    bool has_key;       /* key: a hash of all that rows of slots depend on */
    uint8_t key[SHA256_BYTES];
    /* Which of its rows each row sees at once, besides those before it; NULL:
     * none sees any. */
    struct medium_block {
        int32_t first, end;
    } * blocks;
};

struct media {
    int32_t n_vocab;
    int32_t n_ids; /* of the vocabulary and of all rows */
    size_t width;  /* values of a row */
    struct medium *list;
    size_t n, cap;
    size_t n_given;  /* how often values came */
    size_t n_deeper; /* the most that one of them has */
    float *zeros;    /* a row, where some have n_deeper; else NULL */
};

void
session_media_init(struct media *m, int32_t n_vocab, int32_t width);
void
session_media_clear(struct media *m); /* takes an empty one */

/* Adds a copy; that of one that is there already is the same. *first: the id
 * of its first row. On failure nothing has changed. */
enum gg_status
session_media_add(struct media *m, const struct gg_medium *medium,
                  int32_t *first, struct gg_error *err);

/* Adds one without values, which a state has rows of: numbers of blocks and
 * positions are as in struct gg_medium, or NULL. */
enum gg_status
session_media_add_held(struct media *m, const struct gg_medium *medium,
                       int32_t *first, struct gg_error *err);

/* Forgets all but the first n media, and their ids. */
void
session_media_cut(struct media *m, size_t n);

/* Frees the values of the medium whose ids begin there, and unless `held` all
 * else that can come with them again. Its ids stay its own. */
void
session_media_forget(struct media *m, int32_t first, bool held);

/* The index of the first row whose values are not here; n: there is none. */
size_t
session_media_missing(const struct media *m, const int32_t *ids, size_t n);

static inline bool
session_media_has_row(const struct media *m, int32_t id)
{
    return id >= m->n_vocab && id < m->n_ids;
}

/* That a row belongs to; NULL: the id is no row's. */
const struct medium *
session_media_of(const struct media *m, int32_t id);

/* The medium with that hash, or NULL. */
const struct medium *
session_media_find(const struct media *m, const uint8_t *hash);

/* The values of a row, or those after layer `deeper - 1`; NULL: it has none.
 */
const float *
session_media_row(const struct media *m, int32_t id, size_t deeper);

/* The medium that a row belongs to, with a hash of its identity, its values and
 * its layout: media of which that is the same give slots the same rows. NULL:
 * the id is no row's, or values are not here and were not when they came. */
const struct medium *
session_media_keyed(struct media *m, int32_t id);

/* The medium with that key, or NULL. */
const struct medium *
session_media_find_key(struct media *m, const uint8_t *key);

/* The ids of the block that a row is in: false, where it is in none. */
bool
session_media_block(const struct media *m, int32_t id,
                    struct medium_block *block);

/* The index of the first id that is neither a token's nor a row's; n: there is
 * none. */
size_t
session_media_stray(const struct media *m, const int32_t *ids, size_t n);

/* The most of the first n ids that do not end within a block. */
size_t
session_media_edge(const struct media *m, const int32_t *ids, size_t n);

/* The index of the first id of a block that is not whole; n: there is none. */
size_t
session_media_broken(const struct media *m, const int32_t *ids, size_t n);

/* How many positions n rows take that stand one after another, from id
 * `first` of a medium on. */
int32_t
session_media_extent(const struct media *m, int32_t first, int32_t n);

/* The ids that follow ids[0..at) of n and are of a medium that stands there in
 * part: the index after its last row. */
size_t
session_media_end(const struct media *m, const int32_t *ids, size_t n,
                  size_t at);

#endif
