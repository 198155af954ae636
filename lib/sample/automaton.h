/* automaton.h - the pushdown automaton of a grammar, as a finite one that is
 * made as it is needed
 *
 * A state is left by a byte in the same way every time, so that a byte mostly
 * costs a look into a table. Bytes that no instruction tells apart are a class
 * of bytes. */
#ifndef SAMPLE_AUTOMATON_H
#define SAMPLE_AUTOMATON_H

#include "sample/gbnf.h"
#include "sample/states.h"

struct automaton {
    const struct gbnf *program;
    struct states states;
    uint8_t class[256];
    struct spot *stack, *found; /* scratch of a closure */
    uint32_t *seen;             /* hash of spots that were met, by stamps */
    struct spot *seen_spots;
    uint32_t stamp;
};

/* The program outlives it. */
enum gg_status
sample_automaton_init(struct automaton *a, const struct gbnf *program,
                      struct gg_error *err);
void
sample_automaton_clear(
    struct automaton *a); /* takes an empty or half-built one */

/* Where a text begins. */
enum gg_status
sample_automaton_start(struct automaton *a, int32_t *state,
                       struct gg_error *err);

enum gg_status
sample_automaton_make_step(struct automaton *a, int32_t from, uint8_t class,
                           int32_t *to, struct gg_error *err);

/* From a state that is not dead, by a class of bytes. */
static inline enum gg_status
sample_automaton_step(struct automaton *a, int32_t from, uint8_t class,
                      int32_t *to, struct gg_error *err)
{
    *to = a->states.steps[(size_t)from * a->states.n_classes + class];
    return *to ? GG_OK : sample_automaton_make_step(a, from, class, to, err);
}

/* The token as a whole, from a state that is not dead. *to, where its bytes
 * lead or STATES_DEAD, becomes where that and the terms for tokens lead.
 * `text`: it is none of those that a grammar must name. */
enum gg_status
sample_automaton_step_token(struct automaton *a, int32_t from, int32_t id,
                            bool text, int32_t *to, struct gg_error *err);

enum {
    AUTOMATON_CLASSES = 63, /* that a state's plain ones are taken from */
};

/* Sets the plain classes of a state: those that lead to the same other state,
 * for the state to which most do. */
enum gg_status
sample_automaton_find_plain(struct automaton *a, int32_t state,
                            struct gg_error *err);

#endif
