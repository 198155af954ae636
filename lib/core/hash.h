/* hash.h - string hashing, and a set of strings held elsewhere */
#ifndef CORE_HASH_H
#define CORE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* FNV-1a, 64 bits; `h` chains, HASH_START begins. */
#define HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t
hash_bytes(uint64_t h, const void *data, size_t len);
/* In place of HASH_START, where no file shall know it. */
uint64_t
hash_random_start(void);

/* Maps strings to the index that they were added with. Holds pointers to the
 * strings, which must outlive it. Each map hashes with a start of its own, so
 * that no file can be made whose names all collide. */
struct hash_map {
    struct hash_slot *slots;
    size_t mask; /* number of slots - 1 */
    uint64_t start;
};

/* For at most n strings; false: no memory. */
bool
hash_map_init(struct hash_map *map, size_t n);
void
hash_map_clear(struct hash_map *map);
/* Adds unless it is there; returns the index that is in force. */
uint32_t
hash_map_add(struct hash_map *map, const char *s, size_t len, uint32_t index);
/* Returns false if it is not there. */
bool
hash_map_find(const struct hash_map *map, const char *s, size_t len,
              uint32_t *index);

#endif
