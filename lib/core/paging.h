/* paging.h - parts of mapped files: read ahead, and given back
 *
 * Advice to the system: what it cannot follow costs time only. */
#ifndef CORE_PAGING_H
#define CORE_PAGING_H

#include <stdbool.h>
#include <stddef.h>

#include "core/file.h"

/* Whether the mapped file is on a disk, and not in memory itself, as files of a
 * tmpfs are. */
bool
paging_from_disk(const struct file_map *map);

/* The system reads single pages of the bytes where they are missing, or, as
 * usual, those around them. Pages that they share with others are left. */
void
paging_by_hand(const void *p, size_t n, bool yes);

/* The mapped file, open once more, for reads that bypass the system's cache;
 * -1: there are none. The caller closes it. */
int
paging_open_direct(const struct file_map *map);

/* Reads as many bytes of such a file, from `at` on. Memory, bytes and place are
 * whole pages; the file may end before `needed` bytes, and then returns false,
 * as it does where it cannot be read. */
bool
paging_read(int fd, void *p, size_t n, size_t at, size_t needed);

/* Reads the bytes into memory and maps them; returns when they are there. */
void
paging_load(const void *p, size_t n);

/* Unmaps pages that are the bytes' alone, and takes them out of the system's
 * cache, unless other processes map them. The bytes lie in `map`. */
void
paging_drop(const struct file_map *map, const void *p, size_t n);

#endif
