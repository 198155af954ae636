/* json.c - strings as JSON writes them */
#include <config.h>

#include "common/json.h"

#include <stdio.h>

/* The length of the character at s, or 0 where that is not UTF-8. */
static size_t
character(const unsigned char *s, size_t len)
{
    static const unsigned char lead[] = { 0x80, 0xc2, 0xe0, 0xf0, 0xf5 };
    size_t n = 0;

    while (n < 5 && s[0] >= lead[n])
        n++;
    if (n == 0)
        return 1;
    if (n == 1 || n > 4 || n > len)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
        return 0; /* overlong, surrogate, beyond U+10FFFF */
    return n;
}

static void
put_ascii(unsigned char c)
{
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt";

    for (size_t i = 0; i + 1 < sizeof(named); i += 2)
        if (c == (unsigned char)named[i]) {
            putchar('\\');
            putchar(named[i + 1]);
            return;
        }
    if (c < 0x20 || c == 0x7f)
        printf("\\u%04x", c);
    else
        putchar(c);
}

void
json_put_string(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;

    putchar('"');
    while (len) {
        size_t n = character(s, len);

        if (n == 0)
            fputs("\\ufffd", stdout), n = 1;
        else if (n == 1)
            put_ascii(*s);
        else if (s[0] == 0xc2 && s[1] < 0xa0)
            printf("\\u%04x", s[1]); /* C1 controls */
        else
            fwrite(s, 1, n, stdout);
        s += n;
        len -= n;
    }
    putchar('"');
}
