/* rope.h - rotary positions: what the scaling of a long context changes */
#ifndef GRAPH_ROPE_H
#define GRAPH_ROPE_H

#include "graph/loader.h"

/* Sets up *rope after its params, with the divisors that the file has. The
 * scaling of YaRN makes its own: graph_rope_divisors() gives their values. */
void
graph_rope_find(struct model_loader *l, const struct rope_params *params,
                struct model_rope *rope);

/* As graph_rope_find(), of another base and without scaling or divisors. */
void
graph_rope_plain(const struct rope_params *params, float base,
                 struct model_rope *rope);

/* Divisors by YaRN's formula for the first n pairs, times the file's own
 * numbers where it has any. */
void
graph_rope_divisors(const struct model *m, float *x, size_t n);

/* Takes the user's settings instead of the file's; GG_ERR_ARG where they cannot
 * be. */
enum gg_status
graph_rope_override(struct rope_params *rope,
                    const struct gg_model_params *params, struct gg_error *err);

/* YaRN's divisor of pair i of n_rot / 2: from 1, where it turns often within
 * n_ctx_orig positions, to `factor`, where it never completes a turn. */
double
graph_rope_yarn_divisor(const struct rope_params *p, int32_t i);

#endif
