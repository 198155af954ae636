/* arena.c - best fit among holes, in several chunks */
#include "alloc/arena.h"

#include <stdint.h>
#include <string.h>

#include "core/check.h"
#include "core/mem.h"

void
alloc_arena_reset(struct arena *a)
{
    for (size_t i = 0; i < a->n_chunks; i++)
        a->chunks[i].n_holes = a->chunks[i].extent = 0;
    a->n_chunks = 0;
}

void
alloc_arena_clear(struct arena *a)
{
    for (size_t i = 0; i < a->cap; i++)
        mem_free(a->chunks[i].holes);
    mem_free(a->chunks);
    a->chunks = NULL;
    a->n_chunks = a->cap = 0;
}

static void
remove_hole(struct arena_chunk *c, size_t i)
{
    c->n_holes--;
    memmove(&c->holes[i], &c->holes[i + 1],
            (c->n_holes - i) * sizeof(*c->holes));
}

static bool
take_hole(struct arena *a, size_t size, struct arena_place *out)
{
    struct arena_chunk *best = NULL;
    size_t best_i = 0;

    for (size_t k = 0; k < a->n_chunks; k++) {
        struct arena_chunk *c = &a->chunks[k];

        for (size_t i = 0; i < c->n_holes; i++)
            if (c->holes[i].size >= size &&
                (!best || c->holes[i].size < best->holes[best_i].size)) {
                best = c;
                best_i = i;
            }
    }
    if (!best)
        return false;
    out->chunk = (int)(best - a->chunks);
    out->offset = best->holes[best_i].offset;
    best->holes[best_i].offset += size;
    best->holes[best_i].size -= size;
    if (!best->holes[best_i].size)
        remove_hole(best, best_i);
    return true;
}

/* Where the free end of a chunk starts: after the last range. */
static size_t
free_end(const struct arena_chunk *c)
{
    const struct arena_hole *last;

    if (!c->n_holes)
        return c->extent;
    last = &c->holes[c->n_holes - 1];
    return last->offset + last->size == c->extent ? last->offset : c->extent;
}

static bool
grow_chunk(struct arena *a, size_t size, struct arena_place *out)
{
    struct arena_chunk *best = NULL;
    size_t least = SIZE_MAX, end;

    for (size_t k = 0; k < a->n_chunks; k++) {
        struct arena_chunk *c = &a->chunks[k];

        if (!check_add(free_end(c), size, &end) || end > a->max_chunk)
            continue;
        if (end - c->extent < least) {
            least = end - c->extent;
            best = c;
        }
    }
    if (!best)
        return false;
    out->chunk = (int)(best - a->chunks);
    out->offset = free_end(best);
    if (out->offset < best->extent)
        best->n_holes--;
    best->extent = out->offset + size;
    return true;
}

static bool
add_chunk(struct arena *a, size_t size, struct arena_place *out)
{
    size_t old = a->cap;

    if (!mem_grow(&a->chunks, &a->cap, a->n_chunks + 1, sizeof(*a->chunks)))
        return false;
    memset(a->chunks + old, 0, (a->cap - old) * sizeof(*a->chunks));
    a->chunks[a->n_chunks].extent = size;
    *out = (struct arena_place){ .chunk = (int)a->n_chunks++ };
    return true;
}

bool
alloc_arena_alloc(struct arena *a, size_t size, struct arena_place *out)
{
    return check_align(size, a->alignment, &size) &&
           (take_hole(a, size, out) || grow_chunk(a, size, out) ||
            add_chunk(a, size, out));
}

bool
alloc_arena_free(struct arena *a, struct arena_place at, size_t size)
{
    struct arena_chunk *c = &a->chunks[at.chunk];
    size_t i = 0;
    bool after, before;

    if (!check_align(size, a->alignment, &size) || !size)
        return true;
    while (i < c->n_holes && c->holes[i].offset < at.offset)
        i++;
    after = i && c->holes[i - 1].offset + c->holes[i - 1].size == at.offset;
    before = i < c->n_holes && at.offset + size == c->holes[i].offset;
    if (after) {
        c->holes[i - 1].size += size;
        if (before) {
            c->holes[i - 1].size += c->holes[i].size;
            remove_hole(c, i);
        }
    } else if (before) {
        c->holes[i].offset = at.offset;
        c->holes[i].size += size;
    } else {
        if (!mem_grow(&c->holes, &c->cap, c->n_holes + 1, sizeof(*c->holes)))
            return false;
        memmove(&c->holes[i + 1], &c->holes[i],
                (c->n_holes - i) * sizeof(*c->holes));
        c->holes[i] = (struct arena_hole){ at.offset, size };
        c->n_holes++;
    }
    return true;
}
