/* pattern.c - a regular expression as a grammar
 *
 * Of ECMAScript's: characters, classes, groups, alternatives, repetitions, and
 * anchors at the ends of the alternatives of the whole. It is found anywhere
 * in a string, as JSON Schema wants it. Characters are written as JSON has
 * them, each in one way; of a negated class those from space on. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <ctype.h>

#include "sample/schema/class.h"

struct pattern {
    struct schema *s;
    struct schema_text *b;
    const char *p, *end;
    int depth;
};

/* How many characters; most -1: no limit. */
struct length {
    long least, most;
};

static void
refuse_pattern(struct pattern *r, const char *what)
{
    sample_schema_refuse(r->s, "pattern: %s is not supported", what);
    r->p = r->end;
}

static char
peek(const struct pattern *r)
{
    return r->p < r->end ? *r->p : '\0';
}

static bool
eat(struct pattern *r, char c)
{
    if (peek(r) != c || r->p == r->end)
        return false;
    r->p++;
    return true;
}

/* ---- characters ---- */

static long
hex(struct pattern *r, int digits)
{
    long c = 0;

    for (int i = 0; i < digits; i++, r->p++) {
        if (!isxdigit((unsigned char)peek(r))) {
            refuse_pattern(r, "an escape without its digits");
            return 0;
        }
        c = 16 * c + (isdigit((unsigned char)*r->p)
                          ? *r->p - '0'
                          : tolower((unsigned char)*r->p) - 'a' + 10);
    }
    if (c >= 0xd800 && c <= 0xdfff)
        refuse_pattern(r, "half of a pair of surrogates");
    return c;
}

/* A sequence after a backslash that stands for one character. */
static long
escape(struct pattern *r)
{
    static const char names[] = "tnvfr", are[] = "\t\n\v\f\r";
    char c = peek(r);
    const char *found = c ? strchr(names, c) : NULL;

    r->p += r->p < r->end;
    if (found)
        return are[found - names];
    if (c == 'x')
        return hex(r, 2);
    if (c == 'u')
        return hex(r, 4);
    if (c == '0' && !isdigit((unsigned char)peek(r)))
        return 0;
    if (!c || isalnum((unsigned char)c) || (c & 0x80)) {
        char what[] = "\\?";

        what[1] = c && !(c & 0x80) ? c : ' ';
        refuse_pattern(r, what);
    }
    return (unsigned char)c;
}

/* UTF-8, which Jansson has checked. */
static long
character(struct pattern *r)
{
    unsigned char first = (unsigned char)*r->p++;
    int more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    long c = more ? first & (0x3f >> more) : first;

    for (; more > 0 && r->p < r->end; more--)
        c = c << 6 | (*r->p++ & 0x3f);
    return c;
}

/* One of a class; -1: a set of its own, which has been put. */
static long
member(struct pattern *r, struct schema_class_set *set)
{
    if (!eat(r, '\\'))
        return character(r);
    if (sample_schema_class_put_known(r->s, set, peek(r))) {
        r->p++;
        return -1;
    }
    return eat(r, 'b') ? '\b' : escape(r);
}

/* [a-z], [^0-9] */
static void
add_class(struct pattern *r)
{
    struct schema_class_set set = { .n = 0 };
    bool negated = eat(r, '^');

    while (r->p < r->end && *r->p != ']') {
        long from = member(r, &set), to = from;

        if (peek(r) == '-' && r->p + 1 < r->end && r->p[1] != ']') {
            r->p++;
            to = r->p < r->end ? member(r, &set) : -1;
            if (from < 0 || to < 0)
                refuse_pattern(r, "a range of classes");
        }
        if (from >= 0)
            sample_schema_class_put(r->s, &set, from, to);
    }
    if (!eat(r, ']'))
        refuse_pattern(r, "a class without an end");
    if (negated)
        sample_schema_class_negate(r->s, &set);
    if (!r->s->failed)
        sample_schema_class_add(r->s, r->b, &set, !negated);
}

static void
add_any(struct pattern *r)
{
    struct schema_class_set set = {
        { { 10, 10 }, { 13, 13 }, { 0x2028, 0x2029 } }, 3
    };

    sample_schema_class_negate(r->s, &set);
    sample_schema_class_add(r->s, r->b, &set, false);
}

/* ---- what they are put together to ---- */

static struct length
alternatives(struct pattern *r);

static struct length
group(struct pattern *r)
{
    struct length length = { 0, 0 };

    if (eat(r, '?') && !eat(r, ':')) {
        if (!eat(r, '<') || peek(r) == '=' || peek(r) == '!')
            refuse_pattern(r, "look-ahead or look-behind");
        while (r->p < r->end && *r->p++ != '>')
            ;
    }
    if (++r->depth > SCHEMA_MAX_DEPTH)
        refuse_pattern(r, "a group so deep");
    sample_schema_add(r->b, " (");
    if (!r->s->failed)
        length = alternatives(r);
    sample_schema_add(r->b, ")");
    r->depth--;
    if (!eat(r, ')'))
        refuse_pattern(r, "a group without an end");
    return length;
}

static void
backslash(struct pattern *r)
{
    struct schema_class_set set = { .n = 0 };
    char kind = peek(r);

    if (sample_schema_class_put_known(r->s, &set, kind)) {
        r->p++;
        sample_schema_class_add(r->s, r->b, &set, islower((unsigned char)kind));
    } else {
        long c = escape(r);

        if (!r->s->failed)
            sample_schema_class_add_one(r->b, c);
    }
}

static struct length
atom(struct pattern *r)
{
    struct length one = { 1, 1 };

    switch (*r->p) {
    case '(':
        r->p++;
        return group(r);
    case '[':
        r->p++;
        add_class(r);
        break;
    case '.':
        r->p++;
        add_any(r);
        break;
    case '\\':
        r->p++;
        backslash(r);
        break;
    case '*':
    case '+':
    case '?':
    case '{':
        refuse_pattern(r, "a repetition of nothing");
        break;
    case '^':
    case '$':
        refuse_pattern(r, "an anchor within it");
        break;
    default:
        sample_schema_class_add_one(r->b, character(r));
        break;
    }
    return one;
}

static long
parse_number(struct pattern *r)
{
    long n = 0;

    if (!isdigit((unsigned char)peek(r)))
        refuse_pattern(r, "a brace that is no repetition");
    for (; isdigit((unsigned char)peek(r)); r->p++)
        n = n > SCHEMA_MAX_LENGTH ? n : 10 * n + (*r->p - '0');
    if (n > SCHEMA_MAX_LENGTH)
        refuse_pattern(r, "a repetition so large");
    return n;
}

static void
bounds(struct pattern *r, long *least, long *most)
{
    *least = *most = parse_number(r);
    if (eat(r, ','))
        *most = peek(r) == '}' ? -1 : parse_number(r);
    if (!eat(r, '}') || (*most >= 0 && *most < *least))
        refuse_pattern(r, "a brace that is no repetition");
}

static long
times(long a, long b)
{
    return a == 0 || b == 0        ? 0
           : a < 0 || b < 0        ? -1
           : a > SCHEMA_MAX_LENGTH ? a
                                   : a * b;
}

/* * + ? {m,n}, and a question mark that takes as few as possible. */
static struct length
repetition(struct pattern *r, struct length of)
{
    long least = 1, most = 1;

    if (eat(r, '*'))
        least = 0, most = -1;
    else if (eat(r, '+'))
        most = -1;
    else if (eat(r, '?'))
        least = 0;
    else if (eat(r, '{'))
        bounds(r, &least, &most);
    else
        return of;
    (void)eat(r, '?');
    sample_schema_add_count(r->b, least, most);
    return (struct length){ times(of.least, least), times(of.most, most) };
}

static struct length
parse_sequence(struct pattern *r)
{
    struct length sum = { 0, 0 };

    sample_schema_add(r->b, " \"\"");
    while (r->p < r->end && *r->p != '|' && *r->p != ')' &&
           !(*r->p == '$' && r->depth == 0)) {
        struct length of = repetition(r, atom(r));

        sum.least += of.least;
        sum.most = sum.most < 0 || of.most < 0 ? -1 : sum.most + of.most;
        if (sum.least > SCHEMA_MAX_LENGTH)
            sum.least = SCHEMA_MAX_LENGTH;
        if (sum.most > SCHEMA_MAX_LENGTH)
            sum.most = -1;
    }
    return sum;
}

/* The whole, where it is not anchored, has anything before or after it. */
static struct length
anchored(struct pattern *r)
{
    bool whole = r->depth == 0, fixed = true;
    struct length length;

    if (whole && !eat(r, '^')) {
        sample_schema_add(r->b, " character*");
        fixed = false;
    }
    length = parse_sequence(r);
    if (whole && !eat(r, '$')) {
        sample_schema_add(r->b, " character*");
        fixed = false;
    }
    if (!fixed)
        length.most = -1;
    return length;
}

static struct length
alternatives(struct pattern *r)
{
    struct length all = anchored(r);

    while (!r->s->failed && eat(r, '|')) {
        struct length next;

        sample_schema_add(r->b, " |");
        next = anchored(r);
        all.least = next.least < all.least ? next.least : all.least;
        all.most = next.most < 0 || all.most < 0 ? -1
                   : next.most > all.most        ? next.most
                                                 : all.most;
    }
    return all;
}

void
sample_schema_pattern(struct schema *s, struct schema_text *b,
                      const char *pattern, long *min, long *max)
{
    struct pattern r = { s, b, pattern, pattern + strlen(pattern), 0 };
    struct length length;

    sample_schema_add(b, "(");
    length = alternatives(&r);
    sample_schema_add(b, ")");
    if (r.p < r.end)
        refuse_pattern(&r, *r.p == ')' ? "a parenthesis without its other one"
                                       : "an anchor within it");
    *min = length.least;
    *max = length.most;
}

#endif
