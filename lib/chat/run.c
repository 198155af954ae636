/* run.c - one rendering: bounds, failure, scopes */
#include <config.h>

#include "chat/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct chat_value
chat_fail(struct chat_run *r, const char *fmt, ...)
{
    char why[sizeof(r->err->message)];
    va_list ap;

    if (chat_failed(r))
        return chat_undefined(NULL);
    va_start(ap, fmt);
    vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    r->status = error_set(r->err, GG_ERR_FORMAT, "line %d: %s", r->line, why);
    return chat_undefined(NULL);
}

struct chat_value
chat_fail_memory(struct chat_run *r)
{
    if (!chat_failed(r)) {
        chat_fail(r, "the chat template needs too much memory");
        r->status = GG_ERR_NOMEM;
    }
    return chat_undefined(NULL);
}

void
chat_take_steps(struct chat_run *r, uint64_t n)
{
    if (n <= r->steps) {
        r->steps -= n;
        return;
    }
    r->steps = 0;
    chat_fail(r, "the chat template does not end");
}

bool
chat_same(struct chat_run *r, struct chat_value a, struct chat_value b)
{
    bool same = !chat_failed(r) && chat_equal_within(a, b, &r->steps);

    if (r->steps == 0)
        chat_take_steps(r, 1);
    return same;
}

void *
chat_alloc(struct chat_run *r, size_t size)
{
    void *p = chat_failed(r) ? NULL : chat_arena_alloc(&r->arena, size);

    if (!p)
        chat_fail_memory(r);
    return p;
}

static struct chat_value
checked(struct chat_run *r, struct chat_value v)
{
    return v.type == CHAT_ABSENT ? chat_fail_memory(r) : v;
}

struct chat_value
chat_new_list(struct chat_run *r, enum chat_type type)
{
    return checked(r, chat_list(&r->arena, type));
}

struct chat_value
chat_new_dict(struct chat_run *r, enum chat_type type)
{
    return checked(r, chat_dict(&r->arena, type));
}

static void
not_added(struct chat_run *r, struct chat_value item)
{
    if (chat_value_depth(item) >= CHAT_DEPTH)
        chat_fail(r, "lists are nested too deep");
    else
        chat_fail_memory(r);
}

void
chat_run_add(struct chat_run *r, struct chat_value list, struct chat_value item)
{
    chat_take_steps(r, 1);
    if (!chat_failed(r) && !chat_list_add(&r->arena, list.list, item))
        not_added(r, item);
}

void
chat_set(struct chat_run *r, struct chat_value dict, struct chat_value key,
         struct chat_value value)
{
    if (chat_is_list(key) || key.type == CHAT_DICT)
        chat_fail(r, "a %s is no key of a dict", chat_type_name(key));
    else if (!chat_failed(r) &&
             !chat_dict_set(&r->arena, dict.dict, key, value))
        not_added(r, value);
    if (!chat_failed(r))
        chat_take_steps(r, 1 + chat_dict_cost(dict.dict, key));
}

const struct chat_value *
chat_find_key(struct chat_run *r, const struct chat_dict *dict,
              struct chat_value key)
{
    chat_take_steps(r, chat_dict_cost(dict, key));
    return chat_failed(r) ? NULL : chat_dict_get(dict, key);
}

const struct chat_value *
chat_find_name(struct chat_run *r, const struct chat_dict *dict,
               const char *name, size_t len)
{
    const struct chat_string s = { .s = name, .n = len };

    return chat_find_key(
        r, dict, (struct chat_value){ .type = CHAT_STRING, .string = &s });
}

struct chat_value
chat_words(struct chat_run *r, const char *s)
{
    return checked(r, chat_string(&r->arena, s, strlen(s), CHAT_TEXT));
}

void
chat_enter(struct chat_run *r)
{
    struct chat_scope *scope = chat_alloc(r, sizeof(*scope));

    if (!scope)
        return;
    *scope = (struct chat_scope){ .outer = r->scope };
    r->scope = scope;
}

void
chat_leave(struct chat_run *r)
{
    if (!chat_failed(r))
        r->scope = r->scope->outer;
}

static struct chat_variable *
find(const struct chat_scope *scope, const char *name)
{
    for (size_t i = 0; i < scope->n; i++)
        if (scope->variables[i].name == name)
            return &scope->variables[i];
    return NULL;
}

void
chat_assign(struct chat_run *r, const char *name, struct chat_value value)
{
    struct chat_scope *s = r->scope;
    struct chat_variable *old = find(s, name);
    size_t size = sizeof(*s->variables), more = s->cap ? 2 * s->cap : 4;

    chat_take_steps(r, s->n / 16);
    if (old) {
        old->value = value;
        return;
    }
    if (s->n == s->cap) {
        void *p = chat_failed(r) ? NULL
                                 : chat_arena_grow(&r->arena, s->variables,
                                                   s->cap * size, more * size);

        if (!p) {
            chat_fail_memory(r);
            return;
        }
        s->variables = p;
        s->cap = more;
    }
    s->variables[s->n++] = (struct chat_variable){ name, value };
}

const struct chat_value *
chat_lookup(struct chat_run *r, const char *name)
{
    const struct chat_variable *v = NULL;
    uint64_t passed = 0; /* names, and scopes */

    for (const struct chat_scope *s = r->scope; s && !v; s = s->outer) {
        v = find(s, name);
        passed += s->n + 2;
    }
    chat_take_steps(r, passed / 16);
    return v ? &v->value : NULL;
}
