/* failing_alloc.c - preloaded into a tool: lets one of its allocations fail
 *
 * GG_FAIL_ALLOC="PROGRAM N" fails the allocation after N others, and
 * "PROGRAM N+" all that follow it, too; a process of another name is left
 * alone. GG_COUNT_ALLOC=FILE has their number written there when the tool ends.
 * Counts requests to the system: malloc() and its kin, and mmap(),
 * whoever calls them. */
#include <config.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>

extern char *program_invocation_short_name;

static atomic_long count;
static int count_fd = -1; /* where their number is written at the end */
static long first = -1;   /* that fails */
static int all;           /* so do those after it */
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

/* The system's own, found before anything is counted. */
static struct {
    __typeof__(malloc) *malloc;
    __typeof__(calloc) *calloc;
    __typeof__(realloc) *realloc;
    __typeof__(aligned_alloc) *aligned_alloc;
    __typeof__(posix_memalign) *posix_memalign;
    __typeof__(mmap) *mmap;
    __typeof__(free) *free;
} real;

static void
find(const char *name, void *function)
{
    void *f = dlsym(RTLD_NEXT, name);

    if (!f)
        abort();
    memcpy(function, &f, sizeof(f));
}

/* Memory that dlsym() itself needs until then comes from a few bytes that are
 * never given back. */
static char early[4096];
static size_t early_used;

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

/* False: it is being done. */
static int
found(void)
{
    static int state;

    if (state == 0) {
        state = 1;
        find("free", &real.free);
        find("calloc", &real.calloc);
        find("realloc", &real.realloc);
        find("aligned_alloc", &real.aligned_alloc);
        find("posix_memalign", &real.posix_memalign);
        find("mmap", &real.mmap);
        find("malloc", &real.malloc);
        state = 2;
    }
    return state == 2;
}

void *
malloc(size_t size)
{
    if (!found())
        return early_alloc(size);
    return must_fail() ? NULL : real.malloc(size);
}

void *
calloc(size_t n, size_t size)
{
    if (!found())
        return early_alloc(n * size); /* static: zero */
    return must_fail() ? NULL : real.calloc(n, size);
}

void *
realloc(void *p, size_t size)
{
    if (!found())
        return p ? NULL : early_alloc(size);
    return must_fail() ? NULL : real.realloc(p, size);
}

void *
aligned_alloc(size_t align, size_t size)
{
    return !found() || must_fail() ? NULL : real.aligned_alloc(align, size);
}

int
posix_memalign(void **p, size_t align, size_t size)
{
    return !found() || must_fail() ? ENOMEM
                                   : real.posix_memalign(p, align, size);
}

void *
mmap(void *p, size_t size, int prot, int flags, int fd, off_t at)
{
    return !found() || must_fail() ? MAP_FAILED
                                   : real.mmap(p, size, prot, flags, fd, at);
}

void
free(void *p)
{
    if (!is_early(p) && found())
        real.free(p);
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
    if (getenv("GG_COUNT_ALLOC")) /* before the tool's sandbox */
        count_fd = open(getenv("GG_COUNT_ALLOC"),
                        O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    started = 1;
}

__attribute__((destructor)) static void
end(void)
{
    long n = count;

    first = -1;
    if (started && count_fd >= 0)
        dprintf(count_fd, "%ld\n", n);
}
