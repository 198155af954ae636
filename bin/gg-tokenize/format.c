/* format.c - the forms in which ids are written */
#include <config.h>

#include "gg-tokenize/format.h"

#include <stdlib.h>

#include "gg-tokenize/digits.h"

enum {
    DIGITS = 20 /* of the largest number */
};

/* printf() would take as long as encoding does. */
static size_t
put_number(char *p, uint64_t n)
{
    char digits[DIGITS];
    size_t k = sizeof(digits);

    do
        digits[--k] = (char)('0' + n % 10);
    while (n /= 10);
    memcpy(p, digits + k, sizeof(digits) - k);
    return sizeof(digits) - k;
}

void
format_number(struct buffer *out, uint64_t n)
{
    out->len += put_number(buffer_room(out, DIGITS), n);
}

void
format_ids(struct buffer *out, const int32_t *ids, size_t n)
{
    char *p = buffer_room(out, n * (1 + DIGITS_ROOM)), *begin = p;

    for (size_t i = 0; i < n; i++) {
        *p = ' ';
        p += i > 0;
        p += digits_put(p, (uint32_t)ids[i]);
    }
    out->len += (size_t)(p - begin);
}

void
format_binary(struct buffer *out, const int32_t *ids, size_t n, size_t width)
{
    char *p = buffer_room(out, n * width);

    out->len += n * width;
    for (size_t i = 0; i < n; i++, p += width) {
        uint32_t id = (uint32_t)ids[i];

        p[0] = (char)id;
        p[1] = (char)(id >> 8);
        if (width > 2) {
            p[2] = (char)(id >> 16);
            p[3] = (char)(id >> 24);
        }
    }
}

static void
format_piece(struct buffer *out, const struct gg_vocab *vocab, int32_t id)
{
    struct gg_decode_state state = { .started = true };
    char few[256], *p = few;
    size_t n = 0;
    enum gg_status st = gg_vocab_decode(vocab, &state, id, GG_DECODE_SPECIAL,
                                        few, sizeof(few), &n, NULL);

    if (st == GG_OK && n > sizeof(few)) {
        p = cli_alloc(NULL, n, 1);
        st = gg_vocab_decode(vocab, &state, id, GG_DECODE_SPECIAL, p, n, &n,
                             NULL);
    }
    n = st == GG_OK ? n : 0;
    gg_escape(buffer_room(out, 4 * n + 1), 4 * n + 1, p, n);
    out->len += strlen(out->p + out->len);
    if (p != few)
        free(p);
}

void
format_table(struct buffer *out, const struct gg_vocab *vocab,
             const int32_t *ids, size_t n, const struct gg_range *ranges,
             uint64_t base, bool pieces)
{
    for (size_t i = 0; i < n; i++) {
        format_number(out, (uint32_t)ids[i]);
        if (ranges) {
            buffer_char(out, '\t');
            format_number(out, base + ranges[i].begin);
            buffer_char(out, '\t');
            format_number(out, base + ranges[i].end);
        }
        if (pieces) {
            buffer_char(out, '\t');
            format_piece(out, vocab, ids[i]);
        }
        buffer_char(out, '\n');
    }
}
