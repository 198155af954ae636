/* mix.h - the records of several models as those of one */
#ifndef LOGITS_MIX_H
#define LOGITS_MIX_H

#include "gg-logits/pair.h"

struct mix;

/* A mix of the members of `pair` with their weights: of their probabilities,
 * or, with `logarithms`, of the logarithms of these. */
struct mix *
mix_new(struct pair *pair, bool logarithms);
void
mix_free(struct mix *m);

/* As record_source_read(); `mix` is a struct mix. */
enum gg_status
mix_read(void *mix, struct gg_logit_record *out, struct gg_error *err);

#endif
