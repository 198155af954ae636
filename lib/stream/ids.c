/* ids.c - many numbers of few digits at once
 *
 * Where a number begins is known when the one before has been found to end, so
 * that each waits for the one before. Two halves of a text do not wait for each
 * other: they are read in turn. */
#include "stream/ids.h"

#include <stdbool.h>
#include <string.h>

#include "stream/number.h"

enum {
    WIDTH = 8,     /* bytes that are looked at for a number */
    HALVES = 2048, /* bytes; less is not worth it */
};

struct half {
    const char *p, *stop; /* where numbers begin */
    int32_t *to;
};

static inline bool
read_number(struct half *h)
{
    size_t digits = h->p < h->stop ? stream_number_fast(h->p, h->to) : 0;

    if (digits == 0)
        return false;
    h->p += digits + 1;
    h->to++;
    return true;
}

/* Where a number begins in the second half, or NULL. */
static const char *
find_middle(const char *s, const char *end)
{
    size_t half = (size_t)(end - s) / 2;
    const char *blank = half < HALVES / 2 ? NULL : memchr(s + half, ' ', half);

    return blank && blank + 1 < end ? blank + 1 : NULL;
}

size_t
stream_ids(const char **s, const char *end, int32_t *ids)
{
    const char *last = end - *s < WIDTH ? *s : end - WIDTH + 1;
    const char *middle = find_middle(*s, last);
    struct half a = { *s, middle ? middle : last, ids };
    int32_t *second = ids + (a.stop - *s) / 2; /* a number takes two bytes */
    struct half b = { a.stop, last, second };
    size_t n;

    while (read_number(&a) && read_number(&b))
        ;
    while (read_number(&a))
        ;
    n = (size_t)(a.to - ids);
    *s = a.p;
    if (a.p == middle) { /* else something comes that is to be seen first */
        size_t more;

        while (read_number(&b))
            ;
        more = (size_t)(b.to - second);
        memmove(ids + n, second, more * sizeof(*ids));
        n += more;
        *s = b.p;
    }
    return n;
}
