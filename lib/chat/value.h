/* value.h - the values of the template language, and their arena
 *
 * Values are Python's, as far as chat templates see them. They are passed by
 * value; what they point to lives in an arena and is never changed after it
 * was made, but for namespaces and for lists and dicts that are being built.
 *
 * Each byte of a string has an origin: what may become a control token when
 * the text is tokenised, and what must not. */
#ifndef CHAT_VALUE_H
#define CHAT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chat/arena.h"

enum chat_origin {
    CHAT_TEXT,    /* what a user, a tool or a model said; numbers; JSON */
    CHAT_TRUSTED, /* the template's own, and names of special tokens */
    CHAT_ROLE,    /* a role: trusted between two that are */
    CHAT_LABELS,  /* and above: text of which it is known whose (shown.h) */
};

enum chat_type {
    CHAT_ABSENT, /* an argument that was not given; never a value */
    CHAT_UNDEFINED,
    CHAT_NONE,
    CHAT_BOOL,
    CHAT_INT,
    CHAT_FLOAT,
    CHAT_LARGE, /* a number that is passed through as its text */
    CHAT_STRING,
    CHAT_LIST,
    CHAT_TUPLE, /* a list that prints with parentheses */
    CHAT_DICT,
    CHAT_NAMESPACE, /* a dict to which templates assign */
    CHAT_LOOP,
    CHAT_FUNCTION,
};

/* `origins` is NULL where all bytes have the same, `origin`. */
struct chat_string {
    const char *s;
    size_t n;
    const uint16_t *origins;
    uint16_t origin;
    /* The filter `safe` made it, or `escape`: what + joins to it is escaped
     * for HTML, as markupsafe does it. */
    bool markup;
};

/* A number of JSON that neither an int64_t nor a double holds: its text is
 * what is printed, `f` what is reckoned with. */
struct chat_large {
    const char *text;
    double f; /* may be infinite */
    bool whole;
};

struct chat_list;
struct chat_dict;
struct chat_loop;
struct chat_function;

struct chat_value {
    enum chat_type type;
    union {
        bool b;
        int64_t i;
        double f;
        const struct chat_string *string;
        const struct chat_large *large;
        struct chat_list *list; /* lists and tuples */
        struct chat_dict *dict; /* dicts and namespaces */
        struct chat_loop *loop;
        const struct chat_function *function;
        const char *name; /* of what is undefined, or NULL */
        uint16_t origin;  /* of None, where it is printed */
    };
};

enum {
    CHAT_DEPTH = 300
}; /* of values within values, at most */

struct chat_list {
    struct chat_value *items;
    size_t n, cap;
    unsigned depth; /* 1 + the largest of an item */
};

struct chat_pair {
    struct chat_value key, value;
};

/* In the order in which keys were added. */
struct chat_dict {
    struct chat_pair *pairs;
    size_t n, cap;
    unsigned depth;
    uint16_t origin; /* of the None that get() has for a key it lacks */
};

#define CHAT_VALUE_NONE                                                        \
    (struct chat_value)                                                        \
    {                                                                          \
        .type = CHAT_NONE                                                      \
    }

struct chat_value
chat_undefined(const char *name);
struct chat_value
chat_bool(bool b);
struct chat_value
chat_int(int64_t i);
struct chat_value
chat_float(double f);
/* CHAT_ABSENT where there is no memory; `text` is a number of JSON. */
struct chat_value
chat_large(struct chat_arena *a, const char *text);

/* A string of bytes that live as long as the arena; a CHAT_ABSENT value where
 * there is no memory. */
struct chat_value
chat_string(struct chat_arena *a, const char *s, size_t n,
            enum chat_origin origin);
/* A string of a copy of the bytes. */
struct chat_value
chat_string_copy(struct chat_arena *a, const char *s, size_t n,
                 enum chat_origin origin);

/* Empty ones; CHAT_ABSENT where there is no memory. */
struct chat_value
chat_list(struct chat_arena *a, enum chat_type type);
struct chat_value
chat_dict(struct chat_arena *a, enum chat_type type);

/* Lists and dicts of one another, down to a value without; namespaces are
 * such, as nothing that walks down a value walks into them. */
unsigned
chat_value_depth(struct chat_value v);

/* False where there is no memory, or the depth would pass CHAT_DEPTH. */
bool
chat_list_add(struct chat_arena *a, struct chat_list *list,
              struct chat_value value);
/* Replaces the value of a key that is there. */
bool
chat_dict_set(struct chat_arena *a, struct chat_dict *dict,
              struct chat_value key, struct chat_value value);
/* Adds the value of a key that is not there yet. */
bool
chat_dict_put(struct chat_arena *a, struct chat_dict *dict, const char *key,
              struct chat_value value);

/* Steps that finding a key takes: all pairs are looked at, and long keys are
 * compared byte by byte. */
uint64_t
chat_dict_cost(const struct chat_dict *dict, struct chat_value key);
/* NULL: no such key. */
const struct chat_value *
chat_dict_get(const struct chat_dict *dict, struct chat_value key);
const struct chat_value *
chat_dict_find(const struct chat_dict *dict, const char *key, size_t len);

/* bool(value) in Python. */
bool
chat_truth(struct chat_value v);
/* a == b in Python. Lists that have a list twice take exponential time. */
bool
chat_equal(struct chat_value a, struct chat_value b);
/* chat_equal(), taking steps; false where none is left. */
bool
chat_equal_within(struct chat_value a, struct chat_value b, uint64_t *steps);

bool
chat_is_number(struct chat_value v); /* Python's bools are numbers */
/* The value of a number. */
double
chat_number(struct chat_value v);
bool
chat_is_real(struct chat_value v); /* a number to be reckoned with as such */
bool
chat_is_list(struct chat_value v); /* or a tuple */
bool
chat_is(const struct chat_string *s, const char *text);

static inline bool
chat_is_text(uint16_t origin)
{
    return origin == CHAT_TEXT || origin >= CHAT_LABELS;
}

/* "str", "dict", ...: as Python calls the type. */
const char *
chat_type_name(struct chat_value v);

#endif
