/* select.c - the most likely tokens first, and no more of them than needed */
#include "sample/select.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 64,
    STEP = 16, /* logits looked at together */
};

/* c[0..n) is a heap with the last one at its root: lets the choice at `i` sink
 * until neither of its children comes after it. */
static inline void
sink(struct choice *c, size_t n, size_t i)
{
    struct choice x = c[i];

    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= n)
            break;
        if (child + 1 < n && choice_before(c[child], c[child + 1]))
            child++;
        if (!choice_before(x, c[child]))
            break;
        c[i] = c[child];
        i = child;
    }
    c[i] = x;
}

static void
build(struct choice *c, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sink(c, n, i);
}

/* Taking the last off to the end, again and again, leaves the first one in
 * front. */
static void
sort(struct choice *c, size_t n)
{
    while (n > 1) {
        struct choice last = c[0];

        c[0] = c[--n];
        c[n] = last;
        sink(c, n, 0);
    }
}

/* Vectors that every machine has, or that compilers make of what it has. */
typedef float lanes __attribute__((vector_size(16)));
typedef int32_t flags __attribute__((vector_size(16)));

static bool
block_reaches(const float *logits, float bar)
{
    flags any = { 0 };

    for (int i = 0; i < BLOCK; i += STEP) {
        lanes v[4];

        memcpy(v, logits + i, sizeof(v));
        any |= (v[0] >= bar) | (v[1] >= bar) | (v[2] >= bar) | (v[3] >= bar);
    }
    return any[0] | any[1] | any[2] | any[3];
}

size_t
select_top(const int32_t *ids, const float *logits, size_t n, size_t k,
           struct choice *out)
{
    size_t m = 0, i = 0;

    for (; i < n && m < k; i++)
        if (logits[i] > -INFINITY)
            out[m++] = (struct choice){ logits[i], ids ? ids[i] : (int32_t)i };
    build(out, m);
    /* out[0] is the last of the best so far: few get past it. */
    while (m > 0 && i < n) {
        struct choice x;

        if (n - i >= BLOCK && !block_reaches(logits + i, out[0].logit)) {
            i += BLOCK;
            continue;
        }
        for (size_t end = n - i < BLOCK ? n : i + BLOCK; i < end; i++) {
            x = (struct choice){ logits[i], ids ? ids[i] : (int32_t)i };
            if (choice_before(x, out[0])) {
                out[0] = x;
                sink(out, m, 0);
            }
        }
    }
    sort(out, m);
    return m;
}
