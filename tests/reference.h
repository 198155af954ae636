/* reference.h - the logits of a model, computed plainly in double precision */
#ifndef TESTS_REFERENCE_H
#define TESTS_REFERENCE_H

#include <stdint.h>

struct reference;

/* Reads all weights of a file as double; NULL: it cannot, or knows no such
 * architecture. */
struct reference *
reference_open(const char *path);
void
reference_free(struct reference *r);

int
reference_n_vocab(const struct reference *r);

/* The context that was asked for, on which some frequencies depend; without
 * this, the model's own. */
void
reference_set_n_ctx(struct reference *r, int n_ctx);

/* out[i * n_vocab + j]: logit of id j after ids[0..i]. */
void
reference_logits(const struct reference *r, const int32_t *ids, int n,
                 double *out);

int
reference_n_embd(const struct reference *r);

/* Of an encoder: out[i * n_embd + j]: what id i becomes among all n. */
void
reference_encode(const struct reference *r, const int32_t *ids, int n,
                 double *out);

/* Sum of squared differences over sum of squares of the reference. */
double
reference_nmse(const float *x, const double *truth, int n);

#endif
