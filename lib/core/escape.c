/* escape.c - showing bytes that may not be text */
#include "core/escape.h"

#include <gg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/mem.h"

/* Whether three bytes, or two, change the direction of text or end a line where
 * they are shown: U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069.
 */
static bool
turns_text(const unsigned char *s)
{
    if (s[0] == 0xd8)
        return s[1] == 0x9c;
    if (s[0] != 0xe2)
        return false;
    if (s[1] == 0x81)
        return s[2] >= 0xa6 && s[2] <= 0xa9;
    return s[1] == 0x80 &&
           (s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae));
}

/* The length of the printable UTF-8 character at s, or 0. */
static size_t
printable(const unsigned char *s, size_t len)
{
    size_t n = s[0] < 0x80   ? 1
               : s[0] < 0xc2 ? 0
               : s[0] < 0xe0 ? 2
               : s[0] < 0xf0 ? 3
               : s[0] < 0xf5 ? 4
                             : 0;

    if (n == 0 || n > len)
        return 0;
    if (n == 1)
        return s[0] >= 0x20 && s[0] != 0x7f && s[0] != '\\';
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xe0 && s[1] < 0xa0) ||
        (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] >= 0x90) || turns_text(s))
        return 0; /* C1, overlong, surrogate, beyond U+10FFFF */
    return n;
}

static size_t
escape_one(char out[4], unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    const char *names = "\nn\rr\tt\\\\";

    out[0] = '\\';
    for (; *names; names += 2)
        if (c == (unsigned char)names[0]) {
            out[1] = names[1];
            return 2;
        }
    out[1] = 'x';
    out[2] = hex[c >> 4];
    out[3] = hex[c & 15];
    return 4;
}

static char *
escape_text(char *buf, size_t size, const char *s, size_t len, bool backslash)
{
    size_t used = 0;

    for (size_t i = 0; i < len;) {
        const unsigned char *p = (const unsigned char *)s + i;
        size_t n = *p == '\\' && !backslash ? 1 : printable(p, len - i);
        char one[4];
        const char *from = n ? s + i : one;
        size_t m = n ? n : escape_one(one, *p);

        if (m >= size - used)
            break;
        memcpy(buf + used, from, m);
        used += m;
        i += n ? n : 1;
    }
    buf[used] = '\0';
    return buf;
}

char *
escape_bytes(char *buf, size_t size, const char *s, size_t len)
{
    return escape_text(buf, size, s, len, true);
}

char *
escape_message(char *buf, size_t size, const char *s)
{
    return escape_text(buf, size, s, strlen(s), false);
}

char *
escape_copy(const char *s, size_t len)
{
    size_t size = 4 * len + 1;
    char *buf = mem_alloc(size), *fit;

    if (!buf)
        return NULL;
    fit = mem_realloc(buf, strlen(escape_text(buf, size, s, len, false)) + 1);
    return fit ? fit : buf;
}

char *
gg_escape(char *buf, size_t size, const char *s, size_t len)
{
    if (!buf || size == 0)
        return buf;
    return escape_bytes(buf, size, s, s ? len : 0);
}
