/* watch.h - what a model computes on its way: --watch, --graph */
#ifndef EVAL_WATCH_H
#define EVAL_WATCH_H

#include "common/cli.h"

struct watch_options {
    const char *pattern; /* --watch: of names; NULL: nothing is watched */
    const char *folder;  /* --watch-dir: for .npy files; or NULL */
    const char *graph;   /* --graph: the file to write; or NULL */
};

struct watch;

/* Makes the folder. The options outlive it. */
struct watch *
watch_new(const struct watch_options *o);
void
watch_free(struct watch *w);

/* A gg_watch_callback for the session; `w` is a struct watch. Writes to
 * standard output a line for each tensor whose name fits, or the first graph
 * that is computed, for dot. */
bool
watch_see(struct ggml_tensor *t, bool ask, void *w);

/* All has been computed. Ends the tool where the pattern fitted nothing. */
void
watch_end(struct watch *w);

/* ---- dot.c --------------------------------------------------------------- */

/* A picture of a graph in the language of Graphviz, as it is computed. */
struct dot {
    const struct ggml_tensor **seen;
    size_t n, cap;
};

void
dot_begin(void);
void
dot_node(struct dot *d, const struct ggml_tensor *t);
void
dot_end(struct dot *d);

#endif
