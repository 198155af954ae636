/* order.h - numbers in the byte order of files, which is little-endian
 *
 * Where the machine is little-endian, too, nothing of this is left. */
#ifndef CORE_ORDER_H
#define CORE_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CORE_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* The machine's number of a little-endian one, and the other way round. */
static inline uint16_t
core_le16(uint16_t v)
{
    return CORE_BIG_ENDIAN ? __builtin_bswap16(v) : v;
}

static inline uint32_t
core_le32(uint32_t v)
{
    return CORE_BIG_ENDIAN ? __builtin_bswap32(v) : v;
}

static inline uint64_t
core_le64(uint64_t v)
{
    return CORE_BIG_ENDIAN ? __builtin_bswap64(v) : v;
}

/* Converts n numbers of `size` bytes, 1, 2, 4 or 8, at any address. */
void
core_le_array(void *numbers, size_t n, size_t size);

/* Turns their bytes round, whatever the machine. */
void
core_swap_array(void *numbers, size_t n, size_t size);

#define CORE_LOAD_LE(bits)                                                     \
    static inline uint##bits##_t core_load_le##bits(const void *p)             \
    {                                                                          \
        uint##bits##_t v;                                                      \
        memcpy(&v, p, sizeof(v));                                              \
        return core_le##bits(v);                                               \
    }                                                                          \
    static inline void core_store_le##bits(void *p, uint##bits##_t v)          \
    {                                                                          \
        v = core_le##bits(v);                                                  \
        memcpy(p, &v, sizeof(v));                                              \
    }
CORE_LOAD_LE(16)
CORE_LOAD_LE(32)
CORE_LOAD_LE(64)
#undef CORE_LOAD_LE

#endif
