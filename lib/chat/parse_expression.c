/* parse_expression.c - the expressions of the template language
 *
 * From the loosest to the tightest: if else, or, and, not, comparisons, + -,
 * ~, * / // %, **, signs, then what follows a value: .name [item] (call)
 * |filter and `is` test. */
#include <config.h>

#include <string.h>

#include "chat/builtin.h"
#include "chat/parser.h"
#include "chat/text.h"

static struct chat_node *
parse_unary(struct chat_parser *p, bool filters);

static struct chat_node *
pair(struct chat_parser *p, enum chat_node_type type, struct chat_node *a,
     struct chat_node *b)
{
    struct chat_node *n = chat_parse_node(p, type);

    if (n) {
        n->a = a;
        n->b = b;
        n->line = a ? a->line : n->line;
    }
    return n;
}

static struct chat_node *
binary(struct chat_parser *p, int op, struct chat_node *a, struct chat_node *b)
{
    struct chat_node *n = pair(p, CHAT_NODE_BINARY, a, b);

    if (n)
        n->op = op;
    return n;
}

/* ---- lists --------------------------------------------------------------- */

static struct chat_node *
parse_pair(struct chat_parser *p)
{
    struct chat_node *key = chat_parse_expression(p);

    chat_parse_need(p, ":");
    return pair(p, CHAT_NODE_PAIR, key, chat_parse_expression(p));
}

/* Items in brackets, with commas between them, to the closing one. */
static struct chat_node *
parse_items(struct chat_parser *p, const char *closing,
            struct chat_node *(*parse)(struct chat_parser *))
{
    struct chat_node *first = NULL, **last = &first;

    while (p->status == GG_OK && !chat_parse_at(p, closing)) {
        *last = parse(p);
        if (!*last)
            break;
        last = &(*last)->next;
        if (!chat_parse_skip(p, ","))
            break;
    }
    chat_parse_need(p, closing);
    return first;
}

static struct chat_node *
parse_brackets(struct chat_parser *p)
{
    bool dict = chat_parse_skip(p, "{");
    struct chat_node *n =
        chat_parse_node(p, dict ? CHAT_NODE_DICT : CHAT_NODE_LIST);

    if (!dict)
        chat_parse_need(p, "[");
    if (n)
        n->a = dict ? parse_items(p, "}", parse_pair)
                    : parse_items(p, "]", chat_parse_expression);
    return n;
}

/* (expression), or a tuple. */
static struct chat_node *
parse_parentheses(struct chat_parser *p)
{
    struct chat_node *n;

    chat_parse_need(p, "(");
    if (chat_parse_skip(p, ")"))
        return chat_parse_node(p, CHAT_NODE_TUPLE);
    n = chat_parse_tuple(p, true);
    chat_parse_need(p, ")");
    return n;
}

static struct chat_node *
parse_primary(struct chat_parser *p)
{
    switch (p->token->type) {
    case CHAT_TOKEN_NAME:
        return chat_parse_word(p);
    case CHAT_TOKEN_STRING:
        return chat_parse_string(p);
    case CHAT_TOKEN_INT:
    case CHAT_TOKEN_FLOAT:
        return chat_parse_number(p);
    default:
        if (chat_parse_at(p, "("))
            return parse_parentheses(p);
        if (chat_parse_at(p, "[") || chat_parse_at(p, "{"))
            return parse_brackets(p);
        return chat_parse_expected(p, "an expression");
    }
}

/* ---- what follows a value ------------------------------------------------ */

static struct chat_node *
parse_argument(struct chat_parser *p)
{
    struct chat_node *n = chat_parse_node(p, CHAT_NODE_ARGUMENT);
    const struct chat_token *next = p->token + 1;

    if (!n)
        return NULL;
    if (chat_parse_skip(p, "**")) {
        n->op = '2';
    } else if (chat_parse_skip(p, "*")) {
        n->op = '*';
    } else if (p->token->type == CHAT_TOKEN_NAME &&
               next->type == CHAT_TOKEN_OPERATOR && next->n == 1 &&
               next->s[0] == '=') {
        n->name = chat_parse_name(p);
        chat_parse_need(p, "=");
    }
    n->a = chat_parse_expression(p);
    return n;
}

struct chat_node *
chat_parse_arguments(struct chat_parser *p)
{
    if (!chat_parse_skip(p, "("))
        return NULL;
    return parse_items(p, ")", parse_argument);
}

static struct chat_node *
parse_attribute(struct chat_parser *p, struct chat_node *of)
{
    struct chat_node *n;

    if (p->token->type == CHAT_TOKEN_INT)
        return pair(p, CHAT_NODE_ITEM, of, chat_parse_number(p));
    if (p->token->type != CHAT_TOKEN_NAME)
        return chat_parse_expected(p, "a name");
    n = pair(p, CHAT_NODE_ATTRIBUTE, of, NULL);
    if (n)
        n->name = chat_parse_name(p);
    return n;
}

/* A bound of a slice, which may lack. */
static struct chat_node *
parse_bound(struct chat_parser *p)
{
    if (chat_parse_at(p, ":") || chat_parse_at(p, "]"))
        return NULL;
    return chat_parse_expression(p);
}

static struct chat_node *
parse_item(struct chat_parser *p, struct chat_node *of)
{
    struct chat_node *b = parse_bound(p);
    struct chat_node *n = pair(p, CHAT_NODE_ITEM, of, b);

    if (!n)
        return NULL;
    if (chat_parse_skip(p, ":")) {
        n->type = CHAT_NODE_SLICE;
        n->c = parse_bound(p);
        if (chat_parse_skip(p, ":"))
            n->d = parse_bound(p);
    } else if (!b) {
        return chat_parse_expected(p, "an expression");
    }
    chat_parse_need(p, "]");
    return n;
}

static struct chat_node *
parse_postfix(struct chat_parser *p, struct chat_node *n)
{
    while (p->status == GG_OK)
        if (chat_parse_skip(p, "."))
            n = parse_attribute(p, n);
        else if (chat_parse_skip(p, "["))
            n = parse_item(p, n);
        else if (chat_parse_at(p, "("))
            n = pair(p, CHAT_NODE_CALL, n, chat_parse_arguments(p));
        else
            break;
    return n;
}

static struct chat_node *
parse_filter(struct chat_parser *p, struct chat_node *of)
{
    struct chat_node *n;

    if (p->token->type != CHAT_TOKEN_NAME)
        return chat_parse_expected(p, "a filter's name");
    n = pair(p, CHAT_NODE_FILTER, of, NULL);
    if (!n)
        return NULL;
    n->name = chat_parse_name(p);
    n->builtin = n->name ? chat_filter(n->name) : NULL;
    n->b = chat_parse_arguments(p);
    return n;
}

struct chat_node *
chat_parse_filters(struct chat_parser *p, struct chat_node *node, bool first)
{
    while (p->status == GG_OK && (first || chat_parse_skip(p, "|"))) {
        node = parse_filter(p, node);
        first = false;
    }
    return node;
}

/* Whether a test's argument follows, without parentheses. */
static bool
at_argument(const struct chat_parser *p)
{
    const struct chat_token *t = p->token;

    if (t->type == CHAT_TOKEN_NAME)
        return !chat_parse_at_word(p, "else") && !chat_parse_at_word(p, "or") &&
               !chat_parse_at_word(p, "and") && !chat_parse_at_word(p, "if") &&
               !chat_parse_at_word(p, "is") && !chat_parse_at_word(p, "in") &&
               !chat_parse_at_word(p, "not") &&
               !chat_parse_at_word(p, "recursive");
    return t->type == CHAT_TOKEN_STRING || t->type == CHAT_TOKEN_INT ||
           t->type == CHAT_TOKEN_FLOAT || chat_parse_at(p, "[") ||
           chat_parse_at(p, "{");
}

static struct chat_node *
parse_test(struct chat_parser *p, struct chat_node *of)
{
    bool negated = chat_parse_skip_word(p, "not");
    struct chat_node *n = pair(p, CHAT_NODE_TEST, of, NULL), *not ;

    if (!n)
        return NULL;
    if (p->token->type != CHAT_TOKEN_NAME)
        return chat_parse_expected(p, "a test's name");
    n->name = chat_parse_name(p);
    n->builtin = n->name ? chat_test(n->name) : NULL;
    if (chat_parse_at(p, "("))
        n->b = chat_parse_arguments(p);
    else if (at_argument(p))
        n->b = pair(p, CHAT_NODE_ARGUMENT, parse_postfix(p, parse_primary(p)),
                    NULL);
    if (!negated)
        return n;
    not = pair(p, CHAT_NODE_UNARY, n, NULL);
    if (not )
        not ->op = '!';
    return not ;
}

/* |filters and tests. */
static struct chat_node *
parse_suffixes(struct chat_parser *p, struct chat_node *n)
{
    while (p->status == GG_OK)
        if (chat_parse_at(p, "|"))
            n = chat_parse_filters(p, n, false);
        else if (chat_parse_skip_word(p, "is"))
            n = parse_test(p, n);
        else if (chat_parse_at(p, "("))
            n = pair(p, CHAT_NODE_CALL, n, chat_parse_arguments(p));
        else
            break;
    return n;
}

/* ---- operators ----------------------------------------------------------- */

static struct chat_node *
parse_sign(struct chat_parser *p)
{
    int op = p->token->s[0];
    struct chat_node *n = chat_parse_node(p, CHAT_NODE_UNARY);

    p->token++;
    if (!n)
        return NULL;
    n->op = op;
    n->a = parse_unary(p, false);
    return n;
}

static struct chat_node *
parse_unary(struct chat_parser *p, bool filters)
{
    struct chat_node *n;

    if (!chat_parse_down(p))
        return NULL;
    n = chat_parse_at(p, "-") || chat_parse_at(p, "+") ? parse_sign(p)
                                                       : parse_primary(p);
    n = parse_postfix(p, n);
    if (filters)
        n = parse_suffixes(p, n);
    chat_parse_up(p);
    return n;
}

/* Operators of one level; ends with a NULL text. */
struct infix {
    const char *text;
    int op;
};

static bool
skip_infix(struct chat_parser *p, const struct infix *known, int *op)
{
    for (; known->text; known++)
        if (chat_parse_skip(p, known->text)) {
            *op = known->op;
            return true;
        }
    return false;
}

/* Operands of one level, joined from the left. */
static struct chat_node *
parse_level(struct chat_parser *p, const struct infix *known,
            struct chat_node *(*operand)(struct chat_parser *))
{
    struct chat_node *n = operand(p);
    int op;

    while (skip_infix(p, known, &op))
        n = binary(p, op, n, operand(p));
    return n;
}

static struct chat_node *
parse_filtered(struct chat_parser *p)
{
    return parse_unary(p, true);
}

static struct chat_node *
parse_power(struct chat_parser *p)
{
    static const struct infix known[] = { { "**", CHAT_OP_POWER }, { 0 } };

    return parse_level(p, known, parse_filtered);
}

static struct chat_node *
parse_product(struct chat_parser *p)
{
    static const struct infix known[] = { { "*", '*' },
                                          { "/", '/' },
                                          { "//", CHAT_OP_FLOOR_DIVIDE },
                                          { "%", '%' },
                                          { 0 } };

    return parse_level(p, known, parse_power);
}

static struct chat_node *
parse_concat(struct chat_parser *p)
{
    struct chat_node *n = parse_product(p);

    while (chat_parse_skip(p, "~"))
        n = pair(p, CHAT_NODE_CONCAT, n, parse_product(p));
    return n;
}

static struct chat_node *
parse_sum(struct chat_parser *p)
{
    static const struct infix known[] = { { "+", '+' }, { "-", '-' }, { 0 } };

    return parse_level(p, known, parse_concat);
}

static bool
skip_comparison(struct chat_parser *p, int *op)
{
    static const struct infix known[] = {
        { "==", CHAT_OP_EQUAL },
        { "!=", CHAT_OP_NOT_EQUAL },
        { ">=", CHAT_OP_AT_LEAST },
        { "<=", CHAT_OP_AT_MOST },
        { ">", '>' },
        { "<", '<' },
        { 0 },
    };
    const struct chat_token *t = p->token;

    if (skip_infix(p, known, op))
        return true;
    *op = chat_parse_skip_word(p, "not") ? CHAT_OP_NOT_IN : CHAT_OP_IN;
    if (chat_parse_skip_word(p, "in"))
        return true;
    p->token = t;
    return false;
}

static struct chat_node *
parse_comparison(struct chat_parser *p)
{
    struct chat_node *n = parse_sum(p), *compare, **last;
    int op;

    if (!skip_comparison(p, &op))
        return n;
    compare = pair(p, CHAT_NODE_COMPARE, n, NULL);
    if (!compare)
        return NULL;
    last = &compare->b;
    do {
        *last = pair(p, CHAT_NODE_OPERAND, parse_sum(p), NULL);
        if (!*last)
            return NULL;
        (*last)->op = op;
        last = &(*last)->next;
    } while (skip_comparison(p, &op));
    return compare;
}

static struct chat_node *
parse_not(struct chat_parser *p)
{
    struct chat_node *n;

    if (!chat_parse_at_word(p, "not"))
        return parse_comparison(p);
    if (!chat_parse_down(p))
        return NULL;
    n = chat_parse_node(p, CHAT_NODE_UNARY);
    p->token++;
    if (n) {
        n->op = '!';
        n->a = parse_not(p);
    }
    chat_parse_up(p);
    return n;
}

static struct chat_node *
parse_and(struct chat_parser *p)
{
    struct chat_node *n = parse_not(p);

    while (chat_parse_skip_word(p, "and"))
        n = pair(p, CHAT_NODE_AND, n, parse_not(p));
    return n;
}

static struct chat_node *
parse_or(struct chat_parser *p)
{
    struct chat_node *n = parse_and(p);

    while (chat_parse_skip_word(p, "or"))
        n = pair(p, CHAT_NODE_OR, n, parse_and(p));
    return n;
}

struct chat_node *
chat_parse_expression(struct chat_parser *p)
{
    struct chat_node *n;

    if (!chat_parse_down(p))
        return NULL;
    n = parse_or(p);
    while (p->status == GG_OK && chat_parse_skip_word(p, "if")) {
        n = pair(p, CHAT_NODE_IF_ELSE, parse_or(p), n);
        if (n && chat_parse_skip_word(p, "else"))
            n->c = chat_parse_expression(p);
    }
    chat_parse_up(p);
    return n;
}

/* Whether a tuple ends in front of the next token. */
static bool
at_end_of_tuple(const struct chat_parser *p)
{
    return p->token->type == CHAT_TOKEN_BLOCK_END ||
           p->token->type == CHAT_TOKEN_PRINT_END || chat_parse_at(p, ")") ||
           chat_parse_at(p, "=") || chat_parse_at_word(p, "in");
}

/* The tuple that begins with a node, where a comma follows; else the node. */
static struct chat_node *
tuple_of(struct chat_parser *p, struct chat_node *first,
         struct chat_node *(*parse)(struct chat_parser *))
{
    struct chat_node *tuple, **last;

    if (!first || !chat_parse_at(p, ","))
        return first;
    tuple = pair(p, CHAT_NODE_TUPLE, first, NULL);
    last = &first->next;
    while (tuple && p->status == GG_OK && chat_parse_skip(p, ",") &&
           !at_end_of_tuple(p)) {
        *last = parse(p);
        if (!*last)
            break;
        last = &(*last)->next;
    }
    return tuple;
}

struct chat_node *
chat_parse_tuple(struct chat_parser *p, bool condition)
{
    struct chat_node *(*parse)(struct chat_parser *) =
        condition ? chat_parse_expression : parse_or;

    return tuple_of(p, parse(p), parse);
}

static struct chat_node *
parse_target_name(struct chat_parser *p)
{
    struct chat_node *n, *of;

    if (chat_parse_skip(p, "(")) {
        n = chat_parse_target(p);
        chat_parse_need(p, ")");
        return n;
    }
    if (p->token->type != CHAT_TOKEN_NAME)
        return chat_parse_expected(p, "a name");
    n = chat_parse_node(p, CHAT_NODE_NAME);
    if (n)
        n->name = chat_parse_name(p);
    if (!n || !chat_parse_skip(p, "."))
        return n;
    of = n;
    n = pair(p, CHAT_NODE_ATTRIBUTE, of, NULL);
    if (p->token->type != CHAT_TOKEN_NAME)
        return chat_parse_expected(p, "a name");
    if (n)
        n->name = chat_parse_name(p);
    return n;
}

struct chat_node *
chat_parse_target(struct chat_parser *p)
{
    struct chat_node *n;

    if (!chat_parse_down(p))
        return NULL;
    n = parse_target_name(p);
    chat_parse_up(p);
    return tuple_of(p, n, parse_target_name);
}
