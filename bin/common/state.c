/* state.c - the files that a session goes on from and leaves */
#include <config.h>

#include "common/files.h"
#include "common/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- options ---- */

static enum gg_status
set_state(void *options, const struct cli_option *o, const char *value,
          struct gg_error *err)
{
    struct state_options *s = options;
    bool load = strcmp(o->name, "save") != 0, save = strcmp(o->name, "load");
    bool both = load && save;

    (void)err;
    if (s->maybe || (both && (s->load || s->save)))
        cli_misuse("--state is --load and --save in one");
    if (!*value)
        cli_misuse("a state needs the name of a file");
    if (load)
        s->load = value;
    if (save)
        s->save = value;
    s->maybe = both;
    return GG_OK;
}

const struct cli_option state_rows[] = {
    { "load", 0, CLI_CALL, "FILE", "start from the saved state in FILE",
      .set = set_state },
    { "save", 0, CLI_CALL, "FILE", "save the state to FILE at the end",
      .set = set_state, .use = SANDBOX_UPDATE },
    { "state", 0, CLI_CALL, "FILE",
      "load FILE if it exists, and save to it at the end", .set = set_state,
      .use = SANDBOX_UPDATE },
    { 0 },
};

/* ---- locks -------------------------------------------------------------- */

/* A file without bytes is no state yet. */
static bool
is_empty_file(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_size == 0;
}

static void
lock_saved(struct state *s)
{
    const char *path = s->o->save;

    s->created = access(path, F_OK) != 0;
    s->save_fd =
        files_write_locked(path, O_RDWR | O_CREAT, s->o->load, s->save);
    if (s->created)
        cli_discard_too(path);
    cli_catch_signals();
}

void
state_lock(struct state *s, const struct state_options *o)
{
    *s = (struct state){ .o = o, .load_fd = -1, .save_fd = -1 };
    if (o->load && !o->maybe) /* it must be there before --save makes it */
        close(files_open(o->load, O_RDONLY));
    if (o->save)
        lock_saved(s);
    if (o->load && !files_are_one(s->save_fd, o->load))
        s->load_fd = files_lock(o->load, O_RDONLY, true);
}

/* ---- loading and saving ------------------------------------------------- */

const char *
state_name(const struct state *s)
{
    return s->o->load;
}

const struct gg_state *
state_load(struct state *s, struct gg_session *session)
{
    const struct gg_state *state;
    struct gg_error err;

    if (!s->o->load || (s->o->maybe && is_empty_file(s->save_fd)))
        return NULL;
    cli_check(gg_state_open(s->o->load, session, &s->file, &err), &err);
    state = gg_state_get(s->file);
    s->was_loaded = true;
    if (state->sampling)
        s->sampling = cli_copy(state->sampling, strlen(state->sampling));
    return state;
}

const char *
state_sampling(const struct state *s, const struct gg_vocab *vocab)
{
    return s->was_loaded ? s->sampling : gg_vocab_sampling(vocab);
}

void
state_clear(struct state *s)
{
    free(s->sampling);
    s->sampling = NULL;
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

/* A signal that comes meanwhile is looked at afterwards. */
static enum gg_status
save_undisturbed(struct gg_session *session, const struct gg_state *state,
                 int fd, struct gg_error *err)
{
    sigset_t before;
    enum gg_status st;

    cli_hold_signals(&before);
    st = gg_session_write(session, state, fd, err);
    if (st == GG_OK && (fsync(fd) || close(fd)))
        st = cli_error(err, GG_ERR_IO, "%s", strerror(errno));
    sigprocmask(SIG_SETMASK, &before, NULL);
    return st;
}

/* An output under a temporary name that a signal makes incomplete is lost, and
 * so the old state stays. */
void
state_save(struct state *s, struct gg_session *session,
           const struct gg_state *state)
{
    struct gg_error err;
    int fd;
    bool waits = cli_output_waits();

    if (cli_signal() && waits)
        return;
    if (!cli_signal())
        cli_close_output();
    fd = cli_replace(s->o->save, s->save, s->save_fd, s->created);
    if (save_undisturbed(session, state, fd, &err) != GG_OK)
        cli_die("%s: %s", s->o->save, err.message);
    if (!waits)
        cli_commit();
}
