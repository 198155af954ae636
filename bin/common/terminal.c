/* terminal.c - a model's text on standard output */
#include <config.h>

#include "common/terminal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/utf8.h"

static struct {
    bool is_terminal, escapes;
    bool inside;  /* a line has begun */
    char held[4]; /* the begin of a character */
    size_t n_held;
} out;

/* What both streams write stands on one screen. */
static void
prepare_terminal(void)
{
    terminal_newline();
    fflush(stdout);
}

void
terminal_open(bool raw)
{
    out.is_terminal = cli_output_is_terminal();
    out.escapes = out.is_terminal && !raw;
    if (out.is_terminal && isatty(STDERR_FILENO))
        cli_before_messages(prepare_terminal);
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
    if (!out.escapes && len)
        fwrite(text, 1, len, stdout);
    for (size_t i = 0; out.escapes && i < len; i++) {
        out.held[out.n_held++] = text[i];
        show_held(true);
    }
    show_held(more);
}

void
terminal_newline(void)
{
    if (out.is_terminal && out.inside)
        putchar('\n');
    out.inside = false;
}
