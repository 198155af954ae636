/* rope.h - rotary positions: what the scaling of a long context changes */
#ifndef MODEL_ROPE_H
#define MODEL_ROPE_H

#include "model/loader.h"

/* Sets up *rope after its params, with the divisors that the file has. The
 * scaling of YaRN makes its own: model_rope_make() fills them in. */
void
model_rope_find(struct model_loader *l, const struct rope_params *params,
                struct model_rope *rope);

/* As model_rope_find(), of another base and without scaling or divisors. */
void
model_rope_plain(const struct rope_params *params, float base,
                 struct model_rope *rope);

/* To be called when the weights have their place: memory for the divisors that
 * no file has, and their values. */
enum gg_status
model_rope_make(struct model *m, struct gg_error *err);

/* What the user says instead of the file; GG_ERR_ARG where that cannot be. */
enum gg_status
model_rope_override(struct rope_params *rope,
                    const struct gg_model_params *params, struct gg_error *err);

/* YaRN's divisor of pair i of n_rot / 2: from 1, where it turns often within
 * n_ctx_orig positions, to `factor`, where it never completes a turn. */
double
model_rope_yarn_divisor(const struct rope_params *p, int32_t i);

#endif
