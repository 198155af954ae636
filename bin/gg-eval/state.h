/* state.h - sequences that go on from a state, and are left in one */
#ifndef EVAL_STATE_H
#define EVAL_STATE_H

#include "common/state.h"
#include "gg-eval/evaluate.h"

/* What --load says, if it is given, becomes the sequences of `e`: the last used
 * get the slots. */
void
state_take(struct state *s, struct evaluate *e);

/* Ends the tool where the lines have numbers, and what was loaded has none, or
 * the other way round. */
void
state_check_line(const struct evaluate *e, const struct gg_line *line,
                 const struct state *s);

/* Saves the sequences, if that was asked for. */
void
state_leave(struct state *s, const struct evaluate *e);

#endif
