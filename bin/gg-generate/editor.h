/* editor.h - lines that are edited on a terminal, with a history: by libedit or
 * readline, if this was built with one of them */
#ifndef GENERATE_EDITOR_H
#define GENERATE_EDITOR_H

#include <signal.h>

#include "common/records/reader.h"

struct editor;

/* For standard input, a terminal, with prompts on standard error. NULL: there
 * is no library, or the terminal can do nothing. The history is that of the
 * file $GG_HISTORY, if that is set; else it begins empty. */
struct editor *
editor_open(void);

/* For struct cli_tool: the history, and what the libraries read. */
void
editor_allow(void);

/* A line without its end, which lives until the next call. READER_WAITS: a
 * signal came, and what was typed is gone. */
enum reader_state
editor_read(struct editor *e, const char *prompt, const char **line,
            size_t *len);
void
editor_close(struct editor *e); /* takes NULL */

/* ---- what the libraries do: editor_libedit.c, editor_readline.c ---------- */

/* "libedit"; NULL: there is none. */
extern const char *const editor_name;

struct edit;
struct edit *
edit_open(void);
void
edit_close(struct edit *e); /* takes NULL */
enum reader_state
edit_read(struct edit *e, const char *prompt, const char **line, size_t *len);
/* The line is one of the history. */
void
edit_remember(struct edit *e, const char *line);
/* editor_moves.c: the process was stopped and goes on, or the window has
 * another size, since the watch began. */
struct editor_watch {
    struct sigaction cont, winch; /* what was there before */
};
void
editor_watch(struct editor_watch *w);
void
editor_unwatch(const struct editor_watch *w);
bool
editor_was_moved(void);

#endif
