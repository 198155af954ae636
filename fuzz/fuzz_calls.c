/* fuzz_calls.c - calls of tools: whatever an answer is, it is read to an array
 * of calls; whatever a template is, its calls have a form, or a word why not
 *
 * A byte, and an answer in the form of a template of the tests; or, if the byte
 * is not below 128, a template. */
#include <config.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/tool_templates.h"
#include "fixtures/vocab_make.h"
#include "fuzz.h"

#include <gg.h>

const char fuzz_name[] = "calls";

static void
check(bool right)
{
    if (!right)
        abort();
}

static struct gg_vocab *
vocab(void)
{
    static struct make make;
    static struct gg_vocab *v;

    if (!v) {
        make_bpe(&make);
        check(make_load(&make, &v, NULL) == GG_OK);
    }
    return v;
}

static struct gg_chat_calls *
open_calls(const char *source, size_t n)
{
    struct gg_chat_template *t = NULL;
    struct gg_chat_calls *c = NULL;
    struct gg_error err = { "" };
    enum gg_status st = gg_chat_parse(source, n, &t, &err);

    if (st == GG_OK) {
        st = gg_chat_calls_open(vocab(), t, &c, &err);
        check(st == GG_OK || st == GG_ERR_UNSUPPORTED);
        check(st == GG_OK || err.message[0]);
    }
    gg_chat_free(t);
    return c;
}

static void
read_answer(const struct gg_chat_calls *c, const char *text, size_t n)
{
    static const char tools[] =
        "[{\"name\":\"a\",\"parameters\":{\"properties\":{\"b\":{\"type\":"
        "\"string\"},\"c\":{\"type\":\"integer\"}}}}]";
    struct gg_calls_read made = { 0 };
    struct gg_error err;
    size_t cap = 16 * n + 400;
    char *json = malloc(cap);

    check(json != NULL);
    for (int i = 0; i < 2; i++) {
        check(gg_chat_calls_read(c, i ? tools : NULL, text, n, json, cap, &made,
                                 &err) == GG_OK);
        check(made.content <= n && made.n >= 2);
        check(made.calls || (made.content == n && made.n == 2));
        if (made.n <= cap)
            check(json[0] == '[' && json[made.n - 1] == ']');
    }
    free(json);
}

/* A form that a template gave makes a grammar, or says why not. */
static void
use(const struct gg_chat_calls *c, const char *text, size_t n)
{
    static const char tools[] =
        "[{\"name\":\"a\",\"parameters\":{\"properties\":{\"b\":{\"type\":"
        "\"string\"},\"c\":{\"type\":\"integer\"}}}}]";
    static char grammar[1 << 16];
    struct gg_grammar *g = NULL;
    struct gg_error err;
    size_t len = 0;

    read_answer(c, text, n);
    check(gg_chat_calls_grammar(c, tools, NULL, grammar, sizeof(grammar), &len,
                                &err) == GG_OK);
    if (len <= sizeof(grammar))
        check(gg_grammar_new(vocab(), grammar, len, &g, &err) == GG_OK);
    gg_grammar_free(g);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gg_chat_calls *own[TOOL_TEMPLATES];
    const char *text = (const char *)data + 1;
    size_t i = size ? data[0] % TOOL_TEMPLATES : 0;
    struct gg_chat_calls *c;

    if (size == 0)
        return 0;
    if (data[0] >= 128) {
        c = open_calls(text, size - 1);
        if (c)
            use(c, text, size - 1);
        gg_chat_calls_free(c);
        return 0;
    }
    if (!own[i])
        own[i] = open_calls(tool_templates[i].source,
                            strlen(tool_templates[i].source));
    if (own[i]) /* none without Jansson */
        read_answer(own[i], text, size - 1);
    return 0;
}

/* Answers to each template, and the templates. */
uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    static const char *const answers[TOOL_TEMPLATES] = {
        "Hm.\n<tool_call>\n{\"name\": \"a\", \"arguments\": {\"b\": \"}\"}}\n"
        "</tool_call>\n<tool_call>\n{\"name\": \"a\"}\n</tool_call>",
        "<call>a|{\"b\": [1, 2.5e3, null]}</call><call>a|{}</call>",
        "<do>\n<f=a>\n<p=b>\n{'x': True, \"y\": (1,)}\n</p>\n<p=c>\n12\n</p>\n"
        "</f>\n</do>\n<do>\n<f=a>\n</f>\n</do>",
        "[CALLS][{\"id\": \"x\", \"name\": \"a\", \"arguments\": {}}, "
        "{\"name\":"
        " \"a\", \"arguments\": \"{}\"}]",
        "<call n=\"1\" of=\"a\"><arg of=\"b\" text=yes>x</arg><arg of=\"c\" "
        "text=no>[1, \"\\u00e9\"]</arg></call>",
        "<|py|>a(b='it''s', c=-1, d=[None, {'k': <|\"|>v<|\"|>}])",
        "<do a><:b><:c>1</:c><:d><:item>x</:item><:item></:item></:d></:b>"
        "<:e>y</:f></do><do a></do>",
    };
    bool template = i >= TOOL_TEMPLATES;
    const char *text;
    uint8_t *data;

    if (i >= 2 * TOOL_TEMPLATES)
        return NULL;
    i -= template ? TOOL_TEMPLATES : 0;
    text = template ? tool_templates[i].source : answers[i];
    *size = strlen(text) + 1;
    data = malloc(*size);
    check(data != NULL);
    data[0] = template ? 128 : (uint8_t)i;
    memcpy(data + 1, text, *size - 1);
    return data;
}
