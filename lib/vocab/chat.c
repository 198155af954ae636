/* chat.c - which chat templates there are, and which a model has */
#include <config.h>

#include "vocab/chat.h"

#include <string.h>

#include "vocab/vocab.h"

const struct gg_chat_template *
gg_chat_at(size_t i)
{
    size_t n = 0;

    while (n < i && vocab_chat_templates[n].name)
        n++;
    return vocab_chat_templates[n].name ? &vocab_chat_templates[n] : NULL;
}

const char *
gg_chat_name(const struct gg_chat_template *t)
{
    return t ? t->name : NULL;
}

const struct gg_chat_template *
gg_chat_find(const char *name)
{
    const struct gg_chat_template *t = vocab_chat_templates;

    while (name && t->name && strcmp(t->name, name) != 0)
        t++;
    return name && t->name ? t : NULL;
}

bool
vocab_chat_contains(const struct gguf_str *s, const char *text)
{
    return s->n && memmem(s->s, s->n, text, strlen(text));
}

static bool
fits(const struct gg_chat_template *t, const struct gguf_str *text)
{
    bool found = t->marks[0] != NULL;

    for (int i = 0; i < CHAT_MARKS && t->marks[i]; i++) {
        bool absent = t->marks[i][0] == '!';

        found =
            found && vocab_chat_contains(text, t->marks[i] + absent) != absent;
    }
    return found;
}

const struct gg_chat_template *
gg_chat_recognise(const char *source, size_t len)
{
    const struct gg_chat_template *t = vocab_chat_templates;
    struct gguf_str s = { source, source ? len : 0 };

    while (t->name && !fits(t, &s))
        t++;
    return t->name ? t : NULL;
}

const struct gg_chat_template *
gg_vocab_chat(const struct gg_vocab *v)
{
    return v ? gg_chat_recognise(v->chat.s, v->chat.n) : NULL;
}

const char *
gg_vocab_chat_source(const struct gg_vocab *v, size_t *len)
{
    if (len)
        *len = v ? v->chat.n : 0;
    return v ? v->chat.s : NULL;
}

const char *
gg_vocab_rerank_source(const struct gg_vocab *v, size_t *len)
{
    if (len)
        *len = v ? v->rerank.n : 0;
    return v ? v->rerank.s : NULL;
}

/* ---- the control tokens of markup ---- */

static bool
names(const char *markup, const char *name, size_t len)
{
    for (const char *s = markup; s && *s; s++) {
        if (*s != CHAT_TOKEN && *s != CHAT_MAYBE)
            continue;
        if (strncmp(s + 1, name, len) == 0 && s[1 + len] == CHAT_END)
            return true;
    }
    return false;
}

bool
vocab_chat_is_token(const char *name, size_t len)
{
    bool found = false;

    for (const struct gg_chat_template *t = vocab_chat_templates; t->name;
         t++) {
        for (int r = 0; r < CHAT_ROLES; r++)
            found = found || names(t->turns[r].before, name, len) ||
                    names(t->turns[r].after, name, len);
        found =
            found || names(t->prelude, name, len) || names(t->open, name, len);
    }
    return found;
}
