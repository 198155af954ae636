/* sandbox.c - what a tool names, and the moment when nothing else is left to it
 *
 * sandbox_files.c has Landlock, sandbox_calls.c seccomp. */
#include <config.h>

#include "common/sandbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/media_worker.h"
#include "common/outside.h"
#include "common/sandbox_files.h"

static struct sandbox_wish *wishes;
static enum sandbox_role role;
static unsigned kept;
static bool is_off, is_confined;

void
sandbox_add(const char *path, enum sandbox_use use)
{
    size_t size = path ? strlen(path) + 1 : 0;
    struct sandbox_wish *w;

    if (use != SANDBOX_TYPED && (size < 2 || strcmp(path, "-") == 0))
        return;
    w = cli_alloc(NULL, sizeof(*w) + size, 1);
    *w = (struct sandbox_wish){ .next = wishes, .use = use };
    if (size)
        memcpy(w->path, path, size);
    wishes = w;
}

void
sandbox_keep(unsigned what)
{
    kept |= what;
}

void
sandbox_play(enum sandbox_role which)
{
    role = which;
}

void
sandbox_off(void)
{
    is_off = true;
}

static void
forget_wishes(void)
{
    while (wishes) {
        struct sandbox_wish *next = wishes->next;

        free(wishes);
        wishes = next;
    }
}

/* Devices and pipes are written by the tool itself. */
static bool
is_device(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static void
allow_outside(const struct sandbox_wish *w)
{
    static const enum outside_use uses[] = {
        [SANDBOX_WRITE] = OUTSIDE_OUTPUT,
        [SANDBOX_SHARDS] = OUTSIDE_SHARDS,
        [SANDBOX_UPDATE] = OUTSIDE_UPDATE,
        [SANDBOX_ARRAYS] = OUTSIDE_ARRAYS,
        [SANDBOX_SCRATCH] = OUTSIDE_SCRATCH,
        [SANDBOX_TYPED] = OUTSIDE_TYPED,
        [SANDBOX_PARTS] = OUTSIDE_PARTS,
        [SANDBOX_CACHE] = OUTSIDE_CACHE,
        [SANDBOX_JOB] = 0,
    };
    bool is_typed = w->use == SANDBOX_TYPED;

    if (uses[w->use] && (is_typed || !is_device(w->path)))
        outside_allow(is_typed ? "" : w->path, uses[w->use]);
}

static void
start_outside(void)
{
    for (const struct sandbox_wish *w = wishes; w; w = w->next)
        allow_outside(w);
    if (!outside_start())
        cli_die("the process that makes the outputs: %s (--no-sandbox does "
                "without)",
                strerror(errno));
}

static bool
kernel_has_none(int error)
{
    return error == ENOSYS || error == EOPNOTSUPP || error == EINVAL;
}

/* "this kernel has no Landlock", or why it could not be used. */
static void
tell_missing(const char *of, const char *what, int error)
{
    if (kernel_has_none(error))
        cli_warn("no sandbox for %s: this kernel has no %s", of, what);
    else if (error)
        cli_warn("no sandbox for %s: %s: %s", of, what, strerror(error));
}

static void
tell_all_missing(int files, int calls)
{
    if (kernel_has_none(files) && kernel_has_none(calls)) {
        tell_missing("files and programs", "Landlock and no seccomp", files);
        return;
    }
    tell_missing("files", "Landlock", files);
    tell_missing("programs and sockets", "seccomp", calls);
}

/* Files of a store are made by the tool itself. */
static enum sandbox_role
role_of_wishes(void)
{
    for (const struct sandbox_wish *w = wishes; w; w = w->next)
        if (w->use == SANDBOX_STORE)
            return SANDBOX_WRITER;
    return role;
}

static void
start_media_worker(void)
{
    if (!media_worker_start())
        cli_die("the process that decodes media: %s", strerror(errno));
}

void
sandbox_enter(bool verbose)
{
    int files = 0, calls = 0;

    if (kept & SANDBOX_MEDIA)
        start_media_worker();
    if (is_off) {
        forget_wishes();
        return;
    }
    if (!(kept & SANDBOX_MPI))
        start_outside();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
        files = calls = errno;
    } else {
        if (!(kept & SANDBOX_MPI))
            files = sandbox_confine_files(wishes, kept);
        errno = ENOSYS;
        if (!sandbox_refuse_calls(role_of_wishes(), kept))
            calls = errno;
    }
    forget_wishes();
    is_confined = files == 0 && !(kept & SANDBOX_MPI);
    if (verbose)
        tell_all_missing(files, calls);
}

static bool
could_be_made(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
    bool could = folder && access(*folder ? folder : ".", W_OK | X_OK) == 0;

    free(folder);
    return could;
}

bool
sandbox_refuses(const char *path)
{
    if (!is_confined || !*path || outside_was_forbidden(path))
        return false;
    return access(path, R_OK) == 0 ||
           (access(path, F_OK) && errno == ENOENT && could_be_made(path));
}
