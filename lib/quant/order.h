/* order.h - blocks of the other byte order
 *
 * Big-endian files have the same blocks as others, as a program on such a
 * machine has them in memory: each number of several bytes is turned round, and
 * bytes stay where they are. */
#ifndef QUANT_ORDER_H
#define QUANT_ORDER_H

#include <ggml.h>

/* Turns round the bytes of each number in `size` bytes of whole blocks, at any
 * address: from one byte order to the other. */
void
quant_swap_order(enum ggml_type type, void *blocks, size_t size);

#endif
