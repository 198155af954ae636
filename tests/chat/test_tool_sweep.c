/* test_tool_sweep.c - calls in each form with white space of every kind around
 * their marks, without outer ones, and what only looks like them
 *
 * By templates of our own, and by those of real models from $GG_TEST_CHAT: an
 * answer is rendered, changed, and read. TEST_SHOW shows what is misread. */
#include <config.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/tap.h"

#ifdef HAVE_JANSSON

#include <gg.h>
#include <jansson.h>

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
    "\"description\":\"d\",\"parameters\":{\"type\":\"object\","
    "\"properties\":{\"city\":{\"type\":\"string\",\"description\":\"c\"},"
    "\"days\":{\"type\":\"integer\",\"description\":\"n\"}},\"required\":[]}}},"
    "{\"type\":\"function\",\"function\":{\"name\":\"now\",\"description\":"
    "\"t\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}}]";

/* ---- an answer of a template ---- */

/* A form, and what its template makes of a call. */
struct subject {
    const char *name;
    struct gg_chat_template *t;
    struct gg_chat_calls *calls;
    char answer[TEXT];
    bool two; /* calls */
    int bad;
};

/* Renders messages; false: the template refuses. */
static bool
render(const struct subject *s, const char *messages, bool answers, char *to)
{
    struct gg_chat_params params = { .messages = messages,
                                     .tools = tools,
                                     .flags = answers ? GG_CHAT_ANSWER : 0 };
    struct gg_error err;
    size_t n = 0;
    bool is = gg_chat_render(vocab, s->t, NULL, 0, &params, to, TEXT - 1, &n,
                             &err) == GG_OK &&
              n < TEXT;

    to[is ? n : 0] = '\0';
    return is;
}

/* The answer after the prompt, from a whole tag on. */
static const char *
answer_in(const struct subject *s, const char *text)
{
    static char prompt[TEXT];
    size_t same = 0;

    render(s, "[{\"role\":\"user\",\"content\":\"Q?\"}]", true, prompt);
    while (prompt[same] && prompt[same] == text[same])
        same++;
    for (size_t i = same; prompt[same] && i > 0 && text[i - 1] != '>'; i--)
        if (text[i - 1] == '<')
            return text + i - 1;
    return text + same;
}

#define CALL(id, name, arguments)                                              \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"" name  \
    "\",\"arguments\":\"" arguments "\"}}"
#define MESSAGES(content, more)                                                \
    "[{\"role\":\"user\",\"content\":\"Q?\"},{\"role\":\"assistant\","         \
    "\"content\":" content                                                     \
    ",\"tool_calls\":[" CALL("call00001", "get_weather",                       \
                             "{\\\"city\\\":\\\"%s\\\",\\\"days\\\":7357}")    \
        more "]}]"

/* Makes the answer with a city as JSON has it within a string of a string. */
static bool
make_answer(struct subject *s, const char *city)
{
    static const char *const forms[] = {
        MESSAGES("\"\"", "," CALL("call00002", "now", "{}")),
        MESSAGES("null", "," CALL("call00002", "now", "{}")),
        MESSAGES("\"\"", ""),
        MESSAGES("null", ""),
    };
    static char messages[TEXT], text[TEXT];

    for (int i = 0; i < 4; i++) {
        const char *from;

        snprintf(messages, sizeof(messages), forms[i], city);
        if (!render(s, messages, false, text))
            continue;
        from = answer_in(s, text);
        s->two = i < 2;
        if (!strstr(from, "get_weather") || (s->two && !strstr(from, "now")))
            continue;
        snprintf(s->answer, TEXT, "%s", from);
        return true;
    }
    return false;
}

/* ---- reading ---- */

static json_t *
read_calls(const struct subject *s, const char *text,
           struct gg_calls_read *made)
{
    static char json[TEXT];
    struct gg_error err;

    if (gg_chat_calls_read(s->calls, tools, text, strlen(text), json, TEXT,
                           made, &err) != GG_OK)
        return NULL;
    return json_loadb(json, made->n, 0, NULL);
}

/* The arguments of call i, of the name. */
static const char *
arguments_of(const json_t *calls, size_t i, const char *name)
{
    const json_t *f = json_object_get(json_array_get(calls, i), "function");
    const char *is = json_string_value(json_object_get(f, "name"));

    return is && !strcmp(is, name)
               ? json_string_value(json_object_get(f, "arguments"))
               : NULL;
}

/* Whether call i has just the city and the days. */
static bool
is_right(const json_t *calls, size_t i, const char *city, const char *days)
{
    const char *text = arguments_of(calls, i, "get_weather");
    json_t *a = text ? json_loads(text, JSON_DECODE_INT_AS_REAL, NULL) : NULL;
    const char *c = json_string_value(json_object_get(a, "city"));
    bool is = json_object_size(a) == 2 && c && !strcmp(c, city) &&
              json_is_number(json_object_get(a, "days")) && strstr(text, days);

    json_decref(a);
    return is;
}

static void
show(struct subject *s, const char *what, const char *text)
{
    s->bad++;
    if (getenv("TEST_SHOW"))
        printf("# %s: %s: %s\n", s->name, what, text);
}

/* The calls are read, or, if they may be text, all is text. */
static void
reads(struct subject *s, const char *what, const char *text, const char *city,
      const char *days, bool may_be_text)
{
    struct gg_calls_read made = { 0 };
    json_t *calls = read_calls(s, text, &made);
    bool is = is_right(calls, 0, city, days) &&
              made.calls == (size_t)1 + s->two &&
              (!s->two || arguments_of(calls, 1, "now"));

    if (may_be_text && made.calls == 0)
        is = made.content == strlen(text);
    if (may_be_text && made.calls == 1)
        is = is_right(calls, 0, city, days) || arguments_of(calls, 0, "now");
    if (!is)
        show(s, what, text);
    json_decref(calls);
}

/* Nothing is a call. */
static void
is_text(struct subject *s, const char *text)
{
    struct gg_calls_read made = { 0 };
    json_t *calls = read_calls(s, text, &made);

    if (made.calls || made.content != strlen(text))
        show(s, "text", text);
    json_decref(calls);
}

/* ---- white space ---- */

static bool
is_space(char c)
{
    return c && strchr(" \t\r\n", c);
}

/* Whether the city begins at `at`, or ends there, but for white space. */
static bool
is_at_city(const char *text, size_t at, bool spaces)
{
    size_t from = at, to = at;

    while (spaces && from && is_space(text[from - 1]))
        from--;
    while (spaces && is_space(text[to]))
        to++;
    return !strncmp(text + to, "Rome", 4) ||
           (from > 3 && !strncmp(text + from - 4, "Rome", 4));
}

/* Whether white space may stand before text[at] without a difference: there a
 * tag ends or begins, and no value. Lines around a value are its own. */
static bool
is_border(const char *text, size_t at, const char *space)
{
    char before = at ? text[at - 1] : '\0', c = text[at];

    if (before != '>' && before != ']' && c != '<' && c != '[')
        return false;
    if (is_at_city(text, at, strchr(space, '\n') != NULL) ||
        !strncmp(text + at, "<|\"|>", 5))
        return false;
    return at < 5 || strncmp(text + at - 5, "<|\"|>", 5) || c == '}' ||
           c == ',';
}

/* Whether text[at] is white space around which a tag stands. */
static bool
is_spare(const char *text, size_t at)
{
    size_t from = at, to = at;

    while (from && is_space(text[from - 1]))
        from--;
    while (is_space(text[to]))
        to++;
    return is_space(text[at]) &&
           ((from && text[from - 1] == '>') || text[to] == '<');
}

/* Puts white space to every border, or to the i-th one; NULL takes away what is
 * there. Returns how many borders there are. */
static size_t
change_space(const char *text, const char *space, size_t only, char *to)
{
    size_t n = 0, len = 0;

    for (size_t at = 0; text[at] && len < TEXT - 10; at++) {
        if (space && is_border(text, at, space) &&
            (only == SIZE_MAX || n++ == only))
            len += (size_t)sprintf(to + len, "%s", space);
        if (space || !is_spare(text, at))
            to[len++] = text[at];
    }
    to[len] = '\0';
    return n;
}

static void
sweep_space(struct subject *s)
{
    static const char *const spaces[] = { NULL, " ", "\n", " \n\n " };
    static char text[TEXT];
    size_t n = 1;

    for (size_t i = 0; i < sizeof(spaces) / sizeof(*spaces); i++) {
        change_space(s->answer, spaces[i], SIZE_MAX, text);
        reads(s, "white space", text, "Rome", "7357", false);
        for (size_t only = 0; spaces[i] && only < n; only++) {
            n = change_space(s->answer, spaces[i], only, text);
            reads(s, "white space", text, "Rome", "7357", false);
        }
    }
}

/* ---- marks that are missing, and other values ---- */

/* Where the n-th tag from the end, or the beginning, begins. */
static const char *
tag_at(const char *text, int n, bool last)
{
    const char *p = last ? text + strlen(text) : text;

    while (p && n-- > 0) {
        if (last)
            for (p--; p > text && *p != '<' && *p != '[';)
                p--;
        else
            p = strpbrk(p + (p > text), "<[");
        if (last && p <= text)
            return NULL;
    }
    return p;
}

static void
sweep_marks(struct subject *s)
{
    static char text[TEXT];

    for (int n = 1; n < 4; n++) {
        const char *p = tag_at(s->answer, n, true);

        if (p && !strstr(p, "7357") && !strstr(p, "now")) {
            snprintf(text, sizeof(text), "%.*s", (int)(p - s->answer),
                     s->answer);
            reads(s, "no end", text, "Rome", "7357", true);
        }
        p = tag_at(s->answer, n, false);
        if (p && p < strstr(s->answer, "get_weather"))
            reads(s, "no beginning", p, "Rome", "7357", true);
    }
    snprintf(text, sizeof(text), "I look.\n\n%.*s", TEXT / 2, s->answer);
    if (*s->answer != '{')
        reads(s, "text before", text, "Rome", "7357", false);
}

static void
sweep_values(struct subject *s)
{
    static const struct {
        const char *city, *json; /* as a string in a string of JSON */
    } values[] = {
        { "a \"b\" 'c'", "a \\\\\\\"b\\\\\\\" 'c'" },
        { "<a>&</b> <", "<a>&</b> <" },
        { "one\ntwo\n\nthree", "one\\\\ntwo\\\\n\\\\nthree" },
        { "K\xc3\xb6ln \xe6\x9d\xb1 \xf0\x9f\x98\x80",
          "K\xc3\xb6ln \xe6\x9d\xb1 \xf0\x9f\x98\x80" },
        { "f(x)[1], {y: 2}", "f(x)[1], {y: 2}" },
        { "12", "12" },
        { "</tool_call> </parameter>", "</tool_call> </parameter>" },
    };

    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        if (make_answer(s, values[i].json))
            reads(s, "value", s->answer, values[i].city, "7357", false);
}

static void
sweep_numbers(struct subject *s)
{
    static const char *const numbers[] = { "18446744073709551615", "1e400",
                                           "-9223372036854775809" };
    static char text[TEXT];
    const char *p = strstr(s->answer, "7357");

    for (size_t i = 0; p && i < sizeof(numbers) / sizeof(*numbers); i++) {
        struct gg_calls_read made = { 0 };
        const char *a;
        json_t *calls;

        snprintf(text, sizeof(text), "%.*s%s%s", (int)(p - s->answer),
                 s->answer, numbers[i], p + 4);
        calls = read_calls(s, text, &made);
        a = arguments_of(calls, 0, "get_weather");
        if (!a || !strstr(a, numbers[i]))
            show(s, "number", text);
        json_decref(calls);
    }
}

static void
sweep_text(struct subject *s)
{
    static const char *const texts[] = {
        "",
        "Plain.",
        "{\"name\": \"Ann\", \"age\": 3}",
        "{\"name\": \"model\", \"parameters\": {\"lr\": 1}}",
        "{\"city\": \"Rome\"}",
        "[{\"a\": 1}]",
        "a <i>tag</i> < b > c",
        "<tool_call> is a mark",
        "now() get_weather(city",
    };
    static char text[TEXT];
    const char *name = strstr(s->answer, "get_weather");

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        is_text(s, texts[i]);
    snprintf(text, sizeof(text), "%.*s no call", (int)(name - s->answer),
             s->answer);
    is_text(s, text);
}

/* ---- all of it ---- */

static void
sweep(const char *name, struct gg_chat_template *t)
{
    static struct subject s;
    struct gg_error err;

    s = (struct subject){ .name = name, .t = t };
    if (gg_chat_calls_open(vocab, t, &s.calls, &err) != GG_OK) {
        printf("# %s: %s\n", name, err.message);
        return;
    }
    if (make_answer(&s, "Rome")) {
        sweep_space(&s);
        sweep_marks(&s);
        sweep_numbers(&s);
        sweep_text(&s);
        sweep_values(&s);
    }
    is(s.bad, 0, name);
    gg_chat_calls_free(s.calls);
}

static void
sweep_source(const char *name, const char *source, size_t n)
{
    struct gg_chat_template *t = NULL;
    struct gg_error err;

    if (gg_chat_parse(source, n, &t, &err) == GG_OK)
        sweep(name, t);
    gg_chat_free(t);
}

static int
is_template(const struct dirent *d)
{
    const char *dot = strrchr(d->d_name, '.');

    return dot && strcmp(dot, ".jinja") == 0;
}

static void
sweep_folder(const char *folder)
{
    static char text[MAX_TEMPLATE];
    char path[4096];
    struct dirent **names;
    int n;

    snprintf(path, sizeof(path), "%s/templates", folder);
    n = scandir(path, &names, is_template, alphasort);
    for (int i = 0; i < n; i++) {
        FILE *f;

        snprintf(path, sizeof(path), "%s/templates/%s", folder,
                 names[i]->d_name);
        f = fopen(path, "rb");
        if (f) {
            sweep_source(names[i]->d_name, text,
                         fread(text, 1, sizeof(text), f));
            fclose(f);
        }
        free(names[i]);
    }
    if (n > 0)
        free(names);
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
    for (size_t i = 0; i < TOOL_TEMPLATES; i++)
        sweep_source(tool_templates[i].name, tool_templates[i].source,
                     strlen(tool_templates[i].source));
    if (folder)
        sweep_folder(folder);
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
