/* parser.c - parts of the parser that statements, expressions and literals use:
 * errors, names, nodes and the next token */
#include <config.h>

#include "chat/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/hash.h"

enum {
    MAX_DEPTH = 200
}; /* of nodes within nodes: the parser recurses */

/* ---- failure and depth --------------------------------------------------- */

/* Reading on finds the end at once. */
static const struct chat_token nothing = { CHAT_TOKEN_END, 0, "", 0 };

struct chat_node *
chat_parse_fail(struct chat_parser *p, const char *fmt, ...)
{
    char why[sizeof(p->err->message)];
    va_list ap;

    if (p->status == GG_OK) {
        va_start(ap, fmt);
        vsnprintf(why, sizeof(why), fmt, ap);
        va_end(ap);
        p->status = error_set(p->err, GG_ERR_FORMAT, "line %d: %s",
                              p->token->line, why);
    }
    p->token = &nothing;
    return NULL;
}

struct chat_node *
chat_parse_no_memory(struct chat_parser *p)
{
    if (p->status == GG_OK)
        p->status = error_nomem(p->err);
    p->token = &nothing;
    return NULL;
}

struct chat_node *
chat_parse_expected(struct chat_parser *p, const char *what)
{
    const struct chat_token *t = p->token;

    if (t->type == CHAT_TOKEN_END)
        return chat_parse_fail(p, "expected %s, and the template ends", what);
    return chat_parse_fail(p, "expected %s, not '%.*s'", what,
                           t->n > 40 ? 40 : (int)t->n, t->s);
}

bool
chat_parse_down(struct chat_parser *p)
{
    if (p->status == GG_OK && ++p->depth > MAX_DEPTH)
        chat_parse_fail(p, "it is nested too deep");
    return p->status == GG_OK;
}

void
chat_parse_up(struct chat_parser *p)
{
    p->depth--;
}

/* ---- names and nodes ----------------------------------------------------- */

static size_t
place_of(const struct chat_names *names, const char *s, size_t n)
{
    uint64_t hash = hash_bytes(names->start, s, n);
    size_t h = (hash ^ hash >> 29) & (names->cap - 1);

    for (; names->p[h]; h = (h + 1) & (names->cap - 1))
        if (strncmp(names->p[h], s, n) == 0 && names->p[h][n] == '\0')
            break;
    return h;
}

const char *
chat_name(const struct chat_names *names, const char *s, size_t n)
{
    return names->n && !memchr(s, '\0', n) ? names->p[place_of(names, s, n)]
                                           : NULL;
}

static bool
grow_names(struct chat_parser *p)
{
    struct chat_names old = p->names, new = old;

    new.cap = old.cap ? 4 * old.cap : 256;
    if (!old.cap)
        new.start = hash_random_start();
    new.p = chat_arena_alloc(p->arena, new.cap * sizeof(*new.p));
    if (!new.p)
        return false;
    memset(new.p, 0, new.cap * sizeof(*new.p));
    for (size_t i = 0; i < old.cap; i++)
        if (old.p[i])
            new.p[place_of(&new, old.p[i], strlen(old.p[i]))] = old.p[i];
    p->names = new;
    return true;
}

const char *
chat_parse_intern(struct chat_parser *p, const char *s, size_t n)
{
    size_t at;
    char *copy;

    if (2 * p->names.n >= p->names.cap && !grow_names(p)) {
        p->status = error_nomem(p->err);
        return NULL;
    }
    at = place_of(&p->names, s, n);
    if (p->names.p[at])
        return p->names.p[at];
    copy = chat_arena_alloc(p->arena, n + 1);
    if (!copy) {
        p->status = error_nomem(p->err);
        return NULL;
    }
    memcpy(copy, s, n);
    copy[n] = '\0';
    p->names.n++;
    return p->names.p[at] = copy;
}

const char *
chat_parse_name(struct chat_parser *p)
{
    const struct chat_token *t = p->token;

    if (t->type != CHAT_TOKEN_NAME) {
        chat_parse_expected(p, "a name");
        return NULL;
    }
    p->token++;
    return chat_parse_intern(p, t->s, t->n);
}

struct chat_node *
chat_parse_node(struct chat_parser *p, enum chat_node_type type)
{
    struct chat_node *n =
        p->status == GG_OK ? chat_arena_alloc(p->arena, sizeof(*n)) : NULL;

    if (n)
        *n = (struct chat_node){ .type = type, .line = p->token->line };
    else if (p->status == GG_OK)
        p->status = error_nomem(p->err);
    return n;
}

/* ---- tokens -------------------------------------------------------------- */

bool
chat_parse_at(const struct chat_parser *p, const char *op)
{
    return p->token->type == CHAT_TOKEN_OPERATOR && p->token->n == strlen(op) &&
           memcmp(p->token->s, op, p->token->n) == 0;
}

bool
chat_parse_at_word(const struct chat_parser *p, const char *word)
{
    return p->token->type == CHAT_TOKEN_NAME && p->token->n == strlen(word) &&
           memcmp(p->token->s, word, p->token->n) == 0;
}

bool
chat_parse_skip(struct chat_parser *p, const char *op)
{
    bool at = chat_parse_at(p, op);

    p->token += at;
    return at;
}

bool
chat_parse_skip_word(struct chat_parser *p, const char *word)
{
    bool at = chat_parse_at_word(p, word);

    p->token += at;
    return at;
}

void
chat_parse_need(struct chat_parser *p, const char *op)
{
    char what[16];

    if (chat_parse_skip(p, op))
        return;
    snprintf(what, sizeof(what), "'%s'", op);
    chat_parse_expected(p, what);
}
