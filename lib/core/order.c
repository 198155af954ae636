/* order.c - arrays of numbers whose bytes are turned round */
#include "core/order.h"

#include <assert.h>

#define SWAP_ALL(bits)                                                         \
    static void swap##bits(uint8_t *p, size_t n)                               \
    {                                                                          \
        uint##bits##_t v;                                                      \
        for (size_t i = 0; i < n; i++, p += sizeof(v)) {                       \
            memcpy(&v, p, sizeof(v));                                          \
            v = __builtin_bswap##bits(v);                                      \
            memcpy(p, &v, sizeof(v));                                          \
        }                                                                      \
    }
SWAP_ALL(16)
SWAP_ALL(32)
SWAP_ALL(64)

void
core_swap_array(void *numbers, size_t n, size_t size)
{
    assert(size == 1 || size == 2 || size == 4 || size == 8);
    if (size == 2)
        swap16(numbers, n);
    else if (size == 4)
        swap32(numbers, n);
    else if (size == 8)
        swap64(numbers, n);
}

void
core_le_array(void *numbers, size_t n, size_t size)
{
    if (CORE_BIG_ENDIAN)
        core_swap_array(numbers, n, size);
}
