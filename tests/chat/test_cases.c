/* test_cases.c - templates of real models, from $GG_TEST_CHAT
 *
 * templates/ has them; a line of cases.jsonl is a conversation and what
 * Python's jinja2 makes of it, a text or an error. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/tap.h"

#ifdef HAVE_JANSSON

#include "chat/json.h"
#include "chat/template.h"

enum {
    NOON = 1795780800, /* of 27 November 2026, as in the cases */
    MAX_TEMPLATE = 1 << 20,
};

static struct chat_template *
read_template(const char *folder, const char *name, struct gg_error *err)
{
    static char text[MAX_TEMPLATE];
    struct chat_template *t = NULL;
    char path[4096];
    FILE *f;
    size_t n;

    snprintf(path, sizeof(path), "%s/templates/%s", folder, name);
    f = fopen(path, "rb");
    if (!f) {
        snprintf(err->message, sizeof(err->message), "%s: not there", name);
        return NULL;
    }
    n = fread(text, 1, sizeof(text), f);
    fclose(f);
    return chat_template_parse(text, n, &t, err) == GG_OK ? t : NULL;
}

static bool
is_right(const char *folder, const json_t *c)
{
    const char *name = json_string_value(json_object_get(c, "template"));
    const json_t *want = json_object_get(c, "output");
    struct gg_error err = { "" };
    struct chat_arena arena = { .limit = 1 << 28 };
    struct chat_template *t = read_template(folder, name, &err);
    struct chat_value v = chat_from_json(&arena, json_object_get(c, "input"));
    struct chat_string out = { 0 };
    bool text = t && chat_template_render(t, v, NOON, NULL, &arena, &out,
                                          &err) == GG_OK;
    bool right = text && want
                     ? out.n == json_string_length(want) &&
                           memcmp(out.s, json_string_value(want), out.n) == 0
                     : !text && !want && err.message[0];

    if (!right)
        printf("# %s, %s: %s\n", name,
               json_string_value(json_object_get(c, "case")),
               text ? "another text" : err.message);
    chat_template_free(t);
    chat_arena_clear(&arena);
    return right;
}

static void
test_cases(const char *folder, FILE *f)
{
    size_t cap = 0;
    int right = 0, wrong = 0;
    char *line = NULL;
    ssize_t n;

    while ((n = getline(&line, &cap, f)) > 0) {
        json_t *c = json_loadb(line, (size_t)n, JSON_ALLOW_NUL, NULL);

        if (c && is_right(folder, c))
            right++;
        else
            wrong++;
        json_decref(c);
    }
    free(line);
    printf("# %d conversations\n", right);
    ok(right > 0 && wrong == 0, "conversations as jinja2 writes them");
}

int
main(void)
{
    const char *folder = getenv("GG_TEST_CHAT");
    char path[4096];
    FILE *f;

    snprintf(path, sizeof(path), "%s/cases.jsonl", folder ? folder : "");
    f = folder ? fopen(path, "r") : NULL;
    if (!f) {
        puts("1..0 # SKIP GG_TEST_CHAT names no folder of templates");
        return 0;
    }
    test_cases(folder, f);
    fclose(f);
    return tap_done();
}

#else

int
main(void)
{
    puts("1..0 # SKIP built without Jansson");
    return 0;
}

#endif
