/* token_bytes.c - bytes of a token as GPT-2 writes them */
#include "convert/tokens.h"

size_t
convert_tokens_show(const struct gguf_str *bytes, char *out)
{
    char *to = out;

    for (size_t i = 0; i < bytes->n; i++) {
        unsigned c = (uint8_t)bytes->s[i];

        /* bytes_to_unicode() of GPT-2's encoder.py: what cannot be seen comes
         * from U+0100 on, in order. */
        if (c <= 32)
            c += 256;
        else if (c >= 127 && c <= 160)
            c += 256 + 33 - 127;
        else if (c == 173)
            c = 256 + 33 + 34;
        if (c < 128) {
            *to++ = (char)c;
        } else {
            *to++ = (char)(0xc0 | c >> 6);
            *to++ = (char)(0x80 | (c & 0x3f));
        }
    }
    return (size_t)(to - out);
}
