/* select.c - the most likely tokens first, and no more of them than needed */
#include "core/select.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 64,
    STEP = 16, /* logits looked at together */
    DIGIT_BITS = 8,
    DIGITS = 1 << DIGIT_BITS,
    PASSES = 32 / DIGIT_BITS, /* an even number: the last one is into c */
};

/* ---- all of them --------------------------------------------------------- */

/* The kinds of numbers among n of them. */
struct seen {
    int bad;  /* a NaN, or infinity */
    int some; /* one that is possible */
};

static inline void
look(const float *logits, int n, struct seen *seen)
{
    int bad = 0, some = 0;

    for (int i = 0; i < n; i++) {
        bad |= !(logits[i] < INFINITY);
        some |= logits[i] > -INFINITY;
    }
    seen->bad |= bad;
    seen->some |= some;
}

/* Loops of fixed length are what compilers turn into vectors. */
enum select_state
select_check(const float *logits, size_t n)
{
    struct seen seen = { 0 };
    size_t i = 0;

    for (; n - i >= BLOCK; i += BLOCK)
        look(logits + i, BLOCK, &seen);
    look(logits + i, (int)(n - i), &seen);
    return seen.bad ? SELECT_BAD : seen.some ? SELECT_SOUND : SELECT_NONE;
}

double
select_log_sum(const float *logits, size_t n, float max)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += exp((double)logits[i] - (double)max);
    return (double)max + log(sum);
}

/* ---- the first ----------------------------------------------------------- */

static struct choice
choice_at(const int32_t *ids, const float *logits, size_t i)
{
    return (struct choice){ logits[i], ids ? ids[i] : (int32_t)i };
}

/* The first k that can be chosen, as they stand; *end: after the last one. */
static size_t
take_possible(const int32_t *ids, const float *logits, size_t n, size_t k,
              struct choice *out, size_t *end)
{
    size_t m = 0, i = 0;

    for (; i < n && m < k; i++)
        if (logits[i] > -INFINITY)
            out[m++] = choice_at(ids, logits, i);
    *end = i;
    return m;
}

/* ---- few: a heap -------------------------------------------------------- */

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
        if (child + 1 < n && select_before(c[child], c[child + 1]))
            child++;
        if (!select_before(x, c[child]))
            break;
        c[i] = c[child];
        i = child;
    }
    c[i] = x;
}

static void
build_heap(struct choice *c, size_t n)
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

static size_t
select_few(const int32_t *ids, const float *logits, size_t n, size_t k,
           struct choice *out)
{
    size_t i, m = take_possible(ids, logits, n, k, out, &i);

    build_heap(out, m);
    /* out[0] is the last of the best so far: few get past it. */
    while (m > 0 && i < n) {
        struct choice x;

        if (n - i >= BLOCK && !block_reaches(logits + i, out[0].logit)) {
            i += BLOCK;
            continue;
        }
        for (size_t end = n - i < BLOCK ? n : i + BLOCK; i < end; i++) {
            x = choice_at(ids, logits, i);
            if (select_before(x, out[0])) {
                out[0] = x;
                sink(out, m, 0);
            }
        }
    }
    sort(out, m);
    return m;
}

/* ---- many: digits ------------------------------------------------------- */

/* The higher the logit, the lower. Both zeros have one. */
static uint32_t
key(struct choice c)
{
    float x = c.logit + 0.0f;
    uint32_t u;

    memcpy(&u, &x, sizeof(u));
    return u >> 31 ? u : INT32_MAX - u;
}

/* Where those of each digit of all keys begin. */
static void
count_digits(const struct choice *c, size_t n, uint32_t begin[PASSES][DIGITS])
{
    memset(begin, 0, sizeof(*begin) * PASSES);
    for (size_t i = 0; i < n; i++) {
        uint32_t k = key(c[i]);

        for (int p = 0; p < PASSES; p++)
            begin[p][k >> p * DIGIT_BITS & (DIGITS - 1)]++;
    }
    for (int p = 0; p < PASSES; p++) {
        uint32_t at = 0;

        for (int d = 0; d < DIGITS; d++) {
            uint32_t m = begin[p][d];

            begin[p][d] = at;
            at += m;
        }
    }
}

/* Sorts choices of the same logit by their ids. */
static void
sort_equals(struct choice *c, size_t n)
{
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && c[end].logit == c[i].logit; end++)
            ;
        build_heap(c + i, end - i);
        sort(c + i, end - i);
    }
}

/* Radix sort from the last digit on: those of a digit stay in order. */
static void
sort_digits(struct choice *c, struct choice *scratch, size_t n)
{
    uint32_t begin[PASSES][DIGITS];

    count_digits(c, n, begin);
    for (int p = 0; p < PASSES; p++) {
        struct choice *from = p % 2 ? scratch : c, *to = p % 2 ? c : scratch;

        for (size_t i = 0; i < n; i++) {
            uint32_t d = key(from[i]) >> p * DIGIT_BITS & (DIGITS - 1);

            to[begin[p][d]++] = from[i];
        }
    }
}

/* Takes the logits that reach the bar, as they stand. */
static size_t
take_above(const int32_t *ids, const float *logits, size_t n, float bar,
           struct choice *out)
{
    size_t m = 0;

    for (size_t i = 0, end; i < n; i = end) {
        end = n - i < BLOCK ? n : i + BLOCK;
        if (end - i == BLOCK && !block_reaches(logits + i, bar))
            continue;
        for (; i < end; i++)
            if (logits[i] >= bar && logits[i] > -INFINITY)
                out[m++] = choice_at(ids, logits, i);
    }
    return m;
}

size_t
select_above(const int32_t *ids, const float *logits, size_t n, float bar,
             struct choice *out)
{
    size_t m = take_above(ids, logits, n, bar, out);

    if (m < SELECT_MANY) {
        build_heap(out, m);
        sort(out, m);
        return m;
    }
    sort_digits(out, out + n, m);
    if (ids)
        sort_equals(out, m);
    return m;
}

size_t
select_top(const int32_t *ids, const float *logits, size_t n, size_t k,
           struct choice *out)
{
    size_t m;

    if (k < SELECT_MANY)
        return select_few(ids, logits, n, k, out);
    m = select_above(ids, logits, n, -INFINITY, out);
    return k < m ? k : m;
}
