/* mem.h - the one place that allocates, so that tests can make it fail */
#ifndef CORE_MEM_H
#define CORE_MEM_H

#include <stdbool.h>
#include <stddef.h>

/* All return NULL when there is no memory or a size would overflow; free()
 * what they return with mem_free(). */
void *
mem_alloc(size_t size);
void *
mem_zalloc(size_t size);
/* n * size bytes, all zero. */
void *
mem_array(size_t n, size_t size);
/* mem_array() for a table that is looked up here and there: in large pages,
 * where it is large and the system has some. */
void *
mem_table(size_t n, size_t size);
/* Memory of which parts are used here and there: the system shall not give
 * more of it than is touched, as it does in large pages. */
void
mem_small_pages(void *p, size_t size);
/* Bytes of a large page. */
#define MEM_LARGE_PAGE ((size_t)1 << 21)
/* The MEM_LARGE_PAGE bytes at p, a multiple of as much, become one large page
 * and keep what they hold. False: the system has none. */
bool
mem_large_page(void *p);
/* The whole pages of some memory, all of which is zero or of no use any more,
 * go back to the system, as far as it takes them: they are zero then. */
void
mem_discard(void *p, size_t size);
void *
mem_realloc(void *p, size_t size);
void *
mem_dup(const void *p, size_t size);
/* A NUL-ended copy of the first `len` bytes. */
char *
mem_strndup(const char *s, size_t len);
void
mem_free(void *p);

/* The whole pages of some memory. */
struct mem_pages {
    char *p;
    size_t size; /* 0: there are none */
};

struct mem_pages
mem_pages(void *p, size_t size);

/* Makes memory of mem_aligned() zero. Of much of it whole pages go back to the
 * system, which makes them zero when they are touched next. */
void
mem_zero(void *p, size_t size);

/* Starts on an `align` boundary (a power of two). */
void *
mem_aligned(size_t align, size_t size);

/* Makes room for `n` elements of `size` in the growing array *p with room for
 * *cap. On failure returns false and leaves both as they were. */
bool
mem_grow(void *p, size_t *cap, size_t n, size_t size);

/* For tests: the allocation after `n` successful ones fails, and so do all
 * that follow. -1: none fails. */
void
mem_fail_after(long n);

#endif
