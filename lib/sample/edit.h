/* edit.h - logits changed by place: biases, penalties, DRY, top-n-sigma */
#ifndef SAMPLE_EDIT_H
#define SAMPLE_EDIT_H

#include "sample/stages.h"

/* Numbers of penalties, */
enum {
    PENALTY_REPEAT,
    PENALTY_FREQUENCY,
    PENALTY_PRESENCE,
    PENALTY_LAST_N,
};

/* and of DRY. */
enum {
    DRY_MULTIPLIER,
    DRY_BASE,
    DRY_LENGTH,
    DRY_LAST_N,
};

/* The draw's logits become the sampler's own, with the places of ids that they
 * name. */
enum gg_status
sample_edit_open(struct sample_draw *d, struct gg_error *err);

/* Logits that were edited are sound; the places are gone. */
enum gg_status
sample_edit_close(struct sample_draw *d, struct gg_error *err);

/* Ends the edits of a draw that has failed. */
void
sample_edit_drop(struct sample_draw *d);

/* GG_ERR_FORMAT: no logits to draw from. */
enum gg_status
sample_edit_check(const float *logits, size_t n, struct gg_error *err);

enum gg_status
sample_edit_biases(struct sample_draw *d, struct gg_error *err);

bool
sample_edit_has_penalties(const double *v);
/* A penalty that is a reward may raise an id that is not there. */
bool
sample_edit_raises(const double *v);
enum gg_status
sample_edit_penalties(struct sample_draw *d, const double *v,
                      struct gg_error *err);

bool
sample_edit_has_dry(const double *v);
enum gg_status
sample_edit_dry(struct sample_draw *d, const double *v, struct gg_error *err);

enum gg_status
sample_edit_sigma(struct sample_draw *d, const double *v, struct gg_error *err);

/* Which ids a repetition would go on with, and how long it is. */
struct repeat {
    int32_t id;
    uint32_t length;
};

/* Writes the repeats in ids[0..n) that have the allowed length, each id with
 * its longest, to out[0..n); `lengths` is room for n numbers. Returns how many
 * there are. */
size_t
sample_dry_repeats(const struct gg_sampler *s, uint32_t allowed,
                   const int32_t *ids, size_t n, uint32_t *lengths,
                   struct repeat *out);

#endif
