/* sequences.h - what gg-eval remembers of the sequences that it has seen
 *
 * A sequence holds a slot of the session while there are enough; the one that
 * was used least recently loses its own first. Its ids are kept, so that it
 * can be evaluated again when it goes on. Where more ids are kept than the
 * limit allows, the sequence least recently used is forgotten: only its number
 * stays, so that it can be refused and is not taken for a new one. */
#ifndef EVAL_SEQUENCES_H
#define EVAL_SEQUENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sequence {
    uint64_t number;
    int32_t slot; /* -1: none; its ids must be evaluated again */
    int32_t *ids;
    size_t n_ids, cap;
    struct sequence *next;          /* of the same bucket */
    struct sequence *newer, *older; /* by last use */
};

struct sequences;

/* Keeps at most `max_ids` ids beside those of the sequence in use. */
struct sequences *
sequences_new(int32_t n_slots, size_t max_ids);
void
sequences_free(struct sequences *s);

/* The sequence of that number, now the one most recently used; a new one
 * without ids if it was not seen before. NULL: it was forgotten. */
struct sequence *
sequences_use(struct sequences *s, uint64_t number);

/* Gives it a slot, if need be another sequence's. */
void
sequences_take_slot(struct sequences *s, struct sequence *q);
void
sequences_drop_slot(struct sequences *s, struct sequence *q);

/* Adds ids to what the sequence holds, and forgets others if need be. */
void
sequences_add_ids(struct sequences *s, struct sequence *q, const int32_t *ids,
                  size_t n);

/* The sequence ended: its number is free again. */
void
sequences_close(struct sequences *s, uint64_t number);

#endif
