/* module_pattern.c - regular expressions for names, in states (Thompson 1968)
 *
 * An expression becomes instructions with relative jumps, so that a part can be
 * moved and repeated; a name is read once, with all states at a time. */
#include "convert/hf/module_pattern.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

enum {
    MAX_PATTERN = 1024,
    MAX_CODE = 8192, /* instructions */
    MAX_DEPTH = 32,  /* of groups */
    MAX_TIMES = 1000,
};

enum op {
    SET,   /* a byte that is in the set */
    SPLIT, /* on at both x and y */
    BEGIN,
    END,
    BOUNDARY, /* of a word; x: there must be none */
    FOUND,
};

struct instruction {
    enum op op;
    int x, y; /* relative */
    uint8_t set[32];
};

struct compiler {
    const char *at;
    struct instruction *code;
    size_t n, cap;
    int depth;
    enum module_match failed; /* MODULE_DIFFERS: nothing did */
};

static void
fail(struct compiler *c, enum module_match why)
{
    if (c->failed == MODULE_DIFFERS)
        c->failed = why;
}

/* ---- sets of bytes ------------------------------------------------------- */

static void
set_range(uint8_t set[32], int from, int to)
{
    for (int b = from; b <= to; b++)
        set[b / 8] |= (uint8_t)(1 << b % 8);
}

static bool
has_byte(const uint8_t set[32], unsigned char b)
{
    return set[b / 8] >> b % 8 & 1;
}

static bool
is_word(int b)
{
    return b == '_' || (b < 128 && isalnum(b));
}

/* \d, \w, \s, and the others for upper case. False: it is none of them. */
static bool
set_class(uint8_t set[32], char letter)
{
    for (int b = 0; b < 256; b++) {
        int low = tolower((unsigned char)letter);
        bool in = low == 'd'   ? b >= '0' && b <= '9'
                  : low == 'w' ? is_word(b)
                               : b == ' ' || (b >= '\t' && b <= '\r');

        if (!strchr("dws", low))
            return false;
        if (in == (low == letter))
            set_range(set, b, b);
    }
    return true;
}

/* The byte that an escape stands for, at its letter; -1: it is none. */
static int
escaped_byte(struct compiler *c)
{
    static const char letters[] = "nrtfvab", bytes[] = "\n\r\t\f\v\a\b";
    const char *known = *c->at ? strchr(letters, *c->at) : NULL;
    char hex[3] = "";

    if (*c->at == 'x' && isxdigit((unsigned char)c->at[1]) &&
        isxdigit((unsigned char)c->at[2])) {
        memcpy(hex, c->at + 1, 2);
        c->at += 3;
        return (int)strtol(hex, NULL, 16);
    }
    if (!*c->at || (!known && isalnum((unsigned char)*c->at)))
        return -1;
    c->at++;
    return known ? bytes[known - letters] : (unsigned char)c->at[-1];
}

/* ---- instructions -------------------------------------------------------- */

static bool
make_room(struct compiler *c, size_t n)
{
    if (c->n + n > MAX_CODE)
        fail(c, MODULE_BAD);
    else if (!mem_grow(&c->code, &c->cap, c->n + n, sizeof(*c->code)))
        fail(c, MODULE_NOMEM);
    return c->failed == MODULE_DIFFERS;
}

static void
emit_at(struct compiler *c, size_t at, enum op op, int x, int y)
{
    if (!make_room(c, 1))
        return;
    memmove(c->code + at + 1, c->code + at, (c->n - at) * sizeof(*c->code));
    c->n++;
    c->code[at] = (struct instruction){ .op = op, .x = x, .y = y };
}

static void
emit(struct compiler *c, enum op op, int x, int y)
{
    emit_at(c, c->n, op, x, y);
}

static void
emit_set(struct compiler *c, const uint8_t set[32])
{
    emit(c, SET, 1, 1);
    if (c->failed == MODULE_DIFFERS)
        memcpy(c->code[c->n - 1].set, set, 32);
}

/* ---- repetition ---------------------------------------------------------- */

/* The part from `from` on becomes optional; `loops`: and goes on at itself. */
static void
make_optional(struct compiler *c, size_t from, bool loops)
{
    int n = (int)(c->n - from);

    emit_at(c, from, SPLIT, 1, n + (loops ? 2 : 1));
    if (loops)
        emit(c, SPLIT, -n - 1, -n - 1);
}

/* Another copy of the part, whose instructions are `part`. */
static size_t
append_copy(struct compiler *c, const struct instruction *part, size_t n)
{
    size_t from = c->n;

    if (make_room(c, n)) {
        memcpy(c->code + from, part, n * sizeof(*part));
        c->n += n;
    }
    return from;
}

/* The part from `from` on, `least` times to `most` times; -1: any. */
static void
repeat(struct compiler *c, size_t from, int least, int most)
{
    size_t n = c->n - from;
    struct instruction *part = mem_array(n + 1, sizeof(*part));

    if (!part) {
        fail(c, MODULE_NOMEM);
        return;
    }
    memcpy(part, c->code + from, n * sizeof(*part));
    c->n = from;
    for (int i = 0; i < least && c->failed == MODULE_DIFFERS; i++)
        append_copy(c, part, n);
    if (most < 0)
        make_optional(c, append_copy(c, part, n), true);
    for (int i = least; i < most && c->failed == MODULE_DIFFERS; i++)
        make_optional(c, append_copy(c, part, n), false);
    mem_free(part);
}

/* {m}, {m,n}, {m,}, {,n}. False: the brace is a brace. */
static bool
read_bounds(struct compiler *c, int *least, int *most)
{
    char *end;
    const char *at = c->at + 1;

    *least = (int)strtol(isdigit((unsigned char)*at) ? at : "0", &end, 10);
    if (isdigit((unsigned char)*at))
        at = end;
    *most = *least;
    if (*at == ',') {
        *most = -1;
        if (isdigit((unsigned char)*++at)) {
            *most = (int)strtol(at, &end, 10);
            at = end;
        }
    } else if (at == c->at + 1) {
        return false;
    }
    if (*at != '}')
        return false;
    c->at = at + 1;
    if (*least < 0 || *least > MAX_TIMES || *most > MAX_TIMES ||
        (*most >= 0 && *most < *least))
        fail(c, MODULE_BAD);
    return true;
}

/* A quantifier after a part; greedy or lazy makes no difference. */
static void
read_times(struct compiler *c, size_t from)
{
    int least = *c->at == '+', most = *c->at == '?' ? 1 : -1;

    if (!*c->at || !strchr("*+?{", *c->at))
        return;
    if (*c->at != '{')
        c->at++;
    else if (!read_bounds(c, &least, &most))
        return;
    if (*c->at == '?')
        c->at++;
    else if (*c->at && strchr("*+", *c->at))
        fail(c, MODULE_BAD);
    if (c->failed == MODULE_DIFFERS)
        repeat(c, from, least, most);
}

/* ---- parts --------------------------------------------------------------- */

static void
read_any(struct compiler *c);

/* The byte of a class at this place; -1: it was \d or the like, or nothing. */
static int
class_byte(struct compiler *c, uint8_t set[32])
{
    int b;

    if (*c->at != '\\')
        return (unsigned char)*c->at++;
    c->at++;
    if (*c->at && set_class(set, *c->at)) {
        c->at++;
        return -1;
    }
    b = escaped_byte(c);
    if (b < 0)
        fail(c, MODULE_BAD);
    return b;
}

/* [...], after its bracket. */
static void
read_class(struct compiler *c)
{
    bool others = *c->at == '^';
    uint8_t set[32] = { 0 };

    c->at += others;
    for (bool first = true; first || *c->at != ']'; first = false) {
        int from = *c->at ? class_byte(c, set) : -1, to = from;

        if (!*c->at || c->failed != MODULE_DIFFERS) {
            fail(c, MODULE_BAD);
            return;
        }
        if (from >= 0 && *c->at == '-' && c->at[1] && c->at[1] != ']') {
            c->at++;
            to = class_byte(c, set);
            if (to < from)
                fail(c, MODULE_BAD);
        }
        if (from >= 0)
            set_range(set, from, to);
    }
    c->at++;
    for (size_t i = 0; others && i < sizeof(set); i++)
        set[i] = (uint8_t)~set[i];
    emit_set(c, set);
}

static void
read_escape(struct compiler *c)
{
    static const char places[] = "AZbB";
    static const enum op ops[] = { BEGIN, END, BOUNDARY, BOUNDARY };
    const char *place = *c->at ? strchr(places, *c->at) : NULL;
    uint8_t set[32] = { 0 };
    int b;

    if (place) {
        emit(c, ops[place - places], *c->at == 'B', 0);
        c->at++;
        return;
    }
    if (*c->at && set_class(set, *c->at)) {
        c->at++;
    } else if ((b = escaped_byte(c)) < 0) {
        fail(c, MODULE_BAD);
        return;
    } else {
        set_range(set, b, b);
    }
    emit_set(c, set);
}

/* (...), (?:...) or (?P<name>...), after its parenthesis. */
static void
read_group(struct compiler *c)
{
    if (strncmp(c->at, "?:", 2) == 0)
        c->at += 2;
    else if (strncmp(c->at, "?P<", 3) == 0 && strchr(c->at, '>'))
        c->at = strchr(c->at, '>') + 1;
    else if (*c->at == '?')
        fail(c, MODULE_BAD);
    if (++c->depth > MAX_DEPTH)
        fail(c, MODULE_BAD);
    if (c->failed == MODULE_DIFFERS)
        read_any(c);
    c->depth--;
    if (*c->at != ')')
        fail(c, MODULE_BAD);
    else
        c->at++;
}

static void
read_byte(struct compiler *c, char b)
{
    uint8_t set[32] = { 0 };

    set_range(set, (unsigned char)b, (unsigned char)b);
    if (b == '.')
        memset(set, 0xff, sizeof(set));
    if (b == '.')
        set['\n' / 8] &= (uint8_t) ~(1 << '\n' % 8);
    emit_set(c, set);
}

static void
read_part(struct compiler *c)
{
    char b = *c->at++;

    switch (b) {
    case '(':
        read_group(c);
        break;
    case '[':
        read_class(c);
        break;
    case '\\':
        read_escape(c);
        break;
    case '^':
        emit(c, BEGIN, 0, 0);
        break;
    case '$':
        emit(c, END, 0, 0);
        break;
    case '*':
    case '+':
    case '?':
        fail(c, MODULE_BAD);
        break;
    default:
        read_byte(c, b);
    }
}

/* Alternatives, up to a parenthesis or the end. */
static void
read_any(struct compiler *c)
{
    size_t first = c->n, *jumps = NULL, n_jumps = 0, cap = 0;

    for (;;) {
        while (*c->at && !strchr("|)", *c->at) && c->failed == MODULE_DIFFERS) {
            size_t part = c->n;

            read_part(c);
            read_times(c, part);
        }
        if (*c->at != '|' || c->failed != MODULE_DIFFERS)
            break;
        c->at++;
        if (!mem_grow(&jumps, &cap, n_jumps + 1, sizeof(*jumps))) {
            fail(c, MODULE_NOMEM);
            break;
        }
        emit_at(c, first, SPLIT, 1, (int)(c->n - first) + 2);
        jumps[n_jumps++] = c->n;
        emit(c, SPLIT, 0, 0);
        first = c->n;
    }
    for (size_t i = 0; i < n_jumps && c->failed == MODULE_DIFFERS; i++)
        c->code[jumps[i]].x = c->code[jumps[i]].y = (int)(c->n - jumps[i]);
    mem_free(jumps);
}

/* ---- a name -------------------------------------------------------------- */

/* States at one place of a name. */
struct states {
    size_t *list, n;
    size_t *seen; /* 1 + the place that a state was last at */
};

static bool
passes(const struct instruction *i, const char *name, size_t place)
{
    bool before = place > 0 && is_word((unsigned char)name[place - 1]);
    bool after = is_word((unsigned char)name[place]);

    switch (i->op) {
    case BEGIN:
        return place == 0;
    case END:
        return !name[place];
    case BOUNDARY:
        return (before != after) != (i->x != 0);
    default:
        return true;
    }
}

static void
add_state(struct states *s, size_t state, size_t place)
{
    if (s->seen[state] == place + 1)
        return;
    s->seen[state] = place + 1;
    s->list[s->n++] = state;
}

/* All that follow without a byte; true: the end is among them. */
static bool
close_states(struct states *s, const struct compiler *c, const char *name,
             size_t place)
{
    bool found = false;

    for (size_t k = 0; k < s->n; k++) {
        size_t at = s->list[k];
        const struct instruction *i = &c->code[at];

        found = found || i->op == FOUND;
        if (i->op == SPLIT) {
            add_state(s, (size_t)((ptrdiff_t)at + i->x), place);
            add_state(s, (size_t)((ptrdiff_t)at + i->y), place);
        } else if (i->op != SET && i->op != FOUND && passes(i, name, place)) {
            add_state(s, at + 1, place);
        }
    }
    return found;
}

static enum module_match
run(const struct compiler *c, const char *name, struct states *s, size_t *next,
    uint64_t *budget)
{
    for (size_t place = 0;; place++) {
        size_t n = 0, *list = s->list;
        bool found = close_states(s, c, name, place);

        if (found || !name[place] || s->n == 0)
            return found ? MODULE_MATCHES : MODULE_DIFFERS;
        if (*budget < s->n)
            return MODULE_LONG;
        *budget -= s->n;
        for (size_t k = 0; k < s->n; k++)
            if (c->code[list[k]].op == SET &&
                has_byte(c->code[list[k]].set, (unsigned char)name[place]))
                next[n++] = list[k] + 1;
        s->n = 0;
        for (size_t k = 0; k < n; k++)
            add_state(s, next[k], place + 1);
    }
}

static enum module_match
search(const struct compiler *c, const char *name, uint64_t *budget)
{
    struct states s = { mem_array(c->n + 1, sizeof(*s.list)), 1,
                        mem_array(c->n, sizeof(*s.seen)) };
    size_t *next = mem_array(c->n + 1, sizeof(*next));
    enum module_match m = MODULE_NOMEM;

    if (s.list && s.seen && next)
        m = run(c, name, &s, next, budget);
    mem_free(s.list);
    mem_free(s.seen);
    mem_free(next);
    return m;
}

enum module_match
convert_hf_module_match(const char *pattern, const char *name, uint64_t *budget)
{
    char whole[MAX_PATTERN + 32];
    struct compiler c = { .at = whole };
    enum module_match m;

    if (strlen(pattern) > MAX_PATTERN)
        return MODULE_BAD;
    snprintf(whole, sizeof(whole), "(.*\\.)?(%s)$", pattern);
    read_any(&c);
    if (*c.at)
        fail(&c, MODULE_BAD); /* a parenthesis too many */
    emit(&c, FOUND, 0, 0);
    if (*budget < c.n)
        fail(&c, MODULE_LONG);
    *budget -= *budget < c.n ? *budget : c.n;
    m = c.failed == MODULE_DIFFERS ? search(&c, name, budget) : c.failed;
    mem_free(c.code);
    return m;
}
