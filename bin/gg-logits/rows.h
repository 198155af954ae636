/* rows.h - records from one array of NumPy */
#ifndef LOGITS_ROWS_H
#define LOGITS_ROWS_H

#include "gg-logits/input.h"

struct rows_reader;

/* `in` gives the array, and stays the caller's. */
enum gg_status
rows_open(struct rows_reader **out, struct input *in, struct gg_error *err);
void
rows_close(struct rows_reader *r);
/* As gg_logit_read(): rows are at positions 1, 2, 3, of no known vocabulary. */
enum gg_status
rows_read(struct rows_reader *r, struct gg_logit_record *out,
          struct gg_error *err);

#endif
