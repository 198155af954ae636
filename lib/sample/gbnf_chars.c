/* gbnf_chars.c - sets of characters as code for bytes of UTF-8 */
#include <config.h>

#include "sample/gbnf.h"

/* How many bytes, and the last character with so many. */
static const uint32_t ends[] = { 0x7f, 0x7ff, 0xffff, 0x10ffff };

static int
encode(uint32_t c, uint8_t out[4])
{
    static const uint8_t first[] = { 0, 0xc0, 0xe0, 0xf0 };
    int more = 0;

    while (c > ends[more])
        more++;
    for (int i = more; i > 0; i--, c >>= 6)
        out[i] = (uint8_t)(0x80 | (c & 0x3f));
    out[0] = (uint8_t)(first[more] | c);
    return more + 1;
}

/* Bytes that all range independently: where not, the span is cut. Returns the
 * last character that is within. */
static uint32_t
independent(uint32_t from, uint32_t to)
{
    for (int i = 0; i < 4; i++)
        if (from <= ends[i] && to > ends[i])
            to = ends[i];
    for (int bits = 6; bits < 24; bits += 6) {
        uint32_t low = (UINT32_C(1) << bits) - 1;

        if (from <= 0x7f || (from & ~low) == (to & ~low))
            break;
        if (from & low)
            return from | low;
        if ((to & low) != low)
            to = (to & ~low) - 1;
    }
    return to;
}

static enum gg_status
sequence(struct gbnf *g, uint32_t from, uint32_t to, struct gg_error *err)
{
    uint8_t a[4], b[4];
    enum gg_status st = GG_OK;
    int n = encode(from, a);

    encode(to, b);
    for (int i = 0; st == GG_OK && i < n; i++)
        st = gbnf_emit(g, GBNF_RANGE, a[i], b[i], err);
    return st;
}

enum gg_status
gbnf_chars(struct gbnf *g, const struct gbnf_span *spans, size_t n,
           struct gg_error *err)
{
    enum gg_status st = GG_OK;
    int32_t jumps = -1;
    size_t start = g->n;
    bool some = false;

    for (size_t i = 0; st == GG_OK && i < n; i++)
        for (uint32_t from = spans[i].from, to;
             st == GG_OK && from <= spans[i].to; from = to + 1) {
            to = independent(from, spans[i].to);
            if (some)
                st = gbnf_alternative(g, start, &jumps, err);
            if (st == GG_OK && some)
                start = g->n;
            some = true;
            if (st == GG_OK)
                st = sequence(g, from, to, err);
        }
    if (st == GG_OK && !some)
        st = error_set(err, GG_ERR_FORMAT, "a class without characters");
    if (st == GG_OK)
        gbnf_end(g, jumps);
    return st;
}
