/* weight_slots.h - memory for units of weights that only pass
 *
 * Their bytes are read past the system's cache: no page of it is found, mapped
 * and dropped for them, so that reading takes little of the processors' time.
 * Who computes asks where a unit's bytes are. Slots are alike, and there are
 * few. */
#ifndef CPU_EXEC_WEIGHT_SLOTS_H
#define CPU_EXEC_WEIGHT_SLOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/file.h"

/* All zero: none. */
struct weight_slots {
    const struct file_map *maps; /* that units lie in; they outlive it */
    int *files;                  /* of each map; -1: it cannot be read so */
    size_t n_maps;
    char *memory;
    size_t page, size; /* bytes of a page, and of a slot */
    int *free; /* slots that hold nothing, in a stack: the last one is taken */
    int n, n_free;
    int n_touched; /* whose memory the system has given */
};

/* Opens the maps' files once more. False: no memory. */
bool
cpu_slots_init(struct weight_slots *s, const struct file_map *maps,
               size_t n_maps);
void
cpu_slots_clear(struct weight_slots *s);

/* Makes slots for units of n bytes, as many as fit into `room`, where all are
 * free; without memory there are none. */
void
cpu_slots_make(struct weight_slots *s, size_t n, size_t room);

/* Whether units of the map can be read into slots, if there are any. */
bool
cpu_slots_serve(const struct weight_slots *s, const struct file_map *map);

/* A free slot; -1: there is none. */
int
cpu_slots_take(struct weight_slots *s);
void
cpu_slots_give(struct weight_slots *s, int slot);

/* Bytes of memory that the slots have taken. */
size_t
cpu_slots_used(const struct weight_slots *s);

/* Gives the slots' memory back to the system, where all are free. */
void
cpu_slots_discard(struct weight_slots *s);

/* Reads n bytes at `at`, of the map, into a slot. False: they cannot be. */
bool
cpu_slots_read(const struct weight_slots *s, int slot,
               const struct file_map *map, const char *at, size_t n);

/* The place of those bytes. */
const char *
cpu_slots_at(const struct weight_slots *s, int slot, const char *at);

#endif
