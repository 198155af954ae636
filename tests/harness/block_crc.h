/* block_crc.h - CRC-32 of blocks and floats, the same on all machines */
#ifndef TESTS_BLOCK_CRC_H
#define TESTS_BLOCK_CRC_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/order.h"
#include "quant/order.h"

/* CRC-32 of the bytes that a machine with little-endian numbers has. */
static inline uint32_t
crc_of(enum ggml_type type, const void *p, size_t n)
{
    uint8_t *bytes = malloc(n);
    uLong sum;

    memcpy(bytes, p, n);
    if (CORE_BIG_ENDIAN)
        quant_swap_order(type, bytes, n);
    sum = crc32(0, bytes, (uInt)n);
    free(bytes);
    return (uint32_t)sum;
}

#endif
