/* list_filters.c - filters of lists and dicts */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "chat/builtin.h"
#include "chat/node.h"
#include "chat/text.h"

static const struct chat_value absent = { .type = CHAT_ABSENT };

/* The items of a value, and their number: none after a failure. */
static struct chat_value *
items_of(struct chat_run *r, struct chat_value v, size_t *n)
{
    v = chat_iterate(r, v);
    *n = chat_failed(r) ? 0 : v.list->n;
    return *n ? v.list->items : NULL;
}

/* The attribute "a.b" of an item, or the item where no path is given. */
static struct chat_value
attribute(struct chat_run *r, struct chat_value item, struct chat_value path)
{
    if (path.type == CHAT_INT)
        return chat_item(r, item, path);
    if (path.type != CHAT_STRING)
        return item;
    return chat_path(r, item, path.string);
}

/* ---- one of a list ------------------------------------------------------- */

static struct chat_value
filter_first(struct chat_run *r, struct chat_value v,
             const struct chat_arguments *a)
{
    size_t n;
    struct chat_value *items = items_of(r, v, &n);

    (void)a;
    return n ? items[0] : chat_undefined("the first item");
}

static struct chat_value
filter_last(struct chat_run *r, struct chat_value v,
            const struct chat_arguments *a)
{
    size_t n;
    struct chat_value *items = items_of(r, v, &n);

    (void)a;
    return n ? items[n - 1] : chat_undefined("the last item");
}

/* Texts in lower case, unless `cased`. */
static struct chat_value
key_of(struct chat_run *r, struct chat_value v, bool cased)
{
    if (v.type != CHAT_STRING || cased || chat_failed(r))
        return v;
    return chat_call_simply(r, chat_method(v, "lower"), v, absent, absent);
}

/* The least (op '<') or largest item. */
static struct chat_value
extreme(struct chat_run *r, struct chat_value v, const struct chat_arguments *a,
        int op)
{
    bool cased = chat_bool_argument(a->v[0], false);
    size_t n, best = 0;
    struct chat_value *items = items_of(r, v, &n), key, other;

    if (n == 0)
        return chat_undefined("the extreme of no items");
    key = key_of(r, attribute(r, items[0], a->v[1]), cased);
    for (size_t i = 1; i < n && !chat_failed(r); i++) {
        other = key_of(r, attribute(r, items[i], a->v[1]), cased);
        chat_take_steps(r, 1);
        if (chat_compare(r, op, other, key)) {
            best = i;
            key = other;
        }
    }
    return items[best];
}

static struct chat_value
filter_min(struct chat_run *r, struct chat_value v,
           const struct chat_arguments *a)
{
    return extreme(r, v, a, '<');
}

static struct chat_value
filter_max(struct chat_run *r, struct chat_value v,
           const struct chat_arguments *a)
{
    return extreme(r, v, a, '>');
}

static struct chat_value
filter_sum(struct chat_run *r, struct chat_value v,
           const struct chat_arguments *a)
{
    struct chat_value sum = a->v[1].type == CHAT_ABSENT ? chat_int(0) : a->v[1];
    size_t n;
    struct chat_value *items = items_of(r, v, &n);

    for (size_t i = 0; i < n && !chat_failed(r); i++) {
        chat_take_steps(r, 1);
        sum = chat_operate(r, '+', sum, attribute(r, items[i], a->v[0]));
    }
    return sum;
}

/* ---- text of a list ------------------------------------------------------ */

static struct chat_value
filter_join(struct chat_run *r, struct chat_value v,
            const struct chat_arguments *a)
{
    struct chat_value by =
        a->v[0].type == CHAT_ABSENT ? chat_words(r, "") : chat_str(r, a->v[0]);
    struct chat_builder b = { .r = r };
    size_t n;
    struct chat_value *items = items_of(r, v, &n);

    for (size_t i = 0; i < n && !chat_failed(r); i++) {
        struct chat_value item = attribute(r, items[i], a->v[1]);

        chat_take_steps(r, 1);
        if (i)
            chat_put_string(&b, by.string);
        if (!chat_failed(r))
            chat_put_value(&b, item);
    }
    return chat_built(&b);
}

/* ---- other lists --------------------------------------------------------- */

static struct chat_value
filter_list(struct chat_run *r, struct chat_value v,
            const struct chat_arguments *a)
{
    struct chat_value out = chat_new_list(r, CHAT_LIST);
    size_t n;
    struct chat_value *items = items_of(r, v, &n);

    (void)a;
    for (size_t i = 0; i < n && !chat_failed(r); i++)
        chat_run_add(r, out, items[i]);
    return out;
}

static struct chat_value
filter_reverse(struct chat_run *r, struct chat_value v,
               const struct chat_arguments *a)
{
    struct chat_value out = chat_new_list(r, CHAT_LIST);
    struct chat_builder b = { .r = r };
    size_t n;
    struct chat_value *items = items_of(r, v, &n);

    (void)a;
    for (size_t i = n; i-- > 0 && !chat_failed(r);)
        if (v.type == CHAT_STRING)
            chat_put_string(&b, items[i].string);
        else
            chat_run_add(r, out, items[i]);
    return v.type == CHAT_STRING ? chat_built(&b) : out;
}

static struct chat_value
filter_items(struct chat_run *r, struct chat_value v,
             const struct chat_arguments *a)
{
    (void)a;
    if (v.type == CHAT_UNDEFINED)
        return chat_new_list(r, CHAT_LIST);
    if (v.type != CHAT_DICT)
        return chat_fail(r, "a %s has no items", chat_type_name(v));
    return chat_call_simply(r, chat_method(v, "items"), v, absent, absent);
}

/* Into lists of n, the last filled up. */
static struct chat_value
filter_batch(struct chat_run *r, struct chat_value v,
             const struct chat_arguments *a)
{
    int64_t size = chat_int_argument(r, a->v[0], 0);
    struct chat_value out = chat_new_list(r, CHAT_LIST), part = out;
    size_t n;
    struct chat_value *items = items_of(r, v, &n);

    if (size < 1)
        return chat_fail(r, "batch: no such length");
    for (size_t i = 0; i < n && !chat_failed(r); i++) {
        if (i % (size_t)size == 0) {
            part = chat_new_list(r, CHAT_LIST);
            chat_run_add(r, out, part);
        }
        chat_run_add(r, part, items[i]);
    }
    for (; n && a->v[1].type != CHAT_ABSENT && !chat_failed(r) &&
           part.list->n < (size_t)size;)
        chat_run_add(r, part, a->v[1]);
    return out;
}

/* Splits a list into a number of lists. */
static struct chat_value
filter_slice(struct chat_run *r, struct chat_value v,
             const struct chat_arguments *a)
{
    int64_t slices = chat_int_argument(r, a->v[0], 0);
    struct chat_value out = chat_new_list(r, CHAT_LIST);
    size_t n, at = 0, more;
    struct chat_value *items = items_of(r, v, &n);

    if (slices < 1 || slices > 1 << 20)
        return chat_fail(r, "slice: no such number");
    more = n % (size_t)slices;
    for (size_t s = 0; s < (size_t)slices && !chat_failed(r); s++) {
        struct chat_value part = chat_new_list(r, CHAT_LIST);
        size_t end = at + n / (size_t)slices + (s < more);

        chat_take_steps(r, 1);
        for (; at < end; at++)
            chat_run_add(r, part, items[at]);
        if (a->v[1].type != CHAT_ABSENT && s >= more)
            chat_run_add(r, part, a->v[1]);
        chat_run_add(r, out, part);
    }
    return out;
}

static struct chat_value
filter_unique(struct chat_run *r, struct chat_value v,
              const struct chat_arguments *a)
{
    bool cased = chat_bool_argument(a->v[0], false);
    struct chat_value out = chat_new_list(r, CHAT_LIST);
    struct chat_value seen = chat_new_list(r, CHAT_LIST);
    size_t n;
    struct chat_value *items = items_of(r, v, &n);

    for (size_t i = 0; i < n && !chat_failed(r); i++) {
        struct chat_value key =
            key_of(r, attribute(r, items[i], a->v[1]), cased);

        chat_take_steps(r, 1 + seen.list->n / 16);
        if (chat_compare(r, CHAT_OP_IN, key, seen) || chat_failed(r))
            continue;
        chat_run_add(r, seen, key);
        chat_run_add(r, out, items[i]);
    }
    return out;
}

/* ---- sorting ------------------------------------------------------------- */

struct sortable {
    struct chat_value key, item;
};

static void
merge(struct chat_run *r, struct sortable *s, struct sortable *spare, size_t n,
      int op)
{
    size_t half = n / 2, i = 0, k = half;

    for (size_t to = 0; to < n; to++) {
        bool second =
            i == half || (k < n && chat_compare(r, op, s[k].key, s[i].key));

        spare[to] = second ? s[k++] : s[i++];
    }
    memcpy(s, spare, n * sizeof(*s));
}

/* Stable; op '<': the least first. */
static void
sort_items(struct chat_run *r, struct sortable *s, struct sortable *spare,
           size_t n, int op)
{
    if (n < 2 || chat_failed(r))
        return;
    chat_take_steps(r, n);
    sort_items(r, s, spare, n / 2, op);
    sort_items(r, s + n / 2, spare, n - n / 2, op);
    merge(r, s, spare, n, op);
}

/* A key of several attributes, "a.b,c": a list. */
static struct chat_value
keys_of(struct chat_run *r, struct chat_value item, struct chat_value paths,
        bool cased)
{
    struct chat_value keys = chat_new_list(r, CHAT_LIST), parts;

    if (paths.type != CHAT_STRING) {
        chat_run_add(r, keys, key_of(r, attribute(r, item, paths), cased));
        return keys;
    }
    parts = chat_call_simply(r, chat_method(paths, "split"), paths,
                             chat_words(r, ","), absent);
    for (size_t i = 0; !chat_failed(r) && i < parts.list->n; i++)
        chat_run_add(
            r, keys,
            key_of(r, attribute(r, item, parts.list->items[i]), cased));
    return keys;
}

/* The items of a list with their keys: room for twice as many. */
static struct sortable *
with_keys(struct chat_run *r, struct chat_value v, struct chat_value path,
          bool cased, bool several, size_t *n)
{
    struct chat_value *items = items_of(r, v, n);
    struct sortable *s = chat_alloc(r, 2 * *n * sizeof(*s));

    for (size_t i = 0; s && i < *n; i++)
        s[i] =
            (struct sortable){ several ? keys_of(r, items[i], path, cased)
                                       : key_of(r, attribute(r, items[i], path),
                                                cased),
                               items[i] };
    return s;
}

static struct chat_value
sorted(struct chat_run *r, struct chat_value v, struct chat_value path,
       bool cased, bool reverse)
{
    struct chat_value out = chat_new_list(r, CHAT_LIST);
    size_t n;
    struct sortable *s = with_keys(r, v, path, cased, true, &n);

    if (s)
        sort_items(r, s, s + n, n, reverse ? '>' : '<');
    for (size_t i = 0; i < n && !chat_failed(r); i++)
        chat_run_add(r, out, s[i].item);
    return out;
}

static struct chat_value
filter_sort(struct chat_run *r, struct chat_value v,
            const struct chat_arguments *a)
{
    return sorted(r, v, a->v[2], chat_bool_argument(a->v[1], false),
                  chat_bool_argument(a->v[0], false));
}

static struct chat_value
filter_dictsort(struct chat_run *r, struct chat_value v,
                const struct chat_arguments *a)
{
    const struct chat_string *by = chat_string_argument(r, a->v[1], "key");
    struct chat_value items = filter_items(r, v, a);

    if (!by || chat_failed(r))
        return chat_undefined(NULL);
    return sorted(r, items, chat_int(chat_is(by, "value")),
                  chat_bool_argument(a->v[0], false),
                  chat_bool_argument(a->v[2], false));
}

/* (key, items) for each key, in the order of the keys. */
static struct chat_value
filter_groupby(struct chat_run *r, struct chat_value v,
               const struct chat_arguments *a)
{
    bool cased = chat_bool_argument(a->v[2], false);
    struct chat_value out = chat_new_list(r, CHAT_LIST), group = out;
    size_t n;
    struct sortable *s = with_keys(r, v, a->v[0], cased, false, &n);

    if (s)
        sort_items(r, s, s + n, n, '<');
    for (size_t i = 0; i < n && !chat_failed(r); i++) {
        if (i == 0 || !chat_same(r, s[i].key, s[i - 1].key)) {
            struct chat_value pair = chat_new_list(r, CHAT_TUPLE);

            group = chat_new_list(r, CHAT_LIST);
            chat_run_add(r, pair, attribute(r, s[i].item, a->v[0]));
            chat_run_add(r, pair, group);
            chat_run_add(r, out, pair);
        }
        chat_run_add(r, group, s[i].item);
    }
    return out;
}

/* ---- map and select ------------------------------------------------------ */

/* A filter or test that a list's items go through, and its arguments. */
struct applied {
    const struct chat_builtin *builtin;
    struct chat_arguments arguments;
    struct chat_value path; /* of the items' attribute; or absent */
};

static struct chat_value
apply(struct chat_run *r, const struct applied *t, struct chat_value item)
{
    item = attribute(r, item, t->path);
    chat_take_steps(r, 1);
    if (!t->builtin || chat_failed(r))
        return item;
    return chat_call_builtin(r, t->builtin, item, &t->arguments);
}

/* The filter or test that argument i names, with what follows. */
static bool
find_applied(struct chat_run *r, const struct chat_arguments *a, size_t i,
             const struct chat_builtin *(*find)(const char *),
             struct applied *t)
{
    const struct chat_string *s;
    char name[64];

    if (i >= a->n)
        return true;
    s = chat_string_argument(r, a->v[i], NULL);
    if (!s)
        return false;
    snprintf(name, sizeof(name), "%.*s", (int)(s->n < 63 ? s->n : 63),
             s->n ? s->s : "");
    t->builtin = find(name);
    if (!t->builtin)
        chat_fail(r, "no filter or test is called %s", name);
    t->arguments =
        (struct chat_arguments){ a->v + i + 1, a->n - i - 1, a->named };
    return t->builtin != NULL;
}

static const struct chat_value *
named(struct chat_run *r, const struct chat_arguments *a, const char *name)
{
    return a->named ? chat_find_name(r, a->named, name, strlen(name)) : NULL;
}

/* map('filter', ...) or map(attribute='a.b', default=...) */
static struct chat_value
filter_map(struct chat_run *r, struct chat_value v,
           const struct chat_arguments *a)
{
    const struct chat_value *path = named(r, a, "attribute");
    const struct chat_value *other = named(r, a, "default");
    struct applied t = { .path = path ? *path : absent };
    struct chat_value out = chat_new_list(r, CHAT_LIST);
    size_t n;
    struct chat_value *items;

    if (!chat_truth(v))
        return out;
    items = items_of(r, v, &n);
    if (!path && !find_applied(r, a, 0, chat_filter, &t))
        return out;
    for (size_t i = 0; i < n && !chat_failed(r); i++) {
        struct chat_value item = apply(r, &t, items[i]);

        if (path && other && item.type == CHAT_UNDEFINED)
            item = *other;
        chat_run_add(r, out, item);
    }
    return out;
}

/* Items for which the test is `wanted`. */
static struct chat_value
selected(struct chat_run *r, struct chat_value v, const struct applied *t,
         bool wanted)
{
    struct chat_value out = chat_new_list(r, CHAT_LIST);
    size_t n;
    struct chat_value *items;

    if (!chat_truth(v)) /* None, too */
        return out;
    items = items_of(r, v, &n);
    for (size_t i = 0; i < n && !chat_failed(r); i++)
        if (chat_truth(apply(r, t, items[i])) == wanted)
            chat_run_add(r, out, items[i]);
    return out;
}

static struct chat_value
choose(struct chat_run *r, struct chat_value v, const struct chat_arguments *a,
       bool attributes, bool wanted)
{
    struct applied t = { .path = absent };

    if (attributes && a->n == 0)
        return chat_fail(r, "selectattr wants an attribute's name");
    if (attributes)
        t.path = a->v[0];
    if (!find_applied(r, a, attributes, chat_test, &t))
        return chat_undefined(NULL);
    return selected(r, v, &t, wanted);
}

static struct chat_value
filter_select(struct chat_run *r, struct chat_value v,
              const struct chat_arguments *a)
{
    return choose(r, v, a, false, true);
}

static struct chat_value
filter_reject(struct chat_run *r, struct chat_value v,
              const struct chat_arguments *a)
{
    return choose(r, v, a, false, false);
}

static struct chat_value
filter_selectattr(struct chat_run *r, struct chat_value v,
                  const struct chat_arguments *a)
{
    return choose(r, v, a, true, true);
}

static struct chat_value
filter_rejectattr(struct chat_run *r, struct chat_value v,
                  const struct chat_arguments *a)
{
    return choose(r, v, a, true, false);
}

const struct chat_builtin chat_list_filters[] = {
    { "batch", filter_batch, "linecount,fill_with" },
    { "dictsort", filter_dictsort, "case_sensitive,by,reverse" },
    { "first", filter_first, "" },
    { "groupby", filter_groupby, "attribute,default,case_sensitive" },
    { "items", filter_items, "" },
    { "join", filter_join, "d,attribute" },
    { "last", filter_last, "" },
    { "list", filter_list, "" },
    { "map", filter_map, NULL },
    { "max", filter_max, "case_sensitive,attribute" },
    { "min", filter_min, "case_sensitive,attribute" },
    { "reject", filter_reject, NULL },
    { "rejectattr", filter_rejectattr, NULL },
    { "reverse", filter_reverse, "" },
    { "select", filter_select, NULL },
    { "selectattr", filter_selectattr, NULL },
    { "slice", filter_slice, "slices,fill_with" },
    { "sort", filter_sort, "reverse,case_sensitive,attribute" },
    { "sum", filter_sum, "attribute,start" },
    { "unique", filter_unique, "case_sensitive,attribute" },
    { 0 },
};
