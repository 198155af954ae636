/* fuzz_chat.c - chat templates: whatever the template and its variables are, a
 * text, or a word with a line
 *
 * A template, NUL, and variables in JSON; without them, those of the tests. The
 * template may have NUL, too. */
#include <config.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/chat_templates.h"
#include "fuzz.h"

#ifdef HAVE_JANSSON
#include "chat/json.h"
#endif
#include "chat/template.h"

const char fuzz_name[] = "chat";

static void
check(bool right)
{
    if (!right)
        abort();
}

static bool
is_origin(uint8_t origin)
{
    return origin == CHAT_TEXT || origin == CHAT_TRUSTED || origin == CHAT_ROLE;
}

static void
check_output(const struct chat_string *out)
{
    check(out->n == 0 || out->s);
    check(is_origin(out->origin));
    for (size_t i = 0; out->origins && i < out->n; i++)
        check(is_origin(out->origins[i]));
}

static struct chat_value
variables(struct chat_arena *a, const char *text, size_t n)
{
    struct chat_value v = { .type = CHAT_ABSENT };

#ifdef HAVE_JANSSON
    json_t *json = n ? json_loadb(text, n, JSON_ALLOW_NUL, NULL)
                     : json_loads(template_variables, 0, NULL);

    if (json_is_object(json))
        v = chat_from_json(a, json);
    json_decref(json);
#else
    (void)text, (void)n;
#endif
    return v.type == CHAT_ABSENT ? chat_dict(a, CHAT_DICT) : v;
}

static void
render(const struct chat_template *t, const char *json, size_t n)
{
    struct chat_limits limits = { .memory = 1 << 24, .steps = 100000 };
    struct chat_arena arena = { .limit = 1 << 25 };
    struct chat_string out = { 0 };
    struct gg_error err = { "" };

    if (chat_template_render(t, variables(&arena, json, n), 1795780800, &limits,
                             &arena, &out, &err) == GG_OK)
        check_output(&out);
    else
        check(strncmp(err.message, "line ", 5) == 0);
    chat_arena_clear(&arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *end = size ? memrchr(text, '\0', size) : NULL;
    size_t n = end ? (size_t)(end - text) : size;
    struct chat_template *t = NULL;
    struct gg_error err = { "" };

    if (chat_template_parse(text, n, &t, &err) == GG_OK)
        render(t, end ? end + 1 : "", end ? size - n - 1 : 0);
    else
        check(!t && err.message[0]);
    chat_template_free(t);
    return 0;
}

/* With variables of its own each third time. */
uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    static const char json[] = "{\"messages\":[{\"role\":\"user\",\"content\":"
                               "\"a\\u00e9<|b|>\"}],\"a\":[1,2.5,null,true]}";
    uint8_t *data;
    size_t n;

    if (i >= sizeof(template_cases) / sizeof(*template_cases))
        return NULL;
    n = template_cases[i].n;
    *size = i % 3 ? n : n + sizeof(json);
    data = malloc(*size + 1);
    check(data != NULL);
    memcpy(data, template_cases[i].text, n);
    data[n] = '\0';
    if (i % 3 == 0)
        memcpy(data + n + 1, json, sizeof(json) - 1);
    return data;
}
