/* slots.h - which ids each slot of a session holds
 *
 * A device may be lost, and the keys and values of its memory with it. Where
 * that need not be the end, the ids themselves are kept, too: whatever is not
 * there any more is evaluated again when its slot is named next. */
#ifndef SESSION_SLOTS_H
#define SESSION_SLOTS_H

#include "graph/switches.h"
#include "session/media.h"

/* Rows of one medium that stand one after another. */
struct slot_run {
    int32_t at, n;    /* ids of the slot */
    int32_t id;       /* of the first */
    int32_t position; /* that it begins at */
};

struct slots {
    int32_t n;
    const struct media *media;
    int32_t *length; /* ids that each of them holds */
    size_t n_adapters;
    float *scales;    /* n_adapters each: that its ids were evaluated with */
    int32_t *encoded; /* how many of these are the encoder's of a model that has
                         a decoder, too; else 0 */
    int32_t *there;   /* how many of these, from the first, the cache has: all,
                         unless they are kept */
    struct slot_ids {
        int32_t *ids;
        size_t cap;
        struct graph_switched switched; /* by the first of these */
    } * kept;                           /* NULL: they are not kept */
    struct slot_runs {
        struct slot_run *list;
        size_t n, cap;
    } * runs; /* in order; of ids that are being evaluated, too */
};

/* The media outlive it. On failure it is to be cleared, too. */
bool
session_slots_init(struct slots *s, int32_t n, bool keep, size_t n_adapters,
                   const struct media *media);
void
session_slots_clear(struct slots *s); /* takes an empty one */

/* How much each adapter counts in the slot. */
const float *
session_slots_scales(const struct slots *s, int32_t slot);
/* The slot, which holds nothing, is evaluated with these from now on. */
void
session_slots_set_scales(struct slots *s, int32_t slot, const float *scales);

/* The chunk's ids stand after those of its slot, whose length stays. False: no
 * memory. */
bool
session_slots_keep(struct slots *s, const struct gg_chunk *chunk);

/* None of these has been evaluated. */
void
session_slots_forget(struct slots *s, int32_t slot);

/* The chunk has been evaluated. */
void
session_slots_add(struct slots *s, const struct gg_chunk *chunk);

/* The cache has nothing any more. */
void
session_slots_lose(struct slots *s);

/* The chunk to be evaluated again before the slot can go on; false: none. */
bool
session_slots_missing(const struct slots *s, int32_t slot,
                      struct gg_chunk *chunk);

/* The most of its first n ids that do not end within a block of rows, or within
 * the encoder's. */
int32_t
session_slots_edge(const struct slots *s, int32_t slot, int32_t n);

/* The positions in time, height and width of the slot's id `at`: mostly three
 * times `at`. */
struct slot_position {
    int32_t x[3];
};
struct slot_position
session_slots_position(const struct slots *s, int32_t slot, int32_t at);

/* The adapter by which the slot's id `at` is evaluated, of those in the model's
 * file; the ids are kept. */
int32_t
session_slots_adapter(const struct slots *s, const struct model_switches *w,
                      int32_t slot, int32_t at);

/* Whether one of them holds rows of the medium. */
bool
session_slots_hold(const struct slots *s, const struct medium *m);

/* All but the first n of its ids are forgotten. */
void
session_slots_cut(struct slots *s, int32_t slot, int32_t n);

/* Slot `to` gets the first n ids of slot `from`. False: no memory. */
bool
session_slots_copy(struct slots *s, int32_t to, int32_t from, int32_t n);

#endif
