/* reserve.c - an emergency allocator for NVIDIA's run-time at load time
 *
 * The run-time's constructors register every kernel and do not check
 * allocations: without memory they would crash the process before a line of
 * ours runs. The linker redirects (--wrap) the module's calls of the C
 * library's allocator to the functions here, which fall back to a static
 * reserve. It takes no memory unless it is used. */
#include "cuda/reserve.h"

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *
__real_malloc(size_t size);
void *
__real_calloc(size_t n, size_t size);
void *
__real_realloc(void *p, size_t size);
void
__real_free(void *p);
void *
__wrap_malloc(size_t size);
void *
__wrap_calloc(size_t n, size_t size);
void *
__wrap_realloc(void *p, size_t size);
char *
__wrap_strdup(const char *s);
void
__wrap_free(void *p);

enum {
    RESERVE = 4 << 20, /* far above what 1,000 kernels take */
    ALIGN = 16,        /* each allocation has its size before it */
};

static _Alignas(ALIGN) unsigned char reserve[RESERVE];
static size_t used;
static bool loaded;

bool
cuda_reserve_end(void)
{
    loaded = true;
    return used > 0;
}

static bool
is_reserved(const void *p)
{
    return (uintptr_t)p >= (uintptr_t)reserve &&
           (uintptr_t)p < (uintptr_t)reserve + sizeof(reserve);
}

static size_t
block_size(void *p)
{
    size_t size;

    if (!is_reserved(p))
        return malloc_usable_size(p);
    memcpy(&size, (const unsigned char *)p - ALIGN, sizeof(size));
    return size;
}

static void *
take_block(size_t size)
{
    unsigned char *p = reserve + used + ALIGN;

    if (loaded || size > sizeof(reserve) - 2 * ALIGN ||
        used > sizeof(reserve) - 2 * ALIGN - size)
        return NULL;
    memcpy(p - ALIGN, &size, sizeof(size));
    used += ALIGN + (size + ALIGN - 1) / ALIGN * ALIGN;
    return p;
}

void *
__wrap_malloc(size_t size)
{
    void *p = __real_malloc(size);

    return p ? p : take_block(size);
}

void *
__wrap_calloc(size_t n, size_t size)
{
    void *p = __real_calloc(n, size);
    size_t bytes;

    if (p || __builtin_mul_overflow(n, size, &bytes))
        return p;
    return take_block(bytes); /* zero: memory is never reused */
}

void *
__wrap_realloc(void *p, size_t size)
{
    void *moved = is_reserved(p) ? __wrap_malloc(size)
                                 : __real_realloc(p, size ? size : 1);
    bool copies = is_reserved(p);

    if (!moved && !copies) {
        moved = take_block(size);
        copies = p != NULL;
    }
    if (moved && copies) {
        size_t had = block_size(p);

        memcpy(moved, p, had < size ? had : size);
        __wrap_free(p);
    }
    return moved;
}

char *
__wrap_strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *copy = __wrap_malloc(n);

    return copy ? memcpy(copy, s, n) : NULL;
}

void
__wrap_free(void *p)
{
    if (!is_reserved(p))
        __real_free(p);
}
