/* commands.c - what a user can say in place of a message: /undo and others */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/outside.h"
#include "gg-generate/interactive.h"
#include "gg-generate/media.h"

enum {
    MAX_FILE = 1 << 26, /* bytes: more than any context has */
};

/* ---- files: an error is no end of a conversation ------------------------- */

static enum gg_status
file_error(struct gg_error *err, const char *path)
{
    return cli_error(err, GG_ERR_IO, "%s: %s", path, strerror(errno));
}

static enum gg_status
read_open_file(int fd, const char *path, struct buffer *out,
               struct gg_error *err)
{
    ssize_t n;

    do {
        n = read(fd, buffer_room(out, 1 << 16), 1 << 16);
        if (n < 0)
            return file_error(err, path);
        out->len += (size_t)n;
        if (out->len > MAX_FILE)
            return cli_error(err, GG_ERR_UNSUPPORTED,
                             "%s: longer than the limit of %d MiB", path,
                             MAX_FILE >> 20);
    } while (n > 0);
    return GG_OK;
}

/* Adds all of a regular file. */
static enum gg_status
read_file(const char *path, struct buffer *out, struct gg_error *err)
{
    enum gg_status st;
    struct stat info;
    int fd;

    if (stat(path, &info))
        return file_error(err, path);
    if (!S_ISREG(info.st_mode))
        return cli_error(err, GG_ERR_ARG, "%s: no regular file", path);
    fd = outside_open(path, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return file_error(err, path);
    st = read_open_file(fd, path, out, err);
    close(fd);
    return st;
}

/* A file that exists is replaced only if it is a saved conversation, too. */
static enum gg_status
check_replaced(const char *path, struct gg_error *err)
{
    struct stat info;
    bool saved;
    int fd;

    if (stat(path, &info))
        return errno == ENOENT ? GG_OK : file_error(err, path);
    fd = S_ISREG(info.st_mode) ? outside_open(path, O_RDONLY) : -1;
    saved = fd >= 0 && chat_is_written(fd);
    if (fd >= 0)
        close(fd);
    if (!saved)
        return cli_error(err, GG_ERR_ARG,
                         "%s: is there, and is no conversation: it is left as "
                         "it is",
                         path);
    return GG_OK;
}

static bool
write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t some = write(fd, p, n);

        if (some < 0)
            return false;
        p += some;
        n -= (size_t)some;
    }
    return fsync(fd) == 0;
}

/* Under a temporary name first. */
static enum gg_status
write_file(const char *path, const struct buffer *text, struct gg_error *err)
{
    enum gg_status st = check_replaced(path, err);
    int fd = st == GG_OK ? outside_do(OUTSIDE_ASIDE, path, 0) : -1;

    if (st != GG_OK)
        return st;
    if (fd < 0)
        return file_error(err, path);
    if (!write_all(fd, text->p, text->len)) {
        st = file_error(err, path);
        (void)outside_do(OUTSIDE_ASIDE_DROP, path, 0);
    } else if (outside_do(OUTSIDE_ASIDE_END, path, 0) < 0) {
        st = file_error(err, path);
    }
    close(fd);
    return st;
}

/* ---- commands ------------------------------------------------------------ */

static enum gg_status
undo(struct talk *t, const char *unused, struct gg_error *err)
{
    enum gg_status st;

    (void)unused;
    if (!t->n_turns)
        return cli_error(err, GG_ERR_ARG, "there is no question to undo");
    st = turns_back(t, false, err);
    if (st == GG_OK) {
        turns_pop(t);
        talk_tell(t, "the last question and its answer are gone");
    }
    return st;
}

/* From now on draws are those of the next seed. */
static enum gg_status
next_seed(struct generate *g, struct gg_error *err)
{
    struct sampling_options *o = &g->o->sampling;
    struct gg_sampler *new = NULL;
    enum gg_status st = GG_OK;

    if (!g->answer.sampler)
        return GG_OK;
    o->params.seed++;
    st = sampling_sampler(o, g->engine.vocab, &new, err);
    if (st != GG_OK)
        return st;
    gg_sampler_free(g->answer.sampler);
    g->answer.sampler = new;
    return GG_OK;
}

static enum gg_status
again(struct talk *t, const char *unused, struct gg_error *err)
{
    enum gg_status st;

    (void)unused;
    if (!t->n_turns)
        return cli_error(err, GG_ERR_ARG, "there is no question yet");
    st = turns_back(t, true, err);
    if (st == GG_OK)
        st = next_seed(t->g, err);
    if (st == GG_OK)
        (void)talk_answer(t);
    return st;
}

static enum gg_status
set_system(struct talk *t, const char *text, struct gg_error *err)
{
    struct chat *chat = &t->g->source.chat, new = { 0 };
    size_t i = chat->n && chat->messages[0].role == GG_ROLE_SYSTEM;

    if (t->hidden)
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "the conversation began in a state, in which its "
                         "system message stays");
    if (*text)
        chat_append(&new, GG_ROLE_SYSTEM, text, strlen(text));
    chat_move(&new, chat, i);
    chat_clear(chat);
    *chat = new;
    turns_renew(t);
    return GG_OK;
}

/* Whether the template takes it, which ends with a question. */
static enum gg_status
try_messages(struct talk *t, const struct chat *new, struct gg_error *err)
{
    static const struct choices none;
    struct generate *g = t->g;
    struct prompt_source with = g->source;
    uint64_t left_out = g->left_out;
    struct prompt prompt = { 0 };
    enum gg_status st;

    if (new->messages[new->n - 1].role != GG_ROLE_USER)
        return GG_OK;
    with.chat = *new;
    with.done = 0;
    st = prompt_source_encode(g, &with, &none, &prompt, err);
    prompt_clear(&prompt);
    g->left_out = left_out;
    return st;
}

static enum gg_status
read_messages(struct talk *t, const char *path, struct chat *new,
              struct gg_error *err)
{
    struct buffer text = { 0 };
    struct gg_error why;
    enum gg_status st = read_file(path, &text, err);

    if (st != GG_OK)
        return st;
    st = chat_read(new, t->g->o->template, text.p, text.len, true, &why);
    if (st == GG_OK && !new->n)
        st = cli_error(&why, GG_ERR_FORMAT, "no messages");
    if (st == GG_OK)
        st = try_messages(t, new, &why);
    if (st != GG_OK)
        cli_error(err, st, "%s: %.*s", path, 400, why.message);
    buffer_clear(&text);
    return st;
}

static enum gg_status
load(struct talk *t, const char *path, struct gg_error *err)
{
    struct prompt_source *s = &t->g->source;
    struct chat new = { 0 };
    enum gg_status st;

    generate_media_begin(t->g, &new);
    st = read_messages(t, path, &new, err);

    if (st != GG_OK) {
        chat_clear(&new);
        return st;
    }
    chat_clear(&s->chat);
    s->chat = new;
    turns_renew(t);
    talk_tell(t, "%zu messages", new.n);
    if (new.messages[new.n - 1].role == GG_ROLE_USER)
        (void)talk_answer(t);
    return GG_OK;
}

static enum gg_status
save(struct talk *t, const char *path, struct gg_error *err)
{
    const struct chat *chat = &t->g->source.chat;
    struct buffer text = { 0 };
    enum gg_status st;

    if (t->hidden)
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "the conversation began in a state, which does not "
                         "have its messages; --save keeps all of it");
    chat_write(chat, &text);
    st = write_file(path, &text, err);
    buffer_clear(&text);
    if (st == GG_OK)
        talk_tell(t, "%zu messages in %s", chat->n, path);
    return st;
}

static enum gg_status
add_file(struct talk *t, const char *path, struct gg_error *err)
{
    struct buffer *b = &t->before;
    size_t n = b->len;
    enum gg_status st = read_file(path, b, err);

    if (st != GG_OK) {
        b->len = n;
        return st;
    }
    if (b->len > n && b->p[b->len - 1] != '\n')
        buffer_char(b, '\n');
    talk_tell(t,
              "%zu bytes go before the next message; an empty line sends them",
              b->len);
    return GG_OK;
}

static enum gg_status
add_medium(struct talk *t, enum gg_media_kind kind, const char *path,
           struct gg_error *err)
{
    struct buffer bytes = { 0 };
    struct gg_error why;
    enum gg_status st = read_file(path, &bytes, err);

    if (st == GG_OK) {
        st = talk_take_medium(t, kind, &bytes, &why);
        if (st != GG_OK)
            (void)cli_error(err, st, "%.100s: %.400s", path, why.message);
    }
    buffer_clear(&bytes);
    return st;
}

static enum gg_status
add_image(struct talk *t, const char *path, struct gg_error *err)
{
    return add_medium(t, GG_MEDIA_IMAGE, path, err);
}

static enum gg_status
add_sound(struct talk *t, const char *path, struct gg_error *err)
{
    return add_medium(t, GG_MEDIA_SOUND, path, err);
}

static enum gg_status
help(struct talk *t, const char *unused, struct gg_error *err);

/* `run` NULL: the conversation ends. */
static const struct command {
    const char *name, *argument, *help;
    bool optional;
    enum gg_status (*run)(struct talk *t, const char *argument,
                          struct gg_error *err);
} commands[] = {
    { "help", NULL, "show this", false, help },
    { "undo", NULL, "forget the last question and its answer", false, undo },
    { "again", NULL, "another answer to the last question", false, again },
    { "system", "TEXT", "the system message; without TEXT, none", true,
      set_system },
    { "file", "FILE", "put the text of FILE before the next message", false,
      add_file },
    { "image", "FILE", "put the image of FILE before the next message", false,
      add_image },
    { "audio", "FILE", "put the sound of FILE before the next message", false,
      add_sound },
    { "save", "FILE", "write the messages to FILE, in JSON", false, save },
    { "load", "FILE", "go on with the messages of FILE", false, load },
    { "quit", NULL, "end; so does ^D", false, NULL },
};

enum {
    N_COMMANDS = sizeof(commands) / sizeof(commands[0]),
};

static enum gg_status
help(struct talk *t, const char *unused, struct gg_error *err)
{
    (void)unused, (void)err;
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(stderr, "/%s %-*s %s\n", commands[i].name,
                12 - (int)strlen(commands[i].name),
                commands[i].argument ? commands[i].argument : "",
                commands[i].help);
    fputs(
        "A line that begins with // is a message that begins with /. A line "
        "that ends\nwith \\ goes on in the next one; lines between \"\"\" and "
        "\"\"\" are one message.\n^C ends an answer, or starts the line "
        "anew.\n",
        stderr);
    if (!t->in.editor)
        fprintf(stderr,
                editor_name ? "Lines are edited by %s, but not on this "
                              "terminal.\n"
                            : "This was built without libedit and readline: "
                              "lines are not edited.\n",
                editor_name);
    return GG_OK;
}

/* ---- reading them -------------------------------------------------------- */

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* "~/x" is in the user's folder; else NULL. The caller frees it. */
static char *
home_path(const char *argument)
{
    const char *home = getenv("HOME");
    struct buffer path = { 0 };

    if (!home || strncmp(argument, "~/", 2) != 0)
        return NULL;
    buffer_format(&path, "%s%s", home, argument + 1);
    buffer_char(&path, '\0');
    return path.p;
}

static enum gg_status
run(const struct command *c, struct talk *t, const char *argument,
    struct gg_error *err)
{
    bool is_file = c->argument && strcmp(c->argument, "FILE") == 0;
    char *path = is_file ? home_path(argument) : NULL;
    enum gg_status st = c->run(t, path ? path : argument, err);

    free(path);
    return st;
}

/* "/name argument"; blanks around the argument are none of it. */
static const struct command *
find_command(char *text, char **argument)
{
    char *end = text + strlen(text), *p = text + 1;
    size_t n = strcspn(p, " \t\r\n");

    while (end > text && (is_blank(end[-1]) || end[-1] == '\n'))
        *--end = '\0';
    *argument = p + n < end ? p + n : end;
    while (is_blank(**argument))
        ++*argument;
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strlen(commands[i].name) == n &&
            memcmp(commands[i].name, p, n) == 0)
            return &commands[i];
    return NULL;
}

static void
say_unknown(struct talk *t, const char *text)
{
    char shown[100];
    size_t n = strcspn(text, " \t\r\n");

    talk_fail(t,
              "%s: no command; /help shows all, and // begins a message with /",
              gg_escape(shown, sizeof(shown), text, n));
}

bool
command_run(struct talk *t, char *text)
{
    char *argument;
    const struct command *c = find_command(text, &argument);
    struct gg_error err;

    if (!c)
        say_unknown(t, text);
    else if (c->argument && !*argument && !c->optional)
        talk_fail(t, "/%s needs the name of a file", c->name);
    else if (!c->argument && *argument)
        talk_fail(t, "/%s has nothing after it", c->name);
    else if (!c->run)
        return false;
    else if (run(c, t, argument, &err) != GG_OK)
        talk_fail(t, "/%s: %s", c->name, err.message);
    if (t->in.terminal && cli_signal() == SIGINT)
        cli_forget_signal();
    return !cli_signal();
}
