/* interactive.c - a conversation, line by line */
#include <config.h>

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/terminal.h"
#include "gg-generate/generate.h"
#include "gg-generate/reader.h"

enum {
    MAX_LINE = 1 << 24, /* bytes */
};

/* What the user writes. */
struct input {
    struct reader lines;
    bool terminal, prompt;
};

/* On a terminal an interrupt starts the line anew, and the terminal forgets
 * what it had of it. False: there is nothing more to be done. */
static bool
heed_signal(struct input *in)
{
    if (!in->terminal || cli_signal() != SIGINT)
        return false;
    cli_forget_signal();
    reader_drop(&in->lines);
    if (in->prompt)
        fputs("\n> ", stderr);
    return true;
}

/* The message that the user writes; false: no more. */
static bool
ask(struct input *in, struct chat *chat)
{
    enum reader_state state;
    const char *line;
    size_t len;

    do {
        if (in->prompt)
            fputs("> ", stderr);
        do
            state = reader_next(&in->lines, true, &line, &len);
        while (state == READER_WAITS && heed_signal(in));
    } while (state == READER_RECORD && reader_is_blank(line, len));
    if (state == READER_RECORD)
        chat_add(chat, GG_ROLE_USER, line, len);
    else if (in->prompt)
        fputc('\n', stderr);
    return state == READER_RECORD;
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
    struct input in = { .lines = { .fd = STDIN_FILENO,
                                   .name = "standard input",
                                   .what = "a line",
                                   .end = '\n',
                                   .max = MAX_LINE,
                                   .max_lost = MAX_LINE },
                        .terminal = isatty(STDIN_FILENO) };
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
    reader_clear(&in.lines);
}
