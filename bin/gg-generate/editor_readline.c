/* editor_readline.c - line editing by GNU readline */
#include <config.h>

#include "gg-generate/editor.h"

#ifdef HAVE_READLINE

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

enum {
    REMEMBERED = 1000, /* lines */
};

const char *const editor_name = "readline";

struct edit {
    char *line;
    bool done, ended;
};

/* Its state is global, and so there is one of these. */
static struct edit only;

static void
take_line(char *line)
{
    only.line = line;
    only.done = true;
    only.ended = !line;
    rl_callback_handler_remove();
}

struct edit *
edit_open(void)
{
    rl_readline_name = "gg-generate";
    rl_instream = stdin;
    rl_outstream = stderr;
    rl_catch_signals = 0;
    rl_catch_sigwinch = 0;
    rl_inhibit_completion = 1;
    stifle_history(REMEMBERED);
    return &only;
}

void
edit_close(struct edit *e)
{
    if (!e)
        return;
    free(e->line);
    *e = (struct edit){ 0 };
    clear_history();
}

/* The terminal was the shell's, or has another size. */
static void
redraw(void)
{
    rl_deprep_terminal();
    rl_prep_terminal(1);
    rl_resize_terminal();
    rl_forced_update_display();
}

/* Waits for a key. False: a signal that the tool catches came. */
static bool
await_key(void)
{
    struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

    while (poll(&p, 1, -1) < 0 && errno == EINTR) {
        if (editor_was_moved())
            redraw();
        if (cli_signal())
            return false;
    }
    return true;
}

enum reader_state
edit_read(struct edit *e, const char *prompt, const char **line, size_t *len)
{
    free(e->line);
    *e = (struct edit){ 0 };
    rl_callback_handler_install(prompt, take_line);
    while (!e->done && await_key())
        rl_callback_read_char();
    if (!e->done) {
        rl_free_line_state();
        rl_callback_handler_remove();
        return READER_WAITS;
    }
    if (e->ended)
        return READER_END;
    *line = e->line;
    *len = strlen(e->line);
    return READER_RECORD;
}

void
edit_remember(struct edit *e, const char *line)
{
    (void)e;
    add_history(line);
}

#endif
