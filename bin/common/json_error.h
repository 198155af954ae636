/* json_error.h - why Jansson cannot read a text */
#ifndef COMMON_JSON_ERROR_H
#define COMMON_JSON_ERROR_H

#include <jansson.h>
#include <string.h>

#include "common/cli.h"

enum {
    JSON_WHY = 4 * JSON_ERROR_TEXT_LENGTH + 1,
};

/* What it says, in buf[0..JSON_WHY): it quotes the text, which may hold
 * anything. It says nothing where memory runs out: that ends the tool. */
static inline const char *
json_why(char *buf, const json_error_t *e)
{
    if (!e->text[0])
        cli_die("out of memory");
    return gg_escape(buf, JSON_WHY, e->text, strlen(e->text));
}

#endif
