/* output.c - a tool's input files, and its output whole or not at all */
#include <config.h>

#include "common/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* temporary[0] is set while a file of that name has to be removed. */
static char temporary[PATH_MAX], final[PATH_MAX];
/* Outputs that are complete, and wait for the others. */
static struct finished {
    struct finished *before;
    char temporary[PATH_MAX], final[PATH_MAX];
} * finished;
static char doomed[PATH_MAX]; /* the same for a file of another kind */
static char output_name[PATH_MAX] = "standard output";
static bool closed;

int
cli_open_input(const char *path)
{
    struct stat st;
    int fd;

    if (!path || strcmp(path, "-") == 0)
        return STDIN_FILENO;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        cli_die("%s: %s", path, strerror(errno));
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        cli_die("%s: %s", path, strerror(EISDIR));
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
    if (temporary[0])
        unlink(temporary);
    temporary[0] = '\0';
    if (doomed[0])
        unlink(doomed);
    doomed[0] = '\0';
    for (; finished; finished = finished->before) /* a signal may have come */
        unlink(finished->temporary);
}

void
cli_discard_too(const char *path)
{
    doomed[0] = '\0';
    if (path)
        snprintf(doomed, sizeof(doomed), "%s", path);
}

static mode_t
new_mode(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

/* Creates the temporary file beside final; its name and mode are set before
 * a signal could come that has to remove it. */
static int
create_temporary(mode_t mode)
{
    sigset_t all, before;
    char name[PATH_MAX];
    int fd, saved;

    if (snprintf(name, sizeof(name), "%s.XXXXXX", final) >= (int)sizeof(name)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    fd = mkostemp(name, O_CLOEXEC);
    saved = errno;
    if (fd >= 0) {
        memcpy(temporary, name, sizeof(name));
        fchmod(fd, mode);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return fd;
}

void
cli_output(const char *path)
{
    struct stat st;
    bool exists;
    int fd;

    if (!path || strcmp(path, "-") == 0)
        return;
    if (strlen(path) >= sizeof(output_name))
        cli_die("%s: %s", path, strerror(ENAMETOOLONG));
    strcpy(output_name, path); /* the caller may be gone when it is told of */
    exists = stat(path, &st) == 0;
    if (exists && !S_ISREG(st.st_mode)) {
        fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        /* A symbolic link stays one: the file that it names is replaced. */
        if (!realpath(path, final))
            strcpy(final, path);
        fd = create_temporary(exists ? st.st_mode & 0777 : new_mode());
    }
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
        cli_die("%s: %s", path, strerror(errno));
    if (fd != STDOUT_FILENO)
        close(fd);
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
    struct finished *f = cli_alloc(NULL, 1, sizeof(*f));

    cli_flush();
    if (ferror(stdout) || (temporary[0] && fsync(STDOUT_FILENO)))
        cli_die("%s: %s", output_name,
                ferror(stdout) ? write_error() : strerror(errno));
    if (temporary[0]) {
        memcpy(f->temporary, temporary, sizeof(temporary));
        memcpy(f->final, final, sizeof(final));
        f->before = finished;
        finished = f;
        temporary[0] = '\0';
    } else {
        free(f);
    }
    cli_output(path);
}

void
cli_refuse_terminal(void)
{
    if (isatty(STDOUT_FILENO))
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
    if (fflush(stdout) || (temporary[0] && fsync(STDOUT_FILENO)))
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

/* All files get their names, or, where a signal comes before, none. */
static void
rename_all(void)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    if (temporary[0]) {
        if (rename(temporary, final))
            cli_die("%s: %s", output_name, strerror(errno));
        temporary[0] = '\0';
    }
    while (finished) { /* the first one comes last */
        struct finished *f = finished;

        if (rename(f->temporary, f->final))
            cli_die("%s: %s", f->final, strerror(errno));
        finished = f->before;
        free(f);
    }
}

int
cli_finish(int status)
{
    sigset_t before;

    cli_close_output();
    sigprocmask(SIG_SETMASK, NULL, &before);
    if (temporary[0] || finished)
        rename_all();
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}
