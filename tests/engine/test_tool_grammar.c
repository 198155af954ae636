/* test_tool_grammar.c - calls that are drawn by the grammar of tools are read
 * back, and follow the tools' schemas
 *
 * By templates of our own, and by those of real models from $GG_TEST_CHAT. */
#include <config.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/tap.h"

#ifdef HAVE_JANSSON

#include <gg.h>
#include <jansson.h>

#include "core/mem.h"
#include "fixtures/tool_templates.h"
#include "fixtures/vocab_make.h"
#include "sample/grammar.h"

enum {
    ANSWERS = 100,
    MOST = 6000, /* tokens of an answer */
    MAX_TEMPLATE = 1 << 20,
    TEXT = 1 << 16,
};

static const char tools[] =
    "[{\"type\":\"function\",\"function\":{\"name\":\"get_weather\","
    "\"description\":\"d\",\"parameters\":{\"type\":\"object\",\"properties\":"
    "{\"city\":{\"type\":\"string\"},\"days\":{\"type\":\"integer\",\"minimum\""
    ":0,\"maximum\":99},\"where\":{\"type\":\"object\",\"properties\":{\"a\":{"
    "\"$ref\":\"#/$defs/n\"}},\"required\":[\"a\"]},\"list\":{\"type\":"
    "\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":2},\"on\":{"
    "\"type\":\"boolean\"},\"unit\":{\"enum\":[\"c\",\"f\"]},\"note\":{"
    "\"type\":[\"string\",\"null\"],\"maxLength\":5}},\"required\":[\"city\","
    "\"where\",\"unit\"],\"$defs\":{\"n\":{\"type\":\"number\"}}}}},"
    "{\"type\":\"function\",\"function\":{\"name\":\"now\",\"description\":"
    "\"d\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}}]";

static const char *const control[] = {
    "<|tool_call>",
    "<tool_call|>",
    "<|\"|>",
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_begin|>",
    "<|tool_call_end|>",
    "<|tool_call_argument_begin|>",
    "[TOOL_CALLS]",
    "[ARGS]",
    "[CALL_ID]",
    "<|channel|>",
    "<|message|>",
    "<|call|>",
    "<|constrain|>",
    "<|start|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|tool_call_start|>",
    "<|open|>",
    "<|close|>",
    "<|sep|>",
    "<|tools_prefix|>",
    "<|START_ACTION|>",
    "<|END_ACTION|>",
    "]<]minimax[>[",
};

static struct make make;
static struct gg_vocab *vocab;

/* ---- schemas ---- */

static bool
is_string(const json_t *v, size_t most)
{
    return json_is_string(v) && json_string_length(v) <= most;
}

/* Whether arguments of get_weather follow its schema. */
static bool
is_weather(const json_t *a)
{
    const json_t *days = json_object_get(a, "days");
    const json_t *list = json_object_get(a, "list");
    const json_t *on = json_object_get(a, "on");
    const json_t *note = json_object_get(a, "note");
    const char *unit = json_string_value(json_object_get(a, "unit"));
    bool right =
        json_is_string(json_object_get(a, "city")) &&
        json_is_number(json_object_get(json_object_get(a, "where"), "a")) &&
        unit && (!strcmp(unit, "c") || !strcmp(unit, "f"));

    if (days)
        right &= json_is_integer(days) && json_integer_value(days) >= 0 &&
                 json_integer_value(days) < 100;
    if (list)
        right &= json_is_array(list) && json_array_size(list) <= 2;
    for (size_t i = 0; i < json_array_size(list); i++)
        right &= json_is_string(json_array_get(list, i));
    if (on)
        right &= json_is_boolean(on);
    if (note)
        right &= json_is_null(note) || is_string(note, 20);
    return right;
}

static bool
is_call(const json_t *call)
{
    const json_t *f = json_object_get(call, "function");
    const char *name = json_string_value(json_object_get(f, "name"));
    const char *text = json_string_value(json_object_get(f, "arguments"));
    json_t *a = text ? json_loads(text, 0, NULL) : NULL;
    bool right = name && json_is_object(a) &&
                 (strcmp(name, "now") == 0
                      ? json_object_size(a) == 0
                      : !strcmp(name, "get_weather") && is_weather(a));

    json_decref(a);
    return right;
}

/* ---- drawing ---- */

static uint32_t seed = 1;

static uint32_t
draw(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)seed * n >> 32);
}

/* Whether a token likely ends something. */
static bool
ends(int32_t id)
{
    size_t n;
    const char *s = gg_vocab_token(vocab, id, &n);

    return gg_vocab_type(vocab, id) == GG_TOKEN_CONTROL ||
           (n && (strchr("\"<]}),'0123456789", s[0]) ||
                  strncmp(s, "\xc4\x8a", 2) == 0));
}

/* One of those that are allowed; -1: the end. */
static int32_t
choose(const struct grammar_at *at)
{
    const uint64_t *mask;
    struct gg_error err;
    size_t n, k = 0;
    int32_t size = gg_vocab_size(vocab), best = -1;
    bool end = draw(3) > 0;

    if (sample_grammar_may_end(at) && draw(4) > 0)
        return -1;
    if (sample_grammar_mask(at, &mask, &n, &err) != GG_OK)
        return -1;
    for (int pass = 0; pass < 2 && best < 0; pass++)
        for (int32_t id = 0; id < size; id++)
            if (mask[id / 64] >> (id % 64) & 1 && !gg_vocab_is_eog(vocab, id) &&
                (!end || pass || ends(id)) && draw((uint32_t)++k) == 0)
                best = id;
    return best;
}

/* Draws an answer; its text, or "" where it has no end. */
static void
answer(struct gg_grammar *g, char *text)
{
    struct grammar_at at = { 0 };
    struct gg_error err;
    size_t len = 0, n;
    int32_t id = 0;

    sample_grammar_begin(&at, g);
    for (int i = 0; i < MOST && (id = choose(&at)) >= 0; i++) {
        const char *s = gg_vocab_token(vocab, id, &n);
        struct gg_decode_state state = { .started = true };

        if (gg_vocab_type(vocab, id) == GG_TOKEN_CONTROL)
            memcpy(text + len, s, n);
        else if (gg_vocab_decode(vocab, &state, id, 0, text + len, TEXT - len,
                                 &n, &err) != GG_OK)
            break;
        len += n;
        if (len > TEXT - 400 || sample_grammar_advance(&at, id, &err) != GG_OK)
            break;
    }
    if (id >= 0 || !sample_grammar_may_end(&at))
        len = 0;
    text[len] = '\0';
    sample_grammar_leave(&at);
}

static bool
is_answer(const struct gg_chat_calls *c, const char *text)
{
    static char json[4 * TEXT];
    struct gg_calls_read made;
    struct gg_error err;
    json_t *calls = NULL;
    bool right;

    if (gg_chat_calls_read(c, tools, text, strlen(text), json, sizeof(json),
                           &made, &err) == GG_OK)
        calls = json_loadb(json, made.n, 0, NULL);
    right = json_array_size(calls) > 0 && made.content == 0;
    for (size_t i = 0; i < json_array_size(calls); i++)
        right = right && is_call(json_array_get(calls, i));
    if (!right && getenv("TEST_SHOW"))
        printf("# %s\n# %s\n", text, json);
    json_decref(calls);
    return right;
}

static struct gg_grammar *
grammar(const struct gg_chat_calls *c, const char *name)
{
    static char text[TEXT];
    struct gg_grammar *g = NULL;
    struct gg_error err = { "" };
    size_t n = 0;

    if (gg_chat_calls_grammar(c, tools, name, text, TEXT, &n, &err) != GG_OK ||
        gg_grammar_new(vocab, text, n, &g, &err) != GG_OK)
        printf("# %s\n%.*s\n", err.message, (int)n, text);
    return g;
}

/* How many of the answers are calls; of those that ended. */
static int
calls_of(const struct gg_chat_template *t, int *ended)
{
    static char text[TEXT];
    struct gg_chat_calls *c = NULL;
    struct gg_error err;
    struct gg_grammar *g;
    int right = 0;

    *ended = 0;
    if (gg_chat_calls_open(vocab, t, &c, &err) != GG_OK)
        return -1;
    g = grammar(c, NULL);
    for (int i = 0; g && i < 3 * ANSWERS && *ended < ANSWERS; i++) {
        answer(g, text);
        *ended += *text != '\0';
        right += *text && is_answer(c, text);
    }
    gg_grammar_free(g);
    gg_chat_calls_free(c);
    return right;
}

static void
test_own(void)
{
    struct gg_error err;

    for (size_t i = 0; i < TOOL_TEMPLATES; i++) {
        const char *source = tool_templates[i].source;
        struct gg_chat_template *t = NULL;
        int right = -1, ended = 0;

        if (gg_chat_parse(source, strlen(source), &t, &err) == GG_OK)
            right = calls_of(t, &ended);
        ok(ended == ANSWERS && right == ended, tool_templates[i].name);
        gg_chat_free(t);
    }
}

static int
is_template(const struct dirent *d)
{
    const char *dot = strrchr(d->d_name, '.');

    return dot && strcmp(dot, ".jinja") == 0;
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

static void
test_real(const char *folder)
{
    char path[4096];
    struct dirent **names;
    int n, whole = 0, wrong = 0;

    snprintf(path, sizeof(path), "%s/templates", folder);
    n = scandir(path, &names, is_template, alphasort);
    for (int i = 0; i < n; i++) {
        struct gg_chat_template *t = read_template(folder, names[i]->d_name);
        int ended = 0, right = t ? calls_of(t, &ended) : -1;

        if (right >= 0)
            printf("# %s: %d of %d\n", names[i]->d_name, right, ended);
        whole += right == ANSWERS;
        wrong += right >= 0 && right < ANSWERS;
        gg_chat_free(t);
        free(names[i]);
    }
    if (n > 0)
        free(names);
    printf("# %d templates\n", whole);
    ok(whole >= 40 && wrong == 0, "calls by real models' templates");
}

/* ---- what is refused ---- */

static void
test_refused(void)
{
    static const char pattern[] =
        "[{\"name\":\"f\",\"parameters\":{\"properties\":{\"a\":{\"type\":"
        "\"string\",\"pattern\":\"^a\"}}}}]";
    const char *source = tool_templates[2].source;
    struct gg_chat_template *t = NULL;
    struct gg_chat_calls *c = NULL;
    struct gg_error err = { "" };
    char text[400];
    size_t n;

    ok(gg_chat_parse(source, strlen(source), &t, &err) == GG_OK &&
           gg_chat_calls_open(vocab, t, &c, &err) == GG_OK,
       "a form");
    ok(gg_chat_calls_grammar(c, tools, "later", text, 400, &n, &err) ==
               GG_ERR_ARG &&
           strstr(err.message, "no tool later"),
       "a tool that is not there");
    ok(gg_chat_calls_grammar(c, "[]", NULL, text, 400, &n, &err) == GG_ERR_ARG,
       "no tools");
    ok(gg_chat_calls_grammar(c, "{", NULL, text, 400, &n, &err) == GG_ERR_ARG,
       "no JSON");
    ok(gg_chat_calls_grammar(c, pattern, NULL, text, 400, &n, &err) ==
               GG_ERR_UNSUPPORTED &&
           strstr(err.message, "pattern"),
       "a pattern of a text without quotation marks");
    gg_chat_calls_free(c);
    gg_chat_free(t);
}

/* Every allocation of our own fails once. */
static void
test_memory(void)
{
    const char *source = tool_templates[2].source;
    struct gg_chat_template *t = NULL;
    struct gg_chat_calls *c = NULL;
    struct gg_error err;
    enum gg_status st = GG_ERR_NOMEM;
    int failed = 0;
    size_t n;

    if (gg_chat_parse(source, strlen(source), &t, &err) != GG_OK ||
        gg_chat_calls_open(vocab, t, &c, &err) != GG_OK)
        return;
    for (long i = 0; st != GG_OK && i < 100000; i += 1 + i / 30) {
        mem_fail_after(i);
        st = gg_chat_calls_grammar(c, tools, NULL, NULL, 0, &n, &err);
        mem_fail_after(-1);
        failed += st != GG_OK && st != GG_ERR_NOMEM;
    }
    is((int)st, GG_OK, "memory that suffices at last");
    is(failed, 0, "every failure is one of memory");
    gg_chat_calls_free(c);
    gg_chat_free(t);
}

int
main(void)
{
    const char *folder = getenv("GG_TEST_CHAT");
    struct gg_error err;

    make_bpe(&make);
    gguf_set_val_u32(make.gguf, "tokenizer.ggml.bos_token_id",
                     (uint32_t)make_token(&make, "<s>", GG_TOKEN_CONTROL, 0));
    gguf_set_val_u32(make.gguf, "tokenizer.ggml.eos_token_id",
                     (uint32_t)make_token(&make, "</s>", GG_TOKEN_CONTROL, 0));
    for (size_t i = 0; i < sizeof(control) / sizeof(*control); i++)
        make_token(&make, control[i], GG_TOKEN_CONTROL, 0);
    if (make_load(&make, &vocab, &err) != GG_OK) {
        printf("# %s\n", err.message);
        return 1;
    }
    test_own();
    test_refused();
    test_memory();
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
