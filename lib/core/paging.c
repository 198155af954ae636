/* paging.c - parts of mapped files: read ahead, and given back */
#include <config.h>

#include "core/paging.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif
#include <unistd.h>

#include "core/mem.h"

/* Headers of older systems lack this; so may the kernel. */
#if defined(__linux__) && !defined(MADV_POPULATE_READ)
#define MADV_POPULATE_READ 22
#endif

#ifdef __linux__
bool
paging_from_disk(const struct file_map *map)
{
    static const unsigned long in_memory[] = {
        0x01021994, /* tmpfs */
        0x858458f6, /* ramfs */
        0x958458f6, /* hugetlbfs */
    };
    struct statfs fs;

    if (!map->filed || map->fd < 0)
        return map->filed;
    if (fstatfs(map->fd, &fs))
        return true;
    for (size_t i = 0; i < sizeof(in_memory) / sizeof(in_memory[0]); i++)
        if (((unsigned long)fs.f_type & 0xffffffff) == in_memory[i])
            return false;
    return true;
}
#else
bool
paging_from_disk(const struct file_map *map)
{
    return map->filed;
}
#endif

void
paging_by_hand(const void *p, size_t n, bool yes)
{
    struct mem_pages pages = mem_pages((void *)(uintptr_t)p, n);

    if (pages.size == 0)
        return;
#ifdef MADV_HUGEPAGE
    (void)madvise(pages.p, pages.size, yes ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
#endif
    (void)madvise(pages.p, pages.size, yes ? MADV_RANDOM : MADV_NORMAL);
}

/* All pages that the bytes are in. */
static struct mem_pages
pages_around(const void *p, size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), skip = (uintptr_t)p % page;
    char *first = (char *)(uintptr_t)p - skip;

    return (struct mem_pages){ first, (skip + n + page - 1) / page * page };
}

#if defined(__linux__) && defined(O_DIRECT)
int
paging_open_direct(const struct file_map *map)
{
    char path[32];

    if (!map->filed || map->fd < 0)
        return -1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", map->fd);
    return open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
}
#else
int
paging_open_direct(const struct file_map *map)
{
    (void)map;
    return -1;
}
#endif

bool
paging_read(int fd, void *p, size_t n, size_t at, size_t needed)
{
    size_t done = 0;
    ssize_t got;

    while (done < needed) {
        got = pread(fd, (char *)p + done, n - done, (off_t)(at + done));
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

void
paging_load(const void *p, size_t n)
{
    struct mem_pages pages = pages_around(p, n);

    if (n == 0)
        return;
    (void)madvise(pages.p, pages.size, MADV_WILLNEED);
#ifdef MADV_POPULATE_READ
    (void)madvise(pages.p, pages.size, MADV_POPULATE_READ);
#endif
}

void
paging_drop(const struct file_map *map, const void *p, size_t n)
{
    struct mem_pages pages = mem_pages((void *)(uintptr_t)p, n);
    off_t at = (off_t)(pages.p - (char *)map->data);

    if (pages.size == 0 || !map->filed)
        return;
    (void)madvise(pages.p, pages.size, MADV_DONTNEED);
    if (map->fd >= 0)
        (void)posix_fadvise(map->fd, at, (off_t)pages.size,
                            POSIX_FADV_DONTNEED);
}
