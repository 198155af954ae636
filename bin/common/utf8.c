/* utf8.c - which bytes are UTF-8 */
#include "common/utf8.h"

#include <stdint.h>
#include <string.h>

/* Bytes that `head` asks for, and what its second one may be: table 3-7 of the
 * Unicode standard. 0: no character begins with it. */
static size_t
sequence_length(uint8_t head, uint8_t *low, uint8_t *high)
{
    *low = head == 0xe0 ? 0xa0 : head == 0xf0 ? 0x90 : 0x80;
    *high = head == 0xed ? 0x9f : head == 0xf4 ? 0x8f : 0xbf;
    if (head < 0x80)
        return 1;
    if (head < 0xc2 || head > 0xf4)
        return 0;
    return head < 0xe0 ? 2 : head < 0xf0 ? 3 : 4;
}

size_t
utf8_ascii(const char *text, size_t len)
{
    size_t n = 0;
    uint64_t w;

    for (; len - n >= sizeof(w); n += sizeof(w)) {
        memcpy(&w, text + n, sizeof(w));
        if (w & UINT64_C(0x8080808080808080))
            break;
    }
    while (n < len && (uint8_t)text[n] < 0x80)
        n++;
    return n;
}

size_t
utf8_next(const char *text, size_t len, bool *valid)
{
    const uint8_t *p = (const uint8_t *)text;
    uint8_t low, high;
    size_t want = sequence_length(p[0], &low, &high), n = 1;

    for (; n < want && n < len && p[n] >= low && p[n] <= high; n++) {
        low = 0x80;
        high = 0xbf;
    }
    *valid = n == want;
    return n < want && n == len ? 0 : n;
}
