/* file.c - mapped input, and output that appears whole or not at all */
#include <config.h>

#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/check.h"
#include "core/mem.h"
#include "core/thread.h"

static enum gg_status
about(const char *path, enum gg_status status, struct gg_error *err)
{
    return error_prefix(err, status, "%s", path);
}

static enum gg_status
io_error(struct gg_error *err, const char *path)
{
    return about(path, error_set(err, GG_ERR_IO, "%s", strerror(errno)), err);
}

static enum gg_status
file_size(int fd, const char *path, size_t *size, struct gg_error *err)
{
    struct stat st;

    if (fstat(fd, &st))
        return io_error(err, path);
    if (!S_ISREG(st.st_mode))
        return about(path,
                     error_set(err, GG_ERR_IO, "%s",
                               S_ISDIR(st.st_mode) ? "is a directory"
                                                   : "not a regular file"),
                     err);
    if (st.st_size == 0)
        return about(path, error_set(err, GG_ERR_FORMAT, "file is empty"), err);
    if (!check_add((uint64_t)st.st_size, 0, size))
        return about(path,
                     error_set(err, GG_ERR_NOMEM,
                               "is larger than this machine's memory can be"),
                     err);
    return GG_OK;
}

/* Where the system keeps files in large pages, they are read in longer runs and
 * found with fewer faults. */
static void
prefer_large_pages(void *p, size_t size)
{
#ifdef MADV_HUGEPAGE
    (void)madvise(p, size, MADV_HUGEPAGE);
#else
    (void)p, (void)size;
#endif
}

enum gg_status
file_map_fd(int fd, const char *path, struct file_map *out,
            struct gg_error *err)
{
    size_t size;
    enum gg_status st = file_size(fd, path, &size, err);
    void *p;

    if (st != GG_OK)
        return st;
    p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return io_error(err, path);
    prefer_large_pages(p, size);
    *out = (struct file_map){ p, size, true, fcntl(fd, F_DUPFD_CLOEXEC, 0) };
    return GG_OK;
}

void
file_forget(const void *data, size_t size)
{
    /* what shares a page with others stays */
    struct mem_pages pages = mem_pages((void *)(uintptr_t)data, size);

    if (pages.size > 0)
        (void)madvise(pages.p, pages.size, MADV_DONTNEED);
}

/* A large file is read by several threads, as most of the time goes into
 * finding pages and copying: each takes the next part until none is left. */
#define PART         ((size_t)8 << 20)
#define MOST_READERS 8

struct reading {
    const struct file_map *map;
    int fd;
    atomic_size_t next; /* the part that is taken next */
    atomic_int failure; /* errno, or WAS_CUT; 0: none yet */
};

enum {
    WAS_CUT = -1
};

static int
read_part(const struct reading *r, size_t at, size_t end)
{
    while (at < end) {
        ssize_t n =
            pread(r->fd, (char *)r->map->data + at, end - at, (off_t)at);

        if (n == 0)
            return WAS_CUT;
        if (n < 0 && errno != EINTR)
            return errno;
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static void *
read_parts(void *arg)
{
    struct reading *r = arg;
    size_t size = r->map->size, at;

    while (!atomic_load(&r->failure) &&
           (at = atomic_fetch_add(&r->next, 1) * PART) < size) {
        int failure = read_part(r, at, size - at < PART ? size : at + PART);

        if (failure)
            atomic_store(&r->failure, failure);
    }
    return NULL;
}

/* Reads in further threads, too; where one cannot start, the others do. */
static void
read_together(struct reading *r)
{
    pthread_t threads[MOST_READERS - 1];
    size_t most = (r->map->size - 1) / PART;
    int wanted = thread_count_default() - 1, n = 0;

    if (wanted > MOST_READERS - 1)
        wanted = MOST_READERS - 1;
    while (n < wanted && (size_t)n < most &&
           !thread_start(&threads[n], read_parts, r))
        n++;
    read_parts(r);
    while (n > 0)
        pthread_join(threads[--n], NULL);
}

static enum gg_status
read_into_map(const struct file_map *map, int fd, const char *path,
              struct gg_error *err)
{
    struct reading r = { .map = map, .fd = fd };
    int failure;

    read_together(&r);
    failure = atomic_load(&r.failure);
    if (failure == WAS_CUT)
        return about(path,
                     error_set(err, GG_ERR_TRUNCATED,
                               "the file was cut while it was read"),
                     err);
    errno = failure;
    return failure ? io_error(err, path) : GG_OK;
}

enum gg_status
file_map_memory(size_t size, struct file_map *out, struct gg_error *err)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return error_set(err, GG_ERR_NOMEM, "%s", strerror(errno));
    prefer_large_pages(p, size);
    *out = (struct file_map){ p, size, false, -1 };
    return GG_OK;
}

static enum gg_status
read_fd(int fd, const char *path, struct file_map *out, struct gg_error *err)
{
    struct file_map map = { 0 };
    size_t size;
    enum gg_status st = file_size(fd, path, &size, err);

    if (st != GG_OK)
        return st;
    st = file_map_memory(size, &map, err);
    if (st != GG_OK)
        return about(path, st, err);
    st = read_into_map(&map, fd, path, err);
    if (st == GG_OK)
        *out = map;
    else
        file_unmap(&map);
    return st;
}

static file_opened on_open;
static void *on_open_data;

void
file_on_open(file_opened call, void *data)
{
    on_open = call;
    on_open_data = data;
}

static file_opener opener;
static void *opener_data;

void
file_set_opener(file_opener call, void *data)
{
    opener = call;
    opener_data = data;
}

typedef enum gg_status (*take_fn)(int fd, const char *path,
                                  struct file_map *out, struct gg_error *err);

static enum gg_status
open_input(const char *path, int *fd, struct gg_error *err)
{
    /* O_NONBLOCK: opening a FIFO must not wait for a writer. */
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

    *fd = opener ? opener(path, flags, opener_data) : open(path, flags);
    if (*fd < 0)
        return io_error(err, path);
    if (on_open)
        on_open(path, *fd, on_open_data);
    return GG_OK;
}

static enum gg_status
take_file(const char *path, take_fn take, struct file_map *out,
          struct gg_error *err)
{
    int fd;
    enum gg_status st = open_input(path, &fd, err);

    if (st != GG_OK)
        return st;
    st = take(fd, path, out, err);
    close(fd);
    return st;
}

enum gg_status
file_map(const char *path, struct file_map *out, struct gg_error *err)
{
    return take_file(path, file_map_fd, out, err);
}

enum gg_status
file_peek(const char *path, void *out, size_t n, size_t *got,
          struct gg_error *err)
{
    int fd;
    size_t size;
    enum gg_status st = open_input(path, &fd, err);
    ssize_t some;

    if (st != GG_OK)
        return st;
    st = file_size(fd, path, &size, err);
    some = st == GG_OK ? pread(fd, out, n, 0) : 0;
    if (some < 0)
        st = io_error(err, path);
    else
        *got = (size_t)some;
    close(fd);
    return st;
}

enum gg_status
file_read(const char *path, struct file_map *out, struct gg_error *err)
{
    return take_file(path, read_fd, out, err);
}

enum gg_status
file_lock_part(const void *data, size_t size, struct gg_error *err)
{
    if (size == 0 || mlock(data, size) == 0) /* which rounds to pages */
        return GG_OK;
    return error_set(err, GG_ERR_NOMEM,
                     "cannot be kept in memory: %s (see ulimit -l)",
                     strerror(errno));
}

enum gg_status
file_lock(const struct file_map *map, const char *path, struct gg_error *err)
{
    enum gg_status st = file_lock_part(map->data, map->size, err);

    return st == GG_OK ? st : about(path, st, err);
}

void
file_unmap(struct file_map *map)
{
    if (map->data)
        munmap(map->data, map->size);
    if (map->filed && map->fd >= 0)
        close(map->fd);
    *map = (struct file_map){ 0 };
}

/* ---- output ------------------------------------------------------------- */

static long steps_left = -1;

void
file_die_after(long n)
{
    steps_left = n;
}

/* True: it is the last one. */
static bool
last_step(void)
{
    return steps_left >= 0 && steps_left-- == 0;
}

/* Whoever tests that a crash does no harm has it happen here. */
static void
crash_if_due(void)
{
    if (last_step())
        raise(SIGKILL);
}

/* Owner and mode of the file that is replaced, or what the process gives new
 * ones. Where its group cannot be kept, the other one gets no rights that not
 * all have. */
static void
set_owner_and_mode(int fd, const char *path)
{
    mode_t mask = umask(0), mode = 0666 & ~mask;
    struct stat old;

    umask(mask);
    if (stat(path, &old) == 0) {
        mode = old.st_mode & 0777;
        if (fchown(fd, old.st_uid, old.st_gid) &&
            fchown(fd, (uid_t)-1, old.st_gid))
            mode &= ~(mode_t)070 | (mode & 07) << 3;
    }
    fchmod(fd, mode);
}

/* A name next to f->path, so that the rename stays in one file system. */
static int
open_near(struct file_out *f)
{
    static const char suffix[] = ".XXXXXX";
    size_t len = strlen(f->path);
    int fd;

    crash_if_due();
    f->temporary = mem_alloc(len + sizeof(suffix));
    if (!f->temporary) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(f->temporary, f->path, len);
    memcpy(f->temporary + len, suffix, sizeof(suffix));
    fd = mkostemp(f->temporary, O_CLOEXEC);
    if (fd < 0)
        f->temporary[0] = '\0'; /* nothing to remove */
    else
        set_owner_and_mode(fd, f->path);
    return fd;
}

/* A device or a FIFO cannot be replaced: it is written as it is. Nor is a
 * symbolic link replaced, but the file that it names, which must be there. */
static enum gg_status
open_output(const char *path, struct file_out *f, struct gg_error *err)
{
    struct stat st;
    int fd;

    if (stat(path, &st) && errno != ENOENT)
        return io_error(err, path);
    if (stat(path, &st) && lstat(path, &st) == 0)
        return about(
            path,
            error_set(err, GG_ERR_IO, "a symbolic link that leads to no file"),
            err);
    errno = 0;
    f->path = realpath(path, NULL);
    if (!f->path && errno != ENOMEM)
        f->path = mem_strndup(path, strlen(path));
    if (!f->path)
        return error_nomem(err);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        fd = open(path, O_WRONLY | O_CLOEXEC);
    else
        fd = open_near(f);
    if (fd < 0)
        return io_error(err, path);
    f->stream = fdopen(fd, "wb");
    if (f->stream)
        return GG_OK;
    close(fd);
    return io_error(err, path);
}

enum gg_status
file_create(const char *path, struct file_out *out, struct gg_error *err)
{
    struct file_out f = { 0 };
    enum gg_status st = open_output(path, &f, err);

    if (st == GG_OK)
        *out = f;
    else
        file_discard(&f);
    return st;
}

enum gg_status
file_commit(struct file_out *out, struct gg_error *err)
{
    FILE *stream = out->stream;
    bool renames = out->temporary != NULL;
    int failed =
        ferror(stream) || fflush(stream) || (renames && fsync(fileno(stream)));
    enum gg_status st = failed ? io_error(err, out->path) : GG_OK;

    crash_if_due();
    out->stream = NULL;
    if (fclose(stream) && st == GG_OK)
        st = io_error(err, out->path);
    if (st == GG_OK && renames && rename(out->temporary, out->path))
        st = io_error(err, out->path);
    if (st == GG_OK && renames)
        out->temporary[0] = '\0';
    crash_if_due();
    file_discard(out);
    return st;
}

void
file_discard(struct file_out *out)
{
    if (out->stream)
        fclose(out->stream);
    if (out->temporary && out->temporary[0])
        unlink(out->temporary);
    mem_free(out->path);
    mem_free(out->temporary);
    *out = (struct file_out){ 0 };
}

enum gg_status
file_write_all(int fd, const void *data, size_t size, struct gg_error *err)
{
    const char *p = data;

    while (size) {
        bool last = last_step();
        ssize_t n = write(fd, p, last ? size / 2 : size);

        if (last)
            raise(SIGKILL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set(err, GG_ERR_IO, "%s", strerror(errno));
        p += n;
        size -= (size_t)n;
    }
    return GG_OK;
}
