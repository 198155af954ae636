/* forgotten.h - a set of numbers in bounded memory
 *
 * Numbers that come in order cost nothing: they are kept as intervals. Where
 * there would be too many intervals, the two that are closest become one, and
 * the numbers between them count as forgotten, too: to refuse a new sequence
 * is better than to continue an old one from nothing. */
#ifndef EVAL_FORGOTTEN_H
#define EVAL_FORGOTTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FORGOTTEN_MAX = 16384, /* intervals */
};

struct interval {
    uint64_t first, last;
};

struct forgotten {
    struct interval *list; /* ascending, not touching */
    size_t n;
};

bool
forgotten_has(const struct forgotten *f, uint64_t number);
/* `number` is not in the set. */
void
forgotten_add(struct forgotten *f, uint64_t number);
/* All in first..last, behind the others and not touching them. */
void
forgotten_append(struct forgotten *f, uint64_t first, uint64_t last);
/* Does nothing where it is not there, or where there is no room to part an
 * interval. */
void
forgotten_remove(struct forgotten *f, uint64_t number);
void
forgotten_clear(struct forgotten *f);

#endif
