/* values.c - values of options: numbers and words */
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

enum gg_status
cli_read_int(const char *option, const char *text, int64_t min, int64_t max,
             int64_t *out, struct gg_error *err)
{
    long long n;

    if (!is_integer(text, true))
        return cli_error(err, GG_ERR_ARG, "%s: '%s' is not an integer", option,
                         text);
    errno = 0;
    n = strtoll(text, NULL, 10);
    if (errno || n < min || n > max)
        return cli_error(err, GG_ERR_ARG,
                         "%s: %s is not between %" PRId64 " and %" PRId64,
                         option, text, min, max);
    *out = n;
    return GG_OK;
}

enum gg_status
cli_read_u64(const char *option, const char *text, uint64_t *out,
             struct gg_error *err)
{
    unsigned long long n;

    if (!is_integer(text, false))
        return cli_error(err, GG_ERR_ARG,
                         "%s: '%s' is not a number of 0 or more", option, text);
    errno = 0;
    n = strtoull(text, NULL, 10);
    if (errno)
        return cli_error(err, GG_ERR_ARG, "%s: %s is above %" PRIu64, option,
                         text, UINT64_MAX);
    *out = n;
    return GG_OK;
}

enum gg_status
cli_read_bytes(const char *option, const char *text, int64_t min, uint64_t *out,
               struct gg_error *err)
{
    static const char units[] = "KMG";
    size_t n = strlen(text);
    const char *unit = n > 1 ? strchr(units, text[n - 1]) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    char *number = cli_copy(text, n - (unit != NULL));
    int64_t x = 0;
    enum gg_status st =
        cli_read_int(option, number, min, INT64_C(1) << (50 - shift), &x, err);

    free(number);
    if (st == GG_OK)
        *out = (uint64_t)x << shift;
    return st;
}

enum gg_status
cli_read_float(const char *option, const char *text, double min, double max,
               double *out, struct gg_error *err)
{
    char *end;
    double x = strtod(text, &end); /* no tool calls setlocale() */

    /* strtod() also takes blanks, "inf", "nan" and hexadecimal. */
    if (!*text || *end || text[strspn(text, "0123456789.eE+-")])
        return cli_error(err, GG_ERR_ARG, "%s: '%s' is not a number", option,
                         text);
    if (!(x >= min && x <= max))
        return cli_error(err, GG_ERR_ARG, "%s: %s is not between %g and %g",
                         option, text, min, max);
    *out = x;
    return GG_OK;
}

static void
check_status(enum gg_status st, const struct gg_error *err)
{
    if (st != GG_OK)
        cli_misuse("%s", err->message);
}

int64_t
cli_int(const char *option, const char *text, int64_t min, int64_t max)
{
    struct gg_error err;
    int64_t n = 0;

    check_status(cli_read_int(option, text, min, max, &n, &err), &err);
    return n;
}

double
cli_float(const char *option, const char *text, double min, double max)
{
    struct gg_error err;
    double x = 0;

    check_status(cli_read_float(option, text, min, max, &x, &err), &err);
    return x;
}
