/* sequences.h - what gg-eval remembers of the sequences that it has seen, by
 * number
 *
 * Where more ids are kept than the limit allows, the sequence least recently
 * used is forgotten: only its number stays, so that it can be refused and is
 * not taken for a new one. Sequences that are evaluated together are pinned:
 * until sequences_settle() they live on where they end or are forgotten. */
#ifndef EVAL_SEQUENCES_H
#define EVAL_SEQUENCES_H

#include <gg-engine.h>

#include "common/number_set.h"
#include "common/sequence_table.h"
#include "gg-eval/line_scores.h"

struct sequence {
    struct numbered key;
    struct gg_sequence *its; /* the engine's */
    size_t n_counted;        /* ids that count as kept */
    uint64_t n_chunks;
    bool pinned;
    struct scores scores; /* while it is evaluated, if they are wanted so */
    bool loaded;          /* with all of its ids, from a state */
    bool has_mirostat;
    double mirostat; /* what was learnt there */
};

struct sequences {
    struct gg_engine *engine;
    struct sequence_table table; /* by last use */
    struct numbered *dead;       /* but pinned */
    size_t kept, max_ids;
    struct number_set forgotten;
};

/* Keeps at most `max_ids` ids besides those of the sequence in use. */
void
sequences_init(struct sequences *s, struct gg_engine *engine, size_t max_ids);
void
sequences_clear(struct sequences *s);

/* The sequence of that number, now the one most recently used; a new one
 * without ids if it was not seen before. NULL: it was forgotten. */
struct sequence *
sequences_use(struct sequences *s, uint64_t number);

/* The sequence's ids have changed; others are forgotten if need be. */
void
sequences_changed(struct sequences *s, struct sequence *q);

/* The sequence ended: its number is free again. */
void
sequences_close(struct sequences *s, uint64_t number);

/* No sequence is pinned any more: those that have ended go. */
void
sequences_settle(struct sequences *s);

#endif
