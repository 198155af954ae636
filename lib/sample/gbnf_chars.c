/* gbnf_chars.c - sets of characters as code for bytes of UTF-8 */
#include <config.h>

#include "sample/gbnf.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* The last characters with 1, 2, 3 and 4 bytes. */
static const uint32_t ends[] = { 0x7f, 0x7ff, 0xffff, 0x10ffff };

static int
encode_utf8(uint32_t c, uint8_t out[4])
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
utf8_range(struct gbnf *g, uint32_t from, uint32_t to, struct gg_error *err)
{
    uint8_t a[4], b[4];
    enum gg_status st = GG_OK;
    int n = encode_utf8(from, a);

    encode_utf8(to, b);
    for (int i = 0; st == GG_OK && i < n; i++)
        st = sample_gbnf_emit(g, GBNF_RANGE, a[i], b[i], err);
    return st;
}

enum gg_status
sample_gbnf_chars(struct gbnf *g, const struct gbnf_span *spans, size_t n,
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
                st = sample_gbnf_alternative(g, start, &jumps, err);
            if (st == GG_OK && some)
                start = g->n;
            some = true;
            if (st == GG_OK)
                st = utf8_range(g, from, to, err);
        }
    if (st == GG_OK && !some)
        st = error_set(err, GG_ERR_FORMAT, "a class without characters");
    if (st == GG_OK)
        sample_gbnf_end(g, jumps);
    return st;
}

/* ---- sets ---- */

static int
by_start(const void *a, const void *b)
{
    const struct gbnf_span *x = a, *y = b;

    return x->from < y->from ? -1 : x->from > y->from;
}

/* In order, none touching the next. */
static size_t
unite(struct gbnf_span *s, size_t n)
{
    size_t m = 0;

    qsort(s, n, sizeof(*s), by_start);
    for (size_t i = 0; i < n; i++)
        if (m && s[i].from <= s[m - 1].to + 1)
            s[m - 1].to = s[i].to > s[m - 1].to ? s[i].to : s[m - 1].to;
        else
            s[m++] = s[i];
    return m;
}

/* All characters that are not in s[0..n): to out[0..n + 1). */
static size_t
others(struct gbnf_span *s, size_t n, struct gbnf_span *out)
{
    uint32_t from = 0;
    size_t m = 0;

    for (size_t i = 0; i < n; i++) {
        if (s[i].from > from)
            out[m++] = (struct gbnf_span){ from, s[i].from - 1 };
        from = s[i].to + 1;
    }
    if (from <= 0x10ffff)
        out[m++] = (struct gbnf_span){ from, 0x10ffff };
    return m;
}

enum gg_status
sample_gbnf_set(struct gbnf *g, const struct gbnf_span *spans, size_t n,
                bool negated, struct gg_error *err)
{
    struct gbnf_span *s = mem_array(n + 4, sizeof(*s));
    struct gbnf_span *turned = mem_array(n + 4, sizeof(*turned));
    enum gg_status st = s && turned ? GG_OK : error_nomem(err);

    if (st == GG_OK && n)
        memcpy(s, spans, n * sizeof(*s));
    /* Surrogates are taken out of a set that goes over them by turning it
     * inside out, and back. */
    if (st == GG_OK && !negated) {
        n = others(s, unite(s, n), turned);
        memcpy(s, turned, n * sizeof(*s));
    }
    if (st == GG_OK) {
        s[n++] = (struct gbnf_span){ 0xd800, 0xdfff };
        n = others(s, unite(s, n), turned);
        st = sample_gbnf_chars(g, turned, n, err);
    }
    mem_free(s);
    mem_free(turned);
    return st;
}
