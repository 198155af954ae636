/* npz.h - records from arrays of numpy */
#ifndef LOGITS_NPZ_H
#define LOGITS_NPZ_H

#include "gg-logits/input.h"

struct npz_reader;

/* `seekable`: the archive, as a file; -1: `in` gives a single array. Both stay
 * the caller's. */
enum gg_status
npz_open(struct npz_reader **out, struct input *in, int seekable,
         struct gg_error *err);
void
npz_close(struct npz_reader *r);
/* As gg_logit_read(). */
enum gg_status
npz_read(struct npz_reader *r, struct gg_logit_record *out,
         struct gg_error *err);

#endif
