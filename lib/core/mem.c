/* mem.c - the one place that allocates, so that tests can make it fail */
#include <config.h>

#include "core/mem.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/check.h"

static _Atomic long fail_countdown = -1;

void
mem_fail_after(long n)
{
    fail_countdown = n;
}

static bool
must_fail(void)
{
    long n = atomic_load_explicit(&fail_countdown, memory_order_relaxed);

    if (n < 0)
        return false;
    if (n == 0)
        return true;
    fail_countdown = n - 1; /* tests that inject failures have one thread */
    return false;
}

void *
mem_alloc(size_t size)
{
    return must_fail() ? NULL : malloc(size ? size : 1);
}

void *
mem_zalloc(size_t size)
{
    return mem_array(1, size);
}

void *
mem_array(size_t n, size_t size)
{
    size_t bytes;

    if (must_fail() || !check_mul(n, size, &bytes))
        return NULL;
    return calloc(n ? n : 1, size ? size : 1);
}

struct mem_pages
mem_pages(void *p, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), skip = -(uintptr_t)p % page;

    if (!p || size < skip + page)
        return (struct mem_pages){ p, 0 };
    return (struct mem_pages){ (char *)p + skip, (size - skip) / page * page };
}

/* Less is not worth a call of the system. */
#define MUCH MEM_LARGE_PAGE

#ifdef MADV_HUGEPAGE
static void
advise(void *p, size_t size, size_t least, int advice)
{
    struct mem_pages pages = mem_pages(p, size);

    if (pages.size >= least)
        (void)madvise(pages.p, pages.size, advice);
}
#else
#define advise(p, size, least, advice) ((void)(p), (void)(size))
#endif

void *
mem_table(size_t n, size_t size)
{
    void *p = mem_array(n, size);

    advise(p, n * size, MUCH, MADV_HUGEPAGE);
    return p;
}

void
mem_small_pages(void *p, size_t size)
{
    advise(p, size, 1, MADV_NOHUGEPAGE);
}

/* Linux 6.1; headers may be older than the system. */
#if defined(__linux__) && !defined(MADV_COLLAPSE)
#define MADV_COLLAPSE 25
#endif

bool
mem_large_page(void *p)
{
#if defined(MADV_HUGEPAGE) && defined(MADV_COLLAPSE)
    return madvise(p, MEM_LARGE_PAGE, MADV_HUGEPAGE) == 0 &&
           madvise(p, MEM_LARGE_PAGE, MADV_COLLAPSE) == 0;
#else
    (void)p;
    return false;
#endif
}

void
mem_discard(void *p, size_t size)
{
#ifdef MADV_DONTNEED
    struct mem_pages pages = mem_pages(p, size);

    if (pages.size)
        (void)madvise(pages.p, pages.size, MADV_DONTNEED);
#else
    (void)p, (void)size;
#endif
}

void *
mem_realloc(void *p, size_t size)
{
    return must_fail() ? NULL : realloc(p, size ? size : 1);
}

void *
mem_dup(const void *p, size_t size)
{
    void *copy = mem_alloc(size);

    if (copy && size)
        memcpy(copy, p, size);
    return copy;
}

char *
mem_strndup(const char *s, size_t len)
{
    size_t size;
    char *copy = check_add(len, 1, &size) ? mem_alloc(size) : NULL;

    if (!copy)
        return NULL;
    if (len)
        memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

void
mem_free(void *p)
{
    free(p);
}

void *
mem_aligned(size_t align, size_t size)
{
    size_t padded;

    if (must_fail() || !check_align(size ? size : 1, align, &padded))
        return NULL;
    return aligned_alloc(align, padded);
}

/* Elsewhere such pages may keep what they hold. */
#ifdef __linux__
static bool
give_back(struct mem_pages pages)
{
    return pages.size >= MUCH &&
           madvise(pages.p, pages.size, MADV_DONTNEED) == 0;
}
#else
static bool
give_back(struct mem_pages pages)
{
    (void)pages;
    return false;
}
#endif

void
mem_zero(void *p, size_t size)
{
    struct mem_pages pages = mem_pages(p, size);
    char *begin = p, *end = begin + size;

    if (!give_back(pages)) {
        memset(p, 0, size);
        return;
    }
    memset(begin, 0, (size_t)(pages.p - begin));
    memset(pages.p + pages.size, 0, (size_t)(end - (pages.p + pages.size)));
}

bool
mem_grow(void *p, size_t *cap, size_t n, size_t size)
{
    void **array = p;
    size_t want = *cap ? *cap : 16, bytes;
    void *grown;

    if (n <= *cap)
        return true;
    while (want < n)
        if (!check_mul(want, 2, &want))
            return false;
    if (!check_mul(want, size, &bytes) || !(grown = mem_realloc(*array, bytes)))
        return false;
    *array = grown;
    *cap = want;
    return true;
}
