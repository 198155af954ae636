/* editor.c - line editing: when there is some, and what is remembered */
#include <config.h>

#include "common/outside.h"
#include "common/sandbox.h"
#include "gg-generate/editor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if !defined(HAVE_LIBEDIT) && !defined(HAVE_READLINE)
const char *const editor_name = NULL;
#endif

void
editor_allow(void)
{
    static const char *const read[] = { "/etc",
                                        "/lib/terminfo",
                                        "/usr/share/terminfo",
                                        "/usr/lib/terminfo",
                                        "/usr/lib/locale",
                                        "/usr/share/i18n" };
    static const char *const own[] = { ".terminfo", ".editrc", ".inputrc" };
    const char *home = getenv("HOME"), *history = getenv("GG_HISTORY");

    for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++)
        sandbox_add(read[i], SANDBOX_TREE);
    for (size_t i = 0; home && i < sizeof(own) / sizeof(own[0]); i++) {
        char path[PATH_MAX];

        snprintf(path, sizeof(path), "%s/%s", home, own[i]);
        sandbox_add(path, SANDBOX_TREE);
    }
    sandbox_add(getenv("TERMINFO"), SANDBOX_TREE);
    sandbox_add("/dev/tty", SANDBOX_WRITE);
    sandbox_add(history, SANDBOX_UPDATE);
    sandbox_keep(SANDBOX_TERMINAL);
}

#if defined(HAVE_LIBEDIT) || defined(HAVE_READLINE)

struct editor {
    struct edit *edit;
    locale_t utf8;       /* what is typed is that, whatever LANG says */
    const char *history; /* a file, or NULL */
};

/* ---- the history --------------------------------------------------------- */

/* A line each, as it was typed. */
static void
load_history(struct editor *e)
{
    int fd = outside_open(e->history, O_RDONLY);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    if (!f && errno != ENOENT)
        cli_warn("%s: %s", e->history, strerror(errno));
    while (f && (n = getline(&line, &cap, f)) > 0) {
        n -= line[n - 1] == '\n';
        line[n] = '\0';
        if (n && strlen(line) == (size_t)n)
            edit_remember(e->edit, line);
    }
    free(line);
    if (f)
        fclose(f);
}

/* At the file's end, so that several conversations can share it. */
static void
save_line(struct editor *e, const char *line)
{
    int fd = outside_open(e->history,
                          O_WRONLY | O_APPEND | O_CREAT | OUTSIDE_PRIVATE);
    struct buffer text = { 0 };
    bool done;

    buffer_add(&text, line, strlen(line));
    buffer_char(&text, '\n');
    done = fd >= 0 && write(fd, text.p, text.len) == (ssize_t)text.len;
    if (!done) {
        cli_warn("%s: %s", e->history, strerror(errno));
        e->history = NULL;
    }
    if (fd >= 0)
        close(fd);
    buffer_clear(&text);
}

/* ---- the editor ---------------------------------------------------------- */

/* In the locale of what is typed. */
static void
start(struct editor *e)
{
    locale_t before = uselocale(e->utf8);

    e->edit = edit_open();
    if (e->edit && e->history)
        load_history(e);
    uselocale(before);
}

struct editor *
editor_open(void)
{
    const char *term = getenv("TERM"), *history = getenv("GG_HISTORY");
    struct editor *e;

    if (!term || !*term || strcmp(term, "dumb") == 0)
        return NULL;
    e = cli_alloc(NULL, 1, sizeof(*e));
    *e = (struct editor){ .utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL),
                          .history = history && *history ? history : NULL };
    if (e->utf8)
        start(e);
    if (e->edit)
        return e;
    editor_close(e);
    return NULL;
}

static enum reader_state
read_line(struct editor *e, const char *prompt, const char **line, size_t *len)
{
    struct editor_watch watch;
    locale_t before = uselocale(e->utf8);
    enum reader_state state;

    editor_watch(&watch);
    state = edit_read(e->edit, prompt, line, len);
    editor_unwatch(&watch);
    uselocale(before);
    return state;
}

enum reader_state
editor_read(struct editor *e, const char *prompt, const char **line,
            size_t *len)
{
    enum reader_state state = read_line(e, prompt, line, len);

    if (state != READER_RECORD || reader_is_blank(*line, *len))
        return state;
    edit_remember(e->edit, *line);
    if (e->history)
        save_line(e, *line);
    return state;
}

void
editor_close(struct editor *e)
{
    if (!e)
        return;
    edit_close(e->edit);
    if (e->utf8)
        freelocale(e->utf8);
    free(e);
}

#else

struct editor *
editor_open(void)
{
    return NULL;
}

enum reader_state
editor_read(struct editor *e, const char *prompt, const char **line,
            size_t *len)
{
    (void)e, (void)prompt, (void)line, (void)len;
    return READER_END;
}

void
editor_close(struct editor *e)
{
    (void)e;
}

#endif
