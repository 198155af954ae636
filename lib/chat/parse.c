/* parse.c - the statements of the template language */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "chat/parser.h"

static void
need_end(struct chat_parser *p)
{
    if (p->token->type == CHAT_TOKEN_BLOCK_END)
        p->token++;
    else
        chat_parse_expected(p, "'%}'");
}

/* ---- bodies -------------------------------------------------------------- */

static struct chat_node *
parse_statement(struct chat_parser *p);

/* Whether {% word stands here, for one of "word word ". */
static bool
at_tag(const struct chat_parser *p, const char *words)
{
    const struct chat_token *t = p->token + 1;

    if (p->token->type != CHAT_TOKEN_BLOCK || t->type != CHAT_TOKEN_NAME)
        return false;
    for (const char *w = words; *w; w += strcspn(w, " ") + 1)
        if (strcspn(w, " ") == t->n && memcmp(w, t->s, t->n) == 0)
            return true;
    return false;
}

static struct chat_node *
parse_print(struct chat_parser *p)
{
    struct chat_node *n = chat_parse_node(p, CHAT_NODE_PRINT);

    p->token++;
    if (!n)
        return NULL;
    n->a = chat_parse_tuple(p, true);
    if (p->token->type != CHAT_TOKEN_PRINT_END)
        return chat_parse_expected(p, "'}}'");
    p->token++;
    return n;
}

static struct chat_node *
parse_text(struct chat_parser *p)
{
    struct chat_node *n = chat_parse_node(p, CHAT_NODE_TEXT);
    const struct chat_token *t = p->token++;

    if (n)
        n->value = chat_string(p->arena, t->s, t->n, CHAT_TRUSTED);
    if (n && n->value.type == CHAT_ABSENT)
        p->status = error_nomem(p->err);
    return n;
}

static struct chat_node *
parse_part(struct chat_parser *p)
{
    switch (p->token->type) {
    case CHAT_TOKEN_TEXT:
        return parse_text(p);
    case CHAT_TOKEN_PRINT:
        return parse_print(p);
    case CHAT_TOKEN_BLOCK:
        return parse_statement(p);
    default:
        return chat_parse_expected(p, "text");
    }
}

/* Statements up to a tag of these words, which is left; or up to the end of
 * the template where there are none. */
static struct chat_node *
parse_body(struct chat_parser *p, const char *words)
{
    struct chat_node *first = NULL, **last = &first;

    if (!chat_parse_down(p))
        return NULL;
    while (p->status == GG_OK && !at_tag(p, words)) {
        if (p->token->type == CHAT_TOKEN_END && !*words)
            break;
        if (p->token->type == CHAT_TOKEN_END) {
            chat_parse_fail(p, "the template ends, and {%% %.*s %%} is missing",
                            (int)strlen(words) - 1, words);
            break;
        }
        *last = parse_part(p);
        if (*last)
            last = &(*last)->next;
    }
    chat_parse_up(p);
    return first;
}

/* A body up to {% word %}, and that. */
static struct chat_node *
parse_to(struct chat_parser *p, const char *word)
{
    struct chat_node *body;
    char words[32];

    need_end(p);
    snprintf(words, sizeof(words), "%s ", word);
    body = parse_body(p, words);
    if (p->status != GG_OK)
        return NULL;
    p->token += 2;
    if (p->token->type == CHAT_TOKEN_NAME) /* endblock NAME, endmacro NAME */
        p->token++;
    need_end(p);
    return body;
}

/* ---- statements ---------------------------------------------------------- */

static struct chat_node *
parse_if(struct chat_parser *p, struct chat_node *n)
{
    n->a = chat_parse_tuple(p, false);
    need_end(p);
    n->b = parse_body(p, "elif else endif ");
    if (p->status != GG_OK)
        return NULL;
    p->token++;
    if (chat_parse_skip_word(p, "elif")) {
        n->c = chat_parse_node(p, CHAT_NODE_IF);
        if (!n->c || !chat_parse_down(p))
            return NULL;
        n->c = parse_if(p, n->c);
        chat_parse_up(p);
    } else if (chat_parse_skip_word(p, "else")) {
        n->c = parse_to(p, "endif");
    } else {
        p->token++;
        need_end(p);
    }
    return n;
}

static struct chat_node *
parse_for(struct chat_parser *p, struct chat_node *n)
{
    n->a = chat_parse_target(p);
    if (!chat_parse_skip_word(p, "in"))
        return chat_parse_expected(p, "'in'");
    n->b = chat_parse_tuple(p, false);
    if (chat_parse_skip_word(p, "if"))
        n->e = chat_parse_expression(p);
    n->op = chat_parse_skip_word(p, "recursive") ? '1' : 0;
    n->name = chat_parse_intern(p, "loop", 4);
    need_end(p);
    p->loops++;
    n->c = parse_body(p, "else endfor ");
    p->loops--;
    if (p->status != GG_OK)
        return NULL;
    p->token++;
    if (chat_parse_skip_word(p, "else")) {
        n->d = parse_to(p, "endfor");
    } else {
        p->token++;
        need_end(p);
    }
    return n;
}

static struct chat_node *
captured(struct chat_parser *p)
{
    return chat_parse_node(p, CHAT_NODE_CAPTURED);
}

static struct chat_node *
parse_set(struct chat_parser *p, struct chat_node *n)
{
    n->a = chat_parse_target(p);
    if (chat_parse_skip(p, "=")) {
        n->b = chat_parse_tuple(p, true);
        need_end(p);
        return n;
    }
    n->type = CHAT_NODE_SET_BLOCK;
    n->b = chat_parse_filters(p, captured(p), false);
    n->c = parse_to(p, "endset");
    return n;
}

/* (name, name=default) */
static struct chat_node *
parse_parameters(struct chat_parser *p)
{
    struct chat_node *first = NULL, **last = &first;

    chat_parse_need(p, "(");
    while (p->status == GG_OK && !chat_parse_at(p, ")")) {
        *last = chat_parse_node(p, CHAT_NODE_PARAMETER);
        if (!*last)
            break;
        (*last)->name = chat_parse_name(p);
        if (chat_parse_skip(p, "="))
            (*last)->a = chat_parse_expression(p);
        last = &(*last)->next;
        if (!chat_parse_skip(p, ","))
            break;
    }
    chat_parse_need(p, ")");
    return first;
}

static struct chat_node *
name_node(struct chat_parser *p, const char *name)
{
    struct chat_node *n = chat_parse_node(p, CHAT_NODE_NAME);

    if (n)
        n->name = chat_parse_intern(p, name, strlen(name));
    return n;
}

/* The body of a macro, and which names it uses. */
static struct chat_node *
parse_macro_body(struct chat_parser *p, struct chat_node *n, const char *end)
{
    unsigned loops = p->loops;
    int uses = p->uses;

    n->b = name_node(p, "varargs");
    n->d = name_node(p, "kwargs");
    n->e = name_node(p, "caller");
    p->loops = 0;
    p->uses = 0;
    n->c = parse_to(p, end);
    n->op = p->uses;
    p->uses |= uses; /* an inner one's are its own, too */
    p->loops = loops;
    return n;
}

static struct chat_node *
parse_macro(struct chat_parser *p, struct chat_node *n)
{
    n->name = chat_parse_name(p);
    n->a = parse_parameters(p);
    return parse_macro_body(p, n, "endmacro");
}

static struct chat_node *
parse_call(struct chat_parser *p, struct chat_node *n)
{
    n->a = chat_parse_node(p, CHAT_NODE_MACRO);
    if (!n->a)
        return NULL;
    n->a->name = chat_parse_intern(p, "caller", 6);
    if (chat_parse_at(p, "("))
        n->a->a = parse_parameters(p);
    n->b = chat_parse_expression(p);
    if (!n->b || n->b->type != CHAT_NODE_CALL)
        return chat_parse_expected(p, "a call");
    parse_macro_body(p, n->a, "endcall");
    return n;
}

static struct chat_node *
parse_filter_block(struct chat_parser *p, struct chat_node *n)
{
    n->b = chat_parse_filters(p, captured(p), true);
    n->c = parse_to(p, "endfilter");
    return n;
}

static struct chat_node *
parse_with(struct chat_parser *p, struct chat_node *n)
{
    struct chat_node **last = &n->a;

    while (p->status == GG_OK && p->token->type != CHAT_TOKEN_BLOCK_END) {
        *last = chat_parse_node(p, CHAT_NODE_SET);
        if (!*last)
            break;
        (*last)->a = chat_parse_target(p);
        chat_parse_need(p, "=");
        (*last)->b = chat_parse_expression(p);
        last = &(*last)->next;
        if (!chat_parse_skip(p, ","))
            break;
    }
    n->c = parse_to(p, "endwith");
    return n;
}

static struct chat_node *
parse_block(struct chat_parser *p, struct chat_node *n)
{
    n->name = chat_parse_name(p);
    while (chat_parse_skip_word(p, "scoped") ||
           chat_parse_skip_word(p, "required"))
        ;
    n->c = parse_to(p, "endblock");
    return n;
}

static struct chat_node *
parse_generation(struct chat_parser *p, struct chat_node *n)
{
    n->c = parse_to(p, "endgeneration");
    return n;
}

static struct chat_node *
parse_jump(struct chat_parser *p, struct chat_node *n)
{
    if (p->loops == 0)
        return chat_parse_expected(p, "this within a loop");
    need_end(p);
    return n;
}

static const struct statement {
    const char *word;
    enum chat_node_type type;
    struct chat_node *(*parse)(struct chat_parser *, struct chat_node *);
} statements[] = {
    { "if", CHAT_NODE_IF, parse_if },
    { "for", CHAT_NODE_FOR, parse_for },
    { "set", CHAT_NODE_SET, parse_set },
    { "macro", CHAT_NODE_MACRO, parse_macro },
    { "call", CHAT_NODE_CALL_BLOCK, parse_call },
    { "filter", CHAT_NODE_FILTER_BLOCK, parse_filter_block },
    { "with", CHAT_NODE_WITH, parse_with },
    { "block", CHAT_NODE_BLOCK, parse_block },
    { "generation", CHAT_NODE_GENERATION, parse_generation },
    { "break", CHAT_NODE_BREAK, parse_jump },
    { "continue", CHAT_NODE_CONTINUE, parse_jump },
};

static struct chat_node *
parse_statement(struct chat_parser *p)
{
    struct chat_node *n;

    p->token++;
    for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++)
        if (chat_parse_skip_word(p, statements[i].word)) {
            n = chat_parse_node(p, statements[i].type);
            return n ? statements[i].parse(p, n) : NULL;
        }
    return chat_parse_expected(p, "a statement");
}

enum gg_status
chat_parse(struct chat_parser *p, const char *text, size_t n,
           struct chat_node **tree)
{
    struct chat_lexer x = { .arena = p->arena, .err = p->err };

    p->status = chat_lex(&x, text, n);
    p->token = x.tokens;
    if (p->status == GG_OK)
        *tree = parse_body(p, "");
    return p->status;
}
