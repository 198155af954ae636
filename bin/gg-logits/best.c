/* best.c - the likeliest ids of a vector of logits */
#include <config.h>

#include "gg-logits/best.h"

#include <math.h>
#include <stdlib.h>

#include "common/cli.h"

void
best_init(struct best *b, size_t k)
{
    *b = (struct best){
        .k = k,
        .ids = cli_alloc(NULL, k, sizeof(*b->ids)),
        .logits = cli_alloc(NULL, k, sizeof(*b->logits)),
    };
}

void
best_clear(struct best *b)
{
    free(b->ids);
    free(b->logits);
    *b = (struct best){ 0 };
}

bool
best_possible(const float *logits, size_t n, float *max)
{
    bool finite = true;

    *max = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        finite = finite & (logits[i] < INFINITY);
        *max = logits[i] > *max ? logits[i] : *max;
    }
    return finite && *max > -INFINITY;
}

static bool
log_sum(struct best *b, const float *logits, size_t n)
{
    double sum = 0;
    float max;

    if (!best_possible(logits, n, &max))
        return false;
    for (size_t i = 0; i < n; i++)
        sum += exp((double)logits[i] - (double)max);
    b->log_sum = (double)max + log(sum);
    return true;
}

/* ids and logits [0..n) are a heap whose root is the least likely. */

static bool
less(const struct best *b, size_t x, size_t y)
{
    return b->logits[x] < b->logits[y] ||
           (b->logits[x] == b->logits[y] && b->ids[x] > b->ids[y]);
}

static void
swap(struct best *b, size_t x, size_t y)
{
    int32_t id = b->ids[x];
    float logit = b->logits[x];

    b->ids[x] = b->ids[y];
    b->logits[x] = b->logits[y];
    b->ids[y] = id;
    b->logits[y] = logit;
}

static void
sink(struct best *b, size_t i, size_t n)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && less(b, child + 1, child))
            child++;
        if (!less(b, child, i))
            return;
        swap(b, i, child);
    }
}

static void
rise(struct best *b, size_t i)
{
    for (; i > 0 && less(b, i, (i - 1) / 2); i = (i - 1) / 2)
        swap(b, i, (i - 1) / 2);
}

bool
best_find(struct best *b, const float *logits, size_t n)
{
    if (!log_sum(b, logits, n))
        return false;
    b->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (b->n < b->k) {
            b->ids[b->n] = (int32_t)i;
            b->logits[b->n] = logits[i];
            rise(b, b->n++);
        } else if (logits[i] > b->logits[0]) {
            b->ids[0] = (int32_t)i;
            b->logits[0] = logits[i];
            sink(b, 0, b->n);
        }
    }
    for (size_t left = b->n; left > 1; left--) { /* the least goes to the end */
        swap(b, 0, left - 1);
        sink(b, 0, left - 1);
    }
    return true;
}
