/* arena.h - handing out ranges of memory that is not there yet
 *
 * A plan is made with offsets; how much memory it needs is known when it is
 * done. The memory comes in chunks, each of which a buffer type can provide
 * in one piece. Sizes and offsets are multiples of the alignment. */
#ifndef ALLOC_ARENA_H
#define ALLOC_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_place {
    int chunk;
    size_t offset;
};

struct arena_hole {
    size_t offset, size;
};

struct arena_chunk {
    struct arena_hole *holes; /* by offset; no two touch */
    size_t n_holes, cap;
    size_t extent; /* bytes ever used: all after is free */
};

struct arena {
    size_t alignment, max_chunk;
    struct arena_chunk *chunks;
    size_t n_chunks, cap;
};

/* Forgets all ranges, keeps memory of its own for the next plan. */
void
alloc_arena_reset(struct arena *a);

void
alloc_arena_clear(struct arena *a);

/* The smallest hole that fits, else the chunk that grows least, else a new
 * chunk, which is larger than max_chunk only if size is. False: no memory for
 * the book-keeping. */
bool
alloc_arena_alloc(struct arena *a, size_t size, struct arena_place *out);

/* Gives back a range, or a part of one; false: no memory for the
 * book-keeping, and the range is lost. */
bool
alloc_arena_free(struct arena *a, struct arena_place at, size_t size);

#endif
