/* slots.h - which answer has which slot of the session */
#ifndef GENERATE_SLOTS_H
#define GENERATE_SLOTS_H

#include "gg-generate/answer.h"

struct generate;
struct record;

/* What the session holds of an answer stays until the slot is needed: another
 * one may begin alike. */
struct slot {
    struct answer answer;
    struct record *record; /* being answered; NULL: the slot is free */
    uint64_t used;         /* when it was last */
};

struct slots {
    const struct engine *engine;
    struct slot *list;
    int32_t n, n_busy;
    struct slot *base; /* or NULL: holds what all records go on from */
    uint64_t clock;
    size_t n_evaluated, n_copied; /* ids */
};

/* All that the engine's session has; `flags` are for decoding. What was loaded
 * of a state stays in a slot of its own, if there is more than one. */
void
slots_open(struct slots *s, const struct generate *g, unsigned flags);
void
slots_close(struct slots *s);

/* Gives a free slot to a record that begins with ids[0..n), n > 0: the session
 * holds there what it had of them, all but the last at most. There must be a
 * free one. NULL: a signal came. */
struct slot *
slots_take(struct slots *s, struct record *record, const int32_t *ids,
           size_t n);
void
slots_leave(struct slots *s, struct slot *slot);

/* `to`, which is free, gets the first n ids of `from`. */
void
slots_copy(struct slots *s, struct slot *to, const struct slot *from, size_t n);

/* The session forgets what it holds behind the ids of the slot's answer. */
void
slots_cut(const struct slots *s, struct slot *slot);

#endif
