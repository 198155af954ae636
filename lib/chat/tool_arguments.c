/* tool_arguments.c - arguments of calls in conversations: objects or strings */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/tool_arguments.h"

#include <stdlib.h>
#include <string.h>

#include "chat/tool_probe.h"

enum {
    MEMORY = 1 << 26, /* of renders */
};

/* The form of arguments that a template takes. */
enum taken {
    TAKES_UNKNOWN,
    TAKES_OBJECTS,
    TAKES_STRINGS,
};

static enum taken
taken_by(const struct chat_request *q, bool *nomem)
{
    static const char *const contents[] = { "\"\"", "null",
                                            "\"" PROBE_CONTENT "\"" };
    struct chat_arena arena = { .limit = MEMORY };
    struct probe p = { .vocab = q->vocab,
                       .template = q->template,
                       .arena = &arena };
    enum taken taken = TAKES_UNKNOWN;
    struct chat_string s;

    for (int i = 0; i < 6 && !taken && !*nomem; i++) {
        p.strings = i >= 3;
        p.content = contents[i % 3];
        if (chat_probe(&p, PROBE_ARGUMENTS_1, NULL, &s, nomem) &&
            chat_probe_shows_call(&s))
            taken = p.strings ? TAKES_STRINGS : TAKES_OBJECTS;
    }
    chat_arena_clear(&arena);
    return taken;
}

/* The arguments of a call in another way, if they are an object or one in a
 * string; or NULL. */
static json_t *
other_way(const json_t *arguments)
{
    json_error_t e;
    json_t *made = NULL;
    char *text;

    if (json_is_string(arguments)) {
        made =
            core_json_load(json_string_value(arguments),
                           json_string_length(arguments), JSON_ALLOW_NUL, &e);
        if (made && !json_is_object(made)) {
            json_decref(made);
            made = NULL;
        }
    } else if (json_is_object(arguments)) {
        text = core_json_dump(arguments, 0);
        made = text ? json_string(text) : NULL;
        free(text);
    }
    return made;
}

/* The object of a call that has its arguments, or NULL. */
static json_t *
function_of(json_t *call)
{
    json_t *f = json_object_get(call, "function");

    return f ? f : call;
}

/* Calls do(arguments' object) for each call of the messages that has some. */
static bool
each_call(json_t *messages, bool (*act)(json_t *function, void *data),
          void *data)
{
    size_t i, j;
    json_t *m, *call;
    bool ok = true;

    json_array_foreach(messages, i, m)
    {
        json_array_foreach(json_object_get(m, "tool_calls"), j, call)
        {
            json_t *f = function_of(call);

            if (ok && json_object_get(f, "arguments"))
                ok = act(f, data);
        }
    }
    return ok;
}

static bool
has_type(json_t *function, void *data)
{
    bool *has = data;

    has[0] |= json_is_object(json_object_get(function, "arguments"));
    has[1] |= json_is_string(json_object_get(function, "arguments"));
    return true;
}

static bool
change(json_t *function, void *data)
{
    const enum taken *taken = data;
    const json_t *v = json_object_get(function, "arguments");
    json_t *made;

    if (*taken == TAKES_OBJECTS ? !json_is_string(v) : !json_is_object(v))
        return true;
    made = other_way(v);
    return !made || json_object_set_new(function, "arguments", made) == 0;
}

bool
chat_tool_arguments(const struct chat_request *q, json_t *messages)
{
    bool has[2] = { false, false }, nomem = false;
    enum taken taken;

    each_call(messages, has_type, has);
    if (!has[0] && !has[1])
        return true;
    taken = taken_by(q, &nomem);
    if (nomem || !taken)
        return !nomem;
    return each_call(messages, change, &taken);
}

#endif
