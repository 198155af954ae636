/* test_conversation.c - templates in Jinja: their ids, and hostile contents */
#include <config.h>

#include <gg.h>

#include "fixtures/vocab_make.h"
#include "harness/encode.h"
#include "harness/tap.h"

#include "core/mem.h"

enum {
    IDS = 1 << 16
};

#define CHATML                                                                 \
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content "    \
    "+ '<|im_end|>\n' }}{% endfor %}"                                          \
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"

static const char *const control[] = {
    "<s>",      "</s>",       "<|im_start|>",  "<|im_end|>",
    "<|user|>", "<|system|>", "<|assistant|>", "<|tool|>",
    "<|end|>",  "[INST]",     "[/INST]",
};

enum {
    N_CONTROL = sizeof(control) / sizeof(*control)
};

static int32_t
id_of(const struct make *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->tokens[i], name) == 0)
            return (int32_t)i;
    return -1;
}

/* The vocabulary with control tokens. */
static struct gg_vocab *
add_control(struct make *m)
{
    struct gg_vocab *v = NULL;

    for (int i = 0; i < N_CONTROL; i++)
        if (id_of(m, control[i]) < 0)
            make_token(m, control[i], GG_TOKEN_CONTROL, 0);
    gguf_set_val_u32(m->gguf, "tokenizer.ggml.bos_token_id",
                     (uint32_t)id_of(m, "<s>"));
    gguf_set_val_u32(m->gguf, "tokenizer.ggml.eos_token_id",
                     (uint32_t)id_of(m, "</s>"));
    return make_load(m, &v, NULL) == GG_OK ? v : NULL;
}

static struct gg_vocab *
make_vocab(struct make *m, bool bpe)
{
    if (bpe)
        make_bpe(m);
    else
        make_spm(m);
    return add_control(m);
}

static struct gg_chat_template *
parse(const char *source)
{
    struct gg_chat_template *t = NULL;
    struct gg_error err;

    if (gg_chat_parse(source, strlen(source), &t, &err) != GG_OK)
        printf("# %s\n", err.message);
    return t;
}

static const struct gg_message talk[] = {
    { GG_ROLE_SYSTEM, "abc", 3 },
    { GG_ROLE_USER, "ab", 2 },
    { GG_ROLE_ASSISTANT, "ba", 2 },
    { GG_ROLE_USER, "cc", 2 },
};

static int32_t got[IDS], want[IDS];

/* Whether a template gives the ids of a text with its control tokens. */
static bool
gives(const struct gg_vocab *v, const char *source, size_t n, size_t first,
      unsigned flags, const char *text)
{
    struct gg_chat_template *t = parse(source);
    struct gg_error err = { "" };
    size_t k = 0, all = 0;
    bool same =
        t &&
        encode_chat(v, t, talk, n, first, flags, got, IDS, &k, &err) == GG_OK &&
        encode_ids(v, text, strlen(text), GG_ENCODE_SPECIAL, want, IDS, &all,
                   &err) == GG_OK &&
        k == all && memcmp(got, want, k * sizeof(*got)) == 0;

    if (!same)
        printf("# %zu ids, not %zu %s\n", k, all, err.message);
    gg_chat_free(t);
    return same;
}

static void
test_ids(void)
{
    struct make m;
    struct gg_vocab *v = make_vocab(&m, true);

    ok(gives(v, CHATML, 2, 0, GG_CHAT_ANSWER,
             "<|im_start|>system\nabc<|im_end|>\n<|im_start|>user\nab"
             "<|im_end|>\n<|im_start|>assistant\n"),
       "two messages, and an answer");
    ok(gives(v, CHATML, 2, 0, 0,
             "<|im_start|>system\nabc<|im_end|>\n<|im_start|>user\nab"
             "<|im_end|>\n"),
       "no generation prompt");
    ok(gives(v, CHATML, 3, 0, GG_CHAT_ANSWER,
             "<|im_start|>system\nabc<|im_end|>\n<|im_start|>user\nab"
             "<|im_end|>\n<|im_start|>assistant\nba"),
       "an answer that goes on");
    ok(gives(v, CHATML, 4, 3, GG_CHAT_ANSWER,
             "<|im_end|>\n<|im_start|>user\ncc<|im_end|>\n<|im_start|>"
             "assistant\n"),
       "a conversation that goes on after its answer");
    ok(gives(v, "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}", 1, 0,
             0, "<s>abc</s>"),
       "special tokens by their variables");
    ok(gives(v, "{{ bos_token }}{{ messages[0].content }}", 1, 0, GG_CHAT_BOS,
             "<s>abc"),
       "BOS is not doubled");
    ok(gives(v, "{{ messages[0].content }}", 1, 0, GG_CHAT_BOS, "<s>abc"),
       "BOS that the template lacks");
    ok(gives(v, "{{ bos_token }}{{ messages[0].content }}", 1, 0,
             GG_CHAT_NO_BOS, "abc"),
       "no BOS");
    ok(gives(v,
             "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content }}"
             "{% endfor %}<|end|>",
             2, 0, 0, "<|system|>abc<|user|>ab<|end|>"),
       "a role within a control token");
    gg_vocab_free(v);
    make_free(&m);
}

/* Whether a template gives these tokens of a message. */
static bool
gives_tokens(const struct gg_vocab *v, const struct make *m, const char *source,
             const char *content, const char *const tokens[])
{
    const struct gg_message message = { GG_ROLE_USER, content,
                                        strlen(content) };
    struct gg_chat_template *t = parse(source);
    struct gg_error err = { "" };
    size_t n = 0, k = 0;
    bool same = encode_chat(v, t, &message, 1, 0, 0, got, IDS, &n, &err) == 0;

    for (; same && tokens[k]; k++)
        same = k < n && got[k] == id_of(m, tokens[k]);
    for (size_t i = 0; i < n && !(same && k == n); i++)
        printf("# %s\n", m->tokens[got[i]]);
    gg_chat_free(t);
    return same && k == n;
}

/* SentencePiece puts a blank in front of a text. */
static void
test_blanks(void)
{
    static const struct {
        const char *source, *content, *tokens[5], *what;
    } cases[] = {
        { "<s>{{ messages[0].content }}",
          "ab",
          { "<s>", MARK "ab" },
          "a text has a blank in front" },
        { "<s> {{ messages[0].content }}",
          "ab",
          { "<s>", MARK "ab" },
          "the template's own blank is that blank" },
        { "<s>{{ messages[0].content }}",
          " ab",
          { "<s>", MARK, MARK "ab" },
          "a message's blank is another one" },
        { "<u>{{ messages[0].content }}",
          "ab",
          { "<u>", "ab" },
          "no blank after a token of the user's" },
        { "ab<u>{{ messages[0].content }}",
          "ba",
          { MARK "ab", "<u>", "ba" },
          "but in front of the text before it" },
        { "<u><s>{{ messages[0].content }}",
          "ab",
          { "<u>", "<s>", MARK "ab" },
          "nor does it last" },
        { "<|end|> \n {{ messages[0].content }}",
          "ab",
          { "<|end|>", MARK "ab" },
          "a token that strips what follows" },
        { "<|end|> {{ messages[0].content }}<s>",
          " \n",
          { "<|end|>", "<s>" },
          "and leaves nothing of white space" },
        { "<|end|>ab<s> {{ messages[0].content }}",
          "ab",
          { "<|end|>", MARK "ab", "<s>", MARK "ab" },
          "once" },
        { "{{ messages[0].content }}<s>",
          "a",
          { MARK "a", "<s>" },
          "a token that begins within one that is none" },
    };
    struct make m;
    struct gg_vocab *v;
    int32_t strips;

    make_spm(&m);
    make_token(&m, "<u>", GG_TOKEN_USER_DEFINED, 0);
    make_token(&m, "a<s>", GG_TOKEN_CONTROL, 0);
    v = add_control(&m);
    strips = id_of(&m, "<|end|>");
    v->types[strips] |= VOCAB_STRIPS;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        ok(gives_tokens(v, &m, cases[i].source, cases[i].content,
                        cases[i].tokens),
           cases[i].what);
    gg_vocab_free(v);
    make_free(&m);
}

/* The flags of BOS are for the begin of a conversation. */
static void
test_bos(void)
{
    static const char source[] = "{% for m in messages %}{{ m.content + "
                                 "bos_token }}{% endfor %}";
    struct make m;
    struct gg_vocab *v = make_vocab(&m, true);

    ok(gives(v, source, 1, 0, GG_CHAT_NO_BOS, "abc<s>"),
       "a BOS that is not the first is the template's");
    ok(gives(v, source, 1, 0, GG_CHAT_BOS, "<s>abc<s>"),
       "nor is it that which was wanted");
    ok(gives(v, "{{ eos_token + messages[0].content }}", 1, 0, GG_CHAT_BOS,
             "<s></s>abc"),
       "BOS in front of another token");
    ok(gives(v, source, 4, 3, GG_CHAT_NO_BOS, "<s>cc<s>"),
       "one with which a conversation goes on stays");
    ok(gives(v, source, 4, 3, GG_CHAT_BOS, "<s>cc<s>"),
       "and none is put in front of it");
    gg_vocab_free(v);
    make_free(&m);
}

/* A template that wants a user's message first, for whom the answer's text is
 * all that a conversation goes on from. */
static void
test_goes_on_alone(void)
{
    static const struct gg_message two[] = { { GG_ROLE_ASSISTANT, NULL, 0 },
                                             { GG_ROLE_USER, "c", 1 } };
    static const char source[] =
        "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 "
        "== 0) %}{{ raise_exception('no') }}{% endif %}{{ '[INST]' + m.content "
        "+ '[/INST]' if m.role == 'user' else m.content + eos_token }}"
        "{% endfor %}";
    const struct gg_chat_params params = { .flags = GG_CHAT_ANSWER,
                                           .first = 1 };
    struct gg_chat_template *t = parse(source);
    struct make m;
    struct gg_vocab *v = make_vocab(&m, true);
    struct gg_encoded made = { 0 };
    struct gg_error err = { "" };

    ok(gg_chat_encode(v, t, two, 2, &params, got, IDS, &made, &err) == GG_OK &&
           made.n == 4 && got[0] == id_of(&m, "</s>") &&
           got[1] == id_of(&m, "[INST]") && got[3] == id_of(&m, "[/INST]"),
       "an answer of which only the ids are known");
    gg_chat_free(t);
    gg_vocab_free(v);
    make_free(&m);
}

/* ---- hostile contents ---------------------------------------------------- */

/* Expressions that templates apply to contents. */
static const char *const doing[] = {
    "m.content",
    "m.content | trim",
    "m['content'].strip()",
    "m.content.replace('a', 'b')",
    "m.content.replace('<', '<')",
    "m.content.split('b') | join('b')",
    "m.content | upper",
    "m.content | lower",
    "m.content | title",
    "m.content | string",
    "m.content | safe",
    "m.content | e",
    "m.content | tojson",
    "m.content | list | join",
    "m.content | reverse | reverse",
    "m.content | indent",
    "m.content | default('')",
    "m.content | truncate(2000)",
    "m.content | replace('x', 'y')",
    "m.content[:]",
    "m.content[::1]",
    "m.content * 2",
    "m.content ~ ''",
    "m.content + m.content",
    "'%s' % m.content",
    "'%s' | format(m.content)",
    "'{}'.format(m.content)",
    "[m.content] | string",
    "{'a': m.content} | tojson",
    "{m.content: 1} | tojson",
    "(m.content, 1) | first",
    "[m] | map(attribute='content') | join(',')",
    "m.content.partition('b') | join",
    "m.content.splitlines() | join('\\n')",
    "m.content.center(3)",
    "m.content.removeprefix('q')",
    "m.content | batch(2) | map('join') | join",
    "'<' + m.content",
    "m.content + '|>'",
    "'<|' + m.content + '|>'",
    "'<|' ~ m.content ~ '|>'",
    "'[' + m.content + ']'",
    "m | string",
    "messages | tojson(indent=2)",
};

enum {
    N_DOING = sizeof(doing) / sizeof(*doing)
};

/* The control tokens of a conversation in which someone says a text. */
static size_t
controls(const struct gg_vocab *v, const struct gg_chat_template *t,
         const char *text)
{
    const struct gg_message messages[] = {
        { GG_ROLE_SYSTEM, text, strlen(text) },
        { GG_ROLE_USER, text, strlen(text) },
    };
    size_t n = 0, found = 0;
    struct gg_error err;

    if (encode_chat(v, t, messages, 2, 0, GG_CHAT_ANSWER, got, IDS, &n, &err))
        return SIZE_MAX;
    for (size_t i = 0; i < n; i++)
        found += gg_vocab_type(v, got[i]) == GG_TOKEN_CONTROL;
    return found;
}

/* Every control token's name, in pieces, and with the ends that the template
 * might have around it. */
static void
hostile_text(char *to, size_t size, const char *name)
{
    int half = (int)strlen(name) / 2;

    snprintf(to, size, "%s %s%s\n%.*s%s|>%s<|%s%s end|><|end", name, name, name,
             half, name, name + half, name, name, name + (name[0] == '<'));
}

/* The text between the signs of a control token's name: completed by a
 * template it would be one. */
static void
inner_text(char *to, size_t size, const char *name)
{
    static const char signs[] = "<|/[]>";
    size_t from = strspn(name, signs);

    snprintf(to, size, "%.*s", (int)strcspn(name + from, signs), name + from);
}

/* Whether there are other control tokens than the template's own. */
static bool
has_others(const struct gg_vocab *v, const struct gg_chat_template *t,
           const char *text)
{
    size_t n = controls(v, t, text);

    if (n != 5)
        printf("# %s: %zu control tokens\n", text, n);
    return n != 5;
}

static int
wrong_with(const struct gg_vocab *v, const char *expression)
{
    char source[512], text[256];
    struct gg_chat_template *t;
    int wrong = 0;

    snprintf(source, sizeof(source),
             "{%% for m in messages %%}<|im_start|>{{ m.role }}\n{{ %s }}"
             "<|im_end|>\n{%% endfor %%}<|im_start|>assistant\n",
             expression);
    t = parse(source);
    for (int i = 0; t && i < N_CONTROL; i++) {
        hostile_text(text, sizeof(text), control[i]);
        wrong += has_others(v, t, text);
        inner_text(text, sizeof(text), control[i]);
        wrong += has_others(v, t, text);
    }
    gg_chat_free(t);
    return t ? wrong : 1;
}

static void
test_hostile(bool bpe)
{
    struct make m;
    struct gg_vocab *v = make_vocab(&m, bpe);

    for (int i = 0; i < N_DOING; i++)
        is(wrong_with(v, doing[i]), 0, doing[i]);
    gg_vocab_free(v);
    make_free(&m);
}

/* A role's name gives no control token, either. */
static void
test_role(void)
{
    struct make m;
    struct gg_vocab *v = make_vocab(&m, true);
    struct gg_chat_template *t =
        parse("{{ messages[0].role }}|>{{ '<|' + messages[0].role }}"
              "{% for m in messages %}{{ m.content }}{% endfor %}");

    is((int)controls(v, t, "a"), 0, "a role at the end of a token");
    gg_chat_free(t);
    gg_vocab_free(v);
    make_free(&m);
}

/* How many ids stand for images or sounds; -1: it failed. */
static int
count_places(const struct gg_vocab *v, const char *source, const char *content,
             unsigned flags, int32_t place)
{
    struct gg_chat_template *t = parse(source);
    struct gg_message m = { GG_ROLE_USER, content, strlen(content) };
    struct gg_chat_params p = { .flags = flags };
    struct gg_encoded made = { 0 };
    struct gg_error err;
    int n = -1;

    if (t && gg_chat_encode(v, t, &m, 1, &p, got, IDS, &made, &err) == GG_OK)
        n = 0;
    for (size_t i = 0; n >= 0 && i < made.n; i++)
        n += got[i] == place;
    gg_chat_free(t);
    return n;
}

/* Placeholders are the template's, whether they are tokens or not. */
static void
test_placeholders(void)
{
    static const char source[] =
        "[IMG]{{ messages[0].content }}<|vision_start|>"
        "{{ '<|image_pad|>' }}<|vision_end|>{{ '<|image' }}|><|audio|>";
    static const char spelled[] = "[IMG]<|image|><|audio|><|image_pad|>";
    struct make m;
    struct gg_vocab *v = make_vocab(&m, true);

    is(count_places(v, source, "a", GG_CHAT_MEDIA, GG_CHAT_IMAGE), 3,
       "places of images");
    is(count_places(v, source, "a", GG_CHAT_MEDIA, GG_CHAT_SOUND), 1,
       "and of a sound");
    is(count_places(v, source, spelled, GG_CHAT_MEDIA, GG_CHAT_IMAGE), 3,
       "contents are none");
    is(count_places(v, "<|image{{ messages[0].content }}", "|>", GG_CHAT_MEDIA,
                    GG_CHAT_IMAGE),
       0, "nor do they complete one");
    is(count_places(v, source, spelled, 0, GG_CHAT_IMAGE), 0,
       "without the flag there are none");
    gg_vocab_free(v);
    make_free(&m);
}

#ifdef HAVE_JANSSON

static size_t
controls_of_role(const struct gg_vocab *v, const struct gg_chat_template *t,
                 const char *role)
{
    struct gg_chat_params p = { 0 };
    struct gg_encoded made = { 0 };
    struct gg_error err;
    char messages[256];
    size_t found = 0;

    snprintf(messages, sizeof(messages),
             "[{\"role\":\"%s\",\"content\":\"a\"}]", role);
    p.messages = messages;
    if (gg_chat_encode(v, t, NULL, 0, &p, got, IDS, &made, &err) != GG_OK)
        return SIZE_MAX;
    for (size_t i = 0; i < made.n; i++)
        found += gg_vocab_type(v, got[i]) == GG_TOKEN_CONTROL;
    return found;
}

/* Roles that a template completes to a control token. */
static void
test_completed_roles(void)
{
    static const struct {
        const char *role;
        size_t controls;
    } roles[] = {
        { "user", 1 },   { "system", 1 }, { "assistant", 1 }, { "tool", 1 },
        { "im_end", 0 }, { "end", 0 },    { "im_start", 0 },  { "s", 0 },
        { "User", 0 },   { "user ", 0 },  { "endoftext", 0 }, { "", 0 },
    };
    struct make m;
    struct gg_vocab *v = make_vocab(&m, true);
    struct gg_chat_template *t =
        parse("{{ '<|' + messages[0].role + '|>' + messages[0].content }}");

    for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
        ok(controls_of_role(v, t, roles[i].role) == roles[i].controls,
           roles[i].role);
    gg_chat_free(t);
    gg_vocab_free(v);
    make_free(&m);
}

#endif

/* ---- what is refused ----------------------------------------------------- */

static void
test_refused(void)
{
    struct make m;
    struct gg_vocab *v = make_vocab(&m, true);
    struct gg_chat_template *t = parse("a\n{{ raise_exception('no ' ~ 1) }}");
    struct gg_error err = { "" };
    size_t n;

    ok(encode_chat(v, t, talk, 1, 0, 0, got, IDS, &n, &err) == GG_ERR_FORMAT &&
           strstr(err.message, "line 2") && strstr(err.message, "no 1"),
       "a template that refuses");
    gg_chat_free(t);
    t = parse("{{ messages[0].content }}");
    ok(encode_chat(v, t, talk, 4, 3, 0, got, IDS, &n, &err) ==
           GG_ERR_UNSUPPORTED,
       "a template that does not show the answer");
    gg_chat_free(t);
    gg_vocab_free(v);
    make_free(&m);
}

/* Every allocation fails once. */
static void
test_memory(void)
{
    struct make m;
    struct gg_vocab *v = make_vocab(&m, true);
    struct gg_chat_template *t;
    struct gg_error err;
    size_t n;
    int failed = 0;
    bool done = false;

    for (long i = 0; !done && i < 10000; i++) {
        enum gg_status st;

        mem_fail_after(i);
        t = NULL;
        st = gg_chat_parse(CHATML, strlen(CHATML), &t, &err);
        if (st == GG_OK)
            st = encode_chat(v, t, talk, 4, 0, 0, got, IDS, &n, &err);
        mem_fail_after(-1);
        gg_chat_free(t);
        done = st == GG_OK;
        failed += st != GG_OK && st != GG_ERR_NOMEM;
    }
    ok(done, "memory that suffices at last");
    is(failed, 0, "every failure is one of memory");
    gg_vocab_free(v);
    make_free(&m);
}

int
main(void)
{
    test_ids();
    test_blanks();
    test_bos();
    test_goes_on_alone();
    test_hostile(true);
    test_hostile(false);
    test_role();
    test_placeholders();
#ifdef HAVE_JANSSON
    test_completed_roles();
#endif
    test_refused();
    test_memory();
    return tap_done();
}
