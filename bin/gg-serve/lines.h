/* lines.h - files of the owner: a line each, with comments */
#ifndef SERVE_LINES_H
#define SERVE_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include <gg.h>

/* Takes a line that is neither empty nor a comment, without its end. */
typedef enum gg_status (*owner_lines_taker)(void *context, const char *line,
                                            size_t n, struct gg_error *err);

/* Reads the file, `private`: which its owner alone may read, and gives each
 * line to take(), whose sentence gets the line's number in front of it. None is
 * an error, too. What was read is wiped from memory. */
enum gg_status
owner_lines_read(const char *path, bool private, owner_lines_taker take,
                 void *context, struct gg_error *err);

#endif
