/* test_template.c - every construct of the template language, against Jinja2 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "fixtures/chat_templates.h"
#include "harness/tap.h"

#ifdef HAVE_JANSSON

#include "chat/json.h"
#include "chat/template.h"

enum {
    NOON = 1795780800, /* of 27 November 2026 */
};

static struct gg_error err;

static enum gg_status
render(const char *text, size_t n, struct chat_value variables,
       struct chat_arena *arena, struct chat_string *out)
{
    struct chat_template *t = NULL;
    enum gg_status st = chat_template_parse(text, n, &t, &err);

    if (st == GG_OK)
        st = chat_template_render(t, variables, NOON, NULL, arena, out, &err);
    chat_template_free(t);
    return st;
}

/* Whether it ends as in Jinja2: with the text, or an error in the line. */
static bool
is_right(const struct template_case *c, struct chat_value variables)
{
    struct chat_arena arena = { .limit = 1 << 26 };
    struct chat_string out = { 0 };
    enum gg_status st = render(c->text, c->n, variables, &arena, &out);
    char line[32];
    bool right;

    snprintf(line, sizeof(line), "line %zu: ", c->n_output);
    if (c->output)
        right = st == GG_OK && out.n == c->n_output &&
                (out.n == 0 || memcmp(out.s, c->output, out.n) == 0);
    else
        right = st != GG_OK && strncmp(err.message, line, strlen(line)) == 0;
    if (!right)
        printf("# %s\n#   %s\n#   %.*s\n", c->text,
               c->output ? c->output : line,
               st == GG_OK ? (int)out.n : (int)strlen(err.message),
               st != GG_OK ? err.message
               : out.n     ? out.s
                           : "");
    chat_arena_clear(&arena);
    return right;
}

static void
test_templates(struct chat_value variables)
{
    size_t n = sizeof(template_cases) / sizeof(*template_cases);

    for (size_t i = 0; i < n;) {
        const char *title = template_cases[i].title;
        bool right = true;

        do
            right &= is_right(&template_cases[i++], variables);
        while (i < n && !*template_cases[i].title);
        ok(right, title);
    }
}

/* ---- what it says of errors ---- */

static const struct {
    const char *text, *message;
} errors[] = {
    { "\n{{ a.b.c }}", "line 2: b is undefined, and has no c" },
    { "{{ nothing() }}", "line 1: nothing is undefined, and no function" },
    { "{{ 1 + nothing }}",
      "line 1: nothing is undefined, and no operand of +" },
    { "{{ d['gone'] + 'x' }}",
      "line 1: gone is undefined, and no operand of +" },
    { "{{ a + s }}", "line 1: + is not for a int and a str" },
    { "{{ a|wrong }}", "line 1: no filter is called wrong" },
    { "{{ a is wrong }}", "line 1: no test is called wrong" },
    { "{% wrong %}", "line 1: expected a statement, not 'wrong'" },
    { "{{ a b }}", "line 1: expected '}}', not 'b'" },
    { "x\n{% if a %}\ny",
      "line 3: the template ends, and {% elif else endif %} is missing" },
    { "{{ raise_exception('Not so') }}",
      "line 1: the template refuses: Not so" },
    { "{% set l.x = 1 %}",
      "line 1: l is no namespace, and nothing can be assigned to it" },
    { "{{ l.append(1) }}", "line 1: a list cannot be changed" },
};

static void
test_errors(struct chat_value variables)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
        struct chat_arena arena = { .limit = 1 << 26 };
        struct chat_string out = { 0 };
        const char *text = errors[i].text;

        err.message[0] = '\0';
        render(text, strlen(text), variables, &arena, &out);
        is(err.message, errors[i].message, "an error is a sentence");
        chat_arena_clear(&arena);
    }
}

int
main(void)
{
    struct chat_arena arena = { .limit = 1 << 20 };
    json_t *json = json_loads(template_variables, 0, NULL);
    struct chat_value variables = chat_from_json(&arena, json);

    test_templates(variables);
    test_errors(variables);
    chat_arena_clear(&arena);
    json_decref(json);
    return tap_done();
}

#else

int
main(void)
{
    puts("1..0 # SKIP built without Jansson");
    (void)template_cases, (void)template_variables;
    return 0;
}

#endif
