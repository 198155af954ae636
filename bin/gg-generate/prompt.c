/* prompt.c - the text to continue, as ids */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "gg-generate/generate.h"

int32_t *
generate_encode(struct generate *g, const char *text, size_t len, size_t *n)
{
    const struct gg_vocab *v = g->engine.vocab;
    bool bos = g->o->bos ? g->o->bos == OPT_BOS : gg_vocab_add_bos(v);
    unsigned flags = (bos ? GG_ENCODE_BOS : 0) |
                     (g->o->special == SPECIAL_PARSE ? GG_ENCODE_SPECIAL : 0);
    int32_t *ids = NULL;
    struct gg_error err;
    size_t cap = 0, at;

    if (g->o->special == SPECIAL_ERROR &&
        gg_vocab_find_control(v, text, len, &at) >= 0)
        cli_die("the prompt has a control token at byte %zu", at);
    *n = len / 2 + 16;
    while (*n > cap) {
        cap = *n;
        ids = cli_alloc(ids, cap, sizeof(*ids));
        cli_check(gg_vocab_encode(v, text, len, flags, ids, cap, n, &err),
                  &err);
    }
    return ids;
}

int32_t *
generate_chat(struct generate *g, size_t *n)
{
    const struct options *o = g->o;
    unsigned flags = GG_CHAT_ANSWER | (o->bos == OPT_BOS ? GG_CHAT_BOS : 0) |
                     (o->bos == OPT_NO_BOS ? GG_CHAT_NO_BOS : 0);
    int32_t tail = g->answer.tail;
    struct gg_error err;
    int32_t *ids = NULL;
    size_t cap = 0;

    cli_check(chat_encode(g->engine.vocab, o->template, &g->chat, g->done,
                          flags, &ids, &cap, n, &err),
              &err);
    if (tail < 0)
        return ids;
    ids = cli_alloc(ids, *n + 1, sizeof(*ids));
    memmove(ids + 1, ids, *n * sizeof(*ids));
    ids[0] = tail;
    ++*n;
    return ids;
}

/* A text that is not an argument mostly ends with a newline that is not
 * meant. */
static int32_t *
chat_prompt(struct generate *g, const char *name, const char *text, size_t len,
            size_t *n)
{
    struct gg_error err;
    enum gg_status st;

    if (g->o->messages) {
        st = chat_read(&g->chat, text, len, true, &err);
        if (st != GG_OK)
            cli_die("%s: %s", name, err.message);
        if (g->chat.n == 0)
            cli_die("%s: no messages", name);
    } else {
        if (!g->o->prompt && len && text[len - 1] == '\n')
            len--;
        if (len == 0)
            cli_die("%s: the prompt is empty", name);
        chat_add(&g->chat, GG_ROLE_USER, text, len);
    }
    return generate_chat(g, n);
}

static int32_t *
text_prompt(struct generate *g, const char *name, const char *text, size_t len,
            size_t *n)
{
    int32_t *ids = generate_encode(g, text, len, n);

    if (*n == 0 || (len == 0 && g->o->bos != OPT_BOS))
        cli_die("%s: the prompt is empty", name);
    if (g->o->echo) {
        fwrite(text, 1, len, stdout);
        cli_flush();
    }
    buffer_add(&g->prompt, text, len);
    return ids;
}

int32_t *
generate_prompt(struct generate *g, size_t *n)
{
    const struct options *o = g->o;
    const char *name = o->prompt ? "-p" : cli_input_name(o->input);
    size_t len = o->prompt ? strlen(o->prompt) : 0;
    char *read = NULL;
    const char *text = o->prompt;
    int32_t *ids;

    if (!text)
        text = read = cli_read_all(cli_open_input(o->input), name, &len);
    ids = o->chat ? chat_prompt(g, name, text, len, n)
                  : text_prompt(g, name, text, len, n);
    free(read);
    return ids;
}
