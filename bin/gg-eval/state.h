/* state.h - sequences that go on from a state, and are left in one */
#ifndef EVAL_STATE_H
#define EVAL_STATE_H

#include "common/state.h"
#include "gg-eval/evaluate.h"

/* The file of --load, if it is given, becomes the sequences of `e`: the last
 * used get the slots. */
void
state_take(struct state *s, struct evaluate *e);

/* Saves the sequences, if that was requested. */
void
state_leave(struct state *s, const struct evaluate *e);

#endif
