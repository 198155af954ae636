/* prompt.c - the text to continue, as ids */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "gg-generate/generate.h"

static enum gg_status
fail(struct gg_error *err, const char *message)
{
    snprintf(err->message, sizeof(err->message), "%s", message);
    return GG_ERR_FORMAT;
}

static enum gg_status
encode_text(struct generate *g, const char *text, size_t len, int32_t **ids,
            size_t *cap, size_t *n, struct gg_error *err)
{
    const struct gg_vocab *v = g->engine.vocab;
    bool first = !g->loaded && gg_vocab_add_bos(v);
    bool bos = g->o->bos ? g->o->bos == OPT_BOS : first;
    unsigned flags = (bos ? GG_ENCODE_BOS : 0) |
                     (g->loaded ? GG_ENCODE_CONTINUE : 0) |
                     (g->o->special == SPECIAL_PARSE ? GG_ENCODE_SPECIAL : 0);
    size_t need = len / 2 + 16, at;
    enum gg_status st;

    if (g->o->special == SPECIAL_ERROR &&
        gg_vocab_find_control(v, text, len, &at) >= 0) {
        snprintf(err->message, sizeof(err->message),
                 "the prompt has a control token at byte %zu", at);
        return GG_ERR_FORMAT;
    }
    do {
        if (need > *cap)
            *ids = cli_alloc(*ids, *cap = need, sizeof(**ids));
        st = gg_vocab_encode(v, text, len, flags, *ids, *cap, &need, err);
    } while (st == GG_OK && need > *cap);
    if (st == GG_OK)
        *n = need;
    return st;
}

static unsigned
chat_flags(const struct options *o)
{
    return GG_CHAT_ANSWER | (o->bos == OPT_BOS ? GG_CHAT_BOS : 0) |
           (o->bos == OPT_NO_BOS ? GG_CHAT_NO_BOS : 0);
}

enum gg_status
generate_messages_ids(struct generate *g, const char *json, size_t len,
                      int32_t **ids, size_t *cap, size_t *n,
                      struct gg_error *err)
{
    const struct gg_chat_template *t = g->o->template;
    struct chat chat = { 0 };
    enum gg_status st = chat_read(&chat, json, len, false, err);

    if (st == GG_OK && !t && !(t = gg_vocab_chat(g->engine.vocab)))
        st = fail(err, "the model has no chat template that is known; "
                       "--template NAME says which to use");
    if (st == GG_OK && chat.n == 0)
        st = fail(err, "no messages");
    if (st == GG_OK)
        st = chat_encode(g->engine.vocab, t, &chat, 0, chat_flags(g->o), ids,
                         cap, n, err);
    chat_clear(&chat);
    return st;
}

static enum gg_status
encode_message(struct generate *g, const char *text, size_t len, int32_t **ids,
               size_t *cap, size_t *n, struct gg_error *err)
{
    const char *system = g->o->system;
    struct chat chat = { 0 };
    enum gg_status st;

    if (len == 0)
        return fail(err, "the prompt is empty");
    if (system)
        chat_add(&chat, GG_ROLE_SYSTEM, system, strlen(system));
    chat_add(&chat, GG_ROLE_USER, text, len);
    st = chat_encode(g->engine.vocab, g->o->template, &chat, 0,
                     chat_flags(g->o), ids, cap, n, err);
    chat_clear(&chat);
    return st;
}

enum gg_status
generate_record_ids(struct generate *g, const char *text, size_t len,
                    int32_t **ids, size_t *cap, size_t *n, struct gg_error *err)
{
    if (g->o->messages)
        return generate_messages_ids(g, text, len, ids, cap, n, err);
    if (g->o->chat)
        return encode_message(g, text, len, ids, cap, n, err);
    return encode_text(g, text, len, ids, cap, n, err);
}

int32_t *
generate_encode(struct generate *g, const char *text, size_t len, size_t *n)
{
    int32_t *ids = NULL;
    struct gg_error err;
    size_t cap = 0;

    cli_check(encode_text(g, text, len, &ids, &cap, n, &err), &err);
    return ids;
}

/* With the answer's tail in front. */
static int32_t *
behind_tail(struct generate *g, int32_t *ids, size_t *n)
{
    if (g->answer.tail < 0)
        return ids;
    ids = cli_alloc(ids, *n + 1, sizeof(*ids));
    memmove(ids + 1, ids, *n * sizeof(*ids));
    ids[0] = g->answer.tail;
    ++*n;
    return ids;
}

int32_t *
generate_chat(struct generate *g, size_t *n)
{
    const struct options *o = g->o;
    struct gg_error err;
    int32_t *ids = NULL;
    size_t cap = 0;

    cli_check(chat_encode(g->engine.vocab, o->template, &g->chat, g->done,
                          chat_flags(o), &ids, &cap, n, &err),
              &err);
    return behind_tail(g, ids, n);
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
        if (len == 0 && g->loaded)
            return generate_resume(g, n);
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
    int32_t *ids;

    if (len == 0 && g->loaded && g->o->bos != OPT_BOS)
        return generate_resume(g, n);
    ids = generate_encode(g, text, len, n);
    if (*n == 0 || (len == 0 && g->o->bos != OPT_BOS))
        cli_die("%s: the prompt is empty", name);
    if (g->o->echo) {
        fwrite(text, 1, len, stdout);
        cli_flush();
    }
    buffer_add(&g->prompt, text, len);
    return behind_tail(g, ids, n);
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
