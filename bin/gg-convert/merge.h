/* merge.h - LoRA adapters become part of a model's weights */
#ifndef CONVERT_MERGE_H
#define CONVERT_MERGE_H

#include <gg.h>

#include "common/adapters.h"

struct merge;

/* Opens the adapters, which must fit the model; `base`: the folder of the model
 * that those of PEFT were made for, or NULL. NULL: there are none. Ends the
 * tool where one does not fit. */
struct merge *
merge_open(const struct adapter_options *o, const char *base,
           const struct gg_file *model);
void
merge_close(struct merge *m); /* takes NULL */

/* True where an adapter changes the model's tensor, which is to be written
 * next: merge_rows() then changes its rows, any number of threads at once. */
bool
merge_begin(struct merge *m, int64_t tensor);
void
merge_rows(void *merge, float *x, int64_t first, int64_t n);

#endif
