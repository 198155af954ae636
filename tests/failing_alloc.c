/* failing_alloc.c - preloaded into a tool: lets one of its allocations fail
 *
 * GG_FAIL_ALLOC="PROGRAM N" fails the allocation after N others, and
 * "PROGRAM N+" all that follow it, too; a process of another name is left
 * alone. GG_COUNT_ALLOC=FILE has their number written there when the tool ends.
 * Counted is what the system is asked for: malloc() and its kin, and mmap(),
 * whoever calls them. */
#include <config.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>

extern char *program_invocation_short_name;

static atomic_long count;
static long first = -1; /* that fails */
static int all;         /* so do those after it */
static int started;

static int
must_fail(void)
{
    long n = started ? atomic_fetch_add(&count, 1) : -1;

    if (first < 0 || n < first || (n > first && !all))
        return 0;
    errno = ENOMEM;
    return 1;
}

/* The next function of a name. What dlsym() itself may need before there is a
 * malloc() comes from a few bytes that are never given back. */
static char early[4096];
static size_t early_used;
static int resolving;

static void *
next(const char *name)
{
    void *f;

    resolving = 1;
    f = dlsym(RTLD_NEXT, name);
    resolving = 0;
    if (!f)
        abort();
    return f;
}

static void *
early_alloc(size_t size)
{
    void *p = early + early_used;

    early_used += (size + 15) & ~(size_t)15;
    return early_used <= sizeof(early) ? p : NULL;
}

static int
is_early(const void *p)
{
    return (const char *)p >= early && (const char *)p < early + sizeof(early);
}

/* A function with the same arguments as the system's; `real` is that one. */
#define REAL(name, ...)                                                        \
    static __typeof__(name) *real;                                             \
    if (!real) {                                                               \
        void *f = next(#name);                                                 \
        memcpy(&real, &f, sizeof(real));                                       \
    }                                                                          \
    return must_fail() ? (__VA_ARGS__)

void *
malloc(size_t size)
{
    if (resolving)
        return early_alloc(size);
    REAL(malloc, NULL) : real(size);
}

void *
calloc(size_t n, size_t size)
{
    if (resolving)
        return early_alloc(n * size); /* static: zero */
    REAL(calloc, NULL) : real(n, size);
}

void *
realloc(void *p, size_t size)
{
    REAL(realloc, NULL) : real(p, size);
}

void *
aligned_alloc(size_t align, size_t size)
{
    REAL(aligned_alloc, NULL) : real(align, size);
}

int
posix_memalign(void **p, size_t align, size_t size)
{
    REAL(posix_memalign, ENOMEM) : real(p, align, size);
}

void *
mmap(void *p, size_t size, int prot, int flags, int fd, off_t at)
{
    REAL(mmap, MAP_FAILED) : real(p, size, prot, flags, fd, at);
}

void
free(void *p)
{
    static __typeof__(free) *real;

    if (is_early(p))
        return;
    if (!real) {
        void *f = next("free");
        memcpy(&real, &f, sizeof(real));
    }
    real(p);
}

static int
is_meant(const char *name, size_t n)
{
    const char *own = program_invocation_short_name;

    return strlen(own) == n && strncmp(own, name, n) == 0;
}

__attribute__((constructor)) static void
start(void)
{
    const char *what = getenv("GG_FAIL_ALLOC");
    size_t n = what ? strcspn(what, " ") : 0;
    char *end;

    if (n == 0 || what[n] == '\0' || !is_meant(what, n))
        return;
    first = strtol(what + n, &end, 10);
    all = *end == '+';
    started = 1;
}

__attribute__((destructor)) static void
end(void)
{
    const char *path = getenv("GG_COUNT_ALLOC");
    long n = count;
    FILE *f;

    first = -1;
    if (started && path && (f = fopen(path, "w"))) {
        fprintf(f, "%ld\n", n);
        fclose(f);
    }
}
