/* crc32.h - the CRC-32 of zlib, PNG and gzip, at the speed of memory */
#ifndef CORE_CRC32_H
#define CORE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* As zlib's crc32(): start with 0, chain with what it returned. */
uint32_t
crc32_bytes(uint32_t crc, const void *data, size_t size);

#endif
