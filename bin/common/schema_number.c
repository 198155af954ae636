/* schema_number.c - numbers between two limits as digits */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>

#include "common/schema_parts.h"

static const int64_t beyond = 1000000000000000000; /* 10^18 */

enum {
    EXACT = 15, /* digits that a double holds */
};

/* ---- whole numbers from 0 on ---- */

/* So many digits. */
static void
add_digits(struct buffer *b, int n)
{
    if (n > 0)
        schema_add(b, " [0-9]{%d}", n);
}

static bool
is_all(const char *digits, char c, int n)
{
    for (int i = 0; i < n; i++)
        if (digits[i] != c)
            return false;
    return true;
}

/* As many digits as both have, n. */
static void
add_between(struct buffer *b, const char *from, const char *to, int n)
{
    static const char nines[] = "999999999999999999",
                      zeros[] = "000000000000000000";
    char low = from[0], high = to[0];
    bool some = false;

    if (n == 0)
        return;
    if (low == high) {
        schema_add(b, " \"%c\"", low);
        add_between(b, from + 1, to + 1, n - 1);
        return;
    }
    schema_add(b, " (");
    if (!is_all(from + 1, '0', n - 1)) {
        schema_add(b, "\"%c\"", low++);
        add_between(b, from + 1, nines, n - 1);
        some = true;
    }
    high = (char)(high - !is_all(to + 1, '9', n - 1));
    if (low <= high) {
        schema_add(b, some ? " | [%c-%c]" : "[%c-%c]", low, high);
        add_digits(b, n - 1);
        some = true;
    }
    if (high < to[0]) {
        schema_add(b, some ? " | \"%c\"" : "\"%c\"", to[0]);
        add_between(b, zeros, to + 1, n - 1);
    }
    schema_add(b, ")");
}

/* from <= to < 10^18, without zeros in front. */
static void
add_range(struct buffer *b, int64_t from, int64_t to)
{
    char first[24], last[24], nines[24];
    int n = snprintf(first, sizeof(first), "%lld", (long long)from);
    int m = snprintf(last, sizeof(last), "%lld", (long long)to);

    schema_add(b, "(");
    if (n < m) { /* those of n digits; those of more, but fewer than m */
        memset(nines, '9', sizeof(nines));
        add_between(b, first, nines, n);
        if (n + 1 < m)
            schema_add(b, " | [1-9] [0-9]{%d,%d}", n, m - 2);
        schema_add(b, " |");
        memset(first, '0', sizeof(first));
        first[0] = '1';
    }
    add_between(b, first, last, m);
    schema_add(b, ")");
}

/* ---- limits ---- */

/* A limit of whole numbers; of others a point, which is or is not allowed. */
struct limit {
    int64_t at; /* -beyond, beyond: none */
    bool open;  /* it is not allowed itself */
};

/* For whole numbers a limit is moved to the next one that is allowed. `sign`:
 * 1 for a minimum, -1 for a maximum. */
static void
read_limit(struct schema *s, const json_t *schema, const char *key, int sign,
           bool open, bool whole, struct limit *out)
{
    const json_t *v = json_object_get(schema, key);
    double x = v ? sign * json_number_value(v) : 0, up = ceil(x);
    struct limit limit = { 0, open };

    if (!v)
        return;
    if (!json_is_number(v)) {
        schema_refuse(s, "%s is no number", key);
        return;
    }
    if (up != x && !whole) {
        schema_refuse(s, "%s of a number is not whole: not supported", key);
        return;
    }
    if (up <= -(double)beyond)
        return;
    limit.at = up >= (double)beyond ? beyond
               : json_is_integer(v) ? sign * (int64_t)json_integer_value(v)
                                    : (int64_t)up;
    if (whole) {
        limit.at += open && up == x && limit.at < beyond;
        limit.open = false;
    }
    limit.at *= sign;
    if (sign * limit.at > sign * out->at || (limit.at == out->at && limit.open))
        *out = limit;
}

/* ---- whole numbers ---- */

static void
add_whole(struct buffer *b, int64_t low, int64_t high)
{
    bool some = low < 0;

    if (low < 0) {
        schema_add(b, "\"-\"");
        add_range(b, high < 0 ? -high : 1, -low);
    }
    if (high >= 0) {
        schema_add(b, some ? " |" : "");
        add_range(b, low > 0 ? low : 0, high);
    }
}

/* ---- others ---- */

static int
count_digits(int64_t x)
{
    int n = 1;

    for (; x >= 10; x /= 10)
        n++;
    return n;
}

static void
add_fraction(struct buffer *b, int digits)
{
    if (digits > 0)
        schema_add(b, " (\".\" [0-9]{1,%d})?", digits);
}

/* Those from `low` to `high`, both of 0 or more; returns whether there are
 * any. So few digits stand behind the point that none is rounded to a limit. */
static bool
add_magnitudes(struct buffer *b, struct limit low, struct limit high)
{
    int64_t largest = high.at < beyond ? high.at : low.at;
    int digits = EXACT - count_digits(largest);
    int64_t first = low.at + low.open, last = high.at - 1;
    bool some = false;

    schema_add(b, " (");
    if (low.open && low.at < high.at && digits > 0) {
        schema_add(b, "\"%lld\" \".\" [0-9]{0,%d} [1-9]", (long long)low.at,
                   digits - 1);
        some = true;
    }
    if (first <= last) {
        schema_add(b, some ? " |" : "");
        add_range(b, first, last);
        add_fraction(b, digits);
        some = true;
    }
    if (!high.open && high.at < beyond && high.at >= first) {
        schema_add(b, some ? " | \"%lld\"" : "\"%lld\"", (long long)high.at);
        some = true;
    }
    schema_add(b, ")");
    return some;
}

static void
add_part(struct buffer *b, const char *sign, struct limit low,
         struct limit high, bool *some)
{
    struct buffer part = { 0 };

    if (add_magnitudes(&part, low, high)) {
        schema_add(b, "%s%s", *some ? " | " : "", sign);
        buffer_add(b, part.p, part.len);
        *some = true;
    }
    buffer_clear(&part);
}

static void
add_real(struct schema *s, struct buffer *b, struct limit low,
         struct limit high)
{
    struct limit zero = { 0, true };
    bool some = false;

    if (low.at < 0)
        add_part(b, "\"-\"",
                 high.at < 0 ? (struct limit){ -high.at, high.open } : zero,
                 (struct limit){ -low.at, low.open }, &some);
    zero.open = false;
    if (high.at > 0 || (high.at == 0 && !high.open))
        add_part(b, "", low.at >= 0 ? low : zero, high, &some);
    if (!some)
        schema_refuse(s, "no number is between minimum and maximum");
}

/* ---- all ---- */

void
schema_number(struct schema *s, struct buffer *b, const json_t *schema,
              bool whole)
{
    struct limit low = { -beyond, true }, high = { beyond, true };

    read_limit(s, schema, "minimum", 1, false, whole, &low);
    read_limit(s, schema, "exclusiveMinimum", 1, true, whole, &low);
    read_limit(s, schema, "maximum", -1, false, whole, &high);
    read_limit(s, schema, "exclusiveMaximum", -1, true, whole, &high);
    if (s->failed)
        return;
    if (low.at == -beyond && high.at == beyond) {
        schema_add(b, whole ? "integer" : "number");
        return;
    }
    if (low.at >= beyond || high.at <= -beyond)
        schema_refuse(s, "a limit of more than %d digits", SCHEMA_MAX_DIGITS);
    else if (low.at > high.at)
        schema_refuse(s, "no number is between minimum and maximum");
    else if (whole)
        add_whole(b, low.at > -beyond ? low.at : -beyond + 1,
                  high.at < beyond ? high.at : beyond - 1);
    else
        add_real(s, b, low, high);
}

#endif
