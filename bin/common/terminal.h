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

/* A newline on a terminal, unless what was written last is one, or nothing was
 * written. Messages on the same terminal see to it themselves. */
void
terminal_newline(void);

#endif
