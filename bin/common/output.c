/* output.c - a tool's input files, and its output whole or not at all */
#include <config.h>

#include "common/cli.h"
#include "common/files.h"

#include <errno.h>
#include <fcntl.h>
#include <gg-stream.h>
#include <limits.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files that get their names at the end: all, or none. */
static struct pending {
    struct pending *next;
    int changed;  /* the file that it replaces, locked; or -1 */
    bool created; /* there was none: an empty one stands for it */
    char *name;   /* as the user calls it */
    char temporary[PATH_MAX], final[PATH_MAX];
    char saved[PATH_MAX]; /* while names are given: what it replaces */
    bool replaces;
} * outputs;
static struct pending *current; /* standard output is it; or NULL */
static char doomed[PATH_MAX];   /* a file of another kind to remove */
static char output_name[PATH_MAX] = "standard output";
static bool closed;

static const char *file_hint = "", *hinted;

void
cli_hint_file(const char *hint)
{
    file_hint = hint;
}

const char *
cli_one_file(int argc, char **argv, int first, const char *other)
{
    if (argc - first > (other ? 0 : 1))
        cli_misuse("%s: one FILE is enough%s", argv[argc - 1], file_hint);
    hinted = first < argc ? argv[first] : NULL;
    return hinted;
}

void
cli_tell_kind(const char *name, const char *text, size_t len)
{
    bool is_text;
    const char *kind = gg_stream_kind(text, len, &is_text);

    if (!is_text)
        cli_warn("%s: taken as text; this is %s", name, kind);
}

int
cli_open_input(const char *path)
{
    struct stat st;
    int fd;

    if (!path || strcmp(path, "-") == 0) {
        if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
            cli_warn("reads what is typed here, up to ^D");
        files_read(cli_input_name(path), STDIN_FILENO);
        return STDIN_FILENO;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        cli_die("%s: %s%s", path, strerror(errno),
                path == hinted && errno == ENOENT ? file_hint : "");
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        cli_die("%s: %s", path, strerror(EISDIR));
    files_read(path, fd);
    return fd;
}

const char *
cli_input_name(const char *path)
{
    return !path || strcmp(path, "-") == 0 ? "standard input" : path;
}

void
cli_too_long(const char *name, const char *what, size_t max)
{
    cli_die("%s: %s is longer than the limit of %zu MiB", name, what,
            max >> 20);
}

char *
cli_read_all(int fd, const char *name, size_t max, size_t *len)
{
    size_t cap = 1 << 16, used = 0;
    char *text = cli_alloc(NULL, cap, 1);

    for (;;) {
        ssize_t n = read(fd, text + used, cap - used - 1);

        if (n < 0 && errno == EINTR && !cli_signal())
            continue;
        if (n < 0 && errno == EINTR)
            cli_raise(cli_signal());
        if (n < 0)
            cli_die("%s: %s", name, strerror(errno));
        if (n == 0)
            break;
        used += (size_t)n;
        if (used > max)
            cli_too_long(name, "the text", max);
        if (cap - used < 2)
            text = cli_alloc(text, cap *= 2, 1);
    }
    text[used] = '\0';
    *len = used;
    return text;
}

void
cli_discard_output(void)
{
    for (; outputs; outputs = outputs->next) { /* a signal may have come */
        unlink(outputs->temporary);
        if (outputs->created)
            unlink(outputs->final);
    }
    current = NULL;
    if (doomed[0])
        unlink(doomed);
    doomed[0] = '\0';
}

void
cli_discard_too(const char *path)
{
    doomed[0] = '\0';
    if (path)
        snprintf(doomed, sizeof(doomed), "%s", path);
}

/* What the process gives new files. */
static mode_t
new_mode(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

/* Those of the old file, which may be another user's. Where its group cannot be
 * kept, the other one gets no rights that not all have. */
static void
set_owner_and_mode(int fd, const struct stat *old)
{
    mode_t mode = old ? old->st_mode & 0777 : new_mode();

    if (old && fchown(fd, old->st_uid, old->st_gid) &&
        fchown(fd, (uid_t)-1, old->st_gid))
        mode &= ~(mode_t)070 | (mode & 07) << 3;
    fchmod(fd, mode);
}

/* Creates a temporary file beside f->final. It is in the list, at `place`,
 * before a signal could come that has to remove it. */
static int
create_temporary(struct pending *f, struct pending **place)
{
    struct stat st;
    bool exists = stat(f->final, &st) == 0;
    sigset_t all, before;
    int fd, saved;

    if (snprintf(f->temporary, PATH_MAX, "%s.XXXXXX", f->final) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    fd = mkostemp(f->temporary, O_CLOEXEC);
    saved = errno;
    if (fd >= 0) {
        set_owner_and_mode(fd, exists ? &st : NULL);
        f->next = *place;
        *place = f;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return fd;
}

static struct pending *
new_pending(const char *name)
{
    struct pending *f = cli_alloc(NULL, 1, sizeof(*f));

    f->name = strcpy(cli_alloc(NULL, strlen(name) + 1, 1), name);
    f->created = false;
    f->saved[0] = '\0';
    return f;
}

static int
open_pending(const char *path)
{
    struct pending *f = new_pending(path);
    int fd;

    f->changed = files_write(path, f->final);
    fd = create_temporary(f, &outputs);
    if (fd >= 0)
        current = f;
    return fd;
}

void
cli_output(const char *path)
{
    struct stat st;
    int fd;

    if (!path || strcmp(path, "-") == 0)
        return;
    if (strlen(path) >= sizeof(output_name))
        cli_die("%s: %s", path, strerror(ENAMETOOLONG));
    strcpy(output_name,
           path); /* used later, when the caller may have returned */
    current = NULL;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        fd = open(path, O_WRONLY | O_CLOEXEC);
    else
        fd = open_pending(path);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
        cli_die("%s: %s", path, strerror(errno));
    if (fd != STDOUT_FILENO)
        close(fd);
}

bool
cli_output_waits(void)
{
    return outputs;
}

const char *
cli_replace(const char *name, const char *final, int changed, bool created)
{
    struct pending *f = new_pending(name), **last = &outputs;
    int fd;

    while (*last)
        last = &(*last)->next;
    f->changed = changed;
    f->created = created;
    strcpy(f->final, final);
    fd = create_temporary(f, last);
    if (fd < 0)
        cli_die("%s: %s", name, strerror(errno));
    close(fd);
    doomed[0] = '\0'; /* f->created says it */
    return f->temporary;
}

/* Why writing failed a while ago: of a file or a device, which is no good any
 * more, one byte more asks again. */
static const char *
write_error(void)
{
    struct stat st;

    if (fstat(STDOUT_FILENO, &st) == 0 && !isatty(STDOUT_FILENO) &&
        (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode)) &&
        write(STDOUT_FILENO, "", 1) < 0)
        return strerror(errno);
    return "write error";
}

void
cli_output_next(const char *path)
{
    cli_flush();
    if (ferror(stdout) || (current && fsync(STDOUT_FILENO)))
        cli_die("%s: %s", output_name,
                ferror(stdout) ? write_error() : strerror(errno));
    cli_output(path);
}

static bool is_relayed;

void
cli_relayed_output(void)
{
    is_relayed = true;
}

bool
cli_output_is_terminal(void)
{
    return isatty(STDOUT_FILENO) && !is_relayed;
}

void
cli_refuse_terminal(void)
{
    if (cli_output_is_terminal())
        cli_misuse("standard output is a terminal, and the output is binary");
}

void
cli_flush(void)
{
    if (fflush(stdout) && !cli_signal())
        cli_die("%s: %s", output_name, strerror(errno));
}

void
cli_close_output(void)
{
    const char *why = NULL;
    bool pending, lost;
    int error;

    if (closed)
        return;
    closed = true;
    pending = __fpending(stdout) > 0;
    lost = ferror(stdout); /* its errno is long gone */
    if (lost)
        why = write_error();
    errno = 0;
    if (fflush(stdout) || (current && fsync(STDOUT_FILENO)))
        lost = true;
    error = errno;
    /* Started without a standard output, and none was needed: fine. */
    if (fclose(stdout) && (pending || errno != EBADF)) {
        lost = true;
        error = errno;
    }
    if (lost)
        cli_die("%s: %s", output_name, error || !why ? strerror(error) : why);
}

/* Nobody else has put another file in the place of one that is replaced. */
static void
check_changed(void)
{
    for (const struct pending *f = outputs; f; f = f->next)
        if (f->changed >= 0 && !files_are_one(f->changed, f->final))
            cli_die("%s: another process has replaced this file", f->name);
}

/* What several outputs replace gets another name, too, until all have theirs;
 * where a file system has no links, it does without. */
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
name_outputs(void)
{
    for (struct pending *f = outputs; f; f = f->next) {
        int error;

        if (rename(f->temporary, f->final) == 0)
            continue;
        error = errno;
        undo_until(f);
        forget_saved();
        cli_die("%s: %s", f->name, strerror(error));
    }
    forget_saved();
}

/* The first output comes after the others: who sees it sees all. */
void
cli_commit(void)
{
    sigset_t all, before;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    check_changed();
    current = NULL;
    if (outputs && outputs->next)
        save_replaced();
    name_outputs();
    while (outputs) {
        struct pending *f = outputs;

        outputs = f->next;
        free(f->name);
        free(f);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int
cli_finish(int status)
{
    cli_close_output();
    if (cli_is_failure(status))
        cli_discard_output();
    else
        cli_commit();
    return status;
}
