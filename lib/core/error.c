/* error.c - filling in a struct gg_error; names of the status codes */
#include <config.h>

#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/escape.h"

enum gg_status
error_set(struct gg_error *err, enum gg_status status, const char *fmt, ...)
{
    char text[2 * sizeof(err->message)];
    va_list ap;

    if (err) {
        va_start(ap, fmt);
        vsnprintf(text, sizeof(text), fmt, ap);
        va_end(ap);
        escape_message(err->message, sizeof(err->message), text);
    }
    return status;
}

enum {
    MAX_PREFIX = 253,
};

/* The end of a long path tells more than its start. */
static size_t
keep_end(char *text)
{
    size_t most = MAX_PREFIX, len = strlen(text), cut = len - most + 3;

    if (len <= most)
        return len;
    while (cut < len && ((unsigned char)text[cut] & 0xc0) == 0x80)
        cut++; /* not in the middle of a character */
    memcpy(text, "...", 3);
    memmove(text + 3, text + cut, len - cut + 1);
    return len - cut + 3;
}

enum gg_status
error_prefix(struct gg_error *err, enum gg_status status, const char *fmt, ...)
{
    char path[4400]; /* more than any has */
    char prefix[4 * MAX_PREFIX + 1];
    size_t room = sizeof(err->message), len, keep;
    va_list ap;

    if (!err)
        return status;
    va_start(ap, fmt);
    vsnprintf(path, sizeof(path), fmt, ap);
    va_end(ap);
    keep_end(path);
    len = keep_end(escape_message(prefix, sizeof(prefix), path));
    prefix[len++] = ':';
    prefix[len++] = ' ';
    keep = strnlen(err->message, room - len - 1); /* what no longer fits goes */
    memmove(err->message + len, err->message, keep);
    memcpy(err->message, prefix, len);
    err->message[len + keep] = '\0';
    return status;
}

enum gg_status
error_nomem(struct gg_error *err)
{
    return error_set(err, GG_ERR_NOMEM, "out of memory");
}

enum gg_status
error_null(struct gg_error *err)
{
    return error_set(err, GG_ERR_ARG, "a pointer is NULL that must not be");
}

const char *
gg_status_string(enum gg_status status)
{
    static const char *const names[] = {
        [GG_OK] = "success",
        [GG_ERR_ARG] = "invalid argument",
        [GG_ERR_NOMEM] = "out of memory",
        [GG_ERR_IO] = "input/output error",
        [GG_ERR_FORMAT] = "malformed input",
        [GG_ERR_UNSUPPORTED] = "not supported",
        [GG_ERR_TRUNCATED] = "input ends in the middle",
        [GG_ERR_CONTEXT] = "context is full",
        [GG_ERR_ABORTED] = "aborted",
        [GG_EOF] = "end of input",
    };
    size_t n = sizeof(names) / sizeof(names[0]);

    return (size_t)status < n ? names[status] : "unknown status";
}

enum gg_status
error_reserved(const uintptr_t *reserved, size_t n, struct gg_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (reserved[i])
            return error_set(err, GG_ERR_ARG,
                             "a reserved field of the parameters is set: the "
                             "program was made for a later version");
    return GG_OK;
}
