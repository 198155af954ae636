/* state.h - the files that a session goes on from and leaves, which gg-eval and
 * gg-generate have in common
 *
 * A file is locked from the start to the end, so that no second process can go
 * on from what this one is about to replace. */
#ifndef COMMON_STATE_H
#define COMMON_STATE_H

#include <limits.h>

#include "common/options.h"

struct state_options {
    const char *load, *save; /* or NULL */
    bool maybe; /* --state: they are the same, which may be absent */
};

/* Their rows, whose fields are in struct state_options. */
extern const struct cli_option state_rows[];

struct state {
    const struct state_options *o;
    int load_fd, save_fd; /* locked; or -1 */
    bool created;         /* there was no file to save to */
    char save[PATH_MAX];  /* its name without symbolic links */
    struct gg_state_file *file;
    bool was_loaded;
    char *sampling; /* that it began with; or NULL */
};

/* Locks what the options name, and makes an empty file in the place of one that
 * is to be saved and is absent; it goes if the tool fails. Ends the tool where
 * a file is in use, or cannot be opened. If there is one to save, signals are
 * caught from now on. */
void
state_lock(struct state *s, const struct state_options *o);

static inline bool
state_saves(const struct state *s)
{
    return s->o->save != NULL;
}

/* The state that is to go on; NULL: none. It lives until state_loaded(). Ends
 * the tool where the file is wrong. */
const struct gg_state *
state_load(struct state *s, struct gg_session *session);
void
state_loaded(struct state *s);

/* Sampling as the state has it of the model's file, so that a text goes on as
 * it began; where no state was loaded, as the file of the vocabulary has it;
 * NULL: nothing. Lives until state_clear(). */
const char *
state_sampling(const struct state *s, const struct gg_vocab *vocab);
void
state_clear(struct state *s);

/* The path of --load, for messages. */
const char *
state_name(const struct state *s);

/* Closes and checks the output, unless a signal came; then saves. No signal
 * ends it half-way. Where an output has a temporary name, both get theirs at
 * the end, or, after a signal, none does. */
void
state_save(struct state *s, struct gg_session *session,
           const struct gg_state *state);

#endif
