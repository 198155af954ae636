/* interactive.c - a conversation, line by line */
#include <config.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/terminal.h"
#include "gg-generate/generate.h"

enum {
    MAX_LINE = 1 << 24, /* bytes */
};

/* What was read and not used yet is at text[start .. end). */
struct input {
    char *text;
    size_t start, end, cap;
    size_t seen; /* bytes from start that hold no newline */
    bool terminal, prompt, ended;
};

/* On a terminal an interrupt starts the line anew, and the terminal forgets
 * what it had of it. False: there is nothing more to be done. */
static bool
heed_signal(struct input *in)
{
    if (!cli_signal())
        return true;
    if (!in->terminal || cli_signal() != SIGINT) {
        in->start = in->end;
        return false;
    }
    cli_forget_signal();
    in->start = in->end;
    in->seen = 0;
    if (in->prompt)
        fputs("\n> ", stderr);
    return true;
}

/* False: the input has ended. */
static bool
read_more(struct input *in)
{
    ssize_t n;

    if (in->start)
        memmove(in->text, in->text + in->start, in->end - in->start);
    in->end -= in->start;
    in->start = 0;
    if (in->end > MAX_LINE)
        cli_too_long("standard input", "a line", MAX_LINE);
    if (in->cap - in->end < 4096)
        in->text = cli_alloc(in->text, in->cap = 2 * in->cap + 8192, 1);
    do {
        if (!heed_signal(in))
            return false;
        n = read(STDIN_FILENO, in->text + in->end, in->cap - in->end);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        cli_die("standard input: %s", strerror(errno));
    in->end += (size_t)n;
    return n > 0;
}

/* The next line without its end, which may be missing from the last one.
 * False: there is none. */
static bool
read_line(struct input *in, const char **line, size_t *len)
{
    char *end = NULL;

    for (in->seen = 0; !in->ended; in->ended = !read_more(in)) {
        if (in->end > in->start + in->seen)
            end = memchr(in->text + in->start + in->seen, '\n',
                         in->end - in->start - in->seen);
        if (end)
            break;
        in->seen = in->end - in->start;
    }
    *len = (end ? (size_t)(end - in->text) : in->end) - in->start;
    *line = in->text + in->start;
    in->start += *len + (end != NULL);
    return end || *len;
}

static bool
is_blank(const char *line, size_t len)
{
    size_t n = 0;

    while (n < len && (line[n] == ' ' || line[n] == '\t' || line[n] == '\r'))
        n++;
    return n == len;
}

/* The message that the user writes; false: no more. */
static bool
ask(struct input *in, struct chat *chat)
{
    const char *line;
    size_t len;

    do {
        if (in->prompt)
            fputs("> ", stderr);
        if (!read_line(in, &line, &len)) {
            if (in->prompt)
                fputc('\n', stderr);
            return false;
        }
    } while (is_blank(line, len));
    chat_add(chat, GG_ROLE_USER, line, len);
    return true;
}

/* Evaluates what is new in the conversation, and the answer to it. False: it
 * cannot go on. */
static bool
answer(struct generate *g, const int32_t *ids, size_t n, bool terminal,
       size_t before)
{
    bool heard = generate_loop(g, ids, n);

    if (heard && g->chat.messages[g->chat.n - 1].role != GG_ROLE_ASSISTANT)
        chat_add(&g->chat, GG_ROLE_ASSISTANT, NULL, 0);
    if (heard)
        g->done = g->chat.n;
    else
        chat_truncate(&g->chat, before);
    terminal_write("\n", 1, false);
    cli_flush();
    if (terminal && cli_signal() == SIGINT)
        cli_forget_signal();
    return !cli_signal();
}

void
generate_interactive(struct generate *g, const int32_t *first, size_t n)
{
    struct input in = { .terminal = isatty(STDIN_FILENO) };
    bool more = true;

    in.prompt = in.terminal && isatty(STDERR_FILENO);
    if (n)
        more =
            answer(g, first, n, in.terminal, g->loaded || g->o->system != NULL);
    while (more) {
        size_t before = g->chat.n;
        int32_t *ids;

        if (!ask(&in, &g->chat))
            break;
        ids = generate_chat(g, &n);
        generate_tell_left_out(g, cli_input_name(NULL));
        more = answer(g, ids, n, in.terminal, before);
        free(ids);
    }
    free(in.text);
}
