/* gbnf.c - a grammar's text as a program
 *
 * The notation is that of llama.cpp (grammars/README.md): Backus-Naur form
 * with groups, classes of characters and repetitions. All jumps are relative,
 * so that a piece of code can be moved and copied. */
#include <config.h>

#include "sample/gbnf.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/escape.h"
#include "core/hash.h"
#include "core/mem.h"

struct parser {
    const char *p, *end, *text;
    struct gbnf *g;
    struct hash_map names;
    struct gg_error *err;
    int depth;
};

__attribute__((format(printf, 2, 3))) static enum gg_status
bad(const struct parser *ps, const char *what, ...)
{
    char text[200];
    size_t line = 1;
    va_list ap;

    for (const char *p = ps->text; p < ps->p; p++)
        line += *p == '\n';
    va_start(ap, what);
    vsnprintf(text, sizeof(text), what, ap);
    va_end(ap);
    return error_set(ps->err, GG_ERR_FORMAT, "line %zu: %s", line, text);
}

/* ---- code ---- */

enum gg_status
gbnf_emit(struct gbnf *g, enum gbnf_op op, int32_t a, int32_t b,
          struct gg_error *err)
{
    if (g->n >= GBNF_MAX_CODE)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "the grammar is too large: more than %d steps",
                         (int)GBNF_MAX_CODE);
    if (!mem_grow(&g->code, &g->cap, g->n + 1, sizeof(*g->code)))
        return error_nomem(err);
    g->code[g->n++] = (struct gbnf_code){ (uint8_t)op, a, b };
    return GG_OK;
}

/* In front of the code from `at` on. */
static enum gg_status
insert(struct gbnf *g, size_t at, enum gbnf_op op, int32_t a, int32_t b,
       struct gg_error *err)
{
    enum gg_status st = gbnf_emit(g, op, a, b, err);
    struct gbnf_code last;

    if (st != GG_OK)
        return st;
    last = g->code[g->n - 1];
    memmove(g->code + at + 1, g->code + at, (g->n - 1 - at) * sizeof(*g->code));
    g->code[at] = last;
    return GG_OK;
}

enum gg_status
gbnf_alternative(struct gbnf *g, size_t start, int32_t *jumps,
                 struct gg_error *err)
{
    int32_t len = (int32_t)(g->n - start);
    enum gg_status st = insert(g, start, GBNF_SPLIT, 1, len + 2, err);

    if (st == GG_OK)
        st = gbnf_emit(g, GBNF_JUMP, *jumps, 0, err);
    if (st == GG_OK)
        *jumps = (int32_t)g->n - 1;
    return st;
}

void
gbnf_end(struct gbnf *g, int32_t jumps)
{
    while (jumps >= 0) {
        int32_t at = jumps;

        jumps = g->code[at].a;
        g->code[at].a = (int32_t)g->n - at;
    }
}

/* ---- characters ---- */

static bool
is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static char
peek(const struct parser *ps)
{
    return ps->p < ps->end ? *ps->p : '\0';
}

/* Blanks and comments; and ends of lines, where the rule goes on. */
static void
skip(struct parser *ps, bool lines)
{
    for (; ps->p < ps->end; ps->p++)
        if (*ps->p == '#')
            while (ps->p + 1 < ps->end && ps->p[1] != '\n')
                ps->p++;
        else if (*ps->p != ' ' && *ps->p != '\t' &&
                 !(lines && (*ps->p == '\n' || *ps->p == '\r')))
            break;
}

static int
hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool
is_character(uint32_t c)
{
    return c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
}

static enum gg_status
escaped(struct parser *ps, uint32_t *c)
{
    char kind = ps->p + 1 < ps->end ? ps->p[1] : '\0';
    int digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    static const char plain[] = "ntr\"\\[]-^", are[] = "\n\t\r\"\\[]-^";
    const char *found = kind ? strchr(plain, kind) : NULL;

    if (found) {
        *c = (uint8_t)are[found - plain];
        ps->p += 2;
        return GG_OK;
    }
    if (!digits || ps->end - ps->p < 2 + digits)
        return bad(ps, "an escape that is not known");
    *c = 0;
    for (int i = 0; i < digits; i++) {
        int value = hex(ps->p[2 + i]);

        if (value < 0)
            return bad(ps, "'\\%c' wants %d hexadecimal digits", kind, digits);
        *c = *c << 4 | (uint32_t)value;
    }
    if (!is_character(*c))
        return bad(ps, "U+%lX is not a character", (unsigned long)*c);
    ps->p += 2 + digits;
    return GG_OK;
}

/* The next one of a literal or a class. */
static enum gg_status
character(struct parser *ps, uint32_t *c)
{
    static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
    uint8_t first = (uint8_t)*ps->p;
    int more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;

    if (first == '\\')
        return escaped(ps, c);
    *c = more ? first & (0x3fu >> more) : first;
    if ((first >= 0x80 && first < 0xc0) || first >= 0xf8 ||
        ps->end - ps->p <= more)
        return bad(ps, "a byte that is not UTF-8");
    for (int i = 1; i <= more; i++) {
        uint8_t b = (uint8_t)ps->p[i];

        if ((b & 0xc0) != 0x80)
            return bad(ps, "a byte that is not UTF-8");
        *c = *c << 6 | (b & 0x3f);
    }
    if (*c < least[more] || !is_character(*c))
        return bad(ps, "a byte that is not UTF-8");
    ps->p += more + 1;
    return GG_OK;
}

static enum gg_status
literal(struct parser *ps)
{
    enum gg_status st = GG_OK;

    for (ps->p++; st == GG_OK && peek(ps) != '"';) {
        uint32_t c;

        if (ps->p == ps->end || *ps->p == '\n')
            return bad(ps, "a string without an end");
        st = character(ps, &c);
        if (st == GG_OK)
            st = gbnf_chars(ps->g, &(struct gbnf_span){ c, c }, 1, ps->err);
    }
    if (st == GG_OK)
        ps->p++;
    return st;
}

static int
by_start(const void *a, const void *b)
{
    const struct gbnf_span *x = a, *y = b;

    return x->from < y->from ? -1 : x->from > y->from;
}

/* In order, none touching the next. */
static size_t
unite(struct gbnf_span *s, size_t n)
{
    size_t m = 0;

    qsort(s, n, sizeof(*s), by_start);
    for (size_t i = 0; i < n; i++)
        if (m && s[i].from <= s[m - 1].to + 1)
            s[m - 1].to = s[i].to > s[m - 1].to ? s[i].to : s[m - 1].to;
        else
            s[m++] = s[i];
    return m;
}

/* All characters that are not in s[0..n): to out[0..n + 2). Surrogates are
 * none.
 */
static size_t
others(struct gbnf_span *s, size_t n, struct gbnf_span *out)
{
    uint32_t from = 0;
    size_t m = 0;

    for (size_t i = 0; i < n; i++) {
        if (s[i].from > from)
            out[m++] = (struct gbnf_span){ from, s[i].from - 1 };
        from = s[i].to + 1;
    }
    if (from <= 0x10ffff)
        out[m++] = (struct gbnf_span){ from, 0x10ffff };
    return m;
}

static enum gg_status
set(struct parser *ps, struct gbnf_span *s, size_t n, bool negated)
{
    struct gbnf_span *all = mem_array(2 * n + 8, sizeof(*all));
    enum gg_status st = GG_OK;

    if (!all)
        return error_nomem(ps->err);
    /* Surrogates are taken out of a set that goes over them by turning it
     * inside out, and back. */
    if (!negated) {
        n = unite(s, n);
        n = others(s, n, all);
        memcpy(s, all, n * sizeof(*s));
    }
    s[n++] = (struct gbnf_span){ 0xd800, 0xdfff };
    n = unite(s, n);
    n = others(s, n, all);
    st = gbnf_chars(ps->g, all, n, ps->err);
    mem_free(all);
    return st;
}

/* [a-z_], [^"] */
static enum gg_status class(struct parser *ps) {
    struct gbnf_span *s = NULL; size_t n = 0,
    cap = 0; enum gg_status st = GG_OK; bool negated;

        ps->p++; negated = peek(ps) == '^'; ps->p += negated;
        while (st == GG_OK && peek(ps) != ']'){
            struct gbnf_span span;

            if (ps->p == ps->end ||
                *ps->p == '\n'){ st = bad(ps, "a class without an end"); break;
}
if (!mem_grow(&s, &cap, n + 4, sizeof(*s)))
{
    st = error_nomem(ps->err);
    break;
}
st = character(ps, &span.from);
span.to = span.from;
if (st == GG_OK && peek(ps) == '-' && ps->p + 1 < ps->end && ps->p[1] != ']' &&
    ps->p[1] != '\n') {
    ps->p++;
    st = character(ps, &span.to);
}
if (st == GG_OK && span.to < span.from)
    st = bad(ps, "a range that ends before it begins");
s[n++] = span;
}
if (st == GG_OK)
    ps->p++;
if (st == GG_OK && !mem_grow(&s, &cap, n + 4, sizeof(*s)))
    st = error_nomem(ps->err);
if (st == GG_OK)
    st = set(ps, s, n, negated);
mem_free(s);
return st;
}

static enum gg_status
any(struct parser *ps)
{
    static const struct gbnf_span all[] = { { 0, 0xd7ff },
                                            { 0xe000, 0x10ffff } };

    ps->p++;
    return gbnf_chars(ps->g, all, 2, ps->err);
}

/* ---- rules ---- */

/* The rule of the name at the parser, new where it was not named yet. */
static enum gg_status
rule_named(struct parser *ps, uint32_t *rule)
{
    const char *name = ps->p;
    struct gbnf *g = ps->g;
    size_t len;

    while (ps->p < ps->end && is_word(*ps->p))
        ps->p++;
    len = (size_t)(ps->p - name);
    *rule = hash_map_add(&ps->names, name, len, (uint32_t)g->n_rules);
    if (*rule < g->n_rules)
        return GG_OK;
    if (g->n_rules == GBNF_MAX_RULES)
        return bad(ps, "more than %d rules", (int)GBNF_MAX_RULES);
    if (!mem_grow(&g->rules, &g->rules_cap, g->n_rules + 1, sizeof(*g->rules)))
        return error_nomem(ps->err);
    g->rules[g->n_rules++] = (struct gbnf_rule){ name, len, -1, false };
    return GG_OK;
}

static enum gg_status
alternatives(struct parser *ps);

static enum gg_status
group(struct parser *ps)
{
    enum gg_status st;

    if (ps->depth == GBNF_MAX_DEPTH)
        return bad(ps, "more than %d groups in each other",
                   (int)GBNF_MAX_DEPTH);
    ps->p++;
    ps->depth++;
    st = alternatives(ps);
    ps->depth--;
    if (st == GG_OK && peek(ps) != ')')
        st = bad(ps, "a group without an end");
    if (st == GG_OK)
        ps->p++;
    return st;
}

static enum gg_status
number(struct parser *ps, size_t *n)
{
    if (peek(ps) < '0' || peek(ps) > '9')
        return bad(ps, "a repetition without a number");
    for (*n = 0; peek(ps) >= '0' && peek(ps) <= '9'; ps->p++)
        if (*n <= GBNF_MAX_CODE)
            *n = 10 * *n + (size_t)(*ps->p - '0');
    return GG_OK;
}

/* {m}, {m,} (most SIZE_MAX), {m,n} */
static enum gg_status
bounds(struct parser *ps, size_t *least, size_t *most)
{
    enum gg_status st;

    ps->p++;
    skip(ps, false);
    st = number(ps, least);
    *most = *least;
    skip(ps, false);
    if (st == GG_OK && peek(ps) == ',') {
        ps->p++;
        skip(ps, false);
        *most = SIZE_MAX;
        if (peek(ps) != '}')
            st = number(ps, most);
        skip(ps, false);
    }
    if (st == GG_OK && (peek(ps) != '}' || *most < *least))
        st = bad(ps, "a repetition is {m}, {m,} or {m,n}");
    if (st == GG_OK)
        ps->p++;
    return st;
}

static enum gg_status
copy(struct gbnf *g, const struct gbnf_code *item, size_t n,
     struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (size_t i = 0; st == GG_OK && i < n; i++)
        st = gbnf_emit(g, (enum gbnf_op)item[i].op, item[i].a, item[i].b, err);
    return st;
}

/* The item so often, the last times perhaps. */
static enum gg_status
repeat(struct parser *ps, const struct gbnf_code *item, size_t n, size_t least,
       size_t most)
{
    enum gg_status st = GG_OK;
    struct gbnf *g = ps->g;
    int32_t len = (int32_t)n;

    for (size_t i = 0; st == GG_OK && i < least && n; i++)
        st = copy(g, item, n, ps->err);
    if (st == GG_OK && most == SIZE_MAX) {
        st = gbnf_emit(g, GBNF_SPLIT, 1, len + 2, ps->err);
        if (st == GG_OK)
            st = copy(g, item, n, ps->err);
        if (st == GG_OK)
            st = gbnf_emit(g, GBNF_JUMP, -len - 1, 0, ps->err);
        return st;
    }
    if (most - least > GBNF_MAX_CODE)
        return bad(ps, "too many repetitions");
    for (size_t i = most - least; st == GG_OK && i > 0 && n; i--) {
        int64_t rest = (int64_t)i * (len + 1);

        if (rest > GBNF_MAX_CODE)
            return bad(ps, "too many repetitions");
        st = gbnf_emit(g, GBNF_SPLIT, 1, (int32_t)rest, ps->err);
        if (st == GG_OK)
            st = copy(g, item, n, ps->err);
    }
    return st;
}

/* What follows an item: * + ? {m,n}, any number of them. */
static enum gg_status
suffixes(struct parser *ps, size_t start)
{
    enum gg_status st = GG_OK;

    for (char c; st == GG_OK && (c = peek(ps)) &&
                 (c == '*' || c == '+' || c == '?' || c == '{');) {
        size_t least = c == '+', most = c == '?' ? 1 : SIZE_MAX;
        size_t n = ps->g->n - start;
        struct gbnf_code *item = mem_array(n + 1, sizeof(*item));

        if (!item)
            return error_nomem(ps->err);
        if (n)
            memcpy(item, ps->g->code + start, n * sizeof(*item));
        if (c == '{')
            st = bounds(ps, &least, &most);
        else
            ps->p++;
        ps->g->n = start;
        if (st == GG_OK)
            st = repeat(ps, item, n, least, most);
        mem_free(item);
        skip(ps, ps->depth > 0);
    }
    return st;
}

static enum gg_status
item(struct parser *ps)
{
    enum gg_status st;
    uint32_t rule;

    switch (peek(ps)) {
    case '"':
        return literal(ps);
    case '[':
        return class(ps);
    case '(':
        return group(ps);
    case '.':
        return any(ps);
    case '<':
    case '!':
        return bad(ps, "tokens in a grammar are not supported");
    default:
        break;
    }
    if (!is_word(peek(ps)))
        return bad(ps, "'%c' is not expected here",
                   peek(ps) > ' ' && peek(ps) < 127 ? peek(ps) : '?');
    st = rule_named(ps, &rule);
    return st == GG_OK ? gbnf_emit(ps->g, GBNF_CALL, (int32_t)rule, 0, ps->err)
                       : st;
}

/* A name and ::= */
static bool
begins_rule(const struct parser *ps)
{
    const char *p = ps->p;

    while (p < ps->end && is_word(*p))
        p++;
    if (p == ps->p)
        return false;
    while (p < ps->end && (*p == ' ' || *p == '\t'))
        p++;
    return ps->end - p >= 3 && memcmp(p, "::=", 3) == 0;
}

/* A sequence ends where a group, an alternative or the rule does; it may be
 * empty, and begin in a line of its own. */
static enum gg_status
sequence(struct parser *ps)
{
    enum gg_status st = GG_OK;
    const char *here = ps->p;

    skip(ps, true);
    if (ps->depth == 0 && begins_rule(ps)) {
        ps->p = here;
        return GG_OK;
    }
    while (st == GG_OK && peek(ps) && peek(ps) != '|' && peek(ps) != ')' &&
           peek(ps) != '\n' && peek(ps) != '\r') {
        size_t start = ps->g->n;

        st = item(ps);
        if (st == GG_OK) {
            skip(ps, ps->depth > 0);
            st = suffixes(ps, start);
        }
    }
    return st;
}

static enum gg_status
alternatives(struct parser *ps)
{
    size_t start = ps->g->n;
    int32_t jumps = -1;
    enum gg_status st = sequence(ps);

    while (st == GG_OK) {
        const char *here = ps->p;

        skip(ps, true); /* a line may begin with the bar */
        if (peek(ps) != '|') {
            ps->p = ps->depth > 0 ? ps->p : here;
            break;
        }
        ps->p++;
        st = gbnf_alternative(ps->g, start, &jumps, ps->err);
        start = ps->g->n;
        if (st == GG_OK)
            st = sequence(ps);
    }
    if (st == GG_OK)
        gbnf_end(ps->g, jumps);
    return st;
}

static enum gg_status
rule(struct parser *ps)
{
    enum gg_status st;
    uint32_t i;

    if (!is_word(peek(ps)))
        return bad(ps, "a rule's name is expected");
    st = rule_named(ps, &i);
    skip(ps, false);
    if (st == GG_OK && (ps->end - ps->p < 3 || memcmp(ps->p, "::=", 3) != 0))
        st = bad(ps, "::= is expected");
    if (st == GG_OK && ps->g->rules[i].start >= 0)
        st = bad(ps, "the rule is there already");
    if (st != GG_OK)
        return st;
    ps->p += 3;
    ps->g->rules[i].start = (int32_t)ps->g->n;
    st = alternatives(ps);
    if (st == GG_OK)
        st = gbnf_emit(ps->g, GBNF_RET, 0, 0, ps->err);
    skip(ps, false);
    if (st == GG_OK && ps->p < ps->end && *ps->p != '\n' && *ps->p != '\r')
        st = bad(ps, "the end of the line is expected");
    return st;
}

/* Every name that is used must be a rule, and one is the root. */
static enum gg_status
check_names(struct parser *ps)
{
    struct gbnf *g = ps->g;
    uint32_t root;

    for (size_t i = 0; i < g->n_rules; i++)
        if (g->rules[i].start < 0)
            return error_set(ps->err, GG_ERR_FORMAT,
                             "rule '%.*s' is not defined",
                             (int)(g->rules[i].len < 99 ? g->rules[i].len : 99),
                             g->rules[i].name);
    if (!hash_map_find(&ps->names, "root", 4, &root))
        return error_set(ps->err, GG_ERR_FORMAT, "there is no rule 'root'");
    g->root = root;
    return GG_OK;
}

static size_t
count_words(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += is_word(text[i]) && (i == 0 || !is_word(text[i - 1]));
    return n;
}

enum gg_status
gbnf_compile(const char *text, size_t len, struct gbnf *out,
             struct gg_error *err)
{
    struct parser ps = { text, text + len, text, out, .err = err };
    enum gg_status st = GG_OK;

    *out = (struct gbnf){ 0 };
    if (len > GBNF_MAX_TEXT)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "the grammar is too large: more than %d bytes",
                         (int)GBNF_MAX_TEXT);
    if (len && memchr(text, '\0', len))
        return error_set(err, GG_ERR_FORMAT, "a NUL in the grammar");
    if (!hash_map_init(&ps.names, count_words(text, len) + 1))
        return error_nomem(err);
    for (skip(&ps, true); st == GG_OK && ps.p < ps.end; skip(&ps, true))
        st = rule(&ps);
    if (st == GG_OK)
        st = check_names(&ps);
    if (st == GG_OK)
        st = gbnf_check(out, err);
    hash_map_clear(&ps.names);
    if (st != GG_OK)
        gbnf_clear(out);
    return st;
}

void
gbnf_clear(struct gbnf *g)
{
    mem_free(g->code);
    mem_free(g->rules);
    *g = (struct gbnf){ 0 };
}
