/* hash.c - string hashing, and a set of strings held elsewhere */
#include <config.h>

#include "core/hash.h"

#include <string.h>
#include <sys/random.h>

#include "core/check.h"
#include "core/mem.h"

struct hash_slot {
    const char *s; /* NULL: free */
    size_t len;
    uint32_t hash, index;
};

uint64_t
hash_bytes(uint64_t h, const void *data, size_t len)
{
    const uint8_t *p = data;

    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

uint64_t
hash_random_start(void)
{
    uint64_t start = HASH_START;

    if (getrandom(&start, sizeof(start), GRND_NONBLOCK) < 0)
        start ^= (uintptr_t)&start; /* early at boot: better than nothing */
    return start;
}

bool
hash_map_init(struct hash_map *map, size_t n)
{
    size_t slots = 16, want;

    if (!check_mul(n, 2, &want))
        return false;
    while (slots < want)
        slots *= 2;
    map->slots = mem_array(slots, sizeof(*map->slots));
    map->mask = slots - 1;
    map->start = hash_random_start();
    return map->slots != NULL;
}

void
hash_map_clear(struct hash_map *map)
{
    mem_free(map->slots);
    *map = (struct hash_map){ 0 };
}

/* The slot that holds the string, or the free one where it belongs. */
static struct hash_slot *
hash_probe(const struct hash_map *map, const char *s, size_t len,
           uint32_t *hash)
{
    uint64_t h = hash_bytes(map->start, s, len);
    size_t i = (h ^ h >> 29) & map->mask;

    *hash = (uint32_t)(h >> 32);
    for (;; i = (i + 1) & map->mask) {
        struct hash_slot *slot = &map->slots[i];

        if (!slot->s || (slot->hash == *hash && slot->len == len &&
                         memcmp(slot->s, s, len) == 0))
            return slot;
    }
}

uint32_t
hash_map_add(struct hash_map *map, const char *s, size_t len, uint32_t index)
{
    uint32_t hash;
    struct hash_slot *slot = hash_probe(map, s, len, &hash);

    if (!slot->s)
        *slot = (struct hash_slot){ s, len, hash, index };
    return slot->index;
}

bool
hash_map_find(const struct hash_map *map, const char *s, size_t len,
              uint32_t *index)
{
    uint32_t hash;
    struct hash_slot *slot;

    if (!map->slots)
        return false;
    slot = hash_probe(map, s, len, &hash);
    if (slot->s)
        *index = slot->index;
    return slot->s != NULL;
}
