/* thoughts.c - how models mark what they think before they answer */
#include <config.h>

#include "chat/thoughts.h"

#include <string.h>

#include "chat/render.h"
#include "core/mem.h"
#include "vocab/chat.h"

/* Forms, those with more marks first: of a template that has several the first
 * form counts. */
static const struct chat_thoughts forms[] = {
    /* harmony: gpt-oss, llm-jp */
    { "<|channel|>analysis<|message|>", "<|end|>",
      "<|channel|>final<|message|>", "<|message|>", "<|end|>",
      "<|start|>assistant" },
    /* Kimi K3 */
    { "<|open|>think<|sep|>", "<|close|>think<|sep|>",
      "<|open|>response<|sep|>", NULL, "<|close|>response<|sep|>", NULL },
    /* Solar Open */
    { "<|think|>", "<|end|>", "<|content|>", NULL, "<|end|>",
      "<|begin|>assistant" },
    /* Gemma 4 */
    { "<|channel>thought", "<channel|>", NULL, NULL, NULL, NULL },
    /* Apriel 1.5, whose template begins the thought */
    { "Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]", NULL, NULL,
      NULL, NULL },
    /* Magistral, Ministral */
    { "[THINK]", "[/THINK]", NULL, NULL, NULL, NULL },
    /* Seed-OSS */
    { "<seed:think>", "</seed:think>", NULL, NULL, NULL, NULL },
    /* Command A, R7B */
    { "<|START_THINKING|>", "<|END_THINKING|>", NULL, NULL, NULL, NULL },
    /* Apertus */
    { "<|inner_prefix|>", "<|inner_suffix|>", NULL, NULL, NULL, NULL },
    /* Kimi-VL */
    { "◁think▷", "◁/think▷", NULL, NULL, NULL, NULL },
    /* MiniMax M3 */
    { "<mm:think>", "</mm:think>", NULL, NULL, NULL, NULL },
    /* Hunyuan 3 */
    { "<think:opensource>", "</think:opensource>", NULL, NULL, NULL, NULL },
    /* DeepSeek, Qwen, GLM, Nemotron, SmolLM3 ... */
    { "<think>", "</think>", NULL, NULL, NULL, NULL },
    /* EXAONE Deep */
    { "<thought>", "</thought>", NULL, NULL, NULL, NULL },
    { "<thinking>", "</thinking>", NULL, NULL, NULL, NULL },
};

static bool
has_mark(const char *s, size_t len, const char *mark)
{
    return !mark || memmem(s, len, mark, strlen(mark));
}

static bool
has_marks(const char *s, size_t len, const struct chat_thoughts *f)
{
    return has_mark(s, len, f->open) && has_mark(s, len, f->close) &&
           has_mark(s, len, f->text) && has_mark(s, len, f->end);
}

const struct chat_thoughts *
chat_thoughts_find(const char *s, size_t len)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (has_marks(s, len, &forms[i]))
            return &forms[i];
    return NULL;
}

size_t
chat_thoughts_end(const char *s, size_t n)
{
    size_t end = 0;

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t len = strlen(forms[i].close);
        const char *p;

        while (n - end >= len &&
               (p = memmem(s + end, n - end, forms[i].close, len)))
            end = (size_t)(p - s) + len;
    }
    return end;
}

/* Looks at the render of an answer with a thought, and of what begins the next
 * one; templates call the thought by several names. */
static const struct chat_thoughts *
find_in_render(const struct gg_vocab *v, const struct gg_chat_template *t)
{
    static const char messages[] =
        "[{\"role\":\"user\",\"content\":\"a\"},"
        "{\"role\":\"assistant\",\"content\":\"b\",\"reasoning_content\":\"c\","
        "\"reasoning\":\"c\",\"thinking\":\"c\",\"thought\":\"c\"},"
        "{\"role\":\"user\",\"content\":\"d\"}]";
    const struct gg_chat_params params = { .flags = GG_CHAT_ANSWER,
                                           .messages = messages };
    const struct chat_request q = {
        .vocab = v, .template = t->jinja, .params = &params, .loses = true
    };
    struct chat_arena arena = { .limit = 1 << 26 };
    const struct chat_thoughts *found = NULL;
    struct chat_string text;

    if (chat_render(&q, &arena, &text, NULL) == GG_OK)
        found = chat_thoughts_find(text.s, text.n);
    chat_arena_clear(&arena);
    return found;
}

const struct chat_thoughts *
chat_thoughts_of(const struct gg_vocab *v, const struct gg_chat_template *t)
{
    if (t->thoughts || !t->jinja)
        return t->thoughts;
    return find_in_render(v, t);
}
