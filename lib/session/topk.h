/* topk.h - the likeliest ids of a row of logits, without a device */
#ifndef SESSION_TOPK_H
#define SESSION_TOPK_H

#include <gg.h>

/* Scratch; all zero: none yet. */
struct topk {
    struct choice *choices;
    size_t cap;
};

/* Fills in what struct gg_best says. k is at most n. False: no memory. */
bool
session_topk_find(struct topk *t, const float *logits, size_t n,
                  struct gg_best *out);

void
session_topk_clear(struct topk *t);

#endif
