/* arena.h - memory that is freed as a whole, up to a limit */
#ifndef CHAT_ARENA_H
#define CHAT_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct chat_arena_block;

/* All zero but for `limit` is an empty one. */
struct chat_arena {
    struct chat_arena_block *blocks; /* the newest first */
    size_t used;                     /* bytes of the newest */
    size_t total;                    /* bytes in all blocks */
    size_t limit;                    /* of `total` */
};

/* Memory on a 16-byte boundary, not cleared; NULL where there is none, or the
 * limit would be passed. */
void *
chat_arena_alloc(struct chat_arena *a, size_t size);

/* Grows memory that was allocated with `old` bytes; in its place where it was
 * the last. On failure returns NULL, and *p* stays as it was. */
void *
chat_arena_grow(struct chat_arena *a, void *p, size_t old, size_t size);

/* Frees what was allocated after the arena was `before`, a copy of it. */
void
chat_arena_rewind(struct chat_arena *a, const struct chat_arena *before);

/* Frees all; the arena is empty again. */
void
chat_arena_clear(struct chat_arena *a);

#endif
