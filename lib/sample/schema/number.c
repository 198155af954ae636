/* number.c - numbers between two limits, and multiples */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>

#include "sample/schema/parts.h"

enum {
    EXACT = 15, /* digits that a double holds */
};

/* ---- limits ---- */

/* value * 10^exponent, moved to the next number that has so few digits: up for
 * a minimum, whose sign is 1. */
struct decimal {
    int64_t value;
    int exponent;
    bool moved;
};

static struct decimal
read_decimal(const json_t *v, int sign)
{
    double x = core_json_real(v), near;
    struct decimal d = { 0 };
    char text[40];

    if (fabs(x) >= (double)SCHEMA_BEYOND) {
        d.value = sign * x > 0 ? SCHEMA_BEYOND : -SCHEMA_BEYOND;
        return d;
    }
    if (json_is_integer(v)) {
        d.value = sign * (int64_t)json_integer_value(v);
        return d;
    }
    snprintf(text, sizeof(text), "%.*e", EXACT - 1, sign * x);
    near = strtod(text, NULL);
    d.exponent = atoi(strchr(text, 'e') + 1) - (EXACT - 1);
    d.moved = near != sign * x;
    for (const char *p = text; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            d.value = 10 * d.value + (*p - '0');
    d.value = (*text == '-' ? -d.value : d.value) + (near < sign * x);
    return d;
}

/* In units of 10^-decimals, moved up likewise; SCHEMA_BEYOND or minus that:
 * further than what has SCHEMA_MAX_DIGITS. */
static int64_t
in_units(struct decimal *d, int decimals)
{
    int64_t x = d->value;

    for (int e = d->exponent + decimals; e > 0 && x; e--) {
        if (x >= SCHEMA_BEYOND / 10 || x <= -SCHEMA_BEYOND / 10)
            return x > 0 ? SCHEMA_BEYOND : -SCHEMA_BEYOND;
        x *= 10;
    }
    for (int e = d->exponent + decimals; e < 0 && x; e++) {
        d->moved = d->moved || x % 10;
        x = x / 10 + (x > 0 && x % 10);
    }
    return x > SCHEMA_BEYOND    ? SCHEMA_BEYOND
           : x < -SCHEMA_BEYOND ? -SCHEMA_BEYOND
                                : x;
}

struct limits {
    int64_t low, high; /* in units; SCHEMA_BEYOND: none */
    int decimals;
};

/* With sign -1 a maximum is the minimum of what is turned round. */
static int64_t
read_limit(const json_t *schema, const char *key, int sign, bool exclusive,
           int decimals, int64_t other)
{
    const json_t *v = json_object_get(schema, key);
    struct decimal d;
    int64_t x;

    if (!v)
        return other;
    d = read_decimal(v, sign);
    x = in_units(&d, decimals);
    if (exclusive && !d.moved && x < SCHEMA_BEYOND && x > -SCHEMA_BEYOND)
        x++;
    return x > other ? x : other;
}

static void
read_limits(const json_t *schema, struct limits *l)
{
    int64_t low = -SCHEMA_BEYOND, high = -SCHEMA_BEYOND;

    low = read_limit(schema, "minimum", 1, false, l->decimals, low);
    low = read_limit(schema, "exclusiveMinimum", 1, true, l->decimals, low);
    high = read_limit(schema, "maximum", -1, false, l->decimals, high);
    high = read_limit(schema, "exclusiveMaximum", -1, true, l->decimals, high);
    l->low = low;
    l->high = -high;
}

/* Enough digits after the point that no number is rounded to a limit. */
static int
count_decimals(const json_t *schema)
{
    static const char *const keys[] = { "minimum", "exclusiveMinimum",
                                        "maximum", "exclusiveMaximum" };
    double largest = 1;
    int n;

    for (int i = 0; i < 4; i++) {
        double x = fabs(core_json_real(json_object_get(schema, keys[i])));

        largest = x > largest && x < (double)SCHEMA_BEYOND ? x : largest;
    }
    n = EXACT - 1 - (int)floor(log10(largest));
    return n > 0 ? n : 0;
}

/* ---- what is written ---- */

typedef bool
add_some(struct schema *s, struct schema_text *b, int64_t from, int64_t to,
         int64_t how);

static bool
add_range(struct schema *s, struct schema_text *b, int64_t from, int64_t to,
          int64_t decimals)
{
    (void)s;
    sample_schema_add_range(b, from, to, (int)decimals);
    return true;
}

/* Numbers below 0, and the others. */
static bool
add_both_signs(struct schema *s, struct schema_text *b, const struct limits *l,
               add_some *add, int64_t how)
{
    struct schema_text part = { 0 };
    bool some = false;

    if (l->low < 0 && l->low <= l->high &&
        add(s, &part, l->high < 0 ? -l->high : 1,
            l->low > -SCHEMA_BEYOND ? -l->low : SCHEMA_NO_LIMIT, how)) {
        sample_schema_add(b, "\"-\"");
        sample_schema_text_add(b, part.p, part.len);
        some = true;
    }
    part.len = 0;
    if (l->high >= 0 && l->low <= l->high &&
        add(s, &part, l->low > 0 ? l->low : 0,
            l->high < SCHEMA_BEYOND ? l->high : SCHEMA_NO_LIMIT, how)) {
        sample_schema_add(b, some ? " |" : "");
        sample_schema_text_add(b, part.p, part.len);
        some = true;
    }
    sample_schema_text_clear(&part);
    return some ||
           sample_schema_nothing(s, "no %s is between minimum and maximum",
                                 add == add_range ? "number" : "multiple");
}

/* Returns p of multipleOf m = p / q: whole numbers that are multiples of p are
 * so of m. 0: there is no multipleOf. */
static int64_t
read_multiple(struct schema *s, const json_t *schema, bool whole)
{
    const json_t *v = json_object_get(schema, "multipleOf");
    int64_t p = 0, q = 1;

    if (v && !sample_schema_fraction(core_json_real(v), &p, &q))
        sample_schema_refuse(s,
                             "multipleOf of so many digits is not supported");
    else if (q > 1 && !whole)
        sample_schema_refuse(s, "multipleOf that is not whole is supported for "
                                "integers only");
    return p == 1 && whole ? 0 : p;
}

bool
sample_schema_number(struct schema *s, struct schema_text *b,
                     const json_t *schema, bool whole)
{
    int64_t m = read_multiple(s, schema, whole);
    struct limits l = { .decimals = m || whole ? 0 : count_decimals(schema) };

    read_limits(schema, &l);
    if (l.low >= SCHEMA_BEYOND || l.high <= -SCHEMA_BEYOND)
        sample_schema_refuse(s, "a limit of more than %d digits",
                             SCHEMA_MAX_DIGITS);
    if (s->failed)
        return false;
    if (m)
        return add_both_signs(s, b, &l, sample_schema_add_multiples, m);
    if (l.low > -SCHEMA_BEYOND || l.high < SCHEMA_BEYOND)
        return add_both_signs(s, b, &l, add_range, l.decimals);
    sample_schema_add(b, whole ? "integer" : "number");
    return true;
}

#endif
