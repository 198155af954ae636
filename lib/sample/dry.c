/* dry.c - what a repetition would go on with
 *
 * Read backwards, the end of the sequence is the beginning of a string, and
 * every place where it stood before is one where that beginning stands again:
 * the Z algorithm (D. Gusfield, "Algorithms on strings, trees, and sequences",
 * 1997) finds how far each goes, in linear time. */
#include <config.h>

#include <stdlib.h>

#include "sample/edit.h"
#include "sample/sampler.h"

static int
by_value(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return x < y ? -1 : x > y;
}

static bool
is_breaker(const struct gg_sampler *s, int32_t id)
{
    size_t n = s->params.n_dry_breakers;

    return n && bsearch(&id, s->breakers, n, sizeof(id), by_value);
}

/* z[i]: how many of the last ids stand also in front of the last i. */
static void
match_backwards(const int32_t *ids, size_t n, uint32_t *z)
{
    const int32_t *last = ids + n - 1;
    size_t left = 0, right = 0; /* the match that reaches furthest */

    z[0] = (uint32_t)n;
    for (size_t i = 1; i < n; i++) {
        size_t k = 0;

        if (i < right) {
            k = z[i - left];
            k = k < right - i ? k : right - i;
        }
        while (i + k < n && last[-(ptrdiff_t)k] == last[-(ptrdiff_t)(i + k)])
            k++;
        z[i] = (uint32_t)k;
        if (i + k > right) {
            left = i;
            right = i + k;
        }
    }
}

/* The longest of an id first. */
static int
by_id(const void *a, const void *b)
{
    const struct repeat *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->length > y->length ? -1 : x->length < y->length;
}

static size_t
unique(struct repeat *list, size_t n)
{
    size_t m = 0;

    for (size_t i = 0; i < n; i++)
        if (m == 0 || list[m - 1].id != list[i].id)
            list[m++] = list[i];
    return m;
}

size_t
sample_dry_repeats(const struct gg_sampler *s, uint32_t allowed,
                   const int32_t *ids, size_t n, uint32_t *lengths,
                   struct repeat *out)
{
    uint32_t limit = 0;
    size_t m = 0;

    while (limit < n && !is_breaker(s, ids[n - 1 - limit]))
        limit++;
    if (limit < allowed)
        return 0;
    match_backwards(ids, n, lengths);
    for (size_t i = 1; i < n; i++) {
        uint32_t length = lengths[i] < limit ? lengths[i] : limit;

        if (length >= allowed && !is_breaker(s, ids[n - i]))
            out[m++] = (struct repeat){ ids[n - i], length };
    }
    qsort(out, m, sizeof(*out), by_id);
    return unique(out, m);
}
