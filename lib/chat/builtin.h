/* builtin.h - filters, tests, methods and global functions: tables */
#ifndef CHAT_BUILTIN_H
#define CHAT_BUILTIN_H

#include "chat/run.h"

/* Arguments of a function's call. Where its table has names of parameters,
 * v[] has a value for each of them, CHAT_ABSENT where none was given, and no
 * other; else v[0..n) are those without a name, and `named` has the others. */
struct chat_arguments {
    const struct chat_value *v;
    size_t n;
    const struct chat_dict *named;
};

struct chat_builtin {
    const char *name;
    struct chat_value (*call)(struct chat_run *r, struct chat_value self,
                              const struct chat_arguments *a);
    /* "old,new,count", or "" for none; NULL: it takes what comes. */
    const char *parameters;
};

enum {
    CHAT_PARAMETERS = 8
}; /* of a table's entry, at most */

/* A value that can be called. */
struct chat_function {
    const struct chat_builtin *builtin;
    struct chat_value self; /* of a method */
    /* Or a macro, and where it was defined. */
    const struct chat_node *macro;
    struct chat_scope *scope;
};

/* NULL: there is none of that name. Tables end with a NULL name. */
const struct chat_builtin *
chat_filter(const char *name);
const struct chat_builtin *
chat_test(const char *name);
const struct chat_builtin *
chat_global(const char *name);
const struct chat_builtin *
chat_method(struct chat_value self, const char *name);
const struct chat_builtin *
chat_find_builtin(const struct chat_builtin *table, const char *name);

extern const struct chat_builtin chat_filters[], chat_list_filters[],
    chat_string_methods[], chat_string_parts[], chat_dict_methods[],
    chat_list_methods[], chat_tests[], chat_globals[];

/* Calls an entry of a table with arguments as they stand: binds them. */
struct chat_value
chat_call_builtin(struct chat_run *r, const struct chat_builtin *b,
                  struct chat_value self, const struct chat_arguments *a);
/* Calls an entry with up to two arguments, both or the last CHAT_ABSENT. */
struct chat_value
chat_call_simply(struct chat_run *r, const struct chat_builtin *b,
                 struct chat_value self, struct chat_value first,
                 struct chat_value second);
/* Calls a value. */
struct chat_value
chat_call(struct chat_run *r, struct chat_value function,
          const struct chat_arguments *a);

/* Arguments that a function wants; `other` where it is absent. A failure
 * where it is none of that kind. */
const struct chat_string *
chat_string_argument(struct chat_run *r, struct chat_value v,
                     const char *other);
int64_t
chat_int_argument(struct chat_run *r, struct chat_value v, int64_t other);
bool
chat_bool_argument(struct chat_value v, bool other);

/* a.name and a[key] as templates mean them: attributes are keys, too. */
struct chat_value
chat_attribute(struct chat_run *r, struct chat_value of, const char *name);
/* a.name for a name that need not live on. */
struct chat_value
chat_attribute_named(struct chat_run *r, struct chat_value of,
                     const struct chat_string *name);
struct chat_value
chat_item(struct chat_run *r, struct chat_value of, struct chat_value key);
/* "a.b.0" */
struct chat_value
chat_path(struct chat_run *r, struct chat_value of,
          const struct chat_string *path);

/* A list of what iterating gives: of a list itself, characters, keys. */
struct chat_value
chat_iterate(struct chat_run *r, struct chat_value v);

/* a op b, for a type of enum chat_operator or a character. */
struct chat_value
chat_operate(struct chat_run *r, int op, struct chat_value a,
             struct chat_value b);
bool
chat_compare(struct chat_run *r, int op, struct chat_value a,
             struct chat_value b);
/* "%s and %d" % values; "{} and {name}".format(values). */
struct chat_value
chat_format_percent(struct chat_run *r, const struct chat_string *format,
                    struct chat_value values);
struct chat_value
chat_format_braces(struct chat_run *r, const struct chat_string *format,
                   const struct chat_arguments *a);

/* A string for HTML; one that is so already stays. */
struct chat_value
chat_escape(struct chat_run *r, struct chat_value v);

struct chat_value
chat_to_json(struct chat_run *r, struct chat_value self,
             const struct chat_arguments *a);
struct chat_value
chat_strftime(struct chat_run *r, struct chat_value self,
              const struct chat_arguments *a);

#endif
