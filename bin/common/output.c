/* output.c - a tool's input files, and its output whole or not at all */
#include <config.h>

#include "common/cli.h"
#include "common/files.h"
#include "common/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <gg-stream.h>
#include <limits.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files that get their names at the end, in the order of outside.h. */
static struct pending {
    struct pending *next;
    int changed; /* the file that it replaces, locked; or -1 */
    char *name;  /* as the user calls it */
    char final[PATH_MAX];
} * outputs;
static struct pending *current; /* standard output is it; or NULL */
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
    fd = outside_open(path, O_RDONLY);
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
cli_drop_output(void)
{
    current = NULL;
    outside_end();
}

void
cli_discard_too(const char *path)
{
    (void)outside_do(OUTSIDE_DOOM, path ? path : "", 0);
}

static struct pending *
new_pending(const char *name)
{
    struct pending *f = cli_alloc(NULL, 1, sizeof(*f));

    *f = (struct pending){ .changed = -1 };
    f->name = cli_copy(name, strlen(name));
    return f;
}

static int
open_pending(const char *path)
{
    struct pending *f = new_pending(path);
    int fd;

    f->changed = files_write(path, f->final);
    fd = outside_do(OUTSIDE_CREATE, path, 0);
    if (fd < 0)
        return -1;
    f->next = outputs;
    outputs = current = f;
    return fd;
}

/* The descriptor of "/dev/stdout", "/dev/fd/3" and the like, or -1. */
static int
own_descriptor(const char *path)
{
    static const char *const names[] = { "/dev/stdin", "/dev/stdout",
                                         "/dev/stderr" };
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
    int fd = -1, flags;

    for (int i = 0; i < 3; i++)
        if (strcmp(path, names[i]) == 0)
            fd = i;
    for (int i = 0; i < 2; i++) {
        const char *number = path + strlen(folders[i]);

        if (strncmp(path, folders[i], strlen(folders[i])) == 0 &&
            strlen(number) < 8 && *number &&
            strspn(number, "0123456789") == strlen(number))
            fd = atoi(number);
    }
    flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
    return flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? -1 : fd;
}

/* Written as it is: a descriptor, a device, a FIFO; -1: it is none of these. */
static int
open_in_place(const char *path)
{
    int fd = own_descriptor(path);
    struct stat st;

    if (fd >= 0) {
        files_write_open(path, fd);
        return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    }
    if (stat(path, &st) || S_ISREG(st.st_mode))
        return -1;
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        cli_die("%s: %s", path, strerror(errno));
    return fd;
}

void
cli_name_output(const char *path)
{
    if (strlen(path) >= sizeof(output_name))
        cli_die("%s: %s", path, strerror(ENAMETOOLONG));
    strcpy(output_name,
           path); /* used later, when the caller may have returned */
}

void
cli_output(const char *path)
{
    int fd;

    if (!path || strcmp(path, "-") == 0)
        return;
    cli_name_output(path);
    current = NULL;
    fd = open_in_place(path);
    if (fd < 0)
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

int
cli_replace(const char *name, const char *final, int changed, bool created)
{
    struct pending *f = new_pending(name), **last = &outputs;
    int fd = outside_do(OUTSIDE_ADD, name, created);

    if (fd < 0)
        cli_die("%s: %s", name, strerror(errno));
    while (*last)
        last = &(*last)->next;
    f->changed = changed;
    strcpy(f->final, final);
    *last = f;
    return fd;
}

FILE *
cli_open_aside(const char *path)
{
    int fd = outside_do(OUTSIDE_ASIDE, path, 0);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");

    if (!f)
        cli_die("%s: %s", path, strerror(errno));
    return f;
}

void
cli_close_aside(const char *path, FILE *f)
{
    bool lost = ferror(f);

    errno = 0;
    if (fflush(f) || fsync(fileno(f)))
        lost = true;
    if (fclose(f) || lost || outside_do(OUTSIDE_ASIDE_END, path, 0) < 0)
        cli_die("%s: %s", path, errno ? strerror(errno) : "write error");
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

/* The first output comes after the others: who sees it sees all. */
void
cli_commit(void)
{
    const struct pending *f = outputs;
    int failed, error;

    check_changed();
    current = NULL;
    error = outside_commit(&failed);
    while (error && failed-- > 0)
        f = f->next;
    if (error)
        cli_die("%s: %s", f ? f->name : output_name, strerror(error));
    while (outputs) {
        struct pending *done = outputs;

        outputs = done->next;
        free(done->name);
        free(done);
    }
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
