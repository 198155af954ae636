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

/* The answer to what is new in the conversation, which has `before` messages if
 * it is not heard. False: it cannot go on. */
static bool
answer(struct generate *g, struct prompt *prompt, bool terminal, size_t before)
{
    struct prompt_source *s = &g->source;
    struct chat *chat = &s->chat;
    bool heard = generate_answer(g, prompt);

    if (heard)
        chat_answer(chat, g->answer.text.p, g->answer.text.len);
    if (heard)
        s->done = chat->n;
    else
        chat_truncate(chat, before);
    s->goes_on = false;
    prompt_clear(prompt);
    terminal_write("\n", 1, false);
    cli_flush();
    if (terminal && cli_signal() == SIGINT)
        cli_forget_signal();
    return !cli_signal();
}

void
generate_interactive(struct generate *g, struct prompt *first)
{
    struct input in = { .lines = { .fd = STDIN_FILENO,
                                   .name = "standard input",
                                   .what = "a line",
                                   .end = '\n',
                                   .max = MAX_LINE,
                                   .max_lost = MAX_LINE },
                        .terminal = isatty(STDIN_FILENO) };
    struct chat *chat = &g->source.chat;
    size_t before = g->loaded || g->o->system != NULL;
    struct prompt prompt = { 0 };
    bool more = true;

    in.prompt = in.terminal && isatty(STDERR_FILENO);
    if (first->n || first->goes_on)
        more = answer(g, first, in.terminal, before);
    else
        prompt_source_begin(g, &g->source);
    for (before = chat->n; more && ask(&in, chat); before = chat->n) {
        generate_turn_prompt(g, &prompt);
        more = answer(g, &prompt, in.terminal, before);
    }
    reader_clear(&in.lines);
}
