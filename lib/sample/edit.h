/* edit.h - logits changed before anything is drawn: biases, penalties, DRY */
#ifndef SAMPLE_EDIT_H
#define SAMPLE_EDIT_H

#include <gg.h>

#include "sample/history.h"

bool
sample_edit_has_penalties(const struct gg_sampler_params *p);
bool
sample_edit_has_dry(const struct gg_sampler_params *p);

/* The edited logits, in place of *logits, if there is anything to edit; they
 * live until the next call. `ids` is NULL where all logits are there. */
enum gg_status
sample_edit_logits(struct gg_sampler *s, const struct gg_history *h,
                   const int32_t *ids, const float **logits, size_t n,
                   struct gg_error *err);

/* Which ids a repetition would go on with, and how long it is. */
struct repeat {
    int32_t id;
    uint32_t length;
};

/* Of ids[0..n): writes the repeats that have the allowed length, each id with
 * its longest, to out[0..n); `lengths` is room for n numbers. Returns how many
 * there are. */
size_t
sample_dry_repeats(const struct gg_sampler *s, const int32_t *ids, size_t n,
                   uint32_t *lengths, struct repeat *out);

#endif
