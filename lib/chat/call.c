/* call.c - calling functions, filters, tests and macros */
#include <config.h>

#include <string.h>

#include "chat/evaluate.h"
#include "chat/parser.h"
#include "chat/text.h"

/* ---- arguments ----------------------------------------------------------- */

/* Arguments while they are collected. */
struct collected {
    struct chat_value plain; /* a list */
    struct chat_value named; /* a dict */
};

static void
add_list(struct chat_run *r, struct collected *c, struct chat_value v)
{
    v = chat_iterate(r, v);
    for (size_t i = 0; !chat_failed(r) && i < v.list->n; i++)
        chat_run_add(r, c->plain, v.list->items[i]);
}

static void
add_dict(struct chat_run *r, struct collected *c, struct chat_value v)
{
    if (v.type != CHAT_DICT)
        chat_fail(r, "** wants a dict, not a %s", chat_type_name(v));
    for (size_t i = 0; !chat_failed(r) && i < v.dict->n; i++)
        chat_set(r, c->named, v.dict->pairs[i].key, v.dict->pairs[i].value);
}

static void
add_argument(struct chat_run *r, struct collected *c, const struct chat_node *n)
{
    struct chat_value v = chat_evaluate(r, n->a);

    if (chat_failed(r))
        return;
    if (n->op == '*')
        add_list(r, c, v);
    else if (n->op == '2')
        add_dict(r, c, v);
    else if (n->name)
        chat_set(r, c->named, chat_words(r, n->name), v);
    else
        chat_run_add(r, c->plain, v);
}

static struct chat_value
no_such_argument(struct chat_run *r, const char *function,
                 struct chat_value name)
{
    const struct chat_string *s = name.type == CHAT_STRING ? name.string : NULL;

    return chat_fail(r, "%s has no argument %.*s", function,
                     s && s->n < 64 ? (int)s->n : 0, s ? s->s : "");
}

/* ---- entries of tables --------------------------------------------------- */

/* Which parameter of "old,new" a name is; -1: none. */
static int
parameter(const char *parameters, const struct chat_string *name)
{
    int i = 0;

    for (const char *p = parameters; *p; i++) {
        size_t n = strcspn(p, ",");

        if (n == name->n && memcmp(p, name->s, n) == 0)
            return i;
        p += n + (p[n] == ',');
    }
    return -1;
}

static size_t
count_parameters(const char *parameters)
{
    size_t n = *parameters != '\0';

    for (const char *p = parameters; *p; p++)
        n += *p == ',';
    return n;
}

struct chat_value
chat_call_builtin(struct chat_run *r, const struct chat_builtin *b,
                  struct chat_value self, const struct chat_arguments *a)
{
    struct chat_value v[CHAT_PARAMETERS] = { { .type = CHAT_ABSENT } };
    struct chat_arguments bound = { v, 0, NULL };

    chat_take_steps(r, 2);
    if (self.type == CHAT_STRING) /* most go through all of it */
        chat_take_steps(r, self.string->n / 4);
    if (chat_failed(r))
        return chat_undefined(NULL);
    if (!b->parameters)
        return b->call(r, self, a);
    bound.n = count_parameters(b->parameters);
    if (a->n > bound.n)
        return chat_fail(r, "%s takes %zu arguments, not %zu", b->name, bound.n,
                         a->n);
    for (size_t i = 0; i < a->n; i++)
        v[i] = a->v[i];
    for (size_t i = 0; a->named && i < a->named->n; i++) {
        struct chat_value name = a->named->pairs[i].key;
        int k = name.type == CHAT_STRING ? parameter(b->parameters, name.string)
                                         : -1;

        if (k < 0 || v[k].type != CHAT_ABSENT)
            return no_such_argument(r, b->name, name);
        v[k] = a->named->pairs[i].value;
    }
    return b->call(r, self, &bound);
}

struct chat_value
chat_call_simply(struct chat_run *r, const struct chat_builtin *b,
                 struct chat_value self, struct chat_value first,
                 struct chat_value second)
{
    const struct chat_value v[2] = { first, second };
    const struct chat_dict none = { 0 };
    const struct chat_arguments a = { v,
                                      (size_t)(first.type != CHAT_ABSENT) +
                                          (second.type != CHAT_ABSENT),
                                      &none };

    return chat_call_builtin(r, b, self, &a);
}

const struct chat_builtin *
chat_find_builtin(const struct chat_builtin *table, const char *name)
{
    while (table->name && strcmp(table->name, name) != 0)
        table++;
    return table->name ? table : NULL;
}

/* ---- macros -------------------------------------------------------------- */

struct chat_value
chat_macro(struct chat_run *r, const struct chat_node *n)
{
    struct chat_function *f = chat_alloc(r, sizeof(*f));

    if (!f)
        return chat_undefined(NULL);
    *f = (struct chat_function){ .macro = n, .scope = r->scope };
    return (struct chat_value){ .type = CHAT_FUNCTION, .function = f };
}

/* Gives a macro's parameter its value: argument i, the one of its name, its
 * default, or none. */
static void
bind_parameter(struct chat_run *r, const struct chat_node *p,
               const struct chat_arguments *a, size_t i)
{
    const struct chat_value *v =
        i < a->n   ? &a->v[i]
        : a->named ? chat_find_name(r, a->named, p->name, strlen(p->name))
                   : NULL;

    if (v)
        chat_assign(r, p->name, *v);
    else
        chat_assign(r, p->name,
                    p->a ? chat_evaluate(r, p->a) : chat_undefined(p->name));
}

/* Whether a parameter after the first `from` has this name. */
static bool
has_parameter(struct chat_run *r, const struct chat_node *macro, size_t from,
              const struct chat_string *name)
{
    for (const struct chat_node *p = macro->a; p; p = p->next) {
        chat_take_steps(r, 1);
        if (chat_is(name, p->name))
            return from == 0;
        from -= from > 0;
    }
    return false;
}

/* Binds the plain arguments that a macro's parameters leave. */
static void
bind_plain_rest(struct chat_run *r, const struct chat_node *macro,
                const struct chat_arguments *a, size_t i)
{
    struct chat_value rest = chat_new_list(r, CHAT_TUPLE);

    if (i < a->n && !(macro->op & CHAT_VARARGS))
        chat_fail(r, "macro %s has too many arguments", macro->name);
    for (; i < a->n && !chat_failed(r); i++)
        chat_run_add(r, rest, a->v[i]);
    if (macro->op & CHAT_VARARGS && !chat_failed(r))
        chat_assign(r, macro->b->name, rest);
}

/* Binds the remaining arguments with names; `caller` is one. */
static void
bind_named_rest(struct chat_run *r, const struct chat_node *macro,
                const struct chat_arguments *a)
{
    struct chat_value rest = chat_new_dict(r, CHAT_DICT);

    for (size_t i = 0; a->named && i < a->named->n && !chat_failed(r); i++) {
        const struct chat_pair *pair = &a->named->pairs[i];

        if (pair->key.type != CHAT_STRING)
            no_such_argument(r, macro->name, pair->key);
        else if (macro->op & CHAT_CALLER && chat_is(pair->key.string, "caller"))
            chat_assign(r, macro->e->name, pair->value);
        else if (has_parameter(r, macro, a->n, pair->key.string))
            continue;
        else if (macro->op & CHAT_KWARGS)
            chat_set(r, rest, pair->key, pair->value);
        else
            no_such_argument(r, macro->name, pair->key);
    }
    if (macro->op & CHAT_KWARGS && !chat_failed(r))
        chat_assign(r, macro->d->name, rest);
}

static struct chat_value
call_macro(struct chat_run *r, const struct chat_function *f,
           const struct chat_arguments *a)
{
    struct chat_scope *scope = r->scope;
    enum chat_jump jump = r->jump;
    struct chat_value out;
    size_t i = 0;

    if (!chat_down(r, f->macro))
        return chat_undefined(NULL);
    r->scope = f->scope;
    r->jump = CHAT_GO_ON;
    chat_enter(r);
    for (const struct chat_node *p = f->macro->a; p && !chat_failed(r);
         p = p->next)
        bind_parameter(r, p, a, i++);
    if (!chat_failed(r))
        bind_plain_rest(r, f->macro, a, i);
    if (!chat_failed(r))
        bind_named_rest(r, f->macro, a);
    out = chat_capture(r, f->macro->c);
    r->scope = scope;
    r->jump = jump;
    chat_up(r);
    return out;
}

/* ---- calls --------------------------------------------------------------- */

struct chat_value
chat_call(struct chat_run *r, struct chat_value v,
          const struct chat_arguments *a)
{
    if (chat_failed(r))
        return chat_undefined(NULL);
    if (v.type == CHAT_LOOP && a->n == 1)
        return chat_loop_again(r, v.loop, a->v[0]);
    if (v.type != CHAT_FUNCTION)
        return v.type == CHAT_UNDEFINED
                   ? chat_fail(r, "%s is undefined, and no function",
                               v.name ? v.name : "a value")
                   : chat_fail(r, "a %s is no function", chat_type_name(v));
    if (v.function->builtin)
        return chat_call_builtin(r, v.function->builtin, v.function->self, a);
    return call_macro(r, v.function, a);
}

struct chat_value
chat_call_node(struct chat_run *r, const struct chat_node *n,
               struct chat_value caller)
{
    struct chat_value of = chat_evaluate(r, n->a);
    struct collected c = { chat_new_list(r, CHAT_LIST),
                           chat_new_dict(r, CHAT_DICT) };
    struct chat_arguments a;

    for (const struct chat_node *i = n->b; i && !chat_failed(r); i = i->next)
        add_argument(r, &c, i);
    if (caller.type != CHAT_UNDEFINED && !chat_failed(r))
        chat_set(r, c.named, chat_words(r, "caller"), caller);
    if (chat_failed(r))
        return chat_undefined(NULL);
    r->line = n->line;
    if (n->type != CHAT_NODE_CALL && !n->builtin)
        return chat_fail(r, "no %s is called %s",
                         n->type == CHAT_NODE_TEST ? "test" : "filter",
                         n->name);
    a = (struct chat_arguments){ c.plain.list->items, c.plain.list->n,
                                 c.named.dict };
    return n->builtin ? chat_call_builtin(r, n->builtin, of, &a)
                      : chat_call(r, of, &a);
}

/* ---- what functions want ------------------------------------------------- */

const struct chat_string *
chat_string_argument(struct chat_run *r, struct chat_value v, const char *other)
{
    if (v.type == CHAT_ABSENT && other)
        v = chat_words(r, other);
    if (v.type == CHAT_STRING)
        return v.string;
    if (!chat_failed(r))
        chat_fail(r, "an argument is a %s, not a str", chat_type_name(v));
    return NULL;
}

int64_t
chat_int_argument(struct chat_run *r, struct chat_value v, int64_t other)
{
    if (v.type == CHAT_INT)
        return v.i;
    if (v.type == CHAT_BOOL)
        return v.b;
    if (v.type != CHAT_ABSENT)
        chat_fail(r, "an argument is a %s, not an int", chat_type_name(v));
    return other;
}

bool
chat_bool_argument(struct chat_value v, bool other)
{
    return v.type == CHAT_ABSENT ? other : chat_truth(v);
}
