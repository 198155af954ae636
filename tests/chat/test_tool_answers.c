/* test_tool_answers.c - calls as models write them, read by the form of their
 * template
 *
 * By templates of real models from $GG_TEST_CHAT, and by those that the library
 * has. TEST_SHOW shows what is misread. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/tap.h"

#ifdef HAVE_JANSSON

#include <gg.h>
#include <jansson.h>

#include "chat/tool_types.h"
#include "fixtures/vocab_make.h"
#include "fixtures/written_answers.h"

enum {
    MAX_TEMPLATE = 1 << 20,
    TEXT = 1 << 14,
};

static struct make make;
static struct gg_vocab *vocab;

static const char tools[] =
    "[{\"type\":\"function\",\"function\":{\"name\":\"get_weather\","
    "\"description\":\"d\",\"parameters\":{\"type\":\"object\","
    "\"properties\":{\"city\":{\"type\":\"string\"},\"days\":{\"type\":"
    "\"integer\"},\"where\":{\"type\":\"object\"},\"list\":{\"type\":"
    "\"array\"},\"on\":{\"type\":\"boolean\"}},\"required\":[]}}},"
    "{\"type\":\"function\",\"function\":{\"name\":\"now\",\"description\":"
    "\"t\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}}]";

/* Whether a call that was read is a pair of a name and arguments. */
static bool
is_call(const json_t *call, const json_t *pair)
{
    const json_t *f = json_object_get(call, "function");
    const char *text = json_string_value(json_object_get(f, "arguments"));
    json_t *arguments = text ? json_loads(text, 0, NULL) : NULL;
    bool is = arguments && json_equal(arguments, json_array_get(pair, 1)) &&
              json_equal(json_object_get(f, "name"), json_array_get(pair, 0));

    json_decref(arguments);
    return is;
}

static bool
are_calls(const char *json, size_t n, const char *wanted)
{
    json_t *calls = json_loadb(json, n, 0, NULL);
    json_t *pairs = json_loads(wanted, 0, NULL);
    bool are = calls && json_array_size(calls) == json_array_size(pairs);

    for (size_t i = 0; are && i < json_array_size(pairs); i++)
        are = is_call(json_array_get(calls, i), json_array_get(pairs, i));
    json_decref(calls);
    json_decref(pairs);
    return are;
}

static bool
is_read(const struct gg_chat_calls *c, const char *name,
        const struct written *w)
{
    static char json[TEXT];
    struct gg_calls_read made = { 0 };
    struct gg_error err;
    bool is = gg_chat_calls_read(c, tools, w->answer, strlen(w->answer), json,
                                 TEXT, &made, &err) == GG_OK &&
              are_calls(json, made.n, w->calls) &&
              (!w->content || made.content == strlen(w->content)) &&
              made.after == 0;

    if (!is && getenv("TEST_SHOW"))
        printf("# %s: %s: %s\n# %.*s\n", name, w->what, w->answer, (int)made.n,
               json);
    return is;
}

/* The template of a file, or one that the library has; *own: it is the
 * caller's. NULL: it is not there. */
static const struct gg_chat_template *
template_of(const char *name, struct gg_chat_template **own)
{
    static char text[MAX_TEMPLATE];
    const char *folder = getenv("GG_TEST_CHAT");
    struct gg_error err;
    char path[4096];
    FILE *f;

    *own = NULL;
    if (!strstr(name, ".jinja"))
        return gg_chat_find(name);
    snprintf(path, sizeof(path), "%s/templates/%s", folder ? folder : "", name);
    f = folder ? fopen(path, "rb") : NULL;
    if (!f)
        return NULL;
    if (gg_chat_parse(text, fread(text, 1, sizeof(text), f), own, &err) !=
        GG_OK)
        printf("# %s: %s\n", name, err.message);
    fclose(f);
    return *own;
}

/* Reads the answers of a group by one of its templates. */
static void
read_answers(const char *name, const struct written *answers)
{
    struct gg_chat_template *own;
    const struct gg_chat_template *t = template_of(name, &own);
    struct gg_chat_calls *c = NULL;
    struct gg_error err;

    if (!t)
        printf("# %s: it is not there, skipped\n", name);
    else if (gg_chat_calls_open(vocab, t, &c, &err) != GG_OK)
        ok(false, name);
    for (int i = 0; c && i < WRITTEN_ANSWERS && answers[i].what; i++) {
        char what[200];

        snprintf(what, sizeof(what), "%s: %s", name, answers[i].what);
        ok(is_read(c, name, &answers[i]), what);
    }
    gg_chat_calls_free(c);
    gg_chat_free(own);
}

/* ---- schemas ---- */

static void
test_inner_schemas(void)
{
    json_t *s = json_loads("{\"properties\":{\"b\":{\"type\":\"integer\"},"
                           "\"c\":{\"type\":\"string\"}}}",
                           0, NULL);
    const json_t *c = chat_tool_inner_schema(s, s, "c", 1);

    ok(c && c == json_object_get(json_object_get(s, "properties"), "c"),
       "the schema of a later member");
    ok(!chat_tool_inner_schema(s, s, "d", 1), "no schema of another");
    json_decref(s);
}

/* ---- results of tools ---- */

#define CALL(id) "{\"id\":\"" id "\",\"function\":{\"name\":\"f\"}}"
#define RESULT(id, text)                                                       \
    "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" text "\"}"

/* Whether a template that lists contents makes `text` of results in some
 * order; with `marks` it is DeepSeek V4's. */
static bool
shows(const char *marks, const char *text)
{
    static const char messages[] =
        "[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\","
        "\"content\":\"b\",\"tool_calls\":[" CALL("i") "," CALL("j") "," CALL(
            "k") "]}," RESULT("k", "3") ",{\"role\":\"user\",\"content\":"
                                        "\"c\"}," RESULT("j", "2") "," RESULT(
                                            "i",
                                            "1") ",{\"role\":\"assistant\","
                                                 "\"content\":"
                                                 "\"d\"}," RESULT(
                                                     "k",
                                                     "5") "," RESULT("i",
                                                                     "4") "]";
    struct gg_chat_params params = { .messages = messages };
    struct gg_chat_template *t = NULL;
    struct gg_error err = { "" };
    char source[300], made[80];
    size_t n = 0;
    bool same;

    snprintf(source, sizeof(source),
             "%s{%% for m in messages %%}{{ m.content }}{%% for c in "
             "m.tool_calls or [] %%}{{ c.function.name }}{%% endfor %%}"
             "{%% endfor %%}",
             marks);
    same = gg_chat_parse(source, strlen(source), &t, &err) == GG_OK &&
           gg_chat_render(vocab, t, NULL, 0, &params, made, sizeof(made), &n,
                          &err) == GG_OK &&
           n == strlen(text) && memcmp(made, text, n) == 0;
    if (!same)
        printf("# %.*s %s\n", (int)n, made, err.message);
    gg_chat_free(t);
    return same;
}

static void
test_results(void)
{
    ok(shows("", "abfff3c21d54"), "results as they came");
    ok(shows("{{ '｜DSML｜<tool_result>' if false }}", "abfff3c21d54"),
       "a template that is none of those that order them");
    ok(shows("{{ '｜DSML｜' + '<tool_result>' if false }}", "abfff1c23d45"),
       "results in the order of their calls");
}

int
main(void)
{
    make_bpe(&make);
    gguf_set_val_u32(make.gguf, "tokenizer.ggml.bos_token_id",
                     (uint32_t)make_token(&make, "<s>", GG_TOKEN_CONTROL, 0));
    gguf_set_val_u32(make.gguf, "tokenizer.ggml.eos_token_id",
                     (uint32_t)make_token(&make, "</s>", GG_TOKEN_CONTROL, 0));
    if (make_load(&make, &vocab, NULL) != GG_OK)
        return 1;
    test_inner_schemas();
    test_results();
    for (size_t i = 0; i < sizeof(written_answers) / sizeof(*written_answers);
         i++)
        for (int j = 0; j < WRITTEN_TEMPLATES; j++)
            if (written_answers[i].templates[j])
                read_answers(written_answers[i].templates[j],
                             written_answers[i].answers);
    gg_vocab_free(vocab);
    make_free(&make);
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
