/* evaluate.c - the values of expressions */
#include <config.h>

#include "chat/evaluate.h"

#include <stdio.h>
#include <string.h>

#include "chat/text.h"

enum {
    MAX_DEPTH = 400
}; /* of nodes and macros within each other */

bool
chat_down(struct chat_run *r, const struct chat_node *n)
{
    if (chat_failed(r))
        return false;
    r->line = n->line;
    chat_take_steps(r, 1);
    if (r->depth >= MAX_DEPTH)
        chat_fail(r, "macros call each other too deep");
    if (chat_failed(r))
        return false;
    r->depth++;
    return true;
}

void
chat_up(struct chat_run *r)
{
    r->depth--;
}

/* ---- names --------------------------------------------------------------- */

static struct chat_value
function_value(struct chat_run *r, const struct chat_builtin *b,
               struct chat_value self)
{
    struct chat_function *f = chat_alloc(r, sizeof(*f));

    if (!f)
        return chat_undefined(NULL);
    chat_take_steps(r, 2); /* names were compared */
    *f = (struct chat_function){ .builtin = b, .self = self };
    return (struct chat_value){ .type = CHAT_FUNCTION, .function = f };
}

static struct chat_value
name_value(struct chat_run *r, const char *name)
{
    const struct chat_value *v = chat_lookup(r, name);
    const struct chat_builtin *b = v ? NULL : chat_global(name);

    if (v)
        return *v;
    return b ? function_value(r, b, CHAT_VALUE_NONE) : chat_undefined(name);
}

static struct chat_value
fail_undefined(struct chat_run *r, struct chat_value v, const char *what)
{
    return chat_fail(r, "%s is undefined, and has no %s",
                     v.name ? v.name : "a value", what);
}

static const struct chat_value *
key_value(struct chat_run *r, struct chat_value of, const char *name)
{
    if (of.type != CHAT_DICT && of.type != CHAT_NAMESPACE)
        return NULL;
    return chat_find_name(r, of.dict, name, strlen(name));
}

struct chat_value
chat_attribute(struct chat_run *r, struct chat_value of, const char *name)
{
    const struct chat_builtin *method = chat_method(of, name);
    const struct chat_value *v;

    if (of.type == CHAT_UNDEFINED)
        return fail_undefined(r, of, name);
    if (of.type == CHAT_LOOP)
        return chat_loop_attribute(r, of.loop, name);
    chat_take_steps(r, 1);
    if (method)
        return function_value(r, method, of);
    v = key_value(r, of, name);
    return v ? *v : chat_undefined(name);
}

/* ---- items --------------------------------------------------------------- */

/* Index i of n as Python counts, from the end where it is negative; n where
 * there is none. */
static size_t
place(int64_t i, size_t n)
{
    if (i < 0)
        i += (int64_t)n;
    return i < 0 || i >= (int64_t)n ? n : (size_t)i;
}

static struct chat_value
character(struct chat_run *r, const struct chat_string *s, int64_t i)
{
    size_t length = chat_length(r, s), k = place(i, length), at;

    if (k == length)
        return chat_undefined(NULL);
    at = chat_offset(r, s, k);
    return chat_part(r, s, at, chat_character(s, at, NULL));
}

static struct chat_value
numbered_item(struct chat_run *r, struct chat_value of, int64_t i)
{
    size_t k;

    if (of.type == CHAT_STRING)
        return character(r, of.string, i);
    if (!chat_is_list(of))
        return chat_undefined(NULL);
    k = place(i, of.list->n);
    return k < of.list->n ? of.list->items[k] : chat_undefined(NULL);
}

struct chat_value
chat_attribute_named(struct chat_run *r, struct chat_value of,
                     const struct chat_string *name)
{
    struct chat_value v;
    char s[64];

    if (name->n >= sizeof(s) || (name->n && memchr(name->s, '\0', name->n)))
        return chat_undefined(NULL);
    snprintf(s, sizeof(s), "%.*s", (int)name->n, name->n ? name->s : "");
    v = chat_attribute(r, of, s);
    if (v.type == CHAT_UNDEFINED && v.name == s) {
        char *kept = chat_alloc(r, name->n + 1);

        v.name = kept ? memcpy(kept, s, name->n + 1) : NULL;
    }
    return v;
}

struct chat_value
chat_item(struct chat_run *r, struct chat_value of, struct chat_value key)
{
    const struct chat_value *v = NULL;

    if (of.type == CHAT_UNDEFINED)
        return fail_undefined(r, of, "items");
    if (of.type == CHAT_DICT)
        v = chat_find_key(r, of.dict, key);
    if (v)
        return *v;
    if (key.type == CHAT_INT || key.type == CHAT_BOOL)
        return numbered_item(r, of, key.type == CHAT_INT ? key.i : key.b);
    if (key.type == CHAT_STRING)
        return chat_attribute_named(r, of, key.string);
    return chat_undefined(NULL);
}

/* The number that s[0..n) is; -1: it is none, or large. */
static int64_t
number_of(const char *s, size_t n)
{
    int64_t number = 0;

    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9' || i == 9)
            return -1;
        number = 10 * number + (s[i] - '0');
    }
    return n ? number : -1;
}

struct chat_value
chat_path(struct chat_run *r, struct chat_value of,
          const struct chat_string *path)
{
    size_t at = 0;

    while (at <= path->n && !chat_failed(r)) {
        const char *s = path->s + at;
        const char *dot = path->n > at ? memchr(s, '.', path->n - at) : NULL;
        size_t n = dot ? (size_t)(dot - s) : path->n - at;
        int64_t i = number_of(s, n);
        struct chat_value key = chat_part(r, path, at, n);

        chat_take_steps(r, 1);
        if (!chat_failed(r))
            of = i >= 0 ? numbered_item(r, of, i) : chat_item(r, of, key);
        at += n + 1;
    }
    return of;
}

/* ---- slices -------------------------------------------------------------- */

/* A bound of a slice of n items; `other` where there is none. */
static int64_t
slice_bound(struct chat_run *r, const struct chat_node *n, int64_t length,
            int64_t least, int64_t most, int64_t other)
{
    struct chat_value v = n ? chat_evaluate(r, n) : CHAT_VALUE_NONE;
    int64_t i;

    if (chat_failed(r) || v.type == CHAT_NONE)
        return other;
    if (v.type != CHAT_INT && v.type != CHAT_BOOL) {
        chat_fail(r, "a slice's bound is a %s, not a number",
                  chat_type_name(v));
        return other;
    }
    i = v.type == CHAT_INT ? v.i : v.b;
    if (i < 0)
        i = i < -length ? least : i + length;
    return i < least ? least : i > most ? most : i;
}

struct range {
    int64_t from, to, step;
};

static struct range
slice_range(struct chat_run *r, const struct chat_node *n, int64_t length)
{
    struct range s = { 0, length, 1 };
    int64_t low, high;

    if (n->d) {
        struct chat_value step = chat_evaluate(r, n->d);

        s.step = step.type == CHAT_NONE ? 1 : chat_int_argument(r, step, 1);
    }
    if (s.step == 0)
        chat_fail(r, "a slice's step is zero");
    low = s.step < 0 ? -1 : 0;
    high = s.step < 0 ? length - 1 : length;
    s.from = slice_bound(r, n->b, length, low, high, s.step < 0 ? high : low);
    s.to = slice_bound(r, n->c, length, low, high, s.step < 0 ? low : high);
    return s;
}

static bool
within(const struct range *s, int64_t i)
{
    return s->step > 0 ? i < s->to : i > s->to;
}

static struct chat_value
slice_list(struct chat_run *r, const struct range *s, struct chat_value v)
{
    struct chat_value out = chat_new_list(r, v.type);

    for (int64_t i = s->from; !chat_failed(r) && within(s, i); i += s->step) {
        chat_run_add(r, out, v.list->items[i]);
        if (s->step > INT32_MAX || s->step < INT32_MIN)
            break;
    }
    return out;
}

/* One whose step is not 1 goes by a list of the characters. */
static struct chat_value
slice_string(struct chat_run *r, const struct range *s, struct chat_value v)
{
    const struct chat_value absent = { .type = CHAT_ABSENT };
    size_t from, to;

    if (s->step == 1) {
        from = chat_offset(r, v.string, (size_t)s->from);
        to = s->to > s->from ? chat_offset(r, v.string, (size_t)s->to) : from;
        return chat_part(r, v.string, from, to - from);
    }
    v = chat_iterate(r, v);
    if (!chat_failed(r))
        v = slice_list(r, s, v);
    return chat_failed(r)
               ? v
               : chat_call_simply(r, chat_filter("join"), v, absent, absent);
}

static struct chat_value
slice(struct chat_run *r, const struct chat_node *n)
{
    struct chat_value v = chat_evaluate(r, n->a);
    struct range s;

    if (chat_failed(r))
        return v;
    if (v.type == CHAT_UNDEFINED)
        return fail_undefined(r, v, "items");
    if (v.type != CHAT_STRING && !chat_is_list(v))
        return chat_fail(r, "a %s has no slices", chat_type_name(v));
    s = slice_range(r, n,
                    (int64_t)(v.type == CHAT_STRING ? chat_length(r, v.string)
                                                    : v.list->n));
    if (chat_failed(r))
        return v;
    return v.type == CHAT_STRING ? slice_string(r, &s, v)
                                 : slice_list(r, &s, v);
}

/* ---- lists and dicts ----------------------------------------------------- */

static struct chat_value
list(struct chat_run *r, const struct chat_node *n)
{
    struct chat_value v =
        chat_new_list(r, n->type == CHAT_NODE_LIST ? CHAT_LIST : CHAT_TUPLE);

    for (const struct chat_node *i = n->a; i && !chat_failed(r); i = i->next)
        chat_run_add(r, v, chat_evaluate(r, i));
    return v;
}

static struct chat_value
dict(struct chat_run *r, const struct chat_node *n)
{
    struct chat_value v = chat_new_dict(r, CHAT_DICT);

    for (const struct chat_node *i = n->a; i && !chat_failed(r); i = i->next) {
        struct chat_value key = chat_evaluate(r, i->a);

        chat_set(r, v, key, chat_evaluate(r, i->b));
    }
    return v;
}

struct chat_value
chat_iterate(struct chat_run *r, struct chat_value v)
{
    struct chat_value out;

    if (chat_failed(r) || chat_is_list(v))
        return v;
    out = chat_new_list(r, CHAT_LIST);
    if (v.type == CHAT_STRING) {
        for (size_t at = 0, n; at < v.string->n && !chat_failed(r); at += n) {
            n = chat_character(v.string, at, NULL);
            chat_run_add(r, out, chat_part(r, v.string, at, n));
        }
    } else if (v.type == CHAT_DICT) {
        for (size_t i = 0; i < v.dict->n && !chat_failed(r); i++)
            chat_run_add(r, out, v.dict->pairs[i].key);
    } else if (v.type != CHAT_UNDEFINED) {
        return chat_fail(r, "a %s is no list", chat_type_name(v));
    }
    return out;
}

/* ---- operators ----------------------------------------------------------- */

static struct chat_value
unary(struct chat_run *r, const struct chat_node *n)
{
    struct chat_value v = chat_evaluate(r, n->a);

    if (n->op == '!')
        return chat_bool(!chat_truth(v));
    if (!chat_is_number(v))
        return chat_fail(r, "a %s has no sign", chat_type_name(v));
    if (chat_is_real(v))
        return chat_float(n->op == '-' ? -chat_number(v) : chat_number(v));
    return chat_operate(r, n->op, chat_int(0), v);
}

static struct chat_value
compare(struct chat_run *r, const struct chat_node *n)
{
    struct chat_value left = chat_evaluate(r, n->a);
    bool holds = true;

    for (const struct chat_node *o = n->b; holds && o && !chat_failed(r);
         o = o->next) {
        struct chat_value right = chat_evaluate(r, o->a);

        holds = chat_compare(r, o->op, left, right);
        left = right;
    }
    return chat_bool(holds);
}

static struct chat_value
binary(struct chat_run *r, const struct chat_node *n)
{
    struct chat_value a = chat_evaluate(r, n->a);
    struct chat_value b = chat_evaluate(r, n->b);

    return chat_failed(r) ? a : chat_operate(r, n->op, a, b);
}

static struct chat_value
concat(struct chat_run *r, const struct chat_node *n)
{
    struct chat_value a = chat_str(r, chat_evaluate(r, n->a));
    struct chat_value b = chat_str(r, chat_evaluate(r, n->b));

    return chat_failed(r) ? a : chat_concatenate(r, a.string, b.string);
}

static struct chat_value
either(struct chat_run *r, const struct chat_node *n)
{
    if (chat_truth(chat_evaluate(r, n->a)))
        return chat_evaluate(r, n->b);
    return n->c ? chat_evaluate(r, n->c) : chat_undefined(NULL);
}

static struct chat_value
and_or(struct chat_run *r, const struct chat_node *n)
{
    struct chat_value v = chat_evaluate(r, n->a);

    return chat_truth(v) == (n->type == CHAT_NODE_AND) ? chat_evaluate(r, n->b)
                                                       : v;
}

/* ---- all ----------------------------------------------------------------- */

static struct chat_value
evaluate(struct chat_run *r, const struct chat_node *n)
{
    struct chat_value v;

    switch (n->type) {
    case CHAT_NODE_CONSTANT:
        return n->value;
    case CHAT_NODE_NAME:
        return name_value(r, n->name);
    case CHAT_NODE_LIST:
    case CHAT_NODE_TUPLE:
        return list(r, n);
    case CHAT_NODE_DICT:
        return dict(r, n);
    case CHAT_NODE_ATTRIBUTE:
        v = chat_evaluate(r, n->a);
        return chat_failed(r) ? v : chat_attribute(r, v, n->name);
    case CHAT_NODE_ITEM:
        v = chat_evaluate(r, n->a);
        return chat_failed(r) ? v : chat_item(r, v, chat_evaluate(r, n->b));
    case CHAT_NODE_SLICE:
        return slice(r, n);
    case CHAT_NODE_CALL:
    case CHAT_NODE_FILTER:
    case CHAT_NODE_TEST:
        return chat_call_node(r, n, chat_undefined(NULL));
    case CHAT_NODE_UNARY:
        return unary(r, n);
    case CHAT_NODE_BINARY:
        return binary(r, n);
    case CHAT_NODE_COMPARE:
        return compare(r, n);
    case CHAT_NODE_AND:
    case CHAT_NODE_OR:
        return and_or(r, n);
    case CHAT_NODE_CONCAT:
        return concat(r, n);
    case CHAT_NODE_IF_ELSE:
        return either(r, n);
    case CHAT_NODE_CAPTURED:
        return r->captured;
    default:
        return chat_fail(r, "no expression");
    }
}

struct chat_value
chat_evaluate(struct chat_run *r, const struct chat_node *n)
{
    struct chat_value v;

    if (!chat_down(r, n))
        return chat_undefined(NULL);
    v = evaluate(r, n);
    chat_up(r);
    return chat_failed(r) ? chat_undefined(NULL) : v;
}
