/* sequences.h - what gg-eval remembers of the sequences that it has seen
 *
 * A sequence holds a slot of the session while there are enough; the one that
 * was used least recently loses its own first. Its ids are kept, so that it
 * can be evaluated again when it goes on. Where more ids are kept than the
 * limit allows, the sequence least recently used is forgotten: only its number
 * stays, so that it can be refused and is not taken for a new one.
 *
 * A slot whose sequence has ended keeps what it held until it is needed:
 * another sequence may begin alike.
 *
 * Sequences that are evaluated together are pinned: until sequences_settle()
 * they keep their slots, and live on where they end or are forgotten.
 *
 * Where ids are scored, the last one of a sequence is not evaluated before
 * another follows: only then somebody asks what is likely behind it. */
#ifndef EVAL_SEQUENCES_H
#define EVAL_SEQUENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gg-eval/forgotten.h"

struct sequence {
    uint64_t number;
    uint64_t n_dropped; /* ids that it has lost for room in the context */
    int32_t slot;       /* -1: none; its ids must be evaluated again */
    int32_t *ids;       /* the others */
    size_t n_ids, cap;
    size_t n_held;   /* ids[0 .. n_held) stand in the slot */
    float *logprobs; /* where ids are scored, of ids[1 .. n_known), given all */
    size_t n_known;  /* before them; n_known > n_held, or both are 0 */
    uint64_t n_chunks;
    bool pinned;
    bool loaded; /* with all of its ids, from a state */
    bool has_mirostat;
    double mirostat; /* what was learnt there */
    struct sequence *next;          /* of the same bucket, or to be freed */
    struct sequence *newer, *older; /* by last use */
};

struct sequences;

/* Keeps at most `max_ids` ids beside those of the sequence in use. */
struct sequences *
sequences_new(int32_t n_slots, size_t max_ids, bool scored);
void
sequences_free(struct sequences *s);

/* The sequence of that number, now the one most recently used; a new one
 * without ids if it was not seen before. NULL: it was forgotten. */
struct sequence *
sequences_use(struct sequences *s, uint64_t number);

/* Gives it a slot, if need be another sequence's, which then counts as empty;
 * and pins it. Fewer than n_slots others may be pinned. */
void
sequences_take_slot(struct sequences *s, struct sequence *q);

/* The slot that holds most of the beginning of ids[0..n), and how much it
 * holds; -1: none holds any. */
int32_t
sequences_find_prefix(struct sequences *s, const int32_t *ids, size_t n,
                      size_t *common);

/* Scored: the sequence begins with n ids that the slot holds, or will once it
 * has been evaluated; what is known of them there, is known of it, too. */
void
sequences_copy_known(struct sequences *s, struct sequence *q, int32_t slot,
                     size_t n);

/* Puts ids behind the sequence's own, which they become by
 * sequences_add(). */
void
sequences_put(struct sequences *s, struct sequence *q, const int32_t *ids,
              size_t n);

/* The `n` ids behind its own are the sequence's now; others are forgotten if
 * need be. */
void
sequences_add(struct sequences *s, struct sequence *q, size_t n);

/* Drops `count` ids after the first `kept`; its slot counts as empty. */
void
sequences_shift(struct sequences *s, struct sequence *q, size_t kept,
                size_t count);

/* The sequence ended: its number is free again. */
void
sequences_close(struct sequences *s, uint64_t number);

/* As if the numbers, which no sequence has, had been forgotten. They must come
 * in order, with gaps between. */
void
sequences_forget(struct sequences *s, uint64_t first, uint64_t last);
const struct forgotten *
sequences_forgotten(const struct sequences *s);

/* By last use; NULL: there is none. */
struct sequence *
sequences_newest(const struct sequences *s);
struct sequence *
sequences_oldest(const struct sequences *s);

/* What was pinned has been evaluated: the slots hold all of its ids, or where
 * they are scored all but the last. */
void
sequences_settle(struct sequences *s);

#endif
