/* state.c - the files that a session goes on from and leaves */
#include <config.h>

#include "common/state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool
state_set_option(struct state_options *o, int c)
{
    bool both = c == STATE_OPT_STATE;

    if (c != STATE_OPT_LOAD && c != STATE_OPT_SAVE && !both)
        return false;
    if (o->maybe || (both && (o->load || o->save)))
        cli_misuse("--state is --load and --save in one");
    if (!*optarg)
        cli_misuse("a state needs the name of a file");
    if (c != STATE_OPT_SAVE)
        o->load = optarg;
    if (c != STATE_OPT_LOAD)
        o->save = optarg;
    o->maybe = both;
    return true;
}

/* ---- locks -------------------------------------------------------------- */

static bool
is_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

static int
open_or_die(const char *path, int flags)
{
    struct stat st;
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0666);

    if (fd < 0 || fstat(fd, &st))
        cli_die("%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        cli_die("%s: %s", path,
                S_ISDIR(st.st_mode) ? strerror(EISDIR)
                                    : "a state is a regular file");
    return fd;
}

static void
lock_or_die(const char *path, int fd, int how)
{
    while (flock(fd, how | LOCK_NB)) {
        if (errno == EWOULDBLOCK)
            cli_die("%s: another process uses this state", path);
        if (errno != EINTR)
            cli_die("%s: cannot be locked: %s", path, strerror(errno));
    }
}

/* Who had the file until a moment ago may have replaced it. */
static int
take(const char *path, int flags, int how)
{
    struct stat own, there;

    for (;;) {
        int fd = open_or_die(path, flags);

        lock_or_die(path, fd, how);
        if (fstat(fd, &own) == 0 && stat(path, &there) == 0 &&
            is_same(&own, &there))
            return fd;
        close(fd);
    }
}

/* A file without bytes is no state yet. */
static bool
is_empty(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_size == 0;
}

static bool
are_one(int fd, const char *path)
{
    struct stat own, there;

    return fd >= 0 && fstat(fd, &own) == 0 && stat(path, &there) == 0 &&
           is_same(&own, &there);
}

void
state_lock(struct state *s, const struct state_options *o)
{
    *s = (struct state){ .o = o, .load_fd = -1, .save_fd = -1 };
    if (o->load && !o->maybe) /* it must be there before --save makes it */
        close(open_or_die(o->load, O_RDONLY));
    if (o->save) {
        bool absent = access(o->save, F_OK) != 0;

        s->save_fd = take(o->save, O_RDWR | O_CREAT, LOCK_EX);
        if (absent)
            cli_discard_too(o->save);
        cli_catch_signals();
    }
    if (o->load && !are_one(s->save_fd, o->load))
        s->load_fd = take(o->load, O_RDONLY, LOCK_SH);
}

/* ---- loading and saving ------------------------------------------------- */

const char *
state_name(const struct state *s)
{
    return s->o->load;
}

const struct gg_state *
state_load(struct state *s, const struct gg_session *session)
{
    struct gg_error err;

    if (!s->o->load || (s->o->maybe && is_empty(s->save_fd)))
        return NULL;
    cli_check(gg_state_open(s->o->load, session, &s->file, &err), &err);
    return gg_state_get(s->file);
}

void
state_loaded(struct state *s)
{
    gg_state_close(s->file);
    s->file = NULL;
    if (s->load_fd >= 0)
        close(s->load_fd);
    s->load_fd = -1;
}

/* What a signal would leave behind half-done can only be removed here. */
static enum gg_status
save_undisturbed(struct gg_session *session, const struct gg_state *state,
                 const char *path, struct gg_error *err)
{
    sigset_t before;
    enum gg_status st;

    cli_hold_signals(&before);
    st = gg_session_save(session, state, path, err);
    if (st == GG_OK)
        cli_discard_too(NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return st;
}

void
state_save(struct state *s, struct gg_session *session,
           const struct gg_state *state)
{
    struct gg_error err;

    if (!cli_signal())
        cli_close_output();
    cli_check(save_undisturbed(session, state, s->o->save, &err), &err);
}
