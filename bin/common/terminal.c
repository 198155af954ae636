/* terminal.c - a model's text on standard output */
#include <config.h>

#include "common/terminal.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/utf8.h"

static struct {
    bool is_terminal, escapes;
    bool shared;  /* messages go to where the text goes */
    bool begun;   /* something was written */
    bool inside;  /* a line has begun */
    char held[4]; /* the begin of a character */
    size_t n_held;
} out;

static void
end_line(void)
{
    if (out.inside)
        putchar('\n');
    out.inside = false;
}

/* Text and messages stand on one screen, or in one file. */
static void
prepare_message(void)
{
    end_line();
    fflush(stdout);
}

/* `text 2>&1`, whatever that is, or two ways to a terminal. */
static bool
is_shared(void)
{
    struct stat text, messages;

    if (out.is_terminal && isatty(STDERR_FILENO))
        return true;
    return fstat(STDOUT_FILENO, &text) == 0 &&
           fstat(STDERR_FILENO, &messages) == 0 &&
           text.st_dev == messages.st_dev && text.st_ino == messages.st_ino;
}

void
terminal_open(bool raw)
{
    out.is_terminal = cli_output_is_terminal();
    out.escapes = out.is_terminal && !raw;
    out.shared = is_shared();
    if (out.shared)
        cli_before_messages(prepare_message);
}

static bool
is_control(const char *p, size_t n)
{
    unsigned char c = (unsigned char)p[0], next = (unsigned char)p[n - 1];

    if (n == 1)
        return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    return n == 2 && c == 0xc2 && next < 0xa0;
}

static void
write_printable(const char *p, size_t n, bool valid)
{
    if (valid && !is_control(p, n))
        fwrite(p, 1, n, stdout);
    else
        for (size_t i = 0; i < n; i++)
            printf("\\x%02x", (unsigned char)p[i]);
}

/* Shows what is held, as far as it is complete. */
static void
show_held(bool more)
{
    while (out.n_held) {
        bool valid;
        size_t n = utf8_next(out.held, out.n_held, &valid);

        if (n == 0 && more)
            return;
        n = n ? n : out.n_held;
        write_printable(out.held, n, valid);
        out.n_held -= n;
        memmove(out.held, out.held + n, out.n_held);
    }
}

void
terminal_write(const char *text, size_t len, bool more)
{
    if (len)
        out.inside = text[len - 1] != '\n';
    out.begun = out.begun || len;
    if (!out.escapes && len)
        fwrite(text, 1, len, stdout);
    for (size_t i = 0; out.escapes && i < len; i++) {
        out.held[out.n_held++] = text[i];
        show_held(true);
    }
    show_held(more);
}

bool
terminal_is_inside(void)
{
    return out.inside && (out.is_terminal || out.shared);
}

void
terminal_finish(bool newline)
{
    if (newline && !out.begun)
        out.inside = true;
    if (newline || out.is_terminal)
        end_line();
}
