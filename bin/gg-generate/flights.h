/* flights.h - answers that are made at once, in sets that are under way
 *
 * Ranks of a pipeline compute one after the other: as many sets of answers as
 * there are ranks are evaluated at a time, each by another one. One process has
 * one set with all of them. */
#ifndef GENERATE_FLIGHTS_H
#define GENERATE_FLIGHTS_H

#include "gg-generate/records.h"

struct finding;

/* Work in progress other than a text: asides.h. */
struct aside {
    struct gg_contest *contest; /* or NULL */
    struct finding *finding;
};

/* An answer that is being made, or a record with choices or texts to embed. */
struct active {
    struct record *record;
    size_t which; /* of its answers */
    struct answer answer;
    uint64_t flight; /* of the set that it is stepped with; 0: none yet */
    bool waits;      /* its text is not stepped yet */
    struct aside aside;
};

struct flights {
    struct gg_engine *engine;
    uint64_t last;
    bool mild;              /* a step that fails does not end the tool: */
    enum gg_status status;  /* this tells it, */
    struct gg_error error;  /* and why */
    struct gg_text **texts; /* scratch */
};

/* Flights of n answers at most. */
void
flights_init(struct flights *f, struct gg_engine *engine, size_t n);
void
flights_clear(struct flights *f);

/* Begins what answers without a flight need, if there is room for a flight. */
void
flights_begin(struct flights *f, struct active *active, size_t n);

/* Draws one id for each answer of the oldest flight; returns its number; 0: a
 * signal came, or, where that does not end the tool, it failed. Where it lacked
 * memory some may have drawn. */
uint64_t
flights_step(struct flights *f, struct active *active, size_t n);

#endif
