/* options.c - numbers on the command line */
#include <config.h>

#include "common/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* True if text is an optional sign and digits. */
static bool
is_integer(const char *text, bool sign)
{
    if (sign && *text == '-')
        text++;
    return *text && text[strspn(text, "0123456789")] == '\0';
}

int64_t
cli_int(const char *option, const char *text, int64_t min, int64_t max)
{
    long long n;

    if (!is_integer(text, true))
        cli_misuse("%s: '%s' is not an integer", option, text);
    errno = 0;
    n = strtoll(text, NULL, 10);
    if (errno || n < min || n > max)
        cli_misuse("%s: %s is not between %" PRId64 " and %" PRId64, option,
                   text, min, max);
    return n;
}

uint64_t
cli_u64(const char *option, const char *text)
{
    unsigned long long n;

    if (!is_integer(text, false))
        cli_misuse("%s: '%s' is not a number of 0 or more", option, text);
    errno = 0;
    n = strtoull(text, NULL, 10);
    if (errno)
        cli_misuse("%s: %s is above %" PRIu64, option, text, UINT64_MAX);
    return n;
}

double
cli_float(const char *option, const char *text, double min, double max)
{
    char *end;
    double x = strtod(text, &end); /* no tool calls setlocale() */

    /* strtod() also takes blanks, "inf", "nan" and hexadecimal. */
    if (!*text || *end || text[strspn(text, "0123456789.eE+-")])
        cli_misuse("%s: '%s' is not a number", option, text);
    if (!(x >= min && x <= max))
        cli_misuse("%s: %s is not between %g and %g", option, text, min, max);
    return x;
}

/* "a, b or c" */
static void
list(char *buf, size_t size, const char *const *names)
{
    size_t n = 0;

    for (size_t i = 0; names[i] && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%s",
                              i == 0         ? ""
                              : names[i + 1] ? ", "
                                             : " or ",
                              names[i]);
}

int
cli_choice(const char *option, const char *text, const char *const *names)
{
    char all[256] = "";

    for (int i = 0; names[i]; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    list(all, sizeof(all), names);
    cli_misuse("%s: '%s' is not %s", option, text, all);
}

enum special
cli_special(const char *text)
{
    static const char *const names[] = { "text", "parse", "error", NULL };

    return (enum special)cli_choice("--special", text, names);
}
