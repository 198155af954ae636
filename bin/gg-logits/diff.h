/* diff.h - two streams compared */
#ifndef LOGITS_DIFF_H
#define LOGITS_DIFF_H

#include "gg-logits/pair.h"

/* Writes a line for each pair of records, with the `n` largest differences,
 * and one for all. Returns the status to exit with. */
int
diff_run(struct pair *pair, size_t n);

#endif
