/* methods.c - what dicts and lists can do; no value is changed by it */
#include <config.h>

#include "chat/builtin.h"

#include <stddef.h>

/* ---- dicts --------------------------------------------------------------- */

static struct chat_value
method_get(struct chat_run *r, struct chat_value self,
           const struct chat_arguments *a)
{
    const struct chat_value *v;
    struct chat_value none = CHAT_VALUE_NONE;

    none.origin = self.dict->origin;
    if (a->v[0].type == CHAT_ABSENT)
        return chat_fail(r, "get() wants a key");
    v = chat_find_key(r, self.dict, a->v[0]);
    if (v)
        return *v;
    return a->v[1].type == CHAT_ABSENT ? none : a->v[1];
}

static struct chat_value
method_keys(struct chat_run *r, struct chat_value self,
            const struct chat_arguments *a)
{
    (void)a;
    return chat_iterate(r, self);
}

static struct chat_value
method_values(struct chat_run *r, struct chat_value self,
              const struct chat_arguments *a)
{
    struct chat_value out = chat_new_list(r, CHAT_LIST);

    (void)a;
    for (size_t i = 0; i < self.dict->n && !chat_failed(r); i++)
        chat_run_add(r, out, self.dict->pairs[i].value);
    return out;
}

static struct chat_value
method_items(struct chat_run *r, struct chat_value self,
             const struct chat_arguments *a)
{
    struct chat_value out = chat_new_list(r, CHAT_LIST);

    (void)a;
    for (size_t i = 0; i < self.dict->n && !chat_failed(r); i++) {
        struct chat_value pair = chat_new_list(r, CHAT_TUPLE);

        chat_run_add(r, pair, self.dict->pairs[i].key);
        chat_run_add(r, pair, self.dict->pairs[i].value);
        chat_run_add(r, out, pair);
    }
    return out;
}

static struct chat_value
method_copy(struct chat_run *r, struct chat_value self,
            const struct chat_arguments *a)
{
    (void)r, (void)a;
    return self; /* nothing can be changed */
}

/* As the sandbox of transformers has it. */
static struct chat_value
method_changes(struct chat_run *r, struct chat_value self,
               const struct chat_arguments *a)
{
    (void)a;
    return chat_fail(r, "a %s cannot be changed", chat_type_name(self));
}

const struct chat_builtin chat_dict_methods[] = {
    { "clear", method_changes, NULL },
    { "copy", method_copy, "" },
    { "get", method_get, "key,default" },
    { "items", method_items, "" },
    { "keys", method_keys, "" },
    { "pop", method_changes, NULL },
    { "popitem", method_changes, NULL },
    { "setdefault", method_changes, NULL },
    { "update", method_changes, NULL },
    { "values", method_values, "" },
    { 0 },
};

/* ---- lists --------------------------------------------------------------- */

static struct chat_value
method_index(struct chat_run *r, struct chat_value self,
             const struct chat_arguments *a)
{
    for (size_t i = 0; i < self.list->n && !chat_failed(r); i++)
        if (chat_same(r, self.list->items[i], a->v[0]))
            return chat_int((int64_t)i);
    return chat_fail(r, "the list has no such item");
}

static struct chat_value
method_count(struct chat_run *r, struct chat_value self,
             const struct chat_arguments *a)
{
    int64_t n = 0;

    for (size_t i = 0; i < self.list->n && !chat_failed(r); i++)
        n += chat_same(r, self.list->items[i], a->v[0]);
    return chat_int(n);
}

const struct chat_builtin chat_list_methods[] = {
    { "append", method_changes, NULL }, { "clear", method_changes, NULL },
    { "copy", method_copy, "" },        { "count", method_count, "value" },
    { "extend", method_changes, NULL }, { "index", method_index, "value" },
    { "insert", method_changes, NULL }, { "pop", method_changes, NULL },
    { "remove", method_changes, NULL }, { "reverse", method_changes, NULL },
    { "sort", method_changes, NULL },   { 0 },
};

static const struct chat_builtin *
string_method(const char *name)
{
    const struct chat_builtin *b = chat_find_builtin(chat_string_methods, name);

    return b ? b : chat_find_builtin(chat_string_parts, name);
}

const struct chat_builtin *
chat_method(struct chat_value self, const char *name)
{
    switch (self.type) {
    case CHAT_STRING:
        return string_method(name);
    case CHAT_DICT:
        return chat_find_builtin(chat_dict_methods, name);
    case CHAT_LIST:
    case CHAT_TUPLE:
        return chat_find_builtin(chat_list_methods, name);
    default:
        return NULL;
    }
}
