/* check.h - sums and products that say when they do not fit */
#ifndef CORE_CHECK_H
#define CORE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each writes *out and returns true, or returns false: it would overflow. Where
 * a size has 32 bits, too, what a file says is not cut before it is looked at.
 */
static inline bool
check_add(uint64_t a, uint64_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

static inline bool
check_mul(uint64_t a, uint64_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

/* Rounds up to a multiple of `align`, a power of two. */
static inline bool
check_align(size_t a, size_t align, size_t *out)
{
    if (!check_add(a, align - 1, out))
        return false;
    *out &= ~(align - 1);
    return true;
}

static inline bool
check_power_of_two(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

#endif
