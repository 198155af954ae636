/* gbnf.c - a grammar's text as a program
 *
 * The notation is that of llama.cpp (grammars/README.md): Backus-Naur form
 * with groups, classes of characters and repetitions. All jumps are relative,
 * so that a piece of code can be moved and copied. */
#include <config.h>

#include "sample/gbnf.h"

#include <string.h>

#include "core/hash.h"
#include "core/mem.h"
#include "sample/gbnf_text.h"

struct parser {
    struct gbnf_text t;
    struct gbnf *g;
    const struct grammar_tokens *tokens;
    struct hash_map names;
    int depth;
};

/* ---- characters ---- */

/* "text" */
static enum gg_status
literal(struct parser *ps)
{
    enum gg_status st = GG_OK;

    for (ps->t.p++; st == GG_OK && sample_gbnf_peek(&ps->t) != '"';) {
        uint32_t c;

        if (ps->t.p == ps->t.end || *ps->t.p == '\n')
            return sample_gbnf_bad(&ps->t, "a string without an end");
        st = sample_gbnf_character(&ps->t, &c);
        if (st == GG_OK)
            st = sample_gbnf_chars(ps->g, &(struct gbnf_span){ c, c }, 1,
                                   ps->t.err);
    }
    if (st == GG_OK)
        ps->t.p++;
    return st;
}

/* a or a-z, in a class */
static enum gg_status
span(struct parser *ps, struct gbnf_span *out)
{
    struct gbnf_text *t = &ps->t;
    enum gg_status st = sample_gbnf_character(t, &out->from);

    out->to = out->from;
    if (st == GG_OK && sample_gbnf_peek(t) == '-' && t->p + 1 < t->end &&
        t->p[1] != ']' && t->p[1] != '\n') {
        t->p++;
        st = sample_gbnf_character(t, &out->to);
    }
    return st == GG_OK && out->to < out->from
               ? sample_gbnf_bad(t, "a range that ends before it begins")
               : st;
}

/* [a-z_], [^"] */
static enum gg_status
char_class(struct parser *ps)
{
    struct gbnf_text *t = &ps->t;
    struct gbnf_span *s = NULL;
    size_t n = 0, cap = 0;
    enum gg_status st = GG_OK;
    bool negated;

    t->p++;
    negated = sample_gbnf_peek(t) == '^';
    t->p += negated;
    while (st == GG_OK && sample_gbnf_peek(t) != ']') {
        if (t->p == t->end || *t->p == '\n')
            st = sample_gbnf_bad(t, "a class without an end");
        else if (!mem_grow(&s, &cap, n + 1, sizeof(*s)))
            st = error_nomem(t->err);
        else
            st = span(ps, &s[n++]);
    }
    if (st == GG_OK)
        t->p++;
    if (st == GG_OK)
        st = sample_gbnf_set(ps->g, s, n, negated, t->err);
    mem_free(s);
    return st;
}

static enum gg_status
any(struct parser *ps)
{
    static const struct gbnf_span all[] = { { 0, 0xd7ff },
                                            { 0xe000, 0x10ffff } };

    ps->t.p++;
    return sample_gbnf_chars(ps->g, all, 2, ps->t.err);
}

/* ---- tokens ---- */

/* <[10]> */
static enum gg_status
token_number(struct parser *ps, int32_t *id)
{
    struct gbnf_text *t = &ps->t;
    size_t n;

    t->p += 2;
    if (sample_gbnf_number(t, &n) != GG_OK || t->end - t->p < 2 ||
        t->p[0] != ']' || t->p[1] != '>')
        return sample_gbnf_bad(t, "a token's number is <[ID]>");
    if (n >= (size_t)ps->tokens->n)
        return sample_gbnf_bad(
            t, "there is no token <[%zu]>: the vocabulary has %d", n,
            (int)ps->tokens->n);
    t->p += 2;
    *id = (int32_t)n;
    return GG_OK;
}

/* <|x|> */
static enum gg_status
token_name(struct parser *ps, int32_t *id)
{
    const struct grammar_tokens *tokens = ps->tokens;
    const char *name = ps->t.p, *p = name;
    char shown[100];
    size_t len;

    while (p < ps->t.end && *p != '>' && *p != '\n')
        p++;
    if (p == ps->t.end || *p != '>')
        return sample_gbnf_bad(&ps->t, "a token without its '>'");
    len = (size_t)(p + 1 - name);
    *id = tokens->find ? tokens->find(tokens->vocab, name, len) : -1;
    if (*id < 0)
        return sample_gbnf_bad(&ps->t, "there is no token %s in the vocabulary",
                               gg_escape(shown, sizeof(shown), name, len));
    ps->t.p = p + 1;
    return GG_OK;
}

/* One, or after an exclamation mark any other. */
static enum gg_status
token(struct parser *ps)
{
    struct gbnf_text *t = &ps->t;
    bool other = sample_gbnf_peek(t) == '!';
    enum gg_status st;
    int32_t id = -1;

    t->p += other;
    if (sample_gbnf_peek(t) != '<')
        return sample_gbnf_bad(t, "a token is expected after '!'");
    st = t->end - t->p > 1 && t->p[1] == '[' ? token_number(ps, &id)
                                             : token_name(ps, &id);
    ps->g->has_tokens = true;
    return st == GG_OK ? sample_gbnf_emit(ps->g, GBNF_TOKEN, id, other, t->err)
                       : st;
}

/* ---- rules ---- */

/* The rule of the name at the parser, new where it was not named yet. */
static enum gg_status
rule_named(struct parser *ps, uint32_t *rule)
{
    const char *name = ps->t.p;
    struct gbnf *g = ps->g;
    size_t len;

    while (ps->t.p < ps->t.end && sample_gbnf_is_word(*ps->t.p))
        ps->t.p++;
    len = (size_t)(ps->t.p - name);
    *rule = hash_map_add(&ps->names, name, len, (uint32_t)g->n_rules);
    if (*rule < g->n_rules)
        return GG_OK;
    if (g->n_rules == GBNF_MAX_RULES)
        return sample_gbnf_bad(&ps->t, "more than %d rules",
                               (int)GBNF_MAX_RULES);
    if (!mem_grow(&g->rules, &g->rules_cap, g->n_rules + 1, sizeof(*g->rules)))
        return error_nomem(ps->t.err);
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
        return sample_gbnf_bad(&ps->t, "more than %d groups in each other",
                               (int)GBNF_MAX_DEPTH);
    ps->t.p++;
    ps->depth++;
    st = alternatives(ps);
    ps->depth--;
    if (st == GG_OK && sample_gbnf_peek(&ps->t) != ')')
        st = sample_gbnf_bad(&ps->t, "a group without an end");
    if (st == GG_OK)
        ps->t.p++;
    return st;
}

static enum gg_status
copy_item(struct gbnf *g, const struct gbnf_code *item, size_t n,
          struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (size_t i = 0; st == GG_OK && i < n; i++)
        st = sample_gbnf_emit(g, (enum gbnf_op)item[i].op, item[i].a, item[i].b,
                              err);
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
        st = copy_item(g, item, n, ps->t.err);
    if (st == GG_OK && most == SIZE_MAX) {
        st = sample_gbnf_emit(g, GBNF_SPLIT, 1, len + 2, ps->t.err);
        if (st == GG_OK)
            st = copy_item(g, item, n, ps->t.err);
        if (st == GG_OK)
            st = sample_gbnf_emit(g, GBNF_JUMP, -len - 1, 0, ps->t.err);
        return st;
    }
    if (most - least > GBNF_MAX_CODE)
        return sample_gbnf_bad(&ps->t, "too many repetitions");
    for (size_t i = most - least; st == GG_OK && i > 0 && n; i--) {
        int64_t rest = (int64_t)i * (len + 1);

        if (rest > GBNF_MAX_CODE)
            return sample_gbnf_bad(&ps->t, "too many repetitions");
        st = sample_gbnf_emit(g, GBNF_SPLIT, 1, (int32_t)rest, ps->t.err);
        if (st == GG_OK)
            st = copy_item(g, item, n, ps->t.err);
    }
    return st;
}

/* Suffixes of an item: * + ? {m,n}, any number of them. */
static enum gg_status
suffixes(struct parser *ps, size_t start)
{
    enum gg_status st = GG_OK;

    for (char c; st == GG_OK && (c = sample_gbnf_peek(&ps->t)) &&
                 (c == '*' || c == '+' || c == '?' || c == '{');) {
        size_t least = c == '+', most = c == '?' ? 1 : SIZE_MAX;
        size_t n = ps->g->n - start;
        struct gbnf_code *item = mem_array(n + 1, sizeof(*item));

        if (!item)
            return error_nomem(ps->t.err);
        if (n)
            memcpy(item, ps->g->code + start, n * sizeof(*item));
        if (c == '{')
            st = sample_gbnf_bounds(&ps->t, &least, &most);
        else
            ps->t.p++;
        ps->g->n = start;
        if (st == GG_OK)
            st = repeat(ps, item, n, least, most);
        mem_free(item);
        sample_gbnf_skip(&ps->t, ps->depth > 0);
    }
    return st;
}

static enum gg_status
item(struct parser *ps)
{
    enum gg_status st;
    uint32_t rule;

    switch (sample_gbnf_peek(&ps->t)) {
    case '"':
        return literal(ps);
    case '[':
        return char_class(ps);
    case '(':
        return group(ps);
    case '.':
        return any(ps);
    case '<':
    case '!':
        return token(ps);
    default:
        break;
    }
    if (!sample_gbnf_is_word(sample_gbnf_peek(&ps->t)))
        return sample_gbnf_bad(&ps->t, "'%c' is not expected here",
                               sample_gbnf_peek(&ps->t) > ' ' &&
                                       sample_gbnf_peek(&ps->t) < 127
                                   ? sample_gbnf_peek(&ps->t)
                                   : '?');
    st = rule_named(ps, &rule);
    return st == GG_OK
               ? sample_gbnf_emit(ps->g, GBNF_CALL, (int32_t)rule, 0, ps->t.err)
               : st;
}

/* A name and ::= */
static bool
begins_rule(const struct parser *ps)
{
    const char *p = ps->t.p;

    while (p < ps->t.end && sample_gbnf_is_word(*p))
        p++;
    if (p == ps->t.p)
        return false;
    while (p < ps->t.end && (*p == ' ' || *p == '\t'))
        p++;
    return ps->t.end - p >= 3 && memcmp(p, "::=", 3) == 0;
}

/* A sequence ends where a group, an alternative or the rule does; it may be
 * empty, and begin in a line of its own. */
static enum gg_status
parse_sequence(struct parser *ps)
{
    enum gg_status st = GG_OK;
    const char *here = ps->t.p;

    sample_gbnf_skip(&ps->t, true);
    if (ps->depth == 0 && begins_rule(ps)) {
        ps->t.p = here;
        return GG_OK;
    }
    while (st == GG_OK && sample_gbnf_peek(&ps->t) &&
           sample_gbnf_peek(&ps->t) != '|' && sample_gbnf_peek(&ps->t) != ')' &&
           sample_gbnf_peek(&ps->t) != '\n' &&
           sample_gbnf_peek(&ps->t) != '\r') {
        size_t start = ps->g->n;

        st = item(ps);
        if (st == GG_OK) {
            sample_gbnf_skip(&ps->t, ps->depth > 0);
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
    enum gg_status st = parse_sequence(ps);

    while (st == GG_OK) {
        const char *here = ps->t.p;

        sample_gbnf_skip(&ps->t, true); /* a line may begin with the bar */
        if (sample_gbnf_peek(&ps->t) != '|') {
            ps->t.p = ps->depth > 0 ? ps->t.p : here;
            break;
        }
        ps->t.p++;
        st = sample_gbnf_alternative(ps->g, start, &jumps, ps->t.err);
        start = ps->g->n;
        if (st == GG_OK)
            st = parse_sequence(ps);
    }
    if (st == GG_OK)
        sample_gbnf_end(ps->g, jumps);
    return st;
}

static enum gg_status
rule(struct parser *ps)
{
    enum gg_status st;
    uint32_t i;

    if (!sample_gbnf_is_word(sample_gbnf_peek(&ps->t)))
        return sample_gbnf_bad(&ps->t, "a rule's name is expected");
    st = rule_named(ps, &i);
    sample_gbnf_skip(&ps->t, false);
    if (st == GG_OK &&
        (ps->t.end - ps->t.p < 3 || memcmp(ps->t.p, "::=", 3) != 0))
        st = sample_gbnf_bad(&ps->t, "::= is expected");
    if (st == GG_OK && ps->g->rules[i].start >= 0)
        st = sample_gbnf_bad(&ps->t, "the rule is there already");
    if (st != GG_OK)
        return st;
    ps->t.p += 3;
    ps->g->rules[i].start = (int32_t)ps->g->n;
    st = alternatives(ps);
    if (st == GG_OK)
        st = sample_gbnf_emit(ps->g, GBNF_RET, 0, 0, ps->t.err);
    sample_gbnf_skip(&ps->t, false);
    if (st == GG_OK && ps->t.p < ps->t.end && *ps->t.p != '\n' &&
        *ps->t.p != '\r')
        st = sample_gbnf_bad(&ps->t, "the end of the line is expected");
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
            return error_set(ps->t.err, GG_ERR_FORMAT,
                             "rule '%.*s' is not defined",
                             (int)(g->rules[i].len < 99 ? g->rules[i].len : 99),
                             g->rules[i].name);
    if (!hash_map_find(&ps->names, "root", 4, &root))
        return error_set(ps->t.err, GG_ERR_FORMAT, "there is no rule 'root'");
    g->root = root;
    return GG_OK;
}

static size_t
count_words(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += sample_gbnf_is_word(text[i]) &&
             (i == 0 || !sample_gbnf_is_word(text[i - 1]));
    return n;
}

enum gg_status
sample_gbnf_compile(const char *text, size_t len,
                    const struct grammar_tokens *tokens, struct gbnf *out,
                    struct gg_error *err)
{
    struct parser ps = { { text, text + len, text, err },
                         .g = out,
                         .tokens = tokens };
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
    for (sample_gbnf_skip(&ps.t, true); st == GG_OK && ps.t.p < ps.t.end;
         sample_gbnf_skip(&ps.t, true))
        st = rule(&ps);
    if (st == GG_OK)
        st = check_names(&ps);
    if (st == GG_OK)
        st = sample_gbnf_check(out, err);
    hash_map_clear(&ps.names);
    if (st != GG_OK)
        sample_gbnf_clear(out);
    return st;
}

void
sample_gbnf_clear(struct gbnf *g)
{
    mem_free(g->code);
    mem_free(g->rules);
    *g = (struct gbnf){ 0 };
}
