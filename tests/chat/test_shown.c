/* test_shown.c - no text of a message is lost without a word
 *
 * Every template of $GG_TEST_CHAT, and a few that lose much, with messages of
 * every role and contents of every form: a marker text comes out, and no list
 * of parts or None, or an error names the message. With $TEST_LIST, what each
 * does with each is listed. */
#include <config.h>

#include <gg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/vocab_make.h"
#include "harness/tap.h"

#ifdef HAVE_JANSSON

#include <glob.h>

enum {
    MAX_TEMPLATE = 1 << 20,
    MAX_TEXT = 1 << 20,
};

static const char *const roles[] = { "system",    "developer", "user",
                                     "assistant", "tool",      "function",
                                     "ipython",   "oracle" };

/* `n`: markers Qxa0, Qxb1, ... that have to come out. */
static const struct {
    const char *name, *json;
    int n;
} contents[] = {
    { "text", "\"Qxa0\"", 1 },
    { "part", "[{\"type\":\"text\",\"text\":\"Qxa0\"}]", 1 },
    { "parts",
      "[{\"type\":\"text\",\"text\":\"Qxa0\"},"
      "{\"type\":\"text\",\"text\":\"Qxb1\"}]",
      2 },
    { "strings", "[\"Qxa0\",\"Qxb1\"]", 2 },
    { "null", "null", 0 },
    { "missing", NULL, 0 },
    { "empty", "\"\"", 0 },
    { "blank", "\" \\n\"", 0 },
};

/* Conversations about the message, which stands for %s. */
static const struct {
    const char *role; /* or NULL: any other */
    const char *json;
} talks[] = {
    { "system", "[%s,{\"role\":\"user\",\"content\":\"Uu\"}]" },
    { "developer", "[%s,{\"role\":\"user\",\"content\":\"Uu\"}]" },
    { "user", "[%s]" },
    { "assistant", "[{\"role\":\"user\",\"content\":\"Uu\"},%s,"
                   "{\"role\":\"user\",\"content\":\"Vv\"}]" },
    { NULL, "[{\"role\":\"user\",\"content\":\"Uu\"},"
            "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":["
            "{\"id\":\"call00001\",\"type\":\"function\",\"function\":"
            "{\"name\":\"now\",\"arguments\":\"{}\"}}]},%s]" },
};

static const char tools[] =
    "[{\"type\":\"function\",\"function\":{\"name\":\"now\",\"description\":"
    "\"t\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}}]";

static char source[MAX_TEMPLATE], text[MAX_TEXT];
static struct gg_vocab *vocab;
static int cells, told, wrong;

static struct gg_chat_template *
load_template(const char *path)
{
    struct gg_chat_template *t = NULL;
    FILE *f = fopen(path, "rb");
    struct gg_error err;
    size_t n = f ? fread(source, 1, sizeof(source), f) : 0;

    if (f)
        fclose(f);
    if (gg_chat_parse(source, n, &t, &err) != GG_OK)
        printf("# %s: %s\n", path, err.message);
    return t;
}

static const char *
conversation(const char *role, int content)
{
    static char message[1024], all[4096];
    int n = snprintf(message, sizeof(message),
                     "{\"role\":\"%s\",\"tool_call_id\":\"call00001\","
                     "\"name\":\"now\"",
                     role);
    size_t i = 0;

    snprintf(message + n, sizeof(message) - (size_t)n, "%s%s}",
             contents[content].json ? ",\"content\":" : "",
             contents[content].json ? contents[content].json : "");
    while (talks[i].role && strcmp(talks[i].role, role) != 0)
        i++;
    snprintf(all, sizeof(all), talks[i].json, message);
    return all;
}

/* A content as it must not stand there. */
static bool
has_form(bool called)
{
    static const char *const forms[] = {
        "'type'", "\"type\": \"text\"", "\"type\":\"text\"", "None", "['Qx",
        "[\"Qx"
    };

    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        const char *p = called ? strstr(text, "Uu") : text;

        if (p && strstr(p, forms[i]))
            return true;
    }
    return false;
}

static bool
shows(int content)
{
    return contents[content].n < 1 ||
           (strstr(text, "Qxa0") &&
            (contents[content].n < 2 || strstr(text, "Qxb1")));
}

static void
try_cell(const struct gg_chat_template *t, const char *name, const char *role,
         int content)
{
    unsigned plainer = 0;
    bool calls = strstr(conversation(role, content), "tool_calls");
    const struct gg_chat_params p = { .messages = conversation(role, content),
                                      .tools = calls ? tools : NULL,
                                      .date = 1,
                                      .flags = GG_CHAT_ANSWER,
                                      .plainer = &plainer };
    struct gg_error err = { "" };
    size_t n = 0;
    enum gg_status st =
        gg_chat_render(vocab, t, NULL, 0, &p, text, sizeof(text) - 1, &n, &err);
    bool right;

    text[st == GG_OK ? n : 0] = '\0';
    right = st == GG_OK ? shows(content) && !has_form(calls) : err.message[0];
    cells++;
    told += st != GG_OK;
    wrong += !right;
    if (!right || getenv("TEST_LIST"))
        printf("# %s%s, %s, %s: %s%s%s%s\n", right ? "" : "WRONG: ", name, role,
               contents[content].name,
               plainer & GG_CHAT_JOINED ? "joined " : "",
               plainer & GG_CHAT_EMPTIED ? "emptied " : "",
               plainer & GG_CHAT_SYSTEMED ? "as system " : "",
               st == GG_OK ? "" : err.message);
}

static void
try_template(const struct gg_chat_template *t, const char *name)
{
    int n = (int)(sizeof(contents) / sizeof(*contents));

    for (size_t r = 0; t && r < sizeof(roles) / sizeof(*roles); r++)
        for (int c = 0; c < n; c++)
            try_cell(t, name, roles[r], c);
}

static void
test_folder(const char *folder)
{
    char pattern[4096];
    glob_t files;

    snprintf(pattern, sizeof(pattern), "%s/templates/*.jinja", folder);
    if (glob(pattern, 0, NULL, &files) != 0)
        return;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct gg_chat_template *t = load_template(files.gl_pathv[i]);

        try_template(t, strrchr(files.gl_pathv[i], '/') + 1);
        gg_chat_free(t);
    }
    printf("# %d of %d cells of %zu templates are errors\n", told, cells,
           files.gl_pathc);
    ok(wrong == 0 && cells > 0, "templates of real models");
    globfree(&files);
}

/* ---- templates that lose ------------------------------------------------- */

#define EACH(body) "{% for m in messages %}" body "{% endfor %}"

static const struct {
    const char *source, *messages;
    const char *want; /* the text; or, after '!', words of the error */
} small[] = {
    { EACH("{% if m.role == 'user' %}{{ m.content }}{% endif %}"),
      "[{\"role\":\"developer\",\"content\":\"a\"},"
      "{\"role\":\"user\",\"content\":\"b\"}]",
      "!message 1 (developer): the template leaves its text out" },
    { EACH("{% if m.role != 'developer' %}{{ m.role }}:{{ m.content }};"
           "{% endif %}"),
      "[{\"role\":\"developer\",\"content\":\"a\"},"
      "{\"role\":\"user\",\"content\":\"b\"}]",
      "system:a;user:b;" },
    { EACH("{% if m.role != 'function' %}{{ m.role }}:{{ m.content }};"
           "{% endif %}"),
      "[{\"role\":\"user\",\"content\":\"a\"},"
      "{\"role\":\"function\",\"content\":\"b\"}]",
      "user:a;tool:b;" },
    /* a template that knows the role keeps it */
    { EACH("{{ m.role }}:{{ m.content }};"),
      "[{\"role\":\"function\",\"content\":\"b\"}]", "function:b;" },
    { EACH("{% if m.role == 'user' %}{{ m.content }}{% endif %}"),
      "[{\"role\":\"user\",\"content\":\"a\"},"
      "{\"role\":\"function\",\"content\":\"b\"}]",
      "!message 2 (function): the template leaves its text out" },
    { EACH("{{ m.content }};"), "[{\"role\":\"user\",\"content\":null}]", ";" },
    { EACH("{{ m.content|tojson }};"), "[{\"role\":\"user\",\"content\":null}]",
      "\"\";" },
    { EACH("{{ m.content ~ '' }};"), "[{\"role\":\"user\"}]", ";" },
    { EACH("{{ 'None' if m.content is none else m.content }};"),
      "[{\"role\":\"user\",\"content\":null}]", "None;" },
    { EACH("{% for p in m.content %}{{ p.text }}.{% endfor %}"),
      "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
      "{\"type\":\"text\",\"text\":\"b\"}]}]",
      "a.b." },
    { EACH("{{ m.content[0].text }}"),
      "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
      "{\"type\":\"text\",\"text\":\"b\"}]}]",
      "!message 1 (user): the template leaves its text out" },
    { EACH("{{ m.content }}"),
      "[{\"role\":\"user\",\"content\":[{\"type\":\"image\"},"
      "{\"type\":\"text\",\"text\":\"b\"}]}]",
      "!message 1 (user): the template does not read parts" },
    { EACH("{{ m.content|tojson }}"),
      "[{\"role\":\"tool\",\"content\":[\"a\",\"b\"]}]", "\"a\\nb\"" },
    /* each message has its own form */
    { EACH("{% if m.content is string or m.role == 'user' %}"
           "{% for p in m.content %}{{ p.text or p }}|{% endfor %}{% endif %}"),
      "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
      "{\"type\":\"text\",\"text\":\"b\"}]},{\"role\":\"tool\","
      "\"content\":[{\"type\":\"text\",\"text\":\"c\"}]}]",
      "a|b|c|" },
    /* what is left out on purpose */
    { EACH("{{ m.content.split('</think>')[-1] }};"),
      "[{\"role\":\"assistant\",\"content\":\"<think>a</think>\\n\"}]", "\n;" },
    { EACH("{{ m.tool_calls[0].function.name }};"),
      "[{\"role\":\"assistant\",\"content\":\"a\",\"tool_calls\":"
      "[{\"function\":{\"name\":\"f\",\"arguments\":{}}}]}]",
      "f;" },
    { EACH("{{ m.content }};"),
      "[{\"role\":\"assistant\",\"content\":\"a\",\"tool_calls\":"
      "[{\"function\":{\"name\":\"f\",\"arguments\":{}}}]}]",
      "!message 1 (assistant): the template leaves its calls out" },
    { EACH("{% if m.content is none %}{{ m.tool_calls[0].function.name }}"
           "{% else %}{{ m.content }}{% endif %};"),
      "[{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":"
      "[{\"function\":{\"name\":\"f\",\"arguments\":{}}}]}]",
      "f;" },
    { EACH("{{ m.content|upper|reverse }}"),
      "[{\"role\":\"user\",\"content\":\"ab\"}]", "BA" },
    { "x", "[{\"role\":\"user\",\"content\":\" \"}]", "x" },
};

static void
test_small(void)
{
    for (size_t i = 0; i < sizeof(small) / sizeof(*small); i++) {
        const struct gg_chat_params p = { .messages = small[i].messages };
        struct gg_chat_template *t = NULL;
        struct gg_error err = { "" };
        size_t n = 0;
        bool fails = small[i].want[0] == '!', right;
        enum gg_status st =
            gg_chat_parse(small[i].source, strlen(small[i].source), &t, &err);

        if (st == GG_OK)
            st = gg_chat_render(vocab, t, NULL, 0, &p, text, sizeof(text) - 1,
                                &n, &err);
        text[st == GG_OK ? n : 0] = '\0';
        right = fails ? st == GG_ERR_UNSUPPORTED &&
                            strstr(err.message, small[i].want + 1)
                      : st == GG_OK && strcmp(text, small[i].want) == 0;
        if (!right)
            printf("# %s: %s\n", text, st == GG_OK ? "fine" : err.message);
        ok(right, small[i].source);
        gg_chat_free(t);
    }
}

/* More messages than bytes have values. */
static void
test_many(void)
{
    enum {
        N = 3000
    };
    static char json[N * 64];
    static const char each[] =
        EACH("{% if m.role == 'user' %}{{ m.content }}{% endif %}");
    const struct gg_chat_params p = { .messages = json };
    struct gg_chat_template *t = NULL;
    struct gg_error err = { "" };
    size_t n = 0, at = 0;
    enum gg_status st;

    for (int i = 0; i < N; i++)
        at += (size_t)snprintf(json + at, sizeof(json) - at,
                               "%s{\"role\":\"%s\",\"content\":\"x\"}",
                               i ? "," : "[", i == 1000 ? "oracle" : "user");
    snprintf(json + at, sizeof(json) - at, "]");
    st = gg_chat_parse(each, sizeof(each) - 1, &t, &err);
    if (st == GG_OK)
        st = gg_chat_render(vocab, t, NULL, 0, &p, NULL, 0, &n, &err);
    ok(st == GG_ERR_UNSUPPORTED &&
           strstr(err.message, "message 1001 (oracle): "),
       "one of many messages");
    gg_chat_free(t);
}

int
main(void)
{
    const char *folder = getenv("GG_TEST_CHAT");
    struct make m;

    make_bpe(&m);
    make_token(&m, "<s>", GG_TOKEN_CONTROL, 0);
    make_token(&m, "</s>", GG_TOKEN_CONTROL, 0);
    gguf_set_val_u32(m.gguf, "tokenizer.ggml.bos_token_id", (uint32_t)m.n - 2);
    gguf_set_val_u32(m.gguf, "tokenizer.ggml.eos_token_id", (uint32_t)m.n - 1);
    if (make_load(&m, &vocab, NULL) != GG_OK)
        return 99;
    test_small();
    test_many();
    if (folder)
        test_folder(folder);
    gg_vocab_free(vocab);
    make_free(&m);
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
