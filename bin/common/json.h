/* json.h - JSON in the tools: strings as it writes them; Jansson, for texts of
 * hostile origin
 *
 * Nothing else in bin includes <jansson.h>. */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stddef.h>

#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

#include "common/buffer.h"

/* For cli_start(): Jansson ends the tool where memory runs out. */
void
cli_json_start(void);

/* Adds text[0..len) to `out`, in quotes: control characters, C1 and DEL as
 * escapes, bytes that are not UTF-8 as U+FFFD. */
void
cli_json_add(struct buffer *out, const char *text, size_t len);

/* Writes it to stdout. */
void
cli_json_put(const char *text, size_t len);

#ifdef HAVE_JANSSON
enum {
    CLI_JSON_WHY = 4 * JSON_ERROR_TEXT_LENGTH + 1,
};

/* json_loadb(), which recurses, but for values that are nested too deep.
 * Numbers that Jansson has no type for are neither numbers nor strings here,
 * but what cli_json_large() tells, and cli_json_dump() writes as they were. */
json_t *
cli_json_load(const char *text, size_t len, size_t flags, json_error_t *err);

/* Loads a text that somebody sent, which may take a hundred times its bytes.
 * *no_memory: there is not as much, where the tool goes on without (spare.h).
 */
json_t *
cli_json_try_load(const char *text, size_t len, size_t flags, json_error_t *err,
                  bool *no_memory);

/* json_dumps() in one line. */
char *
cli_json_dump(const json_t *value, size_t flags);

/* The text of such a number; NULL for another value. */
const char *
cli_json_large(const json_t *value);

/* Why it could not be read, in buf[0..CLI_JSON_WHY): a quotation of the text
 * may hold anything. */
const char *
cli_json_why(char *buf, const json_error_t *e);

/* The string, if the value is one without NUL in it; else NULL. */
const char *
cli_json_text(const json_t *value);
#endif

#endif
