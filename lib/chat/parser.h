/* parser.h - tokens to a tree, by recursive descent */
#ifndef CHAT_PARSER_H
#define CHAT_PARSER_H

#include "chat/lexer.h"
#include "chat/node.h"

/* Names that stand in a template, each once. */
struct chat_names {
    const char **p;
    size_t n, cap;  /* a hash table of `cap` places */
    uint64_t start; /* of the hashes: no template can know it */
};

struct chat_parser {
    struct chat_arena *arena;
    const struct chat_token *token; /* the next one */
    struct chat_names names;
    unsigned depth; /* of nodes within nodes */
    unsigned loops; /* around the next token, within its macro */
    int uses;       /* bits of enum chat_uses, of the macro that is read */
    enum gg_status status;
    struct gg_error *err;
};

enum chat_uses {
    CHAT_VARARGS = 1,
    CHAT_KWARGS = 2,
    CHAT_CALLER = 4
};

/* The tree of a template, a list of statements, which may be NULL. What it is
 * made of lives in the arena. */
enum gg_status
chat_parse(struct chat_parser *p, const char *text, size_t n,
           struct chat_node **tree);

/* The address of a name; NULL where the template has it not. */
const char *
chat_name(const struct chat_names *names, const char *s, size_t n);

/* Within the parser. The first failure sticks, and tokens end there. */
__attribute__((format(printf, 2, 3))) struct chat_node *
chat_parse_fail(struct chat_parser *p, const char *fmt, ...);
struct chat_node *
chat_parse_no_memory(struct chat_parser *p);
/* "expected this, not that" */
struct chat_node *
chat_parse_expected(struct chat_parser *p, const char *what);
/* NULL where there is no memory. */
struct chat_node *
chat_parse_node(struct chat_parser *p, enum chat_node_type type);
/* The text of the name that is the next token. */
const char *
chat_parse_name(struct chat_parser *p);
const char *
chat_parse_intern(struct chat_parser *p, const char *s, size_t n);

bool
chat_parse_at(const struct chat_parser *p, const char *op);
bool
chat_parse_at_word(const struct chat_parser *p, const char *word);
/* Whether the operator or word is next; if so, goes on after it. */
bool
chat_parse_skip(struct chat_parser *p, const char *op);
bool
chat_parse_skip_word(struct chat_parser *p, const char *word);
void
chat_parse_need(struct chat_parser *p, const char *op);

/* False, and a failure, where nodes are nested too deep; else
 * chat_parse_up(). */
bool
chat_parse_down(struct chat_parser *p);
void
chat_parse_up(struct chat_parser *p);

/* The next token: a name or a constant that is a word, a number; and strings
 * that follow one another. */
struct chat_node *
chat_parse_word(struct chat_parser *p);
struct chat_node *
chat_parse_number(struct chat_parser *p);
struct chat_node *
chat_parse_string(struct chat_parser *p);

struct chat_node *
chat_parse_expression(struct chat_parser *p);
/* a, b, ...: a tuple, where there is a comma. `condition`: an `if` belongs to
 * it; else it is left. */
struct chat_node *
chat_parse_tuple(struct chat_parser *p, bool condition);
/* The target of an assignment: a name, a tuple of them, or name.name. */
struct chat_node *
chat_parse_target(struct chat_parser *p);
/* |filters that follow `node`; `first`: a name stands in front of the first. */
struct chat_node *
chat_parse_filters(struct chat_parser *p, struct chat_node *node, bool first);
/* (arguments), if the next token is '('. */
struct chat_node *
chat_parse_arguments(struct chat_parser *p);

#endif
