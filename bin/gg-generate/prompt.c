/* prompt.c - the one text to continue, as ids */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/terminal.h"
#include "gg-generate/prompt_source.h"

enum {
    MAX_PROMPT = 1 << 26, /* bytes: more than any context has */
};

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
                          source_chat_flags(o), &ids, &cap, n, &g->left_out,
                          &err),
              &err);
    return behind_tail(g, ids, n);
}

void
generate_tell_left_out(struct generate *g, const char *name)
{
    cli_tell_left_out(name, g->left_out);
    g->left_out = 0;
}

/* True where the prompt, or its end, is no argument. */
static bool
is_read(const struct options *o)
{
    return o->input || !o->prompt;
}

/* What the options name, -p before FILE; *name is for messages. The caller
 * frees it. */
static char *
read_text(const struct options *o, const char **name, size_t *len)
{
    struct buffer text = { 0 };
    size_t n;

    if (o->prompt)
        buffer_add(&text, o->prompt, strlen(o->prompt));
    *name = is_read(o) ? cli_input_name(o->input) : "-p";
    if (is_read(o)) {
        char *read =
            cli_read_all(cli_open_input(o->input), *name, MAX_PROMPT, &n);

        buffer_add(&text, read, n);
        free(read);
    }
    *len = text.len;
    buffer_char(&text, '\0');
    return text.p;
}

/* A text that is not an argument mostly ends with a newline that is not
 * meant. */
static size_t
message_length(const struct options *o, const char *text, size_t len)
{
    return len - (is_read(o) && len && text[len - 1] == '\n');
}

static int32_t *
chat_prompt(struct generate *g, const char *name, const char *text, size_t len,
            size_t *n)
{
    struct gg_error err;
    enum gg_status st;
    int32_t *ids;

    if (g->o->messages) {
        st = chat_read(&g->chat, text, len, true, &err);
        if (st != GG_OK)
            cli_die("%s: %s", name, err.message);
        if (g->chat.n == 0)
            cli_die("%s: no messages", name);
    } else {
        len = message_length(g->o, text, len);
        if (len == 0 && g->loaded)
            return generate_resume(g, n);
        if (len == 0)
            cli_die("%s: the prompt is empty", name);
        chat_add(&g->chat, GG_ROLE_USER, text, len);
    }
    ids = generate_chat(g, n);
    generate_tell_left_out(g, name);
    return ids;
}

static void
echo(const struct options *o, const char *text, size_t len)
{
    if (!o->echo)
        return;
    terminal_write(text, len, true);
    cli_flush();
}

static int32_t *
text_prompt(struct generate *g, const char *name, const char *text, size_t len,
            size_t *n)
{
    struct gg_error err;
    int32_t *ids = NULL;
    size_t cap = 0;

    if (len == 0 && g->loaded && g->o->bos != BOS_FIRST)
        return generate_resume(g, n);
    cli_check(source_encode_text(g, text, len, &ids, &cap, n, &err), &err);
    generate_tell_left_out(g, name);
    if (*n == 0 || (len == 0 && g->o->bos != BOS_FIRST))
        cli_die("%s: the prompt is empty", name);
    echo(g->o, text, len);
    return behind_tail(g, ids, n);
}

int32_t *
generate_prompt(struct generate *g, size_t *n)
{
    const char *name;
    size_t len;
    char *text = read_text(g->o, &name, &len);
    int32_t *ids = g->o->chat ? chat_prompt(g, name, text, len, n)
                              : text_prompt(g, name, text, len, n);

    free(text);
    return ids;
}

void
generate_choice_prompt(struct generate *g, struct prompt *out)
{
    const struct options *o = g->o;
    const char *name;
    size_t len;
    char *text = read_text(o, &name, &len);
    struct prompt_source s = { .whole = true };
    struct gg_error err;
    enum gg_status st;

    if (o->chat && !o->messages)
        len = message_length(o, text, len);
    st = prompt_source_open(g, &s, text, len, &err);
    if (st != GG_OK)
        cli_die("%s: %s", name, err.message);
    if (len == 0 && o->bos != BOS_FIRST && !g->loaded)
        cli_die("%s: the prompt is empty", name);
    echo(o, text, len);
    cli_check(prompt_source_encode(g, &s, &o->choices, out, &err), &err);
    generate_tell_left_out(g, name);
    prompt_source_close(&s);
    free(text);
}
