/* outside_files.c - files that get their names at the end: all, or none */
#include <config.h>

#include "common/outside_files.h"
#include "common/prefix_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pending {
    struct pending *next;
    bool created; /* there was none: an empty one stands for it */
    char temporary[PATH_MAX], final[PATH_MAX];
    char saved[PATH_MAX]; /* while names are given: what it replaces */
    bool replaces;
} * outputs, *aside;          /* at most one of these */
static char doomed[PATH_MAX]; /* a file of another kind to remove */

/* ---- temporary files ----------------------------------------------------- */

/* The mode that the process gives new files. */
static mode_t
new_mode(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

/* Gives the new file owner and mode of the old one, which may be another
 * user's. Where its group cannot be kept, the new group gets no rights that not
 * all have. */
static void
set_owner_and_mode(int fd, const struct stat *old)
{
    mode_t mode = old ? old->st_mode & 0777 : new_mode();

    if (old && fchown(fd, old->st_uid, old->st_gid) &&
        fchown(fd, (uid_t)-1, old->st_gid))
        mode &= ~(mode_t)070 | (mode & 07) << 3;
    fchmod(fd, mode);
}

/* Opens f->temporary, in the same folder as f->final. */
static int
open_temporary(struct pending *f, const char *path)
{
    struct stat st;
    int there = outside_resolve(path, f->final, &st), fd;

    if (there < 0)
        return -1;
    if (there && !S_ISREG(st.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    if (snprintf(f->temporary, PATH_MAX, "%s.XXXXXX", f->final) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(f->temporary, O_CLOEXEC);
    if (fd >= 0)
        set_owner_and_mode(fd, there ? &st : NULL);
    return fd;
}

/* The list gets it at `place`. */
static int
create(const char *path, struct pending **place, bool created)
{
    struct pending *f = calloc(1, sizeof(*f));
    int fd = f ? open_temporary(f, path) : -1;

    if (fd < 0) {
        free(f);
        return -1;
    }
    f->created = created;
    f->next = *place;
    *place = f;
    return fd;
}

static int
add(const char *path, bool created)
{
    struct pending **last = &outputs;
    int fd;

    while (*last)
        last = &(*last)->next;
    fd = create(path, last, created);
    if (fd >= 0)
        doomed[0] = '\0'; /* `created` says it */
    return fd;
}

/* In a signal handler, too: nothing is freed. */
static int
discard(void)
{
    for (; outputs; outputs = outputs->next) {
        unlink(outputs->temporary);
        if (outputs->created)
            unlink(outputs->final);
    }
    if (aside)
        unlink(aside->temporary);
    aside = NULL;
    if (doomed[0])
        unlink(doomed);
    doomed[0] = '\0';
    return 0;
}

/* ---- names at the end ---------------------------------------------------- */

/* Files that several outputs replace get another name, too, until all outputs
 * have theirs; a file system without links does without. */
static void
save_replaced(void)
{
    for (struct pending *f = outputs; f; f = f->next) {
        f->replaces = access(f->final, F_OK) == 0;
        if (snprintf(f->saved, PATH_MAX, "%s~", f->temporary) >= PATH_MAX ||
            link(f->final, f->saved))
            f->saved[0] = '\0';
    }
}

/* Nothing has changed: the outputs before `last` lose their names again. */
static void
undo_until(const struct pending *last)
{
    for (struct pending *f = outputs; f != last; f = f->next) {
        if (f->saved[0])
            (void)rename(f->saved, f->final);
        else if (!f->replaces)
            unlink(f->final);
        f->saved[0] = '\0';
    }
}

static void
forget_saved(void)
{
    for (const struct pending *f = outputs; f; f = f->next)
        if (f->saved[0])
            unlink(f->saved);
}

static void
free_list(struct pending **list)
{
    while (*list) {
        struct pending *f = *list;

        *list = f->next;
        free(f);
    }
}

/* The first output comes after the others: who sees it sees all. */
static int
commit(int *failed)
{
    *failed = 0;
    if (outputs && outputs->next)
        save_replaced();
    for (struct pending *f = outputs; f; f = f->next, ++*failed) {
        int error;

        if (rename(f->temporary, f->final) == 0)
            continue;
        error = errno;
        undo_until(f);
        forget_saved();
        errno = error;
        return -1;
    }
    forget_saved();
    free_list(&outputs);
    return 0;
}

/* ---- one apart ----------------------------------------------------------- */

static int
create_aside(const char *path)
{
    if (!aside)
        return create(path, &aside, false);
    errno = EBUSY;
    return -1;
}

static int
drop_aside(void)
{
    int error = errno;

    if (aside)
        unlink(aside->temporary);
    free_list(&aside);
    errno = error;
    return 0;
}

static int
name_aside(const char *path)
{
    int done = -1;

    errno = aside ? outside_check_content(path, aside->temporary) : ENOENT;
    if (errno == 0)
        done = rename(aside->temporary, aside->final);
    if (done == 0)
        free_list(&aside);
    else
        drop_aside();
    return done;
}

/* ---- parts --------------------------------------------------------------- */

static int
move_part(const char *part, int len)
{
    char final[PATH_MAX];

    if (len <= 0 || (size_t)len >= strlen(part) || len >= PATH_MAX) {
        errno = EINVAL;
        return -1;
    }
    snprintf(final, sizeof(final), "%.*s", len, part);
    return rename(part, final);
}

/* ---- others -------------------------------------------------------------- */

static int
make_folder(const char *path)
{
    return mkdir(path, 0777) && errno != EEXIST ? -1 : 0;
}

static int
make_scratch(const char *folder)
{
    char path[PATH_MAX];
    int fd;

    if (snprintf(path, sizeof(path), "%s/gg-XXXXXX", folder) >=
        (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static int
set_doomed(const char *path)
{
    snprintf(doomed, sizeof(doomed), "%s", path);
    return 0;
}

static int
open_itself(const char *path, int flags)
{
    const int known = O_ACCMODE | O_CREAT | O_APPEND | O_TRUNC | O_NONBLOCK;

    return open(path, (flags & known) | O_CLOEXEC,
                flags & OUTSIDE_PRIVATE ? 0600 : 0666);
}

int
outside_act(enum outside_deed deed, const char *path, int flags, int *failed)
{
    switch (deed) {
    case OUTSIDE_CREATE:
        return create(path, &outputs, false);
    case OUTSIDE_ADD:
        return add(path, flags);
    case OUTSIDE_COMMIT:
        return commit(failed);
    case OUTSIDE_DISCARD:
        return discard();
    case OUTSIDE_DOOM:
        return set_doomed(path);
    case OUTSIDE_OPEN:
        return open_itself(path, flags);
    case OUTSIDE_ASIDE:
        return create_aside(path);
    case OUTSIDE_ASIDE_END:
        return name_aside(path);
    case OUTSIDE_ASIDE_DROP:
        return drop_aside();
    case OUTSIDE_MOVE:
        return move_part(path, flags);
    case OUTSIDE_REMOVE:
        return unlink(path);
    case OUTSIDE_MAKE_FOLDER:
        return make_folder(path);
    case OUTSIDE_MAKE_SCRATCH:
        return make_scratch(path);
    case OUTSIDE_TRIM:
        (void)prefix_trim(path, (uint64_t)flags << 10);
        return 0;
    }
    errno = ENOSYS;
    return -1;
}
