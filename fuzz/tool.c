/* tool.c - parts of tools in fuzz targets: the tool's end is the input's */
#define _GNU_SOURCE
#include "tool.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- what is allocated meanwhile ----------------------------------------- */

/* A hash set of pointers, open addressing; what does not fit leaks. */
enum {
    SLOTS = 1 << 16,
    MOST = SLOTS / 2,
};

static const volatile void *slots[SLOTS];
static size_t n_known;
static bool counts; /* something is to be noted */

static size_t
slot_of(const volatile void *p)
{
    return (size_t)((uintptr_t)p / 16 * UINT64_C(0x9e3779b97f4a7c15) >> 48);
}

static void
note_malloc(const volatile void *p, size_t size)
{
    size_t i = slot_of(p);

    (void)size;
    if (!counts || !p || n_known == MOST)
        return;
    while (slots[i] && slots[i] != p)
        i = (i + 1) % SLOTS;
    n_known += !slots[i];
    slots[i] = p;
}

/* Pointers after the gap move up, so that none is lost. */
static void
close_gap(size_t gap)
{
    for (size_t i = (gap + 1) % SLOTS; slots[i]; i = (i + 1) % SLOTS) {
        size_t from_home = (i - slot_of(slots[i])) % SLOTS;

        if (from_home >= (i - gap) % SLOTS) {
            slots[gap] = slots[i];
            gap = i;
        }
    }
    slots[gap] = NULL;
}

static void
note_free(const volatile void *p)
{
    size_t i = slot_of(p);

    if (!counts || !p)
        return;
    while (slots[i] && slots[i] != p)
        i = (i + 1) % SLOTS;
    if (!slots[i])
        return;
    n_known--;
    close_gap(i);
}

static void
free_known(bool all)
{
    counts = false;
    for (size_t i = 0; i < SLOTS && n_known; i++) {
        if (slots[i] && all)
            free((void *)(uintptr_t)slots[i]);
        n_known -= slots[i] != NULL;
        slots[i] = NULL;
    }
}

int
__sanitizer_install_malloc_and_free_hooks(
    void (*malloc_hook)(const volatile void *, size_t),
    void (*free_hook)(const volatile void *)) __attribute__((weak));

static void
start_once(void)
{
    static bool done;
    /* Else they are made while a tool runs, and freed when that ends. */
    static char out[BUFSIZ], words[BUFSIZ];

    if (done)
        return;
    done = true;
    stderr = fopen("/dev/null", "w"); /* libFuzzer has its own */
    if (!stderr || setvbuf(stderr, words, _IOLBF, sizeof(words)) != 0 ||
        setvbuf(stdout, out, _IOFBF, sizeof(out)) != 0)
        abort();
    if (__sanitizer_install_malloc_and_free_hooks)
        __sanitizer_install_malloc_and_free_hooks(note_malloc, note_free);
}

/* ---- the end of a tool --------------------------------------------------- */

static jmp_buf back;
static bool running;
static int ended_with;

__attribute__((noreturn)) void
__real_exit(int status);
__attribute__((noreturn)) void
__real__exit(int status);

static void
come_back(int status)
{
    if (!running)
        return;
    ended_with = status;
    longjmp(back, 1);
}

__attribute__((noreturn)) void
__wrap_exit(int status);
__attribute__((noreturn)) void
__wrap__exit(int status);

void
__wrap_exit(int status)
{
    come_back(status);
    __real_exit(status);
}

void
__wrap__exit(int status)
{
    come_back(status);
    __real__exit(status);
}

bool
tool_run(void (*work)(void *data), void *data, int *status)
{
    start_once();
    running = true;
    counts = true;
    if (setjmp(back) == 0) {
        work(data);
        running = false;
        free_known(false);
        return true;
    }
    running = false;
    free_known(true);
    if (status)
        *status = ended_with;
    return false;
}

/* ---- descriptors --------------------------------------------------------- */

int
tool_file(const void *data, size_t size)
{
    int fd = memfd_create("fuzz", 0);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
        lseek(fd, 0, SEEK_SET))
        abort();
    return fd;
}

int
tool_pipe(const void *data, size_t size)
{
    int ends[2];
    ssize_t n;

    if (pipe(ends))
        abort();
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    n = write(ends[1], data, size);
    (void)n;
    close(ends[1]);
    return ends[0];
}
