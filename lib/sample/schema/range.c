/* range.c - numbers between two others as digits */
#include <config.h>

#ifdef HAVE_JANSSON

#include <inttypes.h>

#include "sample/schema/parts.h"

const char sample_schema_nines[] = "999999999999999999";
const char sample_schema_zeros[] = "000000000000000000";

bool
sample_schema_all(const char *digits, char c, int n)
{
    for (int i = 0; i < n; i++)
        if (digits[i] != c)
            return false;
    return true;
}

/* n digits, or fewer. */
static void
add_any(struct schema_text *b, int n, bool exactly)
{
    if (n > 0)
        sample_schema_add(b, " [0-9]{%d,%d}", exactly ? n : 0, n);
}

static void
add_between(struct schema_text *b, const char *from, const char *to, int n,
            bool exactly);

/* Numbers between two that begin with different digits. */
static void
add_apart(struct schema_text *b, const char *from, const char *to, int n,
          bool exactly)
{
    bool lowest = !sample_schema_all(from + 1, '0', n - 1);
    bool highest = !sample_schema_all(to + 1, '9', n - 1);
    char low = (char)(from[0] + lowest), high = (char)(to[0] - highest);

    if (lowest) {
        sample_schema_add(b, "\"%c\"", from[0]);
        add_between(b, from + 1, sample_schema_nines, n - 1, exactly);
    }
    if (low <= high) {
        sample_schema_add(b, lowest ? " | [%c-%c]" : "[%c-%c]", low, high);
        add_any(b, n - 1, exactly);
    }
    if (highest) {
        sample_schema_add(b, lowest || low <= high ? " | \"%c\"" : "\"%c\"",
                          to[0]);
        add_between(b, sample_schema_zeros, to + 1, n - 1, exactly);
    }
}

/* n digits that are no less than from[0..n) and no more than to[0..n); or
 * fewer, but one, that are so with zeros after them. */
static void
add_digits(struct schema_text *b, const char *from, const char *to, int n,
           bool exactly)
{
    sample_schema_add(b, " (");
    if (from[0] == to[0]) {
        sample_schema_add(b, "\"%c\"", from[0]);
        add_between(b, from + 1, to + 1, n - 1, exactly);
    } else {
        add_apart(b, from, to, n, exactly);
    }
    sample_schema_add(b, ")");
}

/* Digits between two numbers, or none. */
static void
add_between(struct schema_text *b, const char *from, const char *to, int n,
            bool exactly)
{
    if (sample_schema_all(from, '0', n) && sample_schema_all(to, '9', n)) {
        add_any(b, n, exactly);
        return;
    }
    add_digits(b, from, to, n, exactly);
    if (!exactly && sample_schema_all(from, '0', n))
        sample_schema_add(b, "?");
}

static void
add_whole(struct schema_text *b, int64_t from, int64_t to)
{
    char first[24], last[24];
    int n = snprintf(first, sizeof(first), "%" PRId64, from);
    int m = snprintf(last, sizeof(last), "%" PRId64, to);

    sample_schema_add(b, " (");
    if (n < m) { /* those of n digits; those of more, but fewer than m */
        add_between(b, first, sample_schema_nines, n, true);
        if (n + 1 < m)
            sample_schema_add(b, " | [1-9] [0-9]{%d,%d}", n, m - 2);
        sample_schema_add(b, " |");
        memset(first, '0', sizeof(first));
        first[0] = '1';
    }
    add_between(b, first, last, m, true);
    sample_schema_add(b, ")");
}

/* ---- with a fraction ---- */

struct decimal {
    int64_t whole;
    char part[SCHEMA_MAX_DIGITS + 1]; /* its digits */
};

static struct decimal
split_decimal(int64_t x, int decimals)
{
    struct decimal d = { 0 };

    for (int i = decimals - 1; i >= 0; i--, x /= 10)
        d.part[i] = (char)('0' + x % 10);
    d.whole = x;
    return d;
}

/* The whole number, and what may stand after its point. */
static void
add_with(struct schema_text *b, int64_t whole, const char *from, const char *to,
         int n)
{
    sample_schema_add(b, " \"%" PRId64 "\"", whole);
    if (sample_schema_all(to, '0', n))
        return;
    sample_schema_add(b, " (\".\"");
    add_digits(b, from, to, n, false);
    sample_schema_add(b, sample_schema_all(from, '0', n) ? ")?" : ")");
}

static void
add_any_fraction(struct schema_text *b, int n)
{
    sample_schema_add(b, " (\".\" [0-9]{1,%d})?", n);
}

static void
add_decimals(struct schema_text *b, const struct decimal *from,
             const struct decimal *to, int n)
{
    bool lowest = !sample_schema_all(from->part, '0', n);
    bool highest = !sample_schema_all(to->part, '9', n);
    int64_t low = from->whole + lowest, high = to->whole - highest;

    if (from->whole == to->whole) {
        add_with(b, from->whole, from->part, to->part, n);
        return;
    }
    if (lowest)
        add_with(b, from->whole, from->part, sample_schema_nines, n);
    if (low <= high) {
        sample_schema_add(b, lowest ? " |" : "");
        add_whole(b, low, high);
        add_any_fraction(b, n);
    }
    if (highest) {
        sample_schema_add(b, lowest || low <= high ? " |" : "");
        add_with(b, to->whole, sample_schema_zeros, to->part, n);
    }
}

void
sample_schema_add_range(struct schema_text *b, int64_t from, int64_t to,
                        int decimals)
{
    struct decimal low = split_decimal(from, decimals),
                   high = split_decimal(to, decimals);

    if (to == SCHEMA_NO_LIMIT) {
        high.whole = SCHEMA_BEYOND - 1;
        memcpy(high.part, sample_schema_nines, SCHEMA_MAX_DIGITS);
    }
    sample_schema_add(b, " (");
    if (decimals == 0)
        add_whole(b, low.whole, high.whole);
    else
        add_decimals(b, &low, &high, decimals);
    sample_schema_add(b, ")");
}

#endif
