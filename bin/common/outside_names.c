/* outside_names.c - which names the process outside may open, make, replace
 *
 * With OUTSIDE_TYPED, names come from the confined process, and nobody can tell
 * whether a user typed them. So nothing hidden is opened, and what is written
 * is a conversation, and replaces none but such that a tool wrote. */
#include <config.h>

#include "common/chat.h"
#include "common/outside_files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"

static struct name {
    struct name *next;
    enum outside_use use;
    char *path, *real; /* as it is called; where it is */
} * names;

/* ---- names that are allowed ---------------------------------------------- */

static char *
copy_name(const char *text)
{
    return cli_copy(text, strlen(text));
}

/* Another process does not have the file of "/dev/fd/3". */
static char *
real_name(const char *path)
{
    char real[PATH_MAX];
    bool is_own =
        strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;

    return copy_name(is_own && realpath(path, real) ? real : path);
}

void
outside_allow(const char *path, enum outside_use use)
{
    struct name *n = cli_alloc(NULL, 1, sizeof(*n));

    *n = (struct name){ names, use, copy_name(path), real_name(path) };
    names = n;
}

bool
outside_has_names(void)
{
    return names;
}

/* ---- patterns ------------------------------------------------------------ */

/* "-00001-of-00003.gguf" */
static bool
is_shard_suffix(const char *text)
{
    static const char form[] = "-00000-of-00000.gguf";

    for (size_t i = 0; i < sizeof(form); i++)
        if (form[i] == '0' ? !isdigit((unsigned char)text[i])
                           : text[i] != form[i])
            return false;
    return true;
}

static bool
is_shard_of(const char *path, const char *out)
{
    size_t n = strlen(out);

    if (n > 5 && strcmp(out + n - 5, ".gguf") == 0)
        n -= 5;
    return strncmp(path, out, n) == 0 && is_shard_suffix(path + n);
}

/* "FOLDER/NAME.npy" */
static bool
is_array_in(const char *path, const char *folder)
{
    size_t n = strlen(folder), m = strlen(path);
    const char *base = path + n + 1;

    return m > n + 5 && strncmp(path, folder, n) == 0 && path[n] == '/' &&
           *base != '.' && !strchr(base, '/') &&
           strcmp(path + m - 4, ".npy") == 0;
}

/* "FILE.part", "FILE.0123456789abcdef.part" */
static bool
is_part_of(const char *path, const char *file)
{
    size_t n = strlen(file), hash = 0;

    if (strncmp(path, file, n) != 0)
        return false;
    path += n;
    if (*path == '.')
        hash = strspn(path + 1, "0123456789abcdef");
    return strcmp(path, ".part") == 0 ||
           (hash == 16 && strcmp(path + 1 + hash, ".part") == 0);
}

/* No part of the path begins with a dot, but for "." and "..". */
static bool
is_plain_name(const char *path)
{
    for (const char *p = path; *p; p += strcspn(p, "/")) {
        p += strspn(p, "/");
        if (*p == '.' && strspn(p, ".") < strcspn(p, "/"))
            return false;
    }
    return *path;
}

/* ---- names that users type ----------------------------------------------- */

/* Where a path is below the working folder, that one may be hidden. */
static const char *
below_here(const char *path)
{
    char here[PATH_MAX];
    size_t n = realpath(".", here) ? strlen(here) : 0;

    return n && strncmp(path, here, n) == 0 && path[n] == '/' ? path + n : path;
}

/* As it is, and by what its links lead to. */
static bool
may_be_typed(const char *path)
{
    char final[PATH_MAX] = "";
    struct stat st;
    int there = outside_resolve(path, final, &st);

    /* Where it cannot be there, who opens it hears why. */
    return (there <= 0 || S_ISREG(st.st_mode)) &&
           is_plain_name(below_here(path)) &&
           (there < 0 || is_plain_name(below_here(final))) &&
           strncmp(final, "/proc/", 6) != 0 && strncmp(final, "/dev/", 5) != 0;
}

static bool
is_conversation(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is = fd >= 0 && chat_is_written(fd);

    if (fd >= 0)
        close(fd);
    return is;
}

static const struct name *
find(const char *path, int uses)
{
    for (const struct name *n = names; n; n = n->next)
        if ((n->use & uses) && strcmp(n->path, path) == 0)
            return n;
    return NULL;
}

static bool
is_typed_only(const char *path)
{
    return !find(path, OUTSIDE_UPDATE | OUTSIDE_OUTPUT);
}

static bool
typing_is_allowed(void)
{
    return find("", OUTSIDE_TYPED);
}

int
outside_check_content(const char *path, const char *temporary)
{
    struct stat st;

    if (!typing_is_allowed() || !is_typed_only(path))
        return 0;
    if (!is_conversation(temporary) ||
        (stat(path, &st) == 0 && !is_conversation(path)))
        return EACCES;
    return 0;
}

/* ---- deeds --------------------------------------------------------------- */

static const char *
permit_pattern(const char *path)
{
    for (const struct name *n = names; n; n = n->next)
        if ((n->use == OUTSIDE_SHARDS && is_shard_of(path, n->path)) ||
            (n->use == OUTSIDE_ARRAYS && is_array_in(path, n->path)))
            return path;
    return NULL;
}

/* Any part of a file; or of the one whose name has `len` bytes. */
static const char *
permit_part(const char *path, int len)
{
    for (const struct name *n = names; n; n = n->next)
        if (n->use == OUTSIDE_PARTS && is_part_of(path, n->path) &&
            (len < 0 || (size_t)len == strlen(n->path)))
            return path;
    return NULL;
}

static const char *
permit_typed(const char *path)
{
    return typing_is_allowed() && may_be_typed(path) ? path : NULL;
}

static const char *
permit(const char *path, int uses)
{
    const struct name *n = find(path, uses);

    return n ? n->real : NULL;
}

static const char *
permit_temporary(const char *path)
{
    const char *found =
        permit(path, OUTSIDE_OUTPUT | OUTSIDE_SHARDS | OUTSIDE_UPDATE);

    return found ? found : permit_pattern(path);
}

static const char *
permit_open(const char *path, int flags)
{
    bool reads = !(flags & (O_ACCMODE | O_CREAT | O_TRUNC));
    const char *found =
        permit(path, OUTSIDE_UPDATE | (reads ? OUTSIDE_PARTS : 0));

    found = found ? found : permit_part(path, -1);
    return found || !reads ? found : permit_typed(path);
}

const char *
outside_permit(enum outside_deed deed, const char *path, int flags)
{
    const char *found;

    switch (deed) {
    case OUTSIDE_CREATE:
    case OUTSIDE_ADD:
        return permit_temporary(path);
    case OUTSIDE_ASIDE:
    case OUTSIDE_ASIDE_END:
        found = permit_temporary(path);
        return found ? found : permit_typed(path);
    case OUTSIDE_OPEN:
        return permit_open(path, flags);
    case OUTSIDE_DOOM:
        found = *path ? permit(path, OUTSIDE_UPDATE) : path;
        return found ? found : permit_part(path, -1);
    case OUTSIDE_MOVE:
        return permit_part(path, flags);
    case OUTSIDE_REMOVE:
        return permit_part(path, -1);
    case OUTSIDE_MAKE_FOLDER:
        return permit(path, OUTSIDE_ARRAYS);
    case OUTSIDE_MAKE_SCRATCH:
        return permit(path, OUTSIDE_SCRATCH);
    case OUTSIDE_TRIM:
        return permit(path, OUTSIDE_CACHE);
    case OUTSIDE_COMMIT:
    case OUTSIDE_DISCARD:
    case OUTSIDE_ASIDE_DROP:
        return path;
    }
    return NULL;
}
