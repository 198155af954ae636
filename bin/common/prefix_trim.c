/* prefix_trim.c - a prefix cache is kept below its bound */
#include <config.h>

#include "common/prefix_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/cli.h"

enum {
    HASH = 32,      /* digits of the name of a subfolder */
    PIECE_NAME = 78 /* bytes of a piece's */
};

/* A piece. */
struct kept_file {
    struct timespec used;
    uint64_t size;
    char folder[HASH + 1], name[PIECE_NAME + 1];
};

struct kept_files {
    struct kept_file *list;
    size_t n, cap;
    uint64_t size;
};

static bool
is_hex(const char *text, size_t n)
{
    return strspn(text, "0123456789abcdef") >= n;
}

static bool
is_subfolder(const char *name)
{
    return strlen(name) == HASH && is_hex(name, HASH);
}

static bool
is_piece(const char *name)
{
    return strlen(name) == PIECE_NAME && is_hex(name, 8) && name[8] == '-';
}

/* Such as mkostemp() makes. */
static bool
is_temporary(const char *name)
{
    return strlen(name) == 10 && strncmp(name, "new-", 4) == 0;
}

/* Whoever writes a file has locked it. */
static bool
remove_left(int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool left = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;

    if (left)
        left = unlinkat(dir, name, 0) == 0;
    if (fd >= 0)
        close(fd);
    return left;
}

/* Without memory the tool goes on: the next run removes more. */
static bool
note_piece(struct kept_files *files, const char *folder, const char *name,
           const struct stat *st)
{
    if (files->n == files->cap) {
        size_t cap = files->cap ? 2 * files->cap : 256;
        struct kept_file *list = realloc(files->list, cap * sizeof(*list));

        if (!list)
            return false;
        files->list = list;
        files->cap = cap;
    }
    files->list[files->n] = (struct kept_file){
        .used = st->st_mtim,
        .size = (uint64_t)st->st_size,
    };
    strcpy(files->list[files->n].folder, folder);
    strcpy(files->list[files->n++].name, name);
    return true;
}

static void
look_at_file(struct kept_files *files, int dir, const char *folder,
             const char *name)
{
    struct stat st;

    if ((!is_piece(name) && !is_temporary(name)) ||
        fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
        return;
    if (is_temporary(name) && remove_left(dir, name))
        return;
    if (is_piece(name))
        (void)note_piece(files, folder, name, &st);
    files->size += (uint64_t)st.st_size;
}

static DIR *
open_folder(int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

    if (!d && fd >= 0)
        close(fd);
    return d;
}

static void
look_at_folder(struct kept_files *files, int cache, const char *folder)
{
    DIR *d = open_folder(cache, folder);
    const struct dirent *e;

    while (d && (e = readdir(d)))
        look_at_file(files, dirfd(d), folder, e->d_name);
    if (d)
        closedir(d);
}

static int
by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct kept_file *)a)->used;
    const struct timespec *y = &((const struct kept_file *)b)->used;

    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static void
remove_kept(struct kept_files *files, int cache, const struct kept_file *f)
{
    char path[HASH + 1 + PIECE_NAME + 1];

    snprintf(path, sizeof(path), "%s/%s", f->folder, f->name);
    if (unlinkat(cache, path, 0) == 0)
        files->size -= f->size;
}

uint64_t
prefix_trim(const char *cache, uint64_t most)
{
    struct kept_files files = { 0 };
    DIR *d = open_folder(AT_FDCWD, cache);
    const struct dirent *e;

    while (d && (e = readdir(d)))
        if (is_subfolder(e->d_name) || strcmp(e->d_name, PREFIX_MODELS) == 0)
            look_at_folder(&files, dirfd(d), e->d_name);
    if (d && files.size > most && files.n) {
        qsort(files.list, files.n, sizeof(*files.list), by_use);
        for (size_t i = 0; i < files.n && files.size > most - most / 8; i++)
            remove_kept(&files, dirfd(d), &files.list[i]);
    }
    if (d)
        closedir(d);
    free(files.list);
    return files.size;
}
