/* log.c - the log callback, abort, version */
#include <config.h>

#include "core/log.h"

#include <gg.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>

static ggml_log_callback log_callback;
static void *log_data;
static _Atomic(ggml_abort_callback_t) abort_callback;

void
ggml_log_get(ggml_log_callback *callback, void **user_data)
{
    *callback = log_callback;
    *user_data = log_data;
}

void
ggml_log_set(ggml_log_callback callback, void *user_data)
{
    log_callback = callback;
    log_data = user_data;
}

void
log_say(enum ggml_log_level level, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    if (!log_callback)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    log_callback(level, text, log_data);
}

ggml_abort_callback_t
ggml_set_abort_callback(ggml_abort_callback_t callback)
{
    return atomic_exchange(&abort_callback, callback);
}

void
ggml_abort(const char *file, int line, const char *fmt, ...)
{
    ggml_abort_callback_t callback = abort_callback;
    char what[1024], message[2048];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    snprintf(message, sizeof(message), "%s:%d: %s", file, line, what);
    if (callback)
        callback(message);
    else
        fprintf(stderr, "%s\n", message);
    abort();
}

const char *
gg_version(void)
{
    return PACKAGE_VERSION;
}

uint32_t
gg_version_number(void)
{
    return GG_VERSION;
}

const char *
ggml_version(void)
{
    return PACKAGE_VERSION;
}

const char *
ggml_commit(void)
{
    return "unknown"; /* a release is named by its version */
}
