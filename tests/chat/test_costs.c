/* test_costs.c - work on large values takes steps
 *
 * Every filter, method, test, global function and operator, with a large
 * string, ASCII or not, a large list and a large dict, and several arguments:
 * what it does successfully takes a step for each 64 bytes at least, unless it
 * is known that it looks at no more than a few. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "chat/builtin.h"
#include "chat/template.h"
#include "harness/tap.h"

enum {
    BYTES = 1 << 14,
    ITEMS = 1 << 10,
    KEYS = 1 << 9,
};

/* Values called v; `bytes` are those of which 64 take a step. */
static const struct {
    const char *name;
    size_t bytes;
} kinds[] = {
    { "ascii", BYTES },
    { "letters", BYTES },
    { "list", ITEMS * 16 },
    { "dict", KEYS * 16 },
};

enum {
    KINDS = sizeof(kinds) / sizeof(*kinds)
};

/* Look at the type, or at the ends; `kinds`: of which, a bit each. */
static const struct {
    const char *name;
    unsigned kinds;
} constant[] = {
    { "attr", 15 },     { "boolean", 15 },   { "callable", 15 },
    { "copy", 12 },     { "d", 15 },         { "default", 15 },
    { "defined", 15 },  { "escaped", 15 },   { "false", 15 },
    { "filter", 15 },   { "float", 12 },     { "int", 12 },
    { "integer", 15 },  { "iterable", 15 },  { "mapping", 15 },
    { "none", 15 },     { "number", 15 },    { "sameas", 12 },
    { "sequence", 15 }, { "string", 15 },    { "test", 15 },
    { "true", 15 },     { "undefined", 15 }, { "length", 12 },
    { "count", 12 },    { "first", 4 },      { "last", 4 },
    { "safe", 3 },      { "and", 15 },       { "or", 15 },
    { "not", 15 },      { "if", 15 },        { "equalto", 15 },
    { "eq", 15 },       { "ne", 15 },        { "==", 15 },
    { "!=", 15 },
};

static const char *const arguments[] = {
    "",          "(w)",          "(3)",
    "('zz')",    "('zz', 'y')",  "('', w)",
    "(w, w)",    "('zz', w)",    "('zz', 1)",
    "(70000)",   "(70000, '-')", "(w, 1, 60000)",
    "('upper')", "('in', w)",    "(' ', 1)",
};

static struct chat_arena arena = { .limit = (size_t)1 << 28 };
static struct chat_value values[KINDS], others[KINDS];
static int calls, cheap;

static struct chat_value
text_of(const char *part, const char *end)
{
    static char s[BYTES + 64];
    size_t n = 0, len = strlen(part);

    for (; n < BYTES; n += len)
        memcpy(s + n, part, len);
    memcpy(s + n, end, strlen(end));
    return chat_string_copy(&arena, s, n + strlen(end), CHAT_TEXT);
}

static void
make_values(void)
{
    char key[32];

    values[0] = text_of("ab c\n", "");
    others[0] = text_of("ab c\n", "x");
    values[1] = text_of("\xc3\xa4\xd0\xb6 ", "");
    others[1] = text_of("\xc3\xa4\xd0\xb6 ", "x");
    for (int k = 2; k < KINDS; k++) {
        values[k] = k == 2 ? chat_list(&arena, CHAT_LIST)
                           : chat_dict(&arena, CHAT_DICT);
        others[k] = chat_string_copy(&arena, "nowhere", 7, CHAT_TEXT);
    }
    for (int i = 0; i < ITEMS; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        chat_list_add(&arena, values[2].list,
                      chat_string_copy(&arena, key, strlen(key), CHAT_TEXT));
        if (i < KEYS)
            chat_dict_put(&arena, values[3].dict, key, chat_int(i));
    }
}

static bool
is_constant(const char *name, int kind)
{
    for (size_t i = 0; i < sizeof(constant) / sizeof(*constant); i++)
        if (strcmp(constant[i].name, name) == 0)
            return constant[i].kinds >> kind & 1;
    return false;
}

static void
try_text(const char *text, const char *name, int kind)
{
    struct chat_value variables = chat_dict(&arena, CHAT_DICT);
    struct chat_arena own = { .limit = (size_t)1 << 30 };
    struct chat_limits limits = { .steps = 100000 };
    struct chat_template *t = NULL;
    struct chat_string out;
    struct gg_error err;
    enum gg_status st = chat_template_parse(text, strlen(text), &t, &err);

    chat_dict_put(&arena, variables.dict, "v", values[kind]);
    chat_dict_put(&arena, variables.dict, "w", others[kind]);
    if (st == GG_OK)
        st = chat_template_render(t, variables, 0, &limits, &own, &out, &err);
    if (st == GG_OK && !is_constant(name, kind)) {
        calls++;
        if (limits.taken < kinds[kind].bytes / 64) {
            cheap++;
            printf("# %s of a %s: %d steps\n", text, kinds[kind].name,
                   (int)limits.taken);
        }
    }
    chat_template_free(t);
    chat_arena_clear(&own);
}

/* Every entry of a table, with every kind and all arguments. */
static void
try_table(const struct chat_builtin *table, const char *format,
          const char *what)
{
    char text[256];

    calls = cheap = 0;
    for (; table->name; table++)
        for (int kind = 0; kind < KINDS; kind++)
            for (size_t i = 0; i < sizeof(arguments) / sizeof(*arguments);
                 i++) {
                snprintf(text, sizeof(text), format, table->name,
                         i || !strstr(format, "v.") ? arguments[i] : "()");
                try_text(text, table->name, kind);
            }
    printf("# %d calls\n", calls);
    ok(calls > 0 && cheap == 0, what);
}

static void
test_operators(void)
{
    static const char *const texts[] = {
        "{%% set x = v + %s %%}",
        "{%% set x = v ~ %s %%}",
        "{%% set x = v * %s %%}",
        "{%% set x = v %% %s %%}",
        "{%% set x = 'zz' in v %%}",
        "{%% set x = 'zz' not in v %%}",
        "{%% set x = v < v ~ 'x' %%}",
        "{%% set x = v >= v ~ 'x' %%}",
        "{%% set x = v[5000] %%}",
        "{%% set x = v[::-1] %%}",
        "{%% set x = v[1:%s] %%}",
        "{%% for x in v %%}{%% endfor %%}",
        "{%% set x = '%%s' %% (v,) %%}",
        "{%% set x = '{}'.format(v) %%}",
        "{{ v }}",
        "{%% set x = [v]|string %%}",
        "{%% set x = dict(v, a=1) %%}",
        "{%% set x = namespace(v) %%}",
        "{%% set x = dict(**v) %%}",
        "{%% set x = '{0}'.format(v) %%}",
        "{%% macro m() %%}{{ varargs }}{%% endmacro %%}{{ m(*v) }}",
    };
    static const char *const other[] = { "v",     "w",   "'zz'",    "2",
                                         "60000", "[1]", "{'a': 1}" };
    char text[256];

    calls = cheap = 0;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        for (size_t k = 0; k < sizeof(other) / sizeof(*other); k++)
            for (int kind = 0; kind < KINDS; kind++) {
                snprintf(text, sizeof(text), texts[i], other[k]);
                /* an item of a list is at hand */
                if (kind < 2 || !strstr(text, "v["))
                    try_text(text, text, kind);
            }
    printf("# %d calls\n", calls);
    ok(calls > 0 && cheap == 0, "operators");
}

int
main(void)
{
    make_values();
    try_table(chat_filters, "{%% set x = v|%s%s %%}", "filters");
    try_table(chat_list_filters, "{%% set x = v|%s%s %%}", "filters of lists");
    try_table(chat_tests, "{%% set x = v is %s%s %%}", "tests");
    try_table(chat_string_methods, "{%% set x = v.%s%s %%}", "methods");
    try_table(chat_string_parts, "{%% set x = v.%s%s %%}", "more methods");
    try_table(chat_list_methods, "{%% set x = v.%s%s %%}", "methods of lists");
    try_table(chat_dict_methods, "{%% set x = v.%s%s %%}", "methods of dicts");
    test_operators();
    chat_arena_clear(&arena);
    return tap_done();
}
