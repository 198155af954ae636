/* windows.h - a text's ids, cut into windows of the context's size
 *
 * Lines are one text, however they are cut. Where the model wants a text to
 * begin with BOS, each window does: it takes the place of the first id. Ids
 * that fill no window at the end are left over. With a stride, windows
 * overlap, and hold the text's own ids. */
#ifndef EVAL_WINDOWS_H
#define EVAL_WINDOWS_H

#include <gg-engine.h>
#include <gg-stream.h>

#include "common/engine.h"
#include "common/own_ids.h"

struct windows {
    const struct engine *engine;
    struct gg_sequence *sequence; /* every window in turn */
    struct gg_line_reader *reader;
    const char *name;    /* of the input */
    const char *option;  /* that asks for windows: for messages */
    struct own_ids own;  /* whether its ids are the vocabulary's */
    struct gg_line line; /* that was read last, and */
    size_t taken;        /* how many ids of it are in windows */
    int32_t *ids;        /* the window: n of them */
    int32_t n, filled;
    int32_t stride; /* ids from one window's begin to the next; 0: n */
    uint64_t most;  /* windows that are taken; 0: all */
    uint64_t count; /* of whole windows so far */
};

/* The session's context is the window. Ends the tool if it is below 4. */
void
windows_open(struct windows *w, const struct engine *engine, int fd,
             const char *name, const char *option);
void
windows_close(struct windows *w);

/* The next window in w->ids. False: no more of them, of which there was at
 * least one; a text that is shorter, or no text, ends the tool. */
bool
windows_next(struct windows *w);

/* Evaluates all of the window for what the query wants, whose sequence is
 * w->sequence: its log-probabilities, of the ids after the first `first`, and
 * perhaps more. Ends the tool if one is no number. */
void
windows_eval(struct windows *w, struct gg_query query);

#endif
