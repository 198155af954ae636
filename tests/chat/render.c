/* render.c - TEMPLATE <variables: prints what a chat template makes of them
 *
 * The variables are a JSON object. strftime_now() sees SOURCE_DATE_EPOCH, or
 * now. Ends with 1 and a message where the template refuses them. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chat/json.h"
#include "chat/template.h"
#include "core/json.h"

static char *
read_all(FILE *f, size_t *n)
{
    size_t cap = 1 << 16, got;
    char *s = malloc(cap);

    *n = 0;
    while (s && (got = fread(s + *n, 1, cap - *n, f)) > 0) {
        *n += got;
        if (*n == cap)
            s = realloc(s, cap *= 2);
    }
    return s;
}

static int
fail(const char *what, const char *why)
{
    fprintf(stderr, "render: %s: %s\n", what, why);
    return 1;
}

/* Times over which a rendering is repeated, for who measures. */
static long
times(void)
{
    const char *s = getenv("RENDER_TIMES");

    return s ? atol(s) : 1;
}

static int
render(const struct chat_template *t, const json_t *json)
{
    struct chat_arena arena = { .limit = (size_t)1 << 30 };
    struct chat_value variables = chat_from_json(&arena, json);
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    int64_t now = epoch ? atoll(epoch) : (int64_t)time(NULL);
    struct chat_string out = { 0 };
    struct gg_error err;
    int status = 0;

    for (long i = times(); i > 0 && status == 0; i--) {
        struct chat_arena own = { .limit = (size_t)1 << 30 };

        if (chat_template_render(t, variables, now, NULL, &own, &out, &err))
            status = fail("template", err.message);
        else if (i == 1 && out.n)
            fwrite(out.s, 1, out.n, stdout);
        chat_arena_clear(&own);
    }
    chat_arena_clear(&arena);
    return status;
}

int
main(int argc, char **argv)
{
    FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
    struct chat_template *t = NULL;
    size_t n, m;
    char *text = f ? read_all(f, &n) : NULL, *input = read_all(stdin, &m);
    struct gg_error err;
    json_error_t e;
    json_t *json = input ? json_loadb(input, m, 0, &e) : NULL;
    int status;

    if (!text)
        return fail("usage", "render TEMPLATE <variables");
    if (!json_is_object(json))
        return fail("variables", "no JSON object");
    status = chat_template_parse(text, n, &t, &err) ? fail(argv[1], err.message)
                                                    : render(t, json);
    chat_template_free(t);
    json_decref(json);
    free(text);
    free(input);
    fclose(f);
    return status;
}

#else

#include <stdio.h>

int
main(void)
{
    fputs("render: built without Jansson\n", stderr);
    return 77;
}

#endif
