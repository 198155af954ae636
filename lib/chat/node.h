/* node.h - a template as a tree */
#ifndef CHAT_NODE_H
#define CHAT_NODE_H

#include "chat/value.h"

enum chat_node_type {
    /* expressions */
    CHAT_NODE_CONSTANT,  /* value */
    CHAT_NODE_NAME,      /* name */
    CHAT_NODE_LIST,      /* a: items */
    CHAT_NODE_TUPLE,     /* a: items */
    CHAT_NODE_DICT,      /* a: NODE_PAIRs */
    CHAT_NODE_PAIR,      /* a: key, b: value */
    CHAT_NODE_ATTRIBUTE, /* a.name */
    CHAT_NODE_ITEM,      /* a[b] */
    CHAT_NODE_SLICE,     /* a[b:c:d], each but a may be NULL */
    CHAT_NODE_CALL,      /* a(b), b: NODE_ARGUMENTs */
    CHAT_NODE_ARGUMENT,  /* a, or name=a; op '*': *a, op '2': **a */
    CHAT_NODE_FILTER,    /* a|name(b) */
    CHAT_NODE_TEST,      /* a is name(b) */
    CHAT_NODE_UNARY,     /* op '!', '-', '+' */
    CHAT_NODE_BINARY,    /* a op b */
    CHAT_NODE_COMPARE,   /* a, then NODE_OPERANDs in b */
    CHAT_NODE_OPERAND,   /* op a */
    CHAT_NODE_AND,       /* a and b */
    CHAT_NODE_OR,        /* a or b */
    CHAT_NODE_CONCAT,    /* a ~ b */
    CHAT_NODE_IF_ELSE,   /* b if a else c; c may be NULL */
    CHAT_NODE_CAPTURED,  /* what a block wrote, where its filters begin */
    /* statements */
    CHAT_NODE_TEXT,  /* value */
    CHAT_NODE_PRINT, /* a */
    CHAT_NODE_IF,    /* a: condition, b: then, c: else */
    CHAT_NODE_FOR,   /* name: "loop", a: target, b: iterable, c: body, d: else,
                        e: condition; op '1': recursive */
    CHAT_NODE_SET,   /* a: target, b: value */
    CHAT_NODE_SET_BLOCK,    /* a: target, b: filters, c: body */
    CHAT_NODE_MACRO,        /* name, a: NODE_PARAMETERs, c: body; op: bits of
                               enum chat_uses; NODE_NAMEs of varargs in b,
                               of kwargs in d, of caller in e */
    CHAT_NODE_PARAMETER,    /* name, a: default or NULL */
    CHAT_NODE_CALL_BLOCK,   /* a: a NODE_MACRO of the body, b: the call */
    CHAT_NODE_FILTER_BLOCK, /* b: filters, c: body */
    CHAT_NODE_WITH,         /* a: NODE_SETs, c: body */
    CHAT_NODE_BLOCK,        /* c: body, in a scope of its own */
    CHAT_NODE_GENERATION,   /* c: body */
    CHAT_NODE_BREAK,
    CHAT_NODE_CONTINUE,
};

/* Operators of two characters; the others are their character. */
enum chat_operator {
    CHAT_OP_FLOOR_DIVIDE = 256, /* // */
    CHAT_OP_POWER,
    CHAT_OP_EQUAL,
    CHAT_OP_NOT_EQUAL,
    CHAT_OP_AT_LEAST,
    CHAT_OP_AT_MOST,
    CHAT_OP_IN,
    CHAT_OP_NOT_IN,
};

struct chat_node {
    enum chat_node_type type;
    int op;
    int line;
    const char *name;                   /* equal names have one address */
    const struct chat_builtin *builtin; /* of a filter or a test */
    struct chat_value value;
    struct chat_node *a, *b, *c, *d, *e;
    struct chat_node *next; /* in a list */
};

#endif
