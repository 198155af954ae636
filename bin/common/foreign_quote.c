/* foreign_quote.c - a word as a shell reads it */
#include <config.h>

#include "common/foreign.h"

static bool
is_plain(const char *text)
{
    return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_./=:,+@%")];
}

/* True if a terminal would obey something in it. */
static bool
is_unsafe(const char *text)
{
    size_t size = 4 * strlen(text) + 8;
    char *shown = cli_alloc(NULL, size, 1);
    bool unsafe = strcmp(cli_escape(shown, size, text), text) != 0;

    free(shown);
    return unsafe;
}

/* $'...', of ASCII only. */
static void
quote_bytes(struct buffer *out, const char *text)
{
    buffer_format(out, "$'");
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p == '\n')
            buffer_format(out, "\\n");
        else if (*p == '\'' || *p == '\\')
            buffer_format(out, "\\%c", *p);
        else if (*p < ' ' || *p > '~')
            buffer_format(out, "\\%03o", *p);
        else
            buffer_char(out, (char)*p);
    buffer_char(out, '\'');
}

void
foreign_quote(struct buffer *out, const char *text)
{
    if (is_plain(text)) {
        buffer_format(out, "%s", text);
        return;
    }
    if (is_unsafe(text)) {
        quote_bytes(out, text);
        return;
    }
    buffer_char(out, '\'');
    for (; *text; text++)
        if (*text == '\'')
            buffer_format(out, "'\\''");
        else
            buffer_char(out, *text);
    buffer_char(out, '\'');
}
