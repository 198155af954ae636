/* class.c - sets of characters of JSON's regular expressions */
#include <config.h>

#ifdef HAVE_JANSSON

#include "sample/schema/class.h"

#include <ctype.h>

void
sample_schema_class_put(struct schema *s, struct schema_class_set *set,
                        long from, long to)
{
    if (set->n == CLASS_MAX_SPANS)
        sample_schema_refuse(s, "pattern: a class of so many parts");
    else if (from > to)
        sample_schema_refuse(s, "pattern: a range that ends before it begins");
    else
        set->spans[set->n++] = (struct schema_class_span){ from, to };
}

static int
by_start(const void *a, const void *b)
{
    const struct schema_class_span *x = a, *y = b;

    return x->from < y->from ? -1 : x->from > y->from;
}

void
sample_schema_class_negate(struct schema *s, struct schema_class_set *set)
{
    struct schema_class_set old = *set;
    long from = 0;

    qsort(old.spans, old.n, sizeof(old.spans[0]), by_start);
    set->n = 0;
    for (size_t i = 0; i < old.n; i++) {
        if (old.spans[i].from > from)
            sample_schema_class_put(s, set, from, old.spans[i].from - 1);
        if (old.spans[i].to >= from)
            from = old.spans[i].to + 1;
    }
    if (from <= CLASS_MAX_CHARACTER)
        sample_schema_class_put(s, set, from, CLASS_MAX_CHARACTER);
}

bool
sample_schema_class_put_known(struct schema *s, struct schema_class_set *set,
                              char kind)
{
    static const struct schema_class_span
        digits[] = { { '0', '9' } },
        words[] = { { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' } },
        blanks[] = { { 9, 13 },          { 32, 32 },         { 0xa0, 0xa0 },
                     { 0x1680, 0x1680 }, { 0x2000, 0x200a }, { 0x2028, 0x2029 },
                     { 0x202f, 0x202f }, { 0x205f, 0x205f }, { 0x3000, 0x3000 },
                     { 0xfeff, 0xfeff } };
    static const struct {
        char kind;
        const struct schema_class_span *spans;
        size_t n;
    } known[] = { { 'd', digits, 1 }, { 'w', words, 4 }, { 's', blanks, 10 } };
    struct schema_class_set some = { .n = 0 };

    for (size_t i = 0; i < 3; i++)
        if (known[i].kind == tolower((unsigned char)kind)) {
            memcpy(some.spans, known[i].spans,
                   known[i].n * sizeof(some.spans[0]));
            some.n = known[i].n;
            if (isupper((unsigned char)kind))
                sample_schema_class_negate(s, &some);
        }
    for (size_t i = 0; i < some.n; i++)
        sample_schema_class_put(s, set, some.spans[i].from, some.spans[i].to);
    return some.n > 0;
}

/* One character in a class or a string of the grammar. */
static void
add_character(struct schema_text *b, long c)
{
    if (c < 0x80 && isalnum((int)c))
        sample_schema_add(b, "%c", (char)c);
    else
        sample_schema_add(b, "\\U%08lx", (unsigned long)c);
}

/* Characters that JSON does not write as they are. */
static bool
is_escaped(long c)
{
    return c < 0x20 || c == '"' || c == '\\';
}

static void
add_escaped(struct schema_text *b, long c)
{
    static const char plain[] = "\"\\\b\f\n\r\t", are[] = "\"\\bfnrt";
    const char *found = c ? strchr(plain, (int)c) : NULL;

    if (found) {
        sample_schema_add(b, "(\"\\\\\" ");
        sample_schema_add_literal(b, &are[found - plain], 1);
        sample_schema_add(b, ")");
    } else {
        sample_schema_add(b, "\"\\\\u%04lx\"", (unsigned long)c);
    }
}

/* Characters of a span that JSON writes as they are, between the others. */
static void
add_plain(struct schema_text *b, struct schema_class_span span, bool *some)
{
    static const long cuts[] = { 0x1f,   '"',    '\\',
                                 0xd800, 0xdfff, CLASS_MAX_CHARACTER + 1 };
    long from = 0x20;

    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        long low = span.from > from ? span.from : from;
        long high = span.to < cuts[i] - 1 ? span.to : cuts[i] - 1;

        if (cuts[i] != 0xdfff && low <= high) {
            sample_schema_add(b, *some ? "" : "[");
            add_character(b, low);
            sample_schema_add(b, "-");
            add_character(b, high);
            *some = true;
        }
        from = cuts[i] + 1;
    }
}

void
sample_schema_class_add(struct schema *s, struct schema_text *b,
                        const struct schema_class_set *set, bool controls)
{
    bool some = false, other = false;

    sample_schema_add(b, " (");
    for (size_t i = 0; i < set->n; i++)
        add_plain(b, set->spans[i], &some);
    sample_schema_add(b, some ? "]" : "");
    for (long c = controls ? 0 : 0x20; c < 0x60; c++)
        for (size_t i = 0; is_escaped(c) && i < set->n; i++)
            if (c >= set->spans[i].from && c <= set->spans[i].to) {
                sample_schema_add(b, some || other ? " | " : "");
                add_escaped(b, c);
                other = true;
                break;
            }
    sample_schema_add(b, ")");
    if (!some && !other)
        sample_schema_refuse(s, "pattern: a class without characters");
}

void
sample_schema_class_add_one(struct schema_text *b, long c)
{
    sample_schema_add(b, is_escaped(c) ? " " : " \"");
    if (is_escaped(c))
        add_escaped(b, c);
    else
        add_character(b, c);
    sample_schema_add(b, is_escaped(c) ? "" : "\"");
}

#endif
