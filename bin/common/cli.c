/* cli.c - messages, and the ways in which a tool ends */
#include <config.h>

#include "common/cli.h"
#include "common/spare.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void (*preparations[4])(void);

void
cli_before_messages(void (*prepare)(void))
{
    size_t i = 0;

    while (i < 3 && preparations[i] && preparations[i] != prepare)
        i++;
    preparations[i] = prepare;
}

char *
cli_escape(char *buf, size_t size, const char *text)
{
    size_t used = 0;

    *buf = '\0';
    while (*text && used + 1 < size) {
        size_t n = strcspn(text, "\\");

        gg_escape(buf + used, size - used, text, n);
        used += strlen(buf + used);
        for (text += n; *text == '\\' && used + 1 < size; text++)
            buf[used++] = '\\';
        buf[used] = '\0';
    }
    return buf;
}

static bool (*refuses)(const char *path);

void
cli_explain_by(bool (*of_path)(const char *path))
{
    refuses = of_path;
}

/* Whether "x: FILE: Permission denied" is the sandbox's doing. */
static bool
is_refusal(const char *text)
{
    const char *why = strerror(EACCES);
    size_t n = strlen(text), m = strlen(why) + 2;
    char path[1024];

    if (!refuses || n <= m || n >= sizeof(path) ||
        strcmp(text + n - m + 2, why) != 0)
        return false;
    snprintf(path, sizeof(path), "%.*s", (int)(n - m), text);
    for (const char *p = path, *next; p; p = next ? next + 2 : NULL) {
        next = strstr(p, ": ");
        if (refuses(p))
            return true;
    }
    return false;
}

static void
say(const char *fmt, va_list ap)
{
    char text[1024], shown[4 * sizeof(text)];

    for (size_t i = 0; i < 4 && preparations[i]; i++)
        preparations[i]();
    /* One write: tools of a pipe share the terminal. */
    vsnprintf(text, sizeof(text), fmt, ap);
    fprintf(stderr, "%s: %s%s\n", cli_name,
            cli_escape(shown, sizeof(shown), text),
            is_refusal(text) ? " (by the sandbox: see --no-sandbox)" : "");
}

void
cli_warn(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
}

enum gg_status
cli_error(struct gg_error *err, enum gg_status status, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(err->message, sizeof(err->message), fmt, ap);
    va_end(ap);
    return status;
}

static int failure = EXIT_FAILURE;
static void (*last)(void);

void
cli_before_end(void (*end)(void))
{
    last = end;
}

bool
cli_is_failure(int status)
{
    return status == failure;
}

void
cli_fail_with(int status)
{
    failure = status;
}

/* Does what exit() would do. Who fails does not free first what it has, and
 * exit() is where a leak checker would complain about that. */
CLI_NORETURN static void
fail(int status)
{
    fflush(stdout);
    cli_discard_output();
    if (last)
        last();
    _exit(status);
}

/* Errors often come in all threads at once: one of them says why, and ends the
 * tool. */
static void
end_alone(void)
{
    static atomic_flag ends = ATOMIC_FLAG_INIT;
    static _Thread_local bool own;

    if (!own && atomic_flag_test_and_set(&ends))
        for (;;)
            pause();
    own = true;
}

void
cli_die(const char *fmt, ...)
{
    va_list ap;

    end_alone();
    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
    fail(failure);
}

void
cli_tell_left_out(const char *name, uint64_t n)
{
    if (n)
        cli_warn("%s: %llu %s no token, and %s left out", name,
                 (unsigned long long)n, n == 1 ? "byte has" : "bytes have",
                 n == 1 ? "was" : "were");
}

void
cli_misuse(const char *fmt, ...)
{
    va_list ap;

    end_alone();
    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
    fprintf(stderr, "Try '%s --help'.\n", cli_name);
    fail(EXIT_USAGE);
}

void
cli_check(enum gg_status status, const struct gg_error *err)
{
    if (!cli_finished(status, err))
        cli_raise(cli_signal());
}

bool
cli_finished(enum gg_status status, const struct gg_error *err)
{
    if (status == GG_ERR_ABORTED && cli_signal())
        return false;
    if (status != GG_OK)
        cli_die("%s", err->message);
    return true;
}

void *
cli_alloc(void *p, size_t n, size_t size)
{
    size_t bytes;
    void *grown = NULL;

    if (!__builtin_mul_overflow(n, size, &bytes))
        do
            grown = realloc(p, bytes ? bytes : 1);
        while (!grown && spare_use());
    if (!grown)
        cli_die("out of memory");
    return grown;
}

char *
cli_copy(const char *text, size_t len)
{
    char *copy = cli_alloc(NULL, len + 1, 1);

    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}
