/* editor_libedit.c - line editing by libedit */
#include <config.h>

#include "gg-generate/editor.h"

#ifdef HAVE_LIBEDIT

#include <errno.h>
#include <histedit.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

enum {
    REMEMBERED = 1000, /* lines */
};

const char *const editor_name = "libedit";

struct edit {
    EditLine *el;
    History *history;
    FILE *nowhere; /* what libedit thinks of the terminal is not told */
    const char *prompt;
    struct buffer line;
};

static char *
get_prompt(EditLine *el)
{
    struct edit *e;

    el_get(el, EL_CLIENTDATA, &e);
    return (char *)e->prompt;
}

/* The terminal was the shell's, or has another size. */
static void
redraw(EditLine *el)
{
    el_set(el, EL_PREP_TERM, 0);
    el_set(el, EL_PREP_TERM, 1);
    el_resize(el);
    el_set(el, EL_REFRESH);
}

/* 1: a byte. A signal that the tool catches ends the line: -1. */
static int
read_byte(EditLine *el, char *byte)
{
    ssize_t n;

    do {
        n = read(STDIN_FILENO, byte, 1);
        if (n < 0 && errno == EINTR && editor_was_moved())
            redraw(el);
    } while (n < 0 && errno == EINTR && !cli_signal());
    return cli_signal() ? -1 : (int)n;
}

/* Bytes that are no UTF-8 are left out. */
static int
read_char(EditLine *el, wchar_t *c)
{
    mbstate_t state = { 0 };
    char byte;
    int n;

    while ((n = read_byte(el, &byte)) > 0) {
        size_t used = mbrtowc(c, &byte, 1, &state);

        if (used <= 1)
            return 1;
        if (used == (size_t)-1)
            state = (mbstate_t){ 0 };
    }
    return n;
}

static bool
set_up(struct edit *e)
{
    HistEvent ev;

    e->nowhere = fopen("/dev/null", "we");
    e->history = history_init();
    if (e->nowhere)
        e->el = el_init(cli_name, stdin, stderr, e->nowhere);
    if (!e->el || !e->history)
        return false;
    history(e->history, &ev, H_SETSIZE, REMEMBERED);
    history(e->history, &ev, H_SETUNIQUE, 1);
    el_set(e->el, EL_CLIENTDATA, e);
    el_set(e->el, EL_PROMPT, get_prompt);
    el_set(e->el, EL_EDITOR, "emacs");
    el_set(e->el, EL_HIST, history, e->history);
    el_set(e->el, EL_SIGNAL, 0);
    el_set(e->el, EL_GETCFN, read_char);
    el_source(e->el, NULL); /* ~/.editrc */
    return true;
}

struct edit *
edit_open(void)
{
    struct edit *e = cli_alloc(NULL, 1, sizeof(*e));

    *e = (struct edit){ 0 };
    if (!set_up(e)) {
        edit_close(e);
        return NULL;
    }
    return e;
}

void
edit_close(struct edit *e)
{
    if (!e)
        return;
    if (e->el)
        el_end(e->el);
    if (e->history)
        history_end(e->history);
    if (e->nowhere)
        fclose(e->nowhere);
    buffer_clear(&e->line);
    free(e);
}

enum reader_state
edit_read(struct edit *e, const char *prompt, const char **line, size_t *len)
{
    const char *text;
    int n = 0;

    e->prompt = prompt;
    el_resize(e->el);
    text = el_gets(e->el, &n);
    if (cli_signal())
        return READER_WAITS;
    if (!text || n <= 0)
        return READER_END;
    n -= text[n - 1] == '\n';
    e->line.len = 0;
    buffer_add(&e->line, text, (size_t)n);
    buffer_char(&e->line, '\0');
    *line = e->line.p;
    *len = (size_t)n;
    return READER_RECORD;
}

void
edit_remember(struct edit *e, const char *line)
{
    HistEvent ev;

    history(e->history, &ev, H_ENTER, line);
}

#endif
