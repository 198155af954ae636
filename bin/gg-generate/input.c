/* input.c - messages and commands that the user writes in lines */
#include <config.h>

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "gg-generate/interactive.h"

#define FENCE   "\"\"\""
#define PROMPT  "> "
#define PROMPT2 ". "

enum {
    MAX_LINE = 1 << 24, /* bytes */
    N_FENCE = sizeof(FENCE) - 1,
};

void
input_open(struct input *in, bool commands)
{
    *in = (struct input){ .lines = { .fd = STDIN_FILENO,
                                     .name = "standard input",
                                     .what = "a line",
                                     .end = '\n',
                                     .max = MAX_LINE,
                                     .max_lost = MAX_LINE },
                          .terminal = isatty(STDIN_FILENO) };
    in->prompt = in->terminal && isatty(STDERR_FILENO);
    in->commands = in->terminal || commands;
    if (in->prompt)
        in->editor = editor_open();
}

void
input_close(struct input *in)
{
    editor_close(in->editor);
    reader_clear(&in->lines);
    buffer_clear(&in->text);
}

/* On a terminal an interrupt starts the message anew, and the terminal forgets
 * what it had of it. False: there is nothing more to be done. */
static bool
heed_signal(struct input *in)
{
    if (!in->terminal || cli_signal() != SIGINT)
        return false;
    cli_forget_signal();
    reader_drop(&in->lines);
    if (in->prompt)
        fputc('\n', stderr);
    return true;
}

static enum reader_state
next_line(struct input *in, const char *prompt, const char **line, size_t *len)
{
    if (in->editor)
        return editor_read(in->editor, prompt, line, len);
    if (in->prompt)
        fputs(prompt, stderr);
    return reader_next(&in->lines, true, line, len);
}

static bool
ends_with(const char *line, size_t len, const char *end, size_t n)
{
    return len >= n && memcmp(line + len - n, end, n) == 0;
}

/* The rest of a block, up to its end, or that of the input; a mark's line is a
 * row only where text stands next to the mark. */
static enum reader_state
read_block(struct input *in, const char *line, size_t len)
{
    enum reader_state state = READER_RECORD;

    in->is_block = true;
    for (size_t n_rows = 0, n_lines = 0; state == READER_RECORD; n_lines++) {
        bool end = ends_with(line, len, FENCE, N_FENCE);

        len -= end ? N_FENCE : 0;
        if (len || (n_lines && !end)) {
            if (n_rows++)
                buffer_char(&in->text, '\n');
            buffer_add(&in->text, line, len);
        }
        if (end)
            return READER_RECORD;
        state = next_line(in, PROMPT2, &line, &len);
    }
    return state == READER_END ? READER_RECORD : state;
}

/* Rows that end with a backslash go on. */
static enum reader_state
read_rows(struct input *in, const char *line, size_t len)
{
    while (len && line[len - 1] == '\\') {
        enum reader_state state;

        buffer_add(&in->text, line, len - 1);
        buffer_char(&in->text, '\n');
        state = next_line(in, PROMPT2, &line, &len);
        if (state != READER_RECORD)
            return state == READER_END ? READER_RECORD : state;
    }
    buffer_add(&in->text, line, len);
    return READER_RECORD;
}

static enum reader_state
read_text(struct input *in)
{
    const char *line;
    size_t len;
    enum reader_state state;

    in->text.len = 0;
    in->is_block = false;
    state = next_line(in, PROMPT, &line, &len);
    if (state != READER_RECORD)
        return state;
    if (in->commands && len >= N_FENCE && memcmp(line, FENCE, N_FENCE) == 0)
        return read_block(in, line + N_FENCE, len - N_FENCE);
    if (in->commands)
        return read_rows(in, line, len);
    buffer_add(&in->text, line, len);
    return READER_RECORD;
}

bool
input_ask(struct input *in, bool blank)
{
    enum reader_state state;

    do
        state = read_text(in);
    while (state == READER_WAITS
               ? heed_signal(in)
               : state == READER_RECORD && !blank &&
                     reader_is_blank(in->text.p, in->text.len));
    if (state != READER_RECORD && in->prompt)
        fputc('\n', stderr);
    return state == READER_RECORD;
}
