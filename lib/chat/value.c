/* value.c - making, finding and comparing values */
#include <config.h>

#include "chat/value.h"

#include <stdlib.h>
#include <string.h>

static const struct chat_value absent = { .type = CHAT_ABSENT };

struct chat_value
chat_undefined(const char *name)
{
    return (struct chat_value){ .type = CHAT_UNDEFINED, .name = name };
}

struct chat_value
chat_bool(bool b)
{
    return (struct chat_value){ .type = CHAT_BOOL, .b = b };
}

struct chat_value
chat_int(int64_t i)
{
    return (struct chat_value){ .type = CHAT_INT, .i = i };
}

struct chat_value
chat_float(double f)
{
    return (struct chat_value){ .type = CHAT_FLOAT, .f = f };
}

struct chat_value
chat_large(struct chat_arena *a, const char *text)
{
    struct chat_large *l = chat_arena_alloc(a, sizeof(*l));
    struct chat_value copy = chat_string_copy(a, text, strlen(text) + 1, 0);

    if (!l || copy.type == CHAT_ABSENT)
        return absent;
    *l = (struct chat_large){ .text = copy.string->s,
                              .f = strtod(text, NULL),
                              .whole = !strpbrk(text, ".eE") };
    return (struct chat_value){ .type = CHAT_LARGE, .large = l };
}

struct chat_value
chat_string(struct chat_arena *a, const char *s, size_t n,
            enum chat_origin origin)
{
    struct chat_string *string = chat_arena_alloc(a, sizeof(*string));

    if (!string)
        return absent;
    *string = (struct chat_string){ s, n, NULL, (uint16_t)origin, false };
    return (struct chat_value){ .type = CHAT_STRING, .string = string };
}

struct chat_value
chat_string_copy(struct chat_arena *a, const char *s, size_t n,
                 enum chat_origin origin)
{
    char *copy = chat_arena_alloc(a, n);

    if (!copy)
        return absent;
    if (n)
        memcpy(copy, s, n);
    return chat_string(a, copy, n, origin);
}

struct chat_value
chat_list(struct chat_arena *a, enum chat_type type)
{
    struct chat_list *list = chat_arena_alloc(a, sizeof(*list));

    if (!list)
        return absent;
    *list = (struct chat_list){ 0 };
    return (struct chat_value){ .type = type, .list = list };
}

struct chat_value
chat_dict(struct chat_arena *a, enum chat_type type)
{
    struct chat_dict *dict = chat_arena_alloc(a, sizeof(*dict));

    if (!dict)
        return absent;
    *dict = (struct chat_dict){ 0 };
    return (struct chat_value){ .type = type, .dict = dict };
}

unsigned
chat_value_depth(struct chat_value v)
{
    if (chat_is_list(v))
        return v.list->depth + 1;
    return v.type == CHAT_DICT ? v.dict->depth + 1 : 0;
}

/* The depth of a list or dict with an item more: false where it is too deep. */
static bool
deepen(unsigned *depth, struct chat_value item)
{
    unsigned d = chat_value_depth(item);

    if (d >= CHAT_DEPTH)
        return false;
    *depth = d > *depth ? d : *depth;
    return true;
}

/* Room for one more of n elements; false where there is no memory. */
static bool
make_room(struct chat_arena *a, void **p, size_t n, size_t *cap, size_t size)
{
    size_t more = *cap ? *cap * 2 : 4;
    void *q;

    if (n < *cap)
        return true;
    q = chat_arena_grow(a, *p, *cap * size, more * size);
    if (!q)
        return false;
    *p = q;
    *cap = more;
    return true;
}

bool
chat_list_add(struct chat_arena *a, struct chat_list *list,
              struct chat_value value)
{
    void *items = list->items;

    if (!deepen(&list->depth, value) ||
        !make_room(a, &items, list->n, &list->cap, sizeof(*list->items)))
        return false;
    list->items = items;
    list->items[list->n++] = value;
    return true;
}

static bool
strings_equal(const struct chat_string *a, const struct chat_string *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->s, b->s, a->n) == 0);
}

static bool
keys_equal(struct chat_value a, struct chat_value b)
{
    if (a.type == CHAT_STRING && b.type == CHAT_STRING)
        return strings_equal(a.string, b.string);
    return chat_equal(a, b);
}

static struct chat_pair *
find_pair(const struct chat_dict *dict, struct chat_value key)
{
    for (size_t i = 0; i < dict->n; i++)
        if (keys_equal(dict->pairs[i].key, key))
            return &dict->pairs[i];
    return NULL;
}

uint64_t
chat_dict_cost(const struct chat_dict *dict, struct chat_value key)
{
    uint64_t size = key.type == CHAT_STRING ? key.string->n / 64 : 0;

    return dict->n / 4 + dict->n * size;
}

static bool
add_pair(struct chat_arena *a, struct chat_dict *dict, struct chat_value key,
         struct chat_value value)
{
    void *pairs = dict->pairs;

    if (!deepen(&dict->depth, value) ||
        !make_room(a, &pairs, dict->n, &dict->cap, sizeof(*dict->pairs)))
        return false;
    dict->pairs = pairs;
    dict->pairs[dict->n++] = (struct chat_pair){ key, value };
    return true;
}

bool
chat_dict_set(struct chat_arena *a, struct chat_dict *dict,
              struct chat_value key, struct chat_value value)
{
    struct chat_pair *old = find_pair(dict, key);

    if (!old)
        return add_pair(a, dict, key, value);
    if (!deepen(&dict->depth, value))
        return false;
    old->value = value;
    return true;
}

bool
chat_dict_put(struct chat_arena *a, struct chat_dict *dict, const char *key,
              struct chat_value value)
{
    struct chat_value name = chat_string_copy(a, key, strlen(key), CHAT_TEXT);

    return name.type != CHAT_ABSENT && value.type != CHAT_ABSENT &&
           add_pair(a, dict, name, value);
}

const struct chat_value *
chat_dict_get(const struct chat_dict *dict, struct chat_value key)
{
    const struct chat_pair *pair = find_pair(dict, key);

    return pair ? &pair->value : NULL;
}

const struct chat_value *
chat_dict_find(const struct chat_dict *dict, const char *key, size_t len)
{
    const struct chat_string string = { .s = key, .n = len };

    return chat_dict_get(
        dict, (struct chat_value){ .type = CHAT_STRING, .string = &string });
}

bool
chat_truth(struct chat_value v)
{
    switch (v.type) {
    case CHAT_BOOL:
        return v.b;
    case CHAT_INT:
        return v.i != 0;
    case CHAT_FLOAT:
        return v.f != 0;
    case CHAT_LARGE:
        return true;
    case CHAT_STRING:
        return v.string->n > 0;
    case CHAT_LIST:
    case CHAT_TUPLE:
        return v.list->n > 0;
    case CHAT_DICT:
        return v.dict->n > 0;
    case CHAT_NAMESPACE:
    case CHAT_LOOP:
    case CHAT_FUNCTION:
        return true;
    default:
        return false;
    }
}

bool
chat_is_number(struct chat_value v)
{
    return v.type == CHAT_BOOL || v.type == CHAT_INT || chat_is_real(v);
}

bool
chat_is_real(struct chat_value v)
{
    return v.type == CHAT_FLOAT || v.type == CHAT_LARGE;
}

double
chat_number(struct chat_value v)
{
    if (v.type == CHAT_LARGE)
        return v.large->f;
    return v.type == CHAT_FLOAT ? v.f : v.type == CHAT_BOOL ? v.b : (double)v.i;
}

bool
chat_is_list(struct chat_value v)
{
    return v.type == CHAT_LIST || v.type == CHAT_TUPLE;
}

bool
chat_is(const struct chat_string *s, const char *text)
{
    return s->n == strlen(text) && memcmp(s->s, text, s->n) == 0;
}

static void
take(uint64_t *steps, uint64_t n)
{
    *steps -= *steps < n ? *steps : n;
}

static bool
lists_equal(const struct chat_list *a, const struct chat_list *b,
            uint64_t *steps)
{
    bool equal = a->n == b->n;

    for (size_t i = 0; equal && i < a->n; i++)
        equal = chat_equal_within(a->items[i], b->items[i], steps);
    return equal;
}

static bool
dicts_equal(const struct chat_dict *a, const struct chat_dict *b,
            uint64_t *steps)
{
    bool equal = a->n == b->n;

    for (size_t i = 0; equal && i < a->n; i++) {
        const struct chat_value *v = chat_dict_get(b, a->pairs[i].key);

        take(steps, chat_dict_cost(b, a->pairs[i].key));
        equal = v && chat_equal_within(a->pairs[i].value, *v, steps);
    }
    return equal;
}

static bool
numbers_equal(struct chat_value a, struct chat_value b)
{
    if (chat_is_real(a) || chat_is_real(b))
        return chat_number(a) == chat_number(b);
    return (a.type == CHAT_BOOL ? a.b : a.i) ==
           (b.type == CHAT_BOOL ? b.b : b.i);
}

bool
chat_equal_within(struct chat_value a, struct chat_value b, uint64_t *steps)
{
    if (*steps == 0)
        return false;
    --*steps;
    if (chat_is_number(a) && chat_is_number(b))
        return numbers_equal(a, b);
    if (a.type != b.type)
        return false;
    switch (a.type) {
    case CHAT_STRING:
        take(steps, a.string->n / 64);
        return strings_equal(a.string, b.string);
    case CHAT_LIST:
    case CHAT_TUPLE:
        return lists_equal(a.list, b.list, steps);
    case CHAT_DICT:
        return dicts_equal(a.dict, b.dict, steps);
    case CHAT_NAMESPACE:
        return a.dict == b.dict;
    case CHAT_LOOP:
        return a.loop == b.loop;
    case CHAT_FUNCTION:
        return a.function == b.function;
    default:
        return true;
    }
}

bool
chat_equal(struct chat_value a, struct chat_value b)
{
    uint64_t steps = UINT64_MAX;

    return chat_equal_within(a, b, &steps);
}

const char *
chat_type_name(struct chat_value v)
{
    static const char *const names[] = {
        [CHAT_ABSENT] = "nothing",   [CHAT_UNDEFINED] = "Undefined",
        [CHAT_NONE] = "NoneType",    [CHAT_BOOL] = "bool",
        [CHAT_INT] = "int",          [CHAT_FLOAT] = "float",
        [CHAT_LARGE] = "float",      [CHAT_STRING] = "str",
        [CHAT_LIST] = "list",        [CHAT_TUPLE] = "tuple",
        [CHAT_DICT] = "dict",        [CHAT_NAMESPACE] = "Namespace",
        [CHAT_LOOP] = "LoopContext", [CHAT_FUNCTION] = "function",
    };

    if (v.type == CHAT_LARGE && v.large->whole)
        return "int";
    return names[v.type];
}
