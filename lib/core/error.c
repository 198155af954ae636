/* error.c - filling in a struct gg_error; names of the status codes */
#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>

enum gg_status
error_set(struct gg_error *err, enum gg_status status, const char *fmt, ...)
{
    va_list ap;

    if (err) {
        va_start(ap, fmt);
        vsnprintf(err->message, sizeof(err->message), fmt, ap);
        va_end(ap);
    }
    return status;
}

enum gg_status
error_prefix(struct gg_error *err, enum gg_status status, const char *fmt, ...)
{
    struct gg_error old;
    va_list ap;
    int n;

    if (!err)
        return status;
    old = *err;
    va_start(ap, fmt);
    n = vsnprintf(err->message, sizeof(err->message), fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof(err->message))
        snprintf(err->message + n, sizeof(err->message) - (size_t)n, ": %s",
                 old.message);
    return status;
}

enum gg_status
error_nomem(struct gg_error *err)
{
    return error_set(err, GG_ERR_NOMEM, "out of memory");
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
