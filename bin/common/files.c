/* files.c - which files are read, written, or changed */
#include <config.h>

#include "common/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/outside_files.h"

/* One that is read or written; a new one has no device and inode yet. */
static struct file {
    struct file *next;
    dev_t dev;
    ino_t ino;
    bool exists, is_read, is_written;
    int changed;       /* a locked descriptor: it may be both; or -1 */
    const char *final; /* of what is written */
    char name[];       /* as the user, or the library, calls it */
} * files;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static bool refused_change; /* --in-place would have allowed it */

static struct file *
add_file(const char *name, const struct stat *st)
{
    size_t size = strlen(name) + 1;
    struct file *f = cli_alloc(NULL, sizeof(*f) + size, 1);

    *f = (struct file){ .next = files, .changed = -1 };
    memcpy(f->name, name, size);
    if (st) {
        f->exists = true;
        f->dev = st->st_dev;
        f->ino = st->st_ino;
    }
    files = f;
    return f;
}

static struct file *
find_file(const struct stat *st)
{
    for (struct file *f = files; f; f = f->next)
        if (f->exists && f->ino == st->st_ino && f->dev == st->st_dev)
            return f;
    return NULL;
}

/* ---- inputs -------------------------------------------------------------- */

CLI_NORETURN static void
refuse_file(const char *name, const struct file *f)
{
    const char *advice = refused_change ? "; --in-place replaces it" : "";

    if (strcmp(name, f->name) == 0)
        cli_misuse("%s: is read, and so cannot be written%s", name, advice);
    cli_misuse("%s: is the same file as %s: one is read, and so the other "
               "cannot be written%s",
               name, f->name, advice);
}

static bool
is_regular(int fd, struct stat *st)
{
    return fstat(fd, st) == 0 && S_ISREG(st->st_mode);
}

static void
note_read(const char *path, int fd, bool may_change)
{
    struct stat st;
    struct file *f;

    if (!is_regular(fd, &st))
        return;
    pthread_mutex_lock(&mutex);
    f = find_file(&st);
    if (f && f->is_written && !(f->changed >= 0 && may_change))
        refuse_file(path, f);
    if (!f)
        f = add_file(path, &st);
    f->is_read = true;
    pthread_mutex_unlock(&mutex);
}

void
files_read(const char *path, int fd)
{
    note_read(path, fd, false);
}

static void
on_open(const char *path, int fd, void *unused)
{
    (void)unused;
    note_read(path, fd, true);
}

static int
open_to_read(const char *path, int flags, void *unused)
{
    (void)unused;
    return outside_open(path, flags);
}

void
files_init(void)
{
    gg_set_opener(open_to_read, NULL);
    gg_set_open_callback(on_open, NULL);
}

void
files_keep(const char *path)
{
    struct stat st;
    struct file *f;

    if (stat(path, &st))
        return;
    pthread_mutex_lock(&mutex);
    f = find_file(&st);
    if (f && f->is_read)
        refuse_file(path, f);
    pthread_mutex_unlock(&mutex);
}

/* ---- outputs ------------------------------------------------------------- */

/* Whether it is there, and then in *st. A link to nothing is no name for a new
 * file: who made it meant another one. */
bool
files_are_there(const char *path, struct stat *st)
{
    struct stat link;

    if (stat(path, st) == 0)
        return true;
    if (errno != ENOENT)
        cli_die("%s: %s", path, strerror(errno));
    if (lstat(path, &link) == 0)
        cli_die("%s: a symbolic link that leads to no file", path);
    return false;
}

/* True if it is there, and then in *st. A link to nothing is no name for a new
 * file: who made it meant another one. */
static bool
resolve(const char *path, char final[PATH_MAX], struct stat *st)
{
    int there = outside_resolve(path, final, st);

    if (there == OUTSIDE_DANGLES)
        cli_die("%s: a symbolic link that leads to no file", path);
    if (there < 0)
        cli_die("%s: %s", path, strerror(errno));
    return there;
}

/* No other output has it, by any name. */
static void
check_outputs(const char *path, const char *final, const struct file *there)
{
    bool twice = there && there->is_written;

    for (const struct file *f = files; f; f = f->next)
        twice |= f->is_written && f->final && strcmp(f->final, final) == 0;
    if (twice)
        cli_misuse("%s: is written twice", path);
}

static bool
others_are_read(const struct file *one)
{
    for (const struct file *f = files; f; f = f->next)
        if (f != one && f->is_read)
            return true;
    return false;
}

/* Takes the file of files_change(): it is written once, not read again. */
static int
take_change(struct file *f)
{
    int fd = others_are_read(f) ? -1 : f->changed;

    f->changed = -1;
    return fd;
}

int
files_write(const char *path, char final[PATH_MAX])
{
    struct stat st;
    bool exists = resolve(path, final, &st);
    struct file *f = NULL;
    int changed = -1;

    if (exists && !S_ISREG(st.st_mode))
        return -1;
    pthread_mutex_lock(&mutex);
    if (exists)
        f = find_file(&st);
    check_outputs(path, final, f);
    if (f && f->changed >= 0)
        changed = take_change(f);
    if (f && f->is_read && changed < 0)
        refuse_file(path, f);
    if (!f)
        f = add_file(path, exists ? &st : NULL);
    f->is_written = true;
    f->final = strdup(final);
    if (!f->final)
        cli_die("out of memory");
    pthread_mutex_unlock(&mutex);
    return changed;
}

void
files_write_open(const char *path, int fd)
{
    struct stat st;
    struct file *f;

    if (!is_regular(fd, &st))
        return;
    pthread_mutex_lock(&mutex);
    f = find_file(&st);
    if (f && f->is_read)
        refuse_file(path, f);
    if (!f)
        f = add_file(path, &st);
    f->is_written = true;
    pthread_mutex_unlock(&mutex);
}

/* ---- locks --------------------------------------------------------------- */

bool
files_are_one(int fd, const char *path)
{
    struct stat own, there;

    return fd >= 0 && fstat(fd, &own) == 0 && stat(path, &there) == 0 &&
           own.st_ino == there.st_ino && own.st_dev == there.st_dev;
}

int
files_open(const char *path, int flags)
{
    struct stat st;
    int fd = outside_open(path, flags | O_NONBLOCK);

    if (fd < 0 || fstat(fd, &st))
        cli_die("%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        cli_die("%s: %s", path,
                S_ISDIR(st.st_mode) ? strerror(EISDIR) : "not a regular file");
    return fd;
}

int
files_lock(const char *path, int flags, bool shared)
{
    for (;;) {
        int fd = files_open(path, flags);

        while (flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB)) {
            if (errno == EWOULDBLOCK)
                cli_die("%s: another process uses this file", path);
            if (errno != EINTR)
                cli_die("%s: cannot be locked: %s", path, strerror(errno));
        }
        if (files_are_one(fd, path))
            return fd;
        close(fd); /* who had it until a moment ago has replaced it */
    }
}

/* Which file it is that was noted under its name only, or was replaced. */
static void
note_locked(const char *final, int fd, bool read_back)
{
    struct file *f = files;
    struct stat st;

    if (fstat(fd, &st))
        cli_die("%s: %s", final, strerror(errno));
    while (!f->is_written || !f->final || strcmp(f->final, final) != 0)
        f = f->next;
    f->exists = true;
    f->dev = st.st_dev;
    f->ino = st.st_ino;
    f->changed = read_back ? fd : -1;
}

int
files_write_locked(const char *path, int flags, const char *read_back,
                   char final[PATH_MAX])
{
    int fd;

    files_write(path, final);
    fd = files_lock(path, flags, false);
    note_locked(final, fd, read_back && files_are_one(fd, read_back));
    return fd;
}

int
files_change(const char *path, int flags)
{
    int fd = files_lock(path, flags, false);
    struct stat st;

    if (fstat(fd, &st))
        cli_die("%s: %s", path, strerror(errno));
    pthread_mutex_lock(&mutex);
    add_file(path, &st)->changed = fd;
    pthread_mutex_unlock(&mutex);
    return fd;
}

void
files_change_if_same(const char *in, const char *out, bool allowed)
{
    struct stat a, b;

    if (strcmp(out, "-") == 0 || stat(in, &a) || stat(out, &b) ||
        !S_ISREG(a.st_mode) || a.st_ino != b.st_ino || a.st_dev != b.st_dev)
        return;
    refused_change = !allowed;
    if (allowed)
        files_change(in, O_RDONLY);
}
