/* globals.c - functions that templates call by name, and what loops know */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "chat/evaluate.h"
#include "chat/text.h"

enum {
    MAX_RANGE = 100000
}; /* as in Jinja's sandbox */

/* ---- functions ----------------------------------------------------------- */

static struct chat_value
raise_exception(struct chat_run *r, struct chat_value self,
                const struct chat_arguments *a)
{
    struct chat_value s = chat_str(r, a->v[0]);

    (void)self;
    if (chat_failed(r))
        return s;
    return chat_fail(r, "the template refuses: %.*s",
                     (int)(s.string->n < 200 ? s.string->n : 200),
                     s.string->n ? s.string->s : "");
}

static struct chat_value
range(struct chat_run *r, struct chat_value self,
      const struct chat_arguments *a)
{
    bool one = a->v[1].type == CHAT_ABSENT;
    int64_t from = one ? 0 : chat_int_argument(r, a->v[0], 0);
    int64_t to = chat_int_argument(r, a->v[one ? 0 : 1], 0);
    int64_t step = chat_int_argument(r, a->v[2], 1);
    struct chat_value out = chat_new_list(r, CHAT_LIST);

    (void)self;
    if (step == 0)
        return chat_fail(r, "range's step is zero");
    for (int64_t i = from; !chat_failed(r) && (step > 0 ? i < to : i > to);) {
        if (out.list->n == MAX_RANGE)
            return chat_fail(r, "range has more than %d items", MAX_RANGE);
        chat_run_add(r, out, chat_int(i));
        if (__builtin_add_overflow(i, step, &i))
            break;
    }
    return out;
}

static void
add_named(struct chat_run *r, struct chat_value out, const struct chat_dict *d)
{
    for (size_t i = 0; d && i < d->n && !chat_failed(r); i++)
        chat_set(r, out, d->pairs[i].key, d->pairs[i].value);
}

/* Adds (key, value) of each pair of a list. */
static void
add_pairs(struct chat_run *r, struct chat_value out, struct chat_value list)
{
    list = chat_iterate(r, list);
    for (size_t i = 0; !chat_failed(r) && i < list.list->n; i++) {
        struct chat_value pair = list.list->items[i];

        if (!chat_is_list(pair) || pair.list->n != 2)
            chat_fail(r, "a dict is made of pairs");
        else
            chat_set(r, out, pair.list->items[0], pair.list->items[1]);
    }
}

static struct chat_value
make_dict(struct chat_run *r, const struct chat_arguments *a,
          enum chat_type type)
{
    struct chat_value out = chat_new_dict(r, type);

    if (a->n && (a->v[0].type == CHAT_DICT || a->v[0].type == CHAT_NAMESPACE))
        add_named(r, out, a->v[0].dict);
    else if (a->n)
        add_pairs(r, out, a->v[0]);
    add_named(r, out, a->named);
    return out;
}

static struct chat_value
dict(struct chat_run *r, struct chat_value self, const struct chat_arguments *a)
{
    (void)self;
    return make_dict(r, a, CHAT_DICT);
}

static struct chat_value namespace(struct chat_run *r, struct chat_value self,
                                   const struct chat_arguments *a)
{
    (void)self;
    return make_dict(r, a, CHAT_NAMESPACE);
}

struct chat_value
chat_strftime(struct chat_run *r, struct chat_value self,
              const struct chat_arguments *a)
{
    const struct chat_string *f = chat_string_argument(r, a->v[0], NULL);
    time_t t = (time_t)r->time;
    char format[256], out[1024];
    struct tm tm;
    size_t n;

    (void)self;
    if (!f)
        return chat_undefined(NULL);
    chat_take_steps(r, CHAT_FLOAT_STEPS);
    if (f->n >= sizeof(format) || !gmtime_r(&t, &tm))
        return chat_fail(r, "strftime_now: no such format or date");
    memcpy(format, f->s, f->n);
    format[f->n] = '\0';
    n = strftime(out, sizeof(out), format, &tm);
    return chat_str(r, chat_string_copy(&r->arena, out, n, CHAT_TEXT));
}

/* ---- loops --------------------------------------------------------------- */

static struct chat_value
loop_cycle(struct chat_run *r, struct chat_value self,
           const struct chat_arguments *a)
{
    if (a->n == 0)
        return chat_fail(r, "loop.cycle() has no items");
    return a->v[self.loop->at % a->n];
}

static struct chat_value
loop_changed(struct chat_run *r, struct chat_value self,
             const struct chat_arguments *a)
{
    struct chat_value now = chat_new_list(r, CHAT_TUPLE);
    bool changed;

    for (size_t i = 0; i < a->n; i++)
        chat_run_add(r, now, a->v[i]);
    if (chat_failed(r))
        return now;
    changed = !chat_same(r, self.loop->changed, now);
    self.loop->changed = now;
    return chat_bool(changed);
}

static struct chat_value
loop_method(struct chat_run *r, struct chat_loop *loop,
            const struct chat_builtin *b)
{
    struct chat_function *f = chat_alloc(r, sizeof(*f));

    if (!f)
        return chat_undefined(NULL);
    *f = (struct chat_function){ .builtin = b,
                                 .self = { .type = CHAT_LOOP, .loop = loop } };
    return (struct chat_value){ .type = CHAT_FUNCTION, .function = f };
}

struct chat_value
chat_loop_attribute(struct chat_run *r, struct chat_loop *loop,
                    const char *name)
{
    static const struct chat_builtin methods[] = {
        { "cycle", loop_cycle, NULL },
        { "changed", loop_changed, NULL },
        { 0 },
    };
    const struct chat_builtin *method = chat_find_builtin(methods, name);
    int64_t at = (int64_t)loop->at, n = (int64_t)loop->items->n;
    const struct {
        const char *name;
        struct chat_value value;
    } known[] = {
        { "index", chat_int(at + 1) },
        { "index0", chat_int(at) },
        { "revindex", chat_int(n - at) },
        { "revindex0", chat_int(n - at - 1) },
        { "first", chat_bool(at == 0) },
        { "last", chat_bool(at + 1 == n) },
        { "length", chat_int(n) },
        { "depth", chat_int(loop->depth) },
        { "depth0", chat_int((int64_t)loop->depth - 1) },
        { "previtem", at > 0 ? loop->items->items[at - 1]
                             : chat_undefined("loop.previtem") },
        { "nextitem", at + 1 < n ? loop->items->items[at + 1]
                                 : chat_undefined("loop.nextitem") },
    };

    chat_take_steps(r, 2);
    if (method)
        return loop_method(r, loop, method);
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].value;
    return chat_undefined(name);
}

const struct chat_builtin chat_globals[] = {
    { "dict", dict, NULL },
    { "namespace", namespace, NULL },
    { "raise_exception", raise_exception, "message" },
    { "range", range, "start,stop,step" },
    { "strftime_now", chat_strftime, "format" },
    { 0 },
};

const struct chat_builtin *
chat_global(const char *name)
{
    return chat_find_builtin(chat_globals, name);
}
