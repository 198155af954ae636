/* number_set.h - a set of numbers, kept as ranges
 *
 * Numbers that come in order cost nothing. With a limit memory is bounded:
 * where there would be too many ranges, the two that are closest become one,
 * and the numbers between them count as members, too. */
#ifndef COMMON_NUMBER_SET_H
#define COMMON_NUMBER_SET_H

#include <gg.h>

/* All zero: it is empty, and has no limit. */
struct number_set {
    struct gg_state_range *list; /* ascending, with gaps between */
    size_t n, cap;
    size_t max; /* ranges; 0: no limit */
};

bool
number_set_has(const struct number_set *set, uint64_t number);
void
number_set_add(struct number_set *set, uint64_t number);
/* All in first..last, after the others and not touching them. */
void
number_set_append(struct number_set *set, uint64_t first, uint64_t last);
/* Does nothing where it is not there, or where the limit does not let a range
 * be split. */
void
number_set_remove(struct number_set *set, uint64_t number);
/* The limit stays. */
void
number_set_clear(struct number_set *set);

#endif
