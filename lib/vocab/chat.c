/* chat.c - which chat templates are known, and the source of a model's own */
#include <config.h>

#include "vocab/chat.h"

#include <stdio.h>
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

struct gguf_str
vocab_chat_source(const struct gg_vocab *v, const char *name)
{
    struct gguf_str s = { 0 };
    struct gg_error unused;
    char key[128];
    int n;

    if (!name)
        return v->chat;
    n = snprintf(key, sizeof(key), VOCAB_CHAT ".%s", name);
    if (!v->gguf || n < 0 || (size_t)n >= sizeof(key) ||
        gguf_opt_str(v->gguf, key, &s, &unused) != GG_OK)
        s = (struct gguf_str){ 0 };
    return s;
}

const char *
gg_vocab_chat_source(const struct gg_vocab *v, const char *name, size_t *len)
{
    struct gguf_str s = { 0 };

    if (v)
        s = vocab_chat_source(v, name);
    if (len)
        *len = s.n;
    return s.n ? s.s : NULL;
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
