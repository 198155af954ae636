/* mask_summary.h - mask-block summaries: which keys of a block attention's mask
 * hides, F16 added to scores, minus infinity for a hidden key */
#ifndef CPU_OPS_MASK_SUMMARY_H
#define CPU_OPS_MASK_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The summary of a block of less than 128 keys, for one row: 0, if all are
 * hidden, or how many keys there are without the hidden ones at its end; and
 * whether the mask adds nothing to the scores of any. */
typedef unsigned char mask_block;
#define MASK_BLOCK_KEYS     0x7f
#define MASK_BLOCK_UNMASKED 0x80

#define MINUS_INFINITY 0xfc00
#define EIGHT          8
typedef uint16_t eight __attribute__((vector_size(2 * EIGHT)));

static inline bool
any_of(eight v)
{
    uint64_t half[2];

    memcpy(half, &v, sizeof(half));
    return half[0] | half[1];
}

/* Which values are not -infinity. */
static inline eight
not_hidden(const uint16_t *m, eight *value)
{
    memcpy(value, m, sizeof(*value));
    return *value ^ ((eight){ 0 } + MINUS_INFINITY);
}

/* n keys without the hidden ones at their end. */
static inline int64_t
cpu_mask_visible_keys(const uint16_t *m, int64_t n)
{
    eight value;

    while (n >= EIGHT && !any_of(not_hidden(m + n - EIGHT, &value)))
        n -= EIGHT;
    while (n > 0 && m[n - 1] == MINUS_INFINITY)
        n--;
    return n;
}

static inline mask_block
cpu_mask_block_summary(const uint16_t *m, int64_t n)
{
    eight value, any = { 0 }, other = { 0 };
    int64_t j = 0;

    for (; j + EIGHT <= n; j += EIGHT) {
        other |= not_hidden(m + j, &value);
        any |= value;
    }
    for (; j < n; j++) {
        any[0] |= m[j];
        other[0] |= m[j] ^ MINUS_INFINITY;
    }
    if (!any_of(other))
        return 0;
    return (mask_block)(any_of(any) ? cpu_mask_visible_keys(m, n)
                                    : n | MASK_BLOCK_UNMASKED);
}

#endif
