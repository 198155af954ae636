/* media_folder.c - the folder that messages may name files of */
#include <config.h>

#include "common/media_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* struct open_how of <linux/openat2.h>, which older headers lack. */
struct open_how_beneath {
    uint64_t flags, mode, resolve;
};

enum {
    NO_MAGIC_LINKS = 2, /* RESOLVE_... */
    BENEATH = 8,
    READS = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
    CHUNK = 1 << 16,
};

void
media_folder_check(const char *folder)
{
    int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        cli_die("--media-dir: %s: %s", folder, strerror(errno));
    close(fd);
}

/* ---- names --------------------------------------------------------------- */

/* The rest of `name` after the folder, which begins it; or NULL. */
static const char *
after_folder(const char *name, const char *folder)
{
    size_t n = strlen(folder);

    while (n > 1 && folder[n - 1] == '/')
        n--;
    if (n == 0 || strncmp(name, folder, n) != 0)
        return NULL;
    if (folder[n - 1] != '/' && name[n] != '/')
        return NULL;
    return name + n + strspn(name + n, "/");
}

/* The name from the folder on; NULL: it is absolute, and of another one. */
static const char *
relative_name(const char *folder, const char *name)
{
    char real[PATH_MAX];
    const char *rest;

    if (*name != '/')
        return name;
    rest = after_folder(name, folder);
    if (!rest && realpath(folder, real))
        rest = after_folder(name, real);
    return rest;
}

static bool
goes_up(const char *name)
{
    for (const char *p = name; *p; p += strcspn(p, "/")) {
        p += strspn(p, "/");
        if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == '\0'))
            return true;
    }
    return false;
}

/* ---- opening ------------------------------------------------------------- */

/* Where the kernel has no openat2(): one part of the name after another, and no
 * symbolic link. Closes `at`. */
static int
open_by_steps(int at, const char *name)
{
    while (at >= 0 && *name) {
        size_t n = strcspn(name, "/");
        const char *rest = name + n + strspn(name + n, "/");
        char part[NAME_MAX + 1];
        int next;

        if (n > NAME_MAX) {
            close(at);
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(part, name, n);
        part[n] = '\0';
        next = openat(at, part,
                      *rest ? O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
                            : READS | O_NOFOLLOW);
        close(at);
        at = next;
        name = rest;
    }
    return at;
}

static int
open_beneath(int folder, const char *name)
{
#ifdef SYS_openat2
    struct open_how_beneath how = { .flags = (uint64_t)READS,
                                    .resolve = BENEATH | NO_MAGIC_LINKS };
    long fd = syscall(SYS_openat2, folder, name, &how, sizeof(how));

    if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) {
        int error = errno;

        close(folder);
        errno = error;
        return (int)fd;
    }
#endif
    return open_by_steps(folder, name);
}

static const char *
why_not_opened(int error)
{
    if (error == EXDEV)
        return "a symbolic link leads out of the folder";
    if (error == ELOOP)
        return "a symbolic link";
    return strerror(error);
}

static enum gg_status
open_file(const char *folder, const char *name, int *out, struct gg_error *err)
{
    const char *rest = relative_name(folder, name);
    struct stat st;
    int fd = -1;

    if (!rest || goes_up(rest))
        return cli_error(err, GG_ERR_ARG,
                         "%.200s: is not below the folder of --media-dir",
                         name);
    if (*rest)
        fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        fd = open_beneath(fd, rest);
    if (fd < 0)
        return cli_error(err, GG_ERR_ARG, "%.200s: %s", name,
                         *rest ? why_not_opened(errno) : "no regular file");
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return cli_error(err, GG_ERR_ARG, "%.200s: no regular file", name);
    }
    *out = fd;
    return GG_OK;
}

enum gg_status
media_folder_read(const char *folder, const char *name, size_t most,
                  struct buffer *out, struct gg_error *err)
{
    int fd = -1;
    enum gg_status st = open_file(folder, name, &fd, err);
    ssize_t n = 1;

    while (st == GG_OK && n) {
        n = read(fd, buffer_room(out, CHUNK), CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            st =
                cli_error(err, GG_ERR_ARG, "%.200s: %s", name, strerror(errno));
        else
            out->len += (size_t)n;
        if (st == GG_OK && out->len > most)
            st = cli_error(err, GG_ERR_ARG, "%.200s: more than %zu MiB", name,
                           most >> 20);
    }
    if (fd >= 0)
        close(fd);
    return st;
}
