/* weight_slots.c - memory for units of weights that only pass */
#include <config.h>

#include "cpu/exec/weight_slots.h"

#include <stdint.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/paging.h"

enum {
    LEAST_SLOTS = 4 /* with fewer nothing could be read ahead */
};

bool
cpu_slots_init(struct weight_slots *s, const struct file_map *maps,
               size_t n_maps)
{
    *s = (struct weight_slots){ .maps = maps,
                                .n_maps = n_maps,
                                .page = (size_t)sysconf(_SC_PAGESIZE) };
    s->files = mem_array(n_maps, sizeof(*s->files));
    for (size_t i = 0; i < n_maps && s->files; i++)
        s->files[i] = paging_open_direct(&maps[i]);
    return s->files != NULL;
}

void
cpu_slots_clear(struct weight_slots *s)
{
    for (size_t i = 0; i < s->n_maps && s->files; i++)
        if (s->files[i] >= 0)
            close(s->files[i]);
    mem_free(s->files);
    mem_free(s->memory);
    mem_free(s->free);
    *s = (struct weight_slots){ 0 };
}

static bool
are_all_free(const struct weight_slots *s)
{
    return s->n_free == s->n;
}

/* Bytes of a slot: units begin and end within pages. */
static size_t
slot_size(const struct weight_slots *s, size_t n)
{
    return (n + 2 * s->page - 2) / s->page * s->page;
}

void
cpu_slots_make(struct weight_slots *s, size_t n, size_t room)
{
    size_t size = slot_size(s, n), count = room / size;

    count = n > 0 && count >= LEAST_SLOTS ? count : 0;
    if (!are_all_free(s) || (size == s->size && (int)count == s->n))
        return;
    mem_free(s->memory);
    mem_free(s->free);
    s->n = s->n_free = s->n_touched = 0;
    s->size = size;
    s->memory = count ? mem_aligned(MEM_LARGE_PAGE, count * size) : NULL;
    s->free = count ? mem_array(count, sizeof(*s->free)) : NULL;
    for (size_t i = 0; i < count && s->memory && s->free; i++)
        s->free[s->n_free++] = s->n++;
}

static int
file_of(const struct weight_slots *s, const struct file_map *map)
{
    return s->files[map - s->maps];
}

bool
cpu_slots_serve(const struct weight_slots *s, const struct file_map *map)
{
    return s->n > 0 && file_of(s, map) >= 0;
}

int
cpu_slots_take(struct weight_slots *s)
{
    int slot = s->n_free > 0 ? s->free[--s->n_free] : -1;

    if (s->n - s->n_free > s->n_touched)
        s->n_touched = s->n - s->n_free;
    return slot;
}

void
cpu_slots_give(struct weight_slots *s, int slot)
{
    s->free[s->n_free++] = slot;
}

size_t
cpu_slots_used(const struct weight_slots *s)
{
    return (size_t)s->n_touched * s->size;
}

void
cpu_slots_discard(struct weight_slots *s)
{
    if (s->n_touched == 0 || !are_all_free(s))
        return;
    mem_discard(s->memory, (size_t)s->n * s->size);
    s->n_touched = 0;
}

/* Bytes before `at` in its page of the file, which begins where the map does.
 */
static size_t
skipped(const struct weight_slots *s, const char *at)
{
    return (uintptr_t)at % s->page;
}

bool
cpu_slots_read(const struct weight_slots *s, int slot,
               const struct file_map *map, const char *at, size_t n)
{
    size_t skip = skipped(s, at), begin = (size_t)(at - (char *)map->data);
    size_t pages = (skip + n + s->page - 1) / s->page * s->page;

    return paging_read(file_of(s, map), s->memory + (size_t)slot * s->size,
                       pages, begin - skip, skip + n);
}

const char *
cpu_slots_at(const struct weight_slots *s, int slot, const char *at)
{
    return s->memory + (size_t)slot * s->size + skipped(s, at);
}
