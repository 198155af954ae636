/* weight_stream.h - weights that are larger than memory, read while a graph is
 * computed
 *
 * Threads of their own read what is needed next, and drop what gives way:
 * weight_units.h. The experts of a layer are read, all of their matrices, as
 * soon as the first product with one of these needs them; matrices that are
 * needed whole are read ahead, in the order of the graph, and so are experts
 * where there are so many ids that nearly all of them are needed. Who computes
 * waits for what is needed before the threads begin with a product, so that
 * none of these waits for single pages. */
#ifndef CPU_EXEC_WEIGHT_STREAM_H
#define CPU_EXEC_WEIGHT_STREAM_H

#include <ggml.h>

#include "backend/streaming.h"
#include "cpu/exec/weight_steps.h"

struct cpu_stream;

/* NULL: no memory, or no threads. */
struct cpu_stream *
cpu_stream_new(const struct backend_streaming *s);
void
cpu_stream_free(struct cpu_stream *s); /* takes NULL */

/* Before the graph is computed. False: its weights are not read here, as
 * memory is large enough, or too small for this. */
bool
cpu_stream_begin(struct cpu_stream *s, const struct ggml_cgraph *graph);

/* In how many parts the pieces of nodes [first, end), which are next, had
 * better be computed, so that little is needed at once. */
int
cpu_stream_parts(const struct cpu_stream *s, int first, int end);

/* Before a part of nodes [first, end), after all earlier ones: returns when the
 * weights are in memory. They stay there until the call after them, which says
 * whether it was the last part. */
void
cpu_stream_need(struct cpu_stream *s, int first, int end,
                const struct weight_part *part);
void
cpu_stream_done(struct cpu_stream *s, bool last);

/* Where the weights at p are, which are needed now. */
const char *
cpu_stream_at(const struct cpu_stream *s, const char *p);

/* After the graph, or where it is left. */
void
cpu_stream_end(struct cpu_stream *s);

#endif
