/* test_tools.c - calls of tools: rendered by a template, and read back
 *
 * By templates of our own, and by those of real models from $GG_TEST_CHAT.
 * TEST_SHOW shows what is not read back. */
#include <config.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/tap.h"

#ifdef HAVE_JANSSON

#include <gg.h>
#include <jansson.h>

#include "core/mem.h"
#include "fixtures/tool_answers.h"
#include "fixtures/tool_templates.h"
#include "fixtures/vocab_make.h"

enum {
    MAX_TEMPLATE = 1 << 20,
    TEXT = 1 << 16,
};

static struct make make;
static struct gg_vocab *vocab;

static const char tools[] =
    "[{\"type\":\"function\",\"function\":{\"name\":\"get_weather\","
    "\"description\":\"The weather.\",\"parameters\":{\"type\":\"object\","
    "\"properties\":{\"city\":{\"type\":\"string\",\"description\":\"Its "
    "name\"},\"days\":{\"type\":\"integer\",\"description\":\"How many\"},"
    "\"where\":{\"type\":\"object\",\"description\":\"Where\"},\"list\":{"
    "\"type\":\"array\",\"description\":\"More\"},\"on\":{\"type\":"
    "\"boolean\",\"description\":\"Or off\"}},\"required\":[]}}},"
    "{\"type\":\"function\",\"function\":{\"name\":\"now\",\"description\":"
    "\"The time.\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}}]";

/* Arguments of one call of get_weather, or of two; of now: {}. */
static const struct {
    const char *what, *content, *first, *second;
} drawn[] = {
    { "nested", "\"\"",
      "{\"city\":\"Rome\",\"where\":{\"a\":[1,2.5,{\"b\":null,"
      "\"c\":\"d\"}],\"e\":true},\"list\":[\"x\",\"y z\",[]]}",
      NULL },
    { "empty", "\"\"", "{}", NULL },
    { "unicode", "\"\"",
      "{\"city\":\"K\xc3\xb6ln \xe6\x9d\xb1 \xf0\x9f\x98\x80\","
      "\"days\":-3,\"on\":false}",
      NULL },
    { "quotes and lines", "\"\"",
      "{\"city\":\"a \\\"b\\\" 'c'\\n  d\\\\e <f> & g\",\"days\":0}", NULL },
    { "closing marks", "\"\"",
      "{\"city\":\"</tool_call> </parameter> }] <|end|> </function>\","
      "\"days\":7}",
      NULL },
    { "two, behind text", "\"I look.\"", "{\"city\":\"42\",\"days\":42}",
      "{}" },
};

enum {
    DRAWN = sizeof(drawn) / sizeof(*drawn)
};

static json_t *
call(const char *id, const char *name, const char *arguments)
{
    return json_pack("{s:s,s:s,s:{s:s,s:s}}", "id", id, "type", "function",
                     "function", "name", name, "arguments", arguments);
}

/* The conversation, as text, with a content in JSON; with the second call, if
 * there is one and `both`. */
static char *
conversation(size_t i, const char *content, bool both)
{
    json_t *calls = json_array(), *all;
    char *s;

    json_array_append_new(calls,
                          call("call00001", "get_weather", drawn[i].first));
    if (drawn[i].second && both)
        json_array_append_new(calls, call("call00002", "now", drawn[i].second));
    all = json_pack("[{s:s,s:s},{s:s,s:o,s:o}]", "role", "user", "content",
                    "How is it?", "role", "assistant", "content",
                    json_loads(content, JSON_DECODE_ANY, NULL), "tool_calls",
                    calls);
    s = json_dumps(all, 0);
    json_decref(all);
    return s;
}

static bool
is_call(const json_t *calls, size_t i, const char *name, const char *arguments)
{
    const json_t *f = json_object_get(json_array_get(calls, i), "function");
    const char *text = json_string_value(json_object_get(f, "arguments"));
    const char *read = json_string_value(json_object_get(f, "name"));
    json_t *a = text ? json_loads(text, 0, NULL) : NULL;
    json_t *b = json_loads(arguments, 0, NULL);
    bool same = a && read && strcmp(read, name) == 0 && json_equal(a, b);

    json_decref(a);
    json_decref(b);
    return same;
}

/* How much of a text stands before the answer. */
static size_t
prompt_length(const struct gg_chat_template *t, const char *text)
{
    static const char messages[] =
        "[{\"role\":\"user\",\"content\":\"How is it?\"}]";
    static char prompt[TEXT];
    struct gg_chat_params params = { .messages = messages,
                                     .tools = tools,
                                     .flags = GG_CHAT_ANSWER };
    struct gg_error err = { "" };
    size_t n = 0, same = 0;

    if (gg_chat_render(vocab, t, NULL, 0, &params, prompt, TEXT, &n, &err) !=
        GG_OK)
        printf("# %s\n", err.message);
    while (same < n && prompt[same] == text[same])
        same++;
    if (same < n) /* not within a tag */
        for (size_t i = same; i > 0 && prompt[i - 1] != '>'; i--)
            if (prompt[i - 1] == '<')
                return i - 1;
    return same;
}

/* Renders a conversation; whether its calls are shown. */
static bool
render(const struct gg_chat_template *t, size_t i, const char *content,
       bool both, char *text)
{
    char *messages = conversation(i, content, both);
    struct gg_chat_params params = { .messages = messages, .tools = tools };
    struct gg_error err;
    size_t n = 0;
    bool is = gg_chat_render(vocab, t, NULL, 0, &params, text, TEXT - 1, &n,
                             &err) == GG_OK &&
              n < TEXT;
    const char *answer;

    text[is ? n : 0] = '\0';
    free(messages);
    answer = strstr(text, "How is it?");
    return answer && strstr(answer, "get_weather") &&
           (!both || !drawn[i].second || strstr(answer, "now"));
}

/* Renders in the way that the template shows: some have one call at a time,
 * some want no text before, some want null. Returns the number of calls. */
static size_t
render_some(const struct gg_chat_template *t, size_t i, char *text)
{
    const char *const contents[] = { drawn[i].content, "\"\"", "null" };

    for (int j = 0; j < 3; j++)
        for (int both = 1; both >= 0; both--)
            if (render(t, i, contents[j], both, text))
                return both && drawn[i].second ? 2 : 1;
    return 0;
}

/* The text before the calls, if the template shows it. */
static bool
has_content(size_t i, const char *text, const struct gg_calls_read *made)
{
    json_t *content = json_loads(drawn[i].content, JSON_DECODE_ANY, NULL);
    const char *s = json_string_value(content);
    bool has =
        !*s || !strstr(text, s) || memmem(text, made->content, s, strlen(s));

    json_decref(content);
    return has;
}

static bool
comes_back(const struct gg_chat_template *t, const struct gg_chat_calls *c,
           size_t i)
{
    static char text[TEXT], json[TEXT];
    struct gg_calls_read made = { 0 };
    struct gg_error err = { "" };
    size_t want = render_some(t, i, text);
    const char *from = text + prompt_length(t, text);
    json_t *calls = NULL;
    bool same;

    if (gg_chat_calls_read(c, tools, from, strlen(from), json, TEXT, &made,
                           &err) == GG_OK)
        calls = json_loadb(json, made.n, 0, NULL);
    same = want && made.calls == want && calls &&
           is_call(calls, 0, "get_weather", drawn[i].first) &&
           (want < 2 || is_call(calls, 1, "now", drawn[i].second)) &&
           has_content(i, from, &made);
    if (!same && getenv("TEST_SHOW"))
        printf("# %s: %s\n# %.*s\n", drawn[i].what, from, (int)made.n, json);
    json_decref(calls);
    return same;
}

static int
how_many(const struct gg_chat_template *t, const struct gg_chat_calls *c)
{
    int n = 0;

    for (size_t i = 0; i < DRAWN; i++)
        if (comes_back(t, c, i))
            n++;
        else
            printf("# not %s\n", drawn[i].what);
    return n;
}

static struct gg_chat_template *
read_template(const char *folder, const char *name)
{
    static char text[MAX_TEMPLATE];
    struct gg_chat_template *t = NULL;
    struct gg_error err;
    char path[4096];
    FILE *f;
    size_t n;

    snprintf(path, sizeof(path), "%s/templates/%s", folder, name);
    f = fopen(path, "rb");
    if (!f)
        return NULL;
    n = fread(text, 1, sizeof(text), f);
    fclose(f);
    return gg_chat_parse(text, n, &t, &err) == GG_OK ? t : NULL;
}

/* Templates of which not all calls come back: how many do, and why not all;
 * -1: they are refused. */
static const struct {
    const char *name;
    int n;
    const char *why;
} others[] = {
    { "HuggingFaceTB-SmolLM3-3B.jinja", -1, "it shows no calls" },
    { "Kimi-K2-Instruct.jinja", -1, "it calls append(), and is refused" },
    { "LFM2-8B-A1B.jinja", -1, "it shows no calls" },
    { "google-gemma-2-2b-it.jinja", -1, "it shows no calls" },
    { "llama-cpp-rwkv-world.jinja", -1, "it shows no calls" },
    { "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B.jinja", 5,
      "it shows text behind the calls" },
    { "google-gemma-4-31B-it.jinja", 5, "it shows text behind the calls" },
    { "google-gemma-4-31B-it-interleaved.jinja", 5,
      "it shows text behind the calls" },
};

static int
wanted(const char *name)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (strcmp(others[i].name, name) == 0)
            return others[i].n;
    return DRAWN;
}

/* How many calls come back, or -1; what the form is called goes to `form`. */
static int
back(const struct gg_chat_template *t, char *form, size_t size)
{
    struct gg_chat_calls *c = NULL;
    struct gg_error err;
    int n = -1;

    snprintf(form, size, "none");
    if (gg_chat_calls_open(vocab, t, &c, &err) == GG_OK) {
        snprintf(form, size, "%s", gg_chat_calls_name(c));
        n = how_many(t, c);
    } else {
        printf("# %s\n", err.message);
    }
    gg_chat_calls_free(c);
    return n;
}

static int
is_template(const struct dirent *d)
{
    const char *dot = strrchr(d->d_name, '.');

    return dot && strcmp(dot, ".jinja") == 0;
}

static void
test_real(const char *folder)
{
    char path[4096], form[64];
    struct dirent **names;
    int n, whole = 0, wrong = 0;

    snprintf(path, sizeof(path), "%s/templates", folder);
    n = scandir(path, &names, is_template, alphasort);
    for (int i = 0; i < n; i++) {
        struct gg_chat_template *t = read_template(folder, names[i]->d_name);
        int got = t ? back(t, form, sizeof(form)) : -2;

        printf("# %s: %s, %d\n", names[i]->d_name, form, got);
        whole += got == DRAWN;
        wrong += got != wanted(names[i]->d_name);
        gg_chat_free(t);
        free(names[i]);
    }
    if (n > 0)
        free(names);
    printf("# %d templates of which all calls come back\n", whole);
    ok(whole >= 40, "calls of real models' templates come back");
    is(wrong, 0, "what is known of the others");
}

/* ---- templates of our own ---- */

static void
test_own(void)
{
    struct gg_error err;
    char form[64];

    for (size_t i = 0; i < TOOL_TEMPLATES; i++) {
        struct gg_chat_template *t = NULL;
        int got = -2;

        if (gg_chat_parse(tool_templates[i].source,
                          strlen(tool_templates[i].source), &t, &err) == GG_OK)
            got = back(t, form, sizeof(form));
        is(got, DRAWN, tool_templates[i].name);
        gg_chat_free(t);
    }
}

/* ---- built-in forms ---- */

static void
test_known(void)
{
    static const char *const names[] = { "qwen2.5", "qwen3", "llama3.1" };
    static char text[TEXT];
    char form[64];

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const struct gg_chat_template *t = gg_chat_find(names[i]);

        is(t ? back(t, form, sizeof(form)) : -2, DRAWN, names[i]);
        ok(t && render_some(t, 0, text) == 1 && strstr(text, "The weather.") &&
               strstr(text, "The time."),
           "it shows the tools");
    }
}

/* A tool without parameters, however its description is written. */
static void
test_bare(void)
{
    static const char *const bare[] = {
        "[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]",
        "[{\"type\":\"function\",\"function\":{\"name\":\"f\","
        "\"parameters\":null}}]",
        "[{\"name\":\"f\"}]",
    };
    static char text[TEXT];

    for (size_t i = 0; i < sizeof(bare) / sizeof(*bare); i++) {
        struct gg_chat_params params = {
            .messages = "[{\"role\":\"user\",\"content\":\"Hi\"}]",
            .tools = bare[i]
        };
        struct gg_error err;
        size_t n = 0;

        ok(gg_chat_render(vocab, gg_chat_find("qwen3"), NULL, 0, &params, text,
                          TEXT - 1, &n, &err) == GG_OK &&
               memmem(text, n,
                      "\"parameters\": {\"type\": \"object\", "
                      "\"properties\": {}}",
                      50),
           bare[i]);
    }
}

/* ---- what models write that templates don't ---- */

static bool
is_answered(const char *json, size_t n, const char *arguments)
{
    json_t *calls = json_loadb(json, n, 0, NULL);
    const json_t *v = json_object_get(
        json_object_get(json_array_get(calls, 0), "function"), "arguments");
    bool same = arguments ? v && strcmp(json_string_value(v), arguments) == 0
                          : calls && json_array_size(calls) == 0;

    if (!same)
        printf("# %.*s\n", (int)n, json);
    json_decref(calls);
    return same;
}

static void
test_answers(void)
{
    char json[4096];

    for (size_t i = 0; i < sizeof(tool_answers) / sizeof(*tool_answers); i++) {
        const char *source = tool_templates[tool_answers[i].template].source;
        const char *text = tool_answers[i].text;
        struct gg_chat_template *t = NULL;
        struct gg_chat_calls *c = NULL;
        struct gg_calls_read made = { 0 };
        struct gg_error err;
        bool read = gg_chat_parse(source, strlen(source), &t, &err) == GG_OK &&
                    gg_chat_calls_open(vocab, t, &c, &err) == GG_OK &&
                    gg_chat_calls_read(c, NULL, text, strlen(text), json,
                                       sizeof(json), &made, &err) == GG_OK;

        ok(read && is_answered(json, made.n, tool_answers[i].json) &&
               made.content == (tool_answers[i].json ? tool_answers[i].content
                                                     : strlen(text)),
           tool_answers[i].what);
        gg_chat_calls_free(c);
        gg_chat_free(t);
    }
}

/* ---- memory, time, arguments ---- */

/* Every allocation fails once. */
static void
test_memory(void)
{
    static const char text[] = "a<do>\n<f=now>\n<p=a>\n[1]\n</p>\n</f>\n</do>";
    char json[400];
    int failed = 0;
    bool done = false;

    for (long i = 0; !done && i < 100000; i += 1 + i / 50) {
        struct gg_chat_template *t = NULL;
        struct gg_chat_calls *c = NULL;
        struct gg_calls_read made;
        struct gg_error err;
        enum gg_status st;

        mem_fail_after(i);
        st = gg_chat_parse(tool_templates[2].source,
                           strlen(tool_templates[2].source), &t, &err);
        if (st == GG_OK)
            st = gg_chat_calls_open(vocab, t, &c, &err);
        if (st == GG_OK)
            st = gg_chat_calls_read(c, NULL, text, strlen(text), json,
                                    sizeof(json), &made, &err);
        mem_fail_after(-1);
        if (st != GG_OK && st != GG_ERR_NOMEM)
            printf("# %ld: %s\n", i, err.message);
        gg_chat_calls_free(c);
        gg_chat_free(t);
        done = st == GG_OK;
        failed += st != GG_OK && st != GG_ERR_NOMEM;
    }
    ok(done, "memory that suffices at last");
    is(failed, 0, "every failure is one of memory");
}

/* A text of 4 MiB of a part. */
static void
read_much(const struct gg_chat_calls *c, const char *begin, const char *part)
{
    size_t n = (size_t)1 << 22, b = strlen(begin), p = strlen(part);
    char *text = malloc(n);
    struct gg_calls_read made;
    struct gg_error err;
    clock_t start = clock();
    double seconds;

    memcpy(text, begin, b);
    for (size_t i = b; i < n; i++)
        text[i] = part[(i - b) % p];
    ok(gg_chat_calls_read(c, NULL, text, n, NULL, 0, &made, &err) == GG_OK,
       part);
    seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("# %zu calls, %.2f s\n", made.calls, seconds);
    ok(seconds < 20, "in time");
    free(text);
}

static void
test_much(void)
{
    static const struct {
        size_t template;
        const char *begin, *part;
    } much[] = {
        { 0, "", "<tool_call>\n{" },
        { 0, "", "<tool_call>\n{\"name\":\"a\"}</tool_call>" },
        { 2, "", "x<do><f=a><p=b>1</p></f></do>" },
        { 0, "<tool_call>\n", "[" },
        { 0, "<tool_call>\n{\"name\":\"a\",\"arguments\":", "{\"a\":" },
        { 0, "", " " },
        { 2, "<do>\n<f=a>\n", "<p=a>\n{\n</p>\n" },
        { 2, "<do>\n<f=a>\n<p=a>\n", "\n</p>" },
        { 2, "<do>\n<f=a>\n", "<p=a>\n" },
        { 2, "", "<do>\n<f=a>\n" },
        { 2, "<do>\n<f=a>\n<p=a>", " " },
        { 5, "<|py|>f(", "a=[" },
        { 5, "<|py|>f(a=", "[" },
        { 5, "<|py|>f(", "a='', " },
        { 5, "<|py|>f(", "a={'b', " },
    };

    for (size_t i = 0; i < sizeof(much) / sizeof(*much); i++) {
        const char *source = tool_templates[much[i].template].source;
        struct gg_chat_template *t = NULL;
        struct gg_chat_calls *c = NULL;
        struct gg_error err;

        if (gg_chat_parse(source, strlen(source), &t, &err) == GG_OK &&
            gg_chat_calls_open(vocab, t, &c, &err) == GG_OK)
            read_much(c, much[i].begin, much[i].part);
        gg_chat_calls_free(c);
        gg_chat_free(t);
    }
}

/* The message about a template that has no form of calls. */
static void
refused(const char *source, const char *why)
{
    struct gg_chat_template *t = NULL;
    struct gg_chat_calls *c = NULL;
    struct gg_error err = { "" };

    ok(gg_chat_parse(source, strlen(source), &t, &err) == GG_OK &&
           gg_chat_calls_open(vocab, t, &c, &err) == GG_ERR_UNSUPPORTED &&
           strstr(err.message, why),
       why);
    if (!strstr(err.message, why))
        printf("# %s\n", err.message);
    gg_chat_calls_free(c);
    gg_chat_free(t);
}

static void
test_refused(void)
{
    struct gg_chat_calls *c = NULL;
    struct gg_error err = { "" };

    ok(gg_chat_calls_open(vocab, gg_chat_find("chatml"), &c, &err) ==
               GG_ERR_UNSUPPORTED &&
           strstr(err.message, "chatml has no tools"),
       "a known form");
    refused("{{ messages[0].content }}", "does not show calls");
    refused(FOR_MESSAGES
            "<call>\xff{{ f.name }}|{{ f.arguments | tojson }}" END,
            "no text");
    /* arguments before the content, the name after it */
    refused("{% for m in messages %}<{{ m.role }}>{% if m.tool_calls %}"
            "{% for c in m.tool_calls %}{{ c.function.arguments | tojson }}"
            "{% endfor %}{{ m.content }}{% for c in m.tool_calls %}"
            "{{ c.function.name }}{% endfor %}{% else %}{{ m.content }}"
            "{% endif %}{% endfor %}",
            "in no order that is known");
    /* a key that stands elsewhere alone */
    refused(
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}key_ab"
        "{% for c in m.tool_calls or [] %}{{ c.function.name }}"
        "{{ c.function.arguments.values() | list }}{% endfor %}{% endfor %}",
        "in no order that is known");
}

int
main(void)
{
    const char *folder = getenv("GG_TEST_CHAT");

    make_bpe(&make);
    gguf_set_val_u32(make.gguf, "tokenizer.ggml.bos_token_id",
                     (uint32_t)make_token(&make, "<s>", GG_TOKEN_CONTROL, 0));
    gguf_set_val_u32(make.gguf, "tokenizer.ggml.eos_token_id",
                     (uint32_t)make_token(&make, "</s>", GG_TOKEN_CONTROL, 0));
    if (make_load(&make, &vocab, NULL) != GG_OK)
        return 1;
    test_own();
    test_known();
    test_bare();
    test_answers();
    test_refused();
    test_memory();
    test_much();
    if (folder)
        test_real(folder);
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
