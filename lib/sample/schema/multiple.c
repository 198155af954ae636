/* multiple.c - multiples of a whole number, digit by digit
 *
 * What may follow some digits depends on what they leave when divided: on
 * that modulo m / gcd(m, 10^n), where n digits are still to come. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <inttypes.h>
#include <math.h>

#include "sample/schema/parts.h"

enum {
    MANY_RULES = 1500, /* that more digits would cost */
    MAX_FRACTION = 15, /* digits */
};

int64_t
sample_schema_gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;

        a = b;
        b = r;
    }
    return a;
}

static int64_t
power(int n)
{
    int64_t x = 1;

    for (; n > 0; n--)
        x *= 10;
    return x;
}

bool
sample_schema_fraction(double x, int64_t *p, int64_t *q)
{
    char text[40];
    int64_t digits = 0, common;
    int exponent;

    if (x >= 1e15)
        return false;
    snprintf(text, sizeof(text), "%.*e", MAX_FRACTION - 1, x);
    if (x <= 0 || strtod(text, NULL) != x)
        return false;
    exponent = atoi(strchr(text, 'e') + 1) - (MAX_FRACTION - 1);
    for (const char *c = text; *c != 'e'; c++)
        if (*c != '.')
            digits = 10 * digits + (*c - '0');
    for (; digits % 10 == 0; digits /= 10)
        exponent++;
    if (exponent < -MAX_FRACTION)
        return false;
    *q = power(exponent < 0 ? -exponent : 0);
    *p = exponent > 0 ? digits * power(exponent) : digits;
    common = sample_schema_gcd(*p, *q);
    *p /= common;
    *q /= common;
    return true;
}

/* ---- rules for what follows ---- */

struct multiples {
    struct schema *s;
    int64_t m;
};

/* Whether some `left` digits after a remainder make a multiple. */
static bool
is_alive(const struct multiples *x, int left, int64_t remainder)
{
    for (int i = 0; i < left; i++)
        remainder = remainder * 10 % x->m;
    return (x->m - remainder) % x->m < power(left);
}

static int
rule_after(const struct multiples *x, int left, int64_t remainder);

/* The rules after each digit; those that lead to the same one are a class. */
static void
add_classes(struct schema_text *b, const int *rules)
{
    bool some = false;

    for (int d = 0; d < 10; d++) {
        bool seen = rules[d] == SCHEMA_NOTHING;

        for (int e = 0; e < d; e++)
            seen = seen || rules[e] == rules[d];
        if (seen)
            continue;
        sample_schema_add(b, some ? " | [" : "[");
        for (int e = d; e < 10; e++)
            if (rules[e] == rules[d])
                sample_schema_add(b, "%d", e);
        sample_schema_add(b, rules[d] ? "] r%d" : "]", rules[d]);
        some = true;
    }
}

/* The rule of `left` digits, 1 or more; one that is made is looked up. */
static int
make_after(const struct multiples *x, int left, int64_t remainder)
{
    struct schema_text body = { 0 };
    int rules[10], rule = sample_schema_new_rules(x->s, 1);

    for (int d = 0; d < 10; d++)
        rules[d] = rule_after(x, left - 1, (remainder * 10 + d) % x->m);
    add_classes(&body, rules);
    sample_schema_put_rule(x->s, rule, &body);
    sample_schema_text_clear(&body);
    return rule;
}

/* 0 where nothing is left; SCHEMA_NOTHING where no digits fit. */
static int
rule_after(const struct multiples *x, int left, int64_t remainder)
{
    const json_t *known;
    char name[80];
    int rule;

    if (x->s->failed || !is_alive(x, left, remainder))
        return SCHEMA_NOTHING;
    if (left == 0)
        return 0;
    remainder %= x->m / sample_schema_gcd(x->m, power(left));
    snprintf(name, sizeof(name), "multiple %" PRId64 " %d %" PRId64, x->m, left,
             remainder);
    known = json_object_get(x->s->known, name);
    if (known)
        return (int)json_integer_value(known);
    rule = make_after(x, left, remainder);
    json_object_set_new(x->s->known, name, json_integer(rule));
    return rule;
}

/* ---- between two limits of as many digits ---- */

/* n digits after a remainder, from..to. */
static bool
add_between(const struct multiples *x, struct schema_text *b, const char *from,
            const char *to, int n, int64_t remainder)
{
    size_t start = b->len;
    bool some = false;

    if (sample_schema_all(from, '0', n) && sample_schema_all(to, '9', n)) {
        int rule = rule_after(x, n, remainder);

        if (rule > 0)
            sample_schema_add(b, " r%d", rule);
        return rule != SCHEMA_NOTHING;
    }
    sample_schema_add(b, " (");
    for (char c = from[0]; c <= to[0]; c++) {
        size_t len = b->len;

        sample_schema_add(b, some ? " | \"%c\"" : "\"%c\"", c);
        if (add_between(x, b, c == from[0] ? from + 1 : sample_schema_zeros,
                        c == to[0] ? to + 1 : sample_schema_nines, n - 1,
                        (remainder * 10 + (c - '0')) % x->m))
            some = true;
        else
            b->len = len;
    }
    sample_schema_add(b, ")");
    b->len = some ? b->len : start;
    return some;
}

/* ---- all lengths ---- */

/* About how many rules numbers of n digits need: for each number of digits
 * after, as many as there are remainders or ways to come to one. */
static int64_t
count_rules(int64_t m, int n)
{
    int64_t rules = 0;

    for (int left = 0; left < n; left++) {
        int64_t most = m / sample_schema_gcd(m, power(left));

        most = most < power(left) ? most : power(left);
        rules += most < power(n - left) ? most : power(n - left);
    }
    return rules;
}

static int
count_digits(int64_t m)
{
    int n = 1;

    while (n < SCHEMA_MAX_DIGITS && count_rules(m, n + 1) <= MANY_RULES)
        n++;
    return n;
}

static int
length(int64_t x)
{
    int n = 1;

    for (; x >= 10; x /= 10)
        n++;
    return n;
}

static bool
add_length(const struct multiples *x, struct schema_text *b, int64_t from,
           int64_t to, int n)
{
    char first[24], last[24];
    int64_t least = power(n - 1), most = 10 * least - 1;

    snprintf(first, sizeof(first), "%" PRId64, from > least ? from : least);
    snprintf(last, sizeof(last), "%" PRId64, to < most ? to : most);
    return add_between(x, b, first, last, n, 0);
}

bool
sample_schema_add_multiples(struct schema *s, struct schema_text *b,
                            int64_t from, int64_t to, int64_t m)
{
    struct multiples x = { s, m };
    int64_t low = from > 1 ? from : 1;
    int n = length(low), most = count_digits(m);
    bool some = from == 0;

    if (most < n)
        most = n;
    if (most < length(m))
        most = length(m);
    sample_schema_add(b, " (%s", some ? "\"0\"" : "");
    for (; n <= most && n <= length(to) && n <= SCHEMA_MAX_DIGITS; n++) {
        size_t len = b->len;

        sample_schema_add(b, some ? " |" : "");
        if (add_length(&x, b, low, to, n))
            some = true;
        else
            b->len = len;
    }
    sample_schema_add(b, ")");
    return some;
}

#endif
