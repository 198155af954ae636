/* hash.h - hashes by which a file is verified, as its bytes come */
#ifndef FETCH_HASH_H
#define FETCH_HASH_H

#include "gg-fetch/repository.h"

struct file_hash;

/* `size`: of the whole, which Git's hash begins with. free() it. */
struct file_hash *
file_hash_new(enum sum_kind kind, uint64_t size);
void
file_hash_add(struct file_hash *h, const void *p, size_t n);
/* Ends it. */
void
file_hash_hex(struct file_hash *h, char hex[SUM_HEX]);

#endif
