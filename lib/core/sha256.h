/* sha256.h - the hash SHA-256 of FIPS 180-4 */
#ifndef CORE_SHA256_H
#define CORE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum {
    SHA256_BYTES = 32,
    SHA256_BLOCK = 64,
};

struct sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    uint8_t rest[SHA256_BLOCK];
};

void
sha256_start(struct sha256 *h);
void
sha256_add(struct sha256 *h, const void *data, size_t size);
/* Numbers are hashed little-endian. */
void
sha256_add_u64(struct sha256 *h, uint64_t value);
/* Ends the hash: *h has to be started anew. */
void
sha256_end(struct sha256 *h, uint8_t digest[SHA256_BYTES]);

#endif
