/* terminal.h - a model's text on standard output: on a terminal, nothing in it
 * can drive the terminal, and what follows it begins a line */
#ifndef COMMON_TERMINAL_H
#define COMMON_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* To be called once standard output is what it stays. With `raw`, bytes go to a
 * terminal as they are, as they go to everything else. */
void
terminal_open(bool raw);

/* Writes the text. On a terminal control characters (C0, DEL, C1) but newline
 * and tab, and bytes that are not UTF-8, are shown as \xHH. A character whose
 * end is missing waits for it, if `more` may follow. */
void
terminal_write(const char *text, size_t len, bool more);

/* True where a line of text has begun on the terminal, or where messages go. */
bool
terminal_is_inside(void);

/* The end of the text: on a terminal a newline, unless the last byte is one, or
 * nothing was written; with `newline` everywhere, after an empty text, too.
 * Messages to where the text goes begin a line by themselves. */
void
terminal_finish(bool newline);

#endif
