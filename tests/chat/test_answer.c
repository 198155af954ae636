/* test_answer.c - answers in parts, whatever the pieces in which they come */
#include <config.h>

#include <stdlib.h>

#include "chat/answer.h"
#include "core/mem.h"
#include "fixtures/vocab_make.h"
#include "harness/tap.h"

static struct gg_error err;

/* Control tokens in braces: "{<|end|>}". */
struct answer_case {
    const char *what, *template, *prompt, *answer;
    const char *reasoning, *text, *calls;
};

static const struct chat_mark begins[] = { { "<tool_call>", 11, false },
                                           { "{\"name\"", 7, true } };
static const struct chat_mark ends[] = { { "<|call|>", 8, false } };
static const struct chat_call_marks marks = { begins, ends, 2, 1 };

#define THINK "<think></think>"
#define HARMONY                                                                \
    "<|channel|>analysis<|message|><|channel|>final<|message|><|end|>"

static const struct answer_case cases[] = {
    { "a thought", THINK, "", "<think>\nwhy\n</think>\n\nso", "why", "so", "" },
    { "none", THINK, "", "\n so </think> <think>\n", "",
      "\n so </think> <think>\n", "" },
    { "the prompt opens it", THINK, "{<|user|>}a<think>\n",
      "why\n\n</think>\nso \n", "why", "so \n", "" },
    { "the prompt closes it", THINK, "{<|user|>}<think>\n\n</think>\n\n",
      "\nso <think>x", "", "so <think>x", "" },
    { "the prompt closes what it has not opened", THINK, "{<|user|>}</think>",
      " so", "", "so", "" },
    { "a message before is none of its", THINK, "<think>{<|user|>}", "so", "",
      "so", "" },
    { "the mark comes twice", THINK, "{<|user|>}<think>\n",
      "<think>\nwhy</think>so", "why", "so", "" },
    { "what looks like marks", THINK, "",
      "<think>a </thin> </think < </think> <think </think>",
      "a </thin> </think <", "<think </think>", "" },
    { "it does not end", THINK, "", "<think>why </thi", "why </thi", "", "" },
    { "white space alone", THINK, "", " \n", "", " \n", "" },
    { "white space before a thought", THINK, "", "\n<think> </think>\nso", "",
      "so", "" },
    { "control tokens do not show", THINK, "",
      "{<|user|>}<think>a{<|user|>}b</think>c{<|end|>}d", "ab", "cd", "" },
    { "marks with a name", "<mm:think></mm:think>", "",
      "</mm:think>so <mm:think>", "", "so <mm:think>", "" },
    { "calls", THINK, "", "<think>a</think>so\n<tool_call>{\"a\"}{<|user|>}\n",
      "a", "so\n", "<tool_call>{\"a\"}<|user|>\n" },
    { "calls at the beginning", THINK, "", "{\"name\": 1}", "", "",
      "{\"name\": 1}" },
    { "and not behind it", THINK, "", "a {\"name\": 1}", "", "a {\"name\": 1}",
      "" },
    { "calls at the beginning of the text", THINK, "",
      "<think>a</think>\n{\"name\"{<|call|>}x", "a", "", "{\"name\"" },
    { "marks of text are no calls in a thought", THINK, "",
      "<think><tool_call></think>so", "<tool_call>", "so", "" },
    { "a mark that is a control token", "[THINK][/THINK]", "",
      "{[THINK]}a [/THINK] b{[/THINK]} so [THINK]", "a [/THINK] b",
      "so [THINK]", "" },
    { "and comes later", "[THINK][/THINK]", "", "a{[THINK]}b{[/THINK]} c", "b",
      "ac", "" },
    { "Gemma 4", "<|channel>thought<channel|>", "{<|turn>}model\n",
      "{<|channel>}thought\na\n{<channel|>}b", "a", "b", "" },
    { "and without", "<|channel>thought<channel|>",
      "{<|turn>}model\n{<|channel>}thought\n{<channel|>}", "b", "", "b", "" },
    { "harmony", HARMONY,
      "{<|start|>}user{<|message|>}x{<|end|>}"
      "{<|start|>}assistant",
      "{<|channel|>}analysis{<|message|>}a {<|end|>}{<|start|>}assistant"
      "{<|channel|>}final{<|message|>} b{<|return|>}",
      "a", " b", "" },
    { "harmony: other channels", HARMONY, "{<|start|>}assistant",
      "{<|channel|>}analysis{<|message|>}a{<|end|>}{<|start|>}assistant"
      "{<|channel|>}commentary{<|message|>}b{<|end|>}{<|start|>}assistant"
      "{<|channel|>}analysis{<|message|>}c{<|end|>}{<|start|>}assistant"
      "{<|channel|>}final{<|message|>}d",
      "ac", "bd", "" },
    { "harmony: no channel", HARMONY, "{<|start|>}assistant",
      "Plain text.{<|return|>}", "", "Plain text.", "" },
    { "harmony: no channel, behind a thought", HARMONY, "{<|start|>}assistant",
      "{<|channel|>}analysis{<|message|>}a{<|end|>}{<|start|>}assistant so",
      "a", "so", "" },
    { "harmony: blanks in marks", HARMONY, "{<|start|>}assistant",
      "{<|channel|>} analysis {<|message|>}a{<|end|>} {<|start|>} assistant "
      "{<|channel|>} final\n{<|message|>}so",
      "a", "so", "" },
    { "harmony: a prompt that goes on", HARMONY,
      "{<|start|>}assistant{<|channel|>}final{<|message|>}b", "c", "", "c",
      "" },
};

static const char *const control[] = {
    "<|user|>",  "<|end|>",     "<|call|>",    "[THINK]",
    "[/THINK]",  "<|channel>",  "<channel|>",  "<|turn>",
    "<|start|>", "<|message|>", "<|channel|>", "<|return|>",
};

struct parts {
    char text[GG_PART_ALL + 1][400];
};

static bool
put(void *data, enum gg_part part, const char *p, size_t n, bool is_control)
{
    struct parts *out = data;

    if (!is_control || part == GG_PART_CALLS)
        strncat(out->text[part], p, n);
    return true;
}

/* One piece after the other, `step` bytes of text at once. */
static void
feed(struct chat_answer *a, const char *s, size_t step, struct parts *out)
{
    while (*s) {
        const char *end =
            *s == '{' && strchr("<[", s[1]) ? strchr(s, '}') : NULL;
        size_t n = 1;

        if (end) {
            chat_answer_add(a, s + 1, (size_t)(end - s - 1), true, put, out);
            s = end + 1;
            continue;
        }
        while (n < step && s[n] && s[n] != '{')
            n++;
        chat_answer_add(a, s, n, false, put, out);
        s += n;
    }
    chat_answer_end(a, put, out);
}

static size_t
encode_prompt(const struct gg_vocab *v, const char *s, int32_t *ids)
{
    char plain[400];
    struct gg_encoded n;
    size_t len = 0;

    for (; *s; s++)
        if (!strchr("{}", *s))
            plain[len++] = *s;
    if (gg_vocab_encode(v, plain, len, GG_ENCODE_SPECIAL, ids, 400, &n, &err))
        exit(99);
    return n.n;
}

static bool
is_parted(const struct gg_chat_reader *r, const struct answer_case *c,
          size_t step)
{
    struct chat_answer a = { 0 };
    struct parts out = { 0 };
    int32_t ids[400];
    size_t n = encode_prompt(r->vocab, c->prompt, ids);
    bool same;

    if (chat_answer_begin(&a, r, ids, n, &err))
        return false;
    feed(&a, c->answer, step, &out);
    same = !strcmp(out.text[GG_PART_REASONING], c->reasoning) &&
           !strcmp(out.text[GG_PART_TEXT], c->text) &&
           !strcmp(out.text[GG_PART_CALLS], c->calls);
    if (!same)
        printf("# %zu: '%s' '%s' '%s'\n", step, out.text[GG_PART_REASONING],
               out.text[GG_PART_TEXT], out.text[GG_PART_CALLS]);
    chat_answer_clear(&a);
    return same;
}

static struct gg_chat_template *
template_of(const char *source)
{
    struct gg_chat_template *t;

    if (gg_chat_parse(source, strlen(source), &t, &err))
        exit(99);
    return t;
}

static void
check_case(const struct gg_vocab *v, const struct answer_case *c)
{
    struct gg_chat_template *t = template_of(c->template);
    struct gg_chat_reader *r;
    bool same = true;

    if (chat_reader_new(v, t, &marks, &r, &err))
        exit(99);
    for (size_t step = 1; step < 40; step++)
        same = same && is_parted(r, c, step);
    ok(same, c->what);
    gg_chat_reader_free(r);
    gg_chat_free(t);
}

static void
check_forms(const struct gg_vocab *v)
{
    struct gg_chat_template *t = template_of("{{ messages[0].content }}");
    struct gg_chat_reader *r;

    ok(!gg_chat_reader_new(v, t, NULL, &r, &err) && !gg_chat_reader_thinks(r),
       "a template without marks");
    gg_chat_reader_free(r);
    gg_chat_free(t);
    t = template_of("{{ '<thi' + 'nk></thi' + 'nk>' }}");
    ok(!gg_chat_reader_new(v, t, NULL, &r, &err) && gg_chat_reader_thinks(r),
       "marks that stand in what it writes only");
    gg_chat_reader_free(r);
    gg_chat_free(t);
    ok(gg_chat_reader_new(v, NULL, NULL, &r, &err) == GG_ERR_ARG,
       "no template");
}

/* MiniMax M3 and Spark 2.5: marks, and what switches reasoning off. */
static void
check_switches(const struct gg_vocab *v)
{
    static const char *const sources[][3] = {
        { "{{ '<mm:think></mm:think>' if thinking_mode == 'disabled' }}",
          "<mm:think>", "{\"thinking_mode\":\"disabled\"}" },
        { "{{ '<think></think>' if enable_thinking }}", "<think>",
          "{\"enable_thinking\":false}" },
    };

    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
        struct gg_chat_template *t = template_of(sources[i][0]);
        const struct chat_thoughts *found = chat_thoughts_of(v, t);

        ok(found && strcmp(found->open, sources[i][1]) == 0, sources[i][1]);
        ok(gg_chat_reasoning(t, false) &&
               strcmp(gg_chat_reasoning(t, false), sources[i][2]) == 0,
           sources[i][2]);
        gg_chat_free(t);
    }
}

/* Templates of real models: the mark that opens their reasoning, and what
 * switches them off. */
static const struct {
    const char *name, *open, *off;
} real[] = {
    { "Qwen3.5-4B", "<think>", "{\"enable_thinking\":false}" },
    { "GLM-4.6", "<think>", "{\"enable_thinking\":false}" },
    { "HuggingFaceTB-SmolLM3-3B", "<think>", "{\"enable_thinking\":false}" },
    { "deepseek-ai-DeepSeek-V3.2", "<think>", "{\"enable_thinking\":false}" },
    { "NVIDIA-Nemotron-Nano-v2", "<think>", NULL },
    { "MiniMax-M2", "<think>", NULL },
    { "ByteDance-Seed-OSS", "<seed:think>", "{\"thinking_budget\":0}" },
    { "mistralai-Ministral-3-14B-Reasoning-2512", "[THINK]", NULL },
    { "google-gemma-4-31B-it", "<|channel>thought",
      "{\"enable_thinking\":false}" },
    { "Apertus-8B-Instruct", "<|inner_prefix|>",
      "{\"enable_thinking\":false}" },
    { "Cohere2MoE", "<|START_THINKING|>", "{\"reasoning_effort\":\"none\"}" },
    { "openai-gpt-oss-120b", "<|channel|>analysis<|message|>", NULL },
    { "llm-jp-llm-jp-4.1-8b-thinking", "<|channel|>analysis<|message|>", NULL },
    { "upstage-Solar-Open-100B", "<|think|>",
      "{\"reasoning_effort\":\"minimal\"}" },
    { "tencent-Hy3", "<think:opensource>",
      "{\"reasoning_effort\":\"no_think\"}" },
    { "Kimi-K3", "<|open|>think<|sep|>", "{\"thinking\":false}" },
    { "Qwen-Qwen2.5-7B-Instruct", NULL, NULL },
    { "meta-llama-Llama-3.1-8B-Instruct", NULL, NULL },
    { "google-gemma-2-2b-it", NULL, NULL },
};

static bool
same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void
check_real(const struct gg_vocab *v, const char *folder, const char *name,
           const char *open, const char *off)
{
    static char source[1 << 20];
    const struct chat_thoughts *found;
    struct gg_chat_template *t;
    char path[400];
    FILE *f;

    snprintf(path, sizeof(path), "%s/templates/%s.jinja", folder, name);
    f = fopen(path, "rb");
    if (!f) {
        ok(false, path);
        return;
    }
    source[fread(source, 1, sizeof(source) - 1, f)] = '\0';
    fclose(f);
    t = template_of(source);
    found = chat_thoughts_of(v, t);
    ok(same_text(found ? found->open : NULL, open) &&
           same_text(gg_chat_reasoning(t, false), off),
       name);
    if (found)
        printf("# %s\n", found->open);
    printf("# %s\n",
           gg_chat_reasoning(t, false) ? gg_chat_reasoning(t, false) : "none");
    gg_chat_free(t);
}

/* Each allocation fails once. */
static bool
run_out(const struct gg_chat_reader *r, const struct answer_case *c, long after)
{
    struct chat_answer a = { 0 };
    struct parts out = { 0 };
    bool done;

    mem_fail_after(after);
    done = chat_answer_begin(&a, r, NULL, 0, &err) == GG_OK &&
           chat_answer_add(&a, c->answer, strlen(c->answer), false, put, &out);
    mem_fail_after(-1);
    chat_answer_clear(&a);
    return done;
}

static void
check_memory(const struct gg_vocab *v)
{
    struct gg_chat_template *t = template_of(THINK);
    struct gg_chat_reader *r = NULL;
    long n = 0;
    enum gg_status st;

    do {
        mem_fail_after(n++);
        st = chat_reader_new(v, t, &marks, &r, &err);
        mem_fail_after(-1);
    } while (st == GG_ERR_NOMEM);
    ok(st == GG_OK && n > 4, "a reader without memory");
    for (n = 0; !run_out(r, &cases[0], n); n++)
        ;
    ok(n == 2, "an answer without memory");
    gg_chat_reader_free(r);
    gg_chat_free(t);
}

int
main(void)
{
    struct make m = { 0 };
    struct gg_vocab *v = NULL;
    const char *folder = getenv("GG_TEST_CHAT");

    make_bpe(&m);
    for (size_t i = 0; i < sizeof(control) / sizeof(*control); i++)
        make_token(&m, control[i], GG_TOKEN_CONTROL, 0);
    if (make_load(&m, &v, &err))
        return 99;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_case(v, &cases[i]);
    check_forms(v);
    check_switches(v);
    check_memory(v);
    for (size_t i = 0; folder && i < sizeof(real) / sizeof(*real); i++)
        check_real(v, folder, real[i].name, real[i].open, real[i].off);
    gg_vocab_free(v);
    make_free(&m);
    return tap_done();
}
