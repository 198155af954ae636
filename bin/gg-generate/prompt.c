/* prompt.c - the one prompt that the options name, as ids */
#include <config.h>

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/terminal.h"
#include "gg-generate/generate.h"

enum {
    MAX_PROMPT = 1 << 26, /* bytes: more than any context has */
};

/* With the answer's tail in front. */
static void
add_tail(const struct answer *a, struct prompt *p)
{
    if (a->tail < 0)
        return;
    p->cap = p->n + 1;
    p->ids = cli_alloc(p->ids, p->cap, sizeof(*p->ids));
    memmove(p->ids + 1, p->ids, p->n * sizeof(*p->ids));
    p->ids[0] = a->tail;
    p->n++;
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

/* Whether standard input holds bytes: a pipe, or a regular file at its begin;
 * further on a shell's loop reads it. Nothing is taken from it. */
static bool
holds_bytes(void)
{
    struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
    struct stat st;

    if (fstat(STDIN_FILENO, &st))
        return false;
    if (S_ISFIFO(st.st_mode))
        return poll(&p, 1, 0) == 1 && (p.revents & POLLIN);
    return S_ISREG(st.st_mode) && st.st_size > 0 &&
           lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
}

void
generate_tell_unread(struct generate *g)
{
    const struct options *o = g->o;

    if (g->told_unread || is_read(o) || o->interactive || o->engine.quiet ||
        !holds_bytes())
        return;
    g->told_unread = true;
    cli_warn("standard input is not read: -p TEXT - continues both");
}

/* The text that the options name, -p before FILE, which the caller frees;
 * *name is for messages. */
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

        if (!o->messages && !o->engine.quiet)
            cli_tell_kind(*name, read, n);
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

static void
echo(const struct options *o, const char *text, size_t len)
{
    if (!o->echo)
        return;
    terminal_write(text, len, true);
    cli_flush();
}

static void
encode(struct generate *g, struct prompt *out)
{
    struct gg_error err;

    cli_check(prompt_source_encode(g, &g->source, &g->o->choices, out, &err),
              &err);
}

void
generate_prompt(struct generate *g, struct prompt *out)
{
    const struct options *o = g->o;
    const char *name;
    size_t len;
    char *text = read_text(o, &name, &len);
    struct gg_error err;

    generate_tell_unread(g);
    if (o->chat && !o->messages)
        len = message_length(o, text, len);
    if (prompt_source_open(g, &g->source, text, len, &err) != GG_OK)
        cli_die("%s: %s", name, err.message);
    if (len == 0 && o->bos != BOS_FIRST && !g->source.goes_on &&
        !g->source.suffix)
        cli_die("%s: the prompt is empty", name);
    encode(g, out);
    generate_tell_left_out(g, name);
    if (out->n == 0 && !out->goes_on)
        cli_die("%s: the prompt is empty", name);
    echo(o, text, len);
    add_tail(&g->answer, out);
    free(text);
}

enum gg_status
generate_turn_prompt(struct generate *g, struct prompt *out,
                     struct gg_error *err)
{
    enum gg_status st =
        prompt_source_encode(g, &g->source, &g->o->choices, out, err);

    if (st != GG_OK)
        return st;
    generate_tell_left_out(g, cli_input_name(NULL));
    add_tail(&g->answer, out);
    return GG_OK;
}
