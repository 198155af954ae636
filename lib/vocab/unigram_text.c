/* unigram_text.c - what a text is before Unigram cuts it
 *
 * Characters become what the vocabulary's map says, and blanks may be added
 * and dropped. Where no piece has a blank after another character, the way
 * through a text passes each place in front of a blank, so that words are
 * looked for in a cache first; and words of plain ASCII also without being
 * normalised first. */
#include "vocab/unigram.h"

#include "core/mem.h"
#include "vocab/unicode.h"

#define MARK     "\xe2\x96\x81"
#define REPLACED "\xef\xbf\xbd" /* U+FFFD */

enum {
    CHUNK = 1 << 15, /* bytes that are normalised in one go */
    PAD = 8,         /* bytes after the text that can be read */
    LOOKS = 64,      /* bytes that a key of the map may have, in lower case */
};

/* ---- words ---- */

static bool
emit_known(struct unigram *u, const struct cache_word *key,
           struct vocab_out *out)
{
    const struct cache_word *found =
        vocab_cache_find(vocab_cache_place(u->cache, key), key);

    for (uint32_t i = 0; found && i < found->n; i++)
        vocab_emit(out, found->ids[i]);
    if (found)
        u->unknown = false;
    return found != NULL;
}

/* Decides the text: a word with its blanks, or what is left of a long one. */
static void
end_word(struct unigram *u, struct vocab_out *out)
{
    size_t before = out->n, n;
    struct cache_word word;

    if (!u->cache || u->at > 0 || u->n > CACHE_BYTES) {
        vocab_unigram_finish(u, out);
        return;
    }
    vocab_cache_key(&word, u->text, u->n, u->n + PAD);
    if (emit_known(u, &word, out)) {
        u->n = 0;
        return;
    }
    u->has_unknown = false;
    vocab_unigram_finish(u, out);
    n = out->n - before;
    if (!u->has_unknown && n <= CACHE_IDS && out->n <= out->cap) {
        word.n = (uint32_t)n;
        memcpy(word.ids, out->ids + before, n * sizeof(*word.ids));
        vocab_cache_add(vocab_cache_place(u->cache, &word), &word);
    }
}

/* Bytes of the plain word that p[0..len) begins with, if a blank follows it
 * and then ASCII: else 0. */
static size_t
plain_word(const struct gg_vocab *v, const uint8_t *p, size_t len)
{
    size_t n = 0;

    while (n < len && n < CACHE_BYTES && v->plain[p[n]] == UNIGRAM_PLAIN)
        n++;
    return n < CACHE_BYTES && len - n > 1 && v->plain[p[n]] == UNIGRAM_BLANK &&
                   p[n + 1] < 0x80
               ? n
               : 0;
}

/* The key of a blank and p[0..n), n < CACHE_BYTES. */
static void
key_after_blank(struct cache_word *key, const uint8_t *p, size_t n, size_t len)
{
    uint64_t low;

    vocab_cache_key(key, p, n, len);
    low = key->low;
    key->low = low << 8 | ' ';
    key->high = key->high << 8 | low >> 56; /* n goes over the edge */
    key->high |= (uint64_t)(n + 1) << 56;
}

/* Takes words from p[0..len) that are known, each with the blank after it;
 * returns their bytes. One blank in front is pending, and not after others. */
static size_t
take_known(struct unigram *u, const uint8_t *p, size_t len,
           struct vocab_out *out)
{
    struct cache_word key;
    size_t at = 0, n;

    while ((n = plain_word(u->v, p + at, len - at)) > 0) {
        key_after_blank(&key, p + at, n, len - at);
        if (u->n > 0)
            end_word(u, out);
        if (!emit_known(u, &key, out))
            break;
        u->after_blank = u->v->squeeze;
        at += n + 1;
    }
    return at;
}

/* ---- characters ---- */

/* Makes room for n more bytes. */
static bool
reserve_text(struct unigram *u, size_t n, bool ranges)
{
    size_t need = u->n + n, cap = u->cap, same = cap;

    if (need <= cap)
        return true;
    if (!mem_grow(&u->text, &cap, need + PAD, 1) ||
        !mem_grow(&u->last, &same, cap, sizeof(*u->last)))
        return false;
    same = u->cap;
    if (ranges && !mem_grow(&u->from, &same, cap, sizeof(*u->from)))
        return false;
    u->cap = cap - PAD;
    return true;
}

/* A blank that comes from `from`; there is room for it. */
static void
add_blank(struct unigram *u, struct gg_range from, const struct vocab_out *out)
{
    if (out->ranges)
        u->from[u->n + u->pending] = from;
    u->pending++;
}

/* A blank that is dropped takes the place of that before it: of a run the last
 * one stays. */
static void
drop_blank(struct unigram *u, struct gg_range from, const struct vocab_out *out)
{
    if (u->pending && out->ranges)
        u->from[u->n + u->pending - 1] = from;
    else if (u->prefix)
        u->blank = from;
}

static inline void
put_byte(struct unigram *u, uint8_t byte, struct gg_range from,
         const struct vocab_out *out)
{
    if (out->ranges)
        u->from[u->n] = from;
    u->text[u->n++] = byte;
    u->last[u->n] = 0;
}

static void
put_pending(struct unigram *u, struct vocab_out *out)
{
    if (u->pending && u->n && u->v->words && u->text[u->n - 1] != ' ')
        end_word(u, out);
    for (; u->pending; u->pending--)
        put_byte(u, ' ', out->ranges ? u->from[u->n] : u->blank, out);
}

/* The text that a piece of the original has become. */
struct change {
    const uint8_t *p;
    size_t len;
    struct gg_range from;
    bool same; /* byte for byte */
};

static struct gg_range
range_of(const struct change *c, size_t i, size_t n)
{
    if (!c->same)
        return c->from;
    return (struct gg_range){ c->from.begin + i, c->from.begin + i + n };
}

static bool
put_text(struct unigram *u, const struct change *c, struct vocab_out *out)
{
    bool squeeze = u->v->squeeze;
    size_t i = 0;

    if (!reserve_text(u, u->pending + 1 + c->len, out->ranges))
        return false;
    if (u->prefix && (!squeeze || c->len != 1 || *c->p != ' ')) {
        struct gg_range none = { c->from.begin, c->from.begin };

        /* else it may still vanish */
        add_blank(u, u->blank.end ? u->blank : none, out);
        u->prefix = false;
    }
    for (; u->after_blank && i < c->len && c->p[i] == ' '; i++)
        drop_blank(u, range_of(c, i, 1), out);
    if (i < c->len)
        u->after_blank = squeeze && c->p[c->len - 1] == ' ';
    for (; i < c->len; i++) {
        bool mark = c->len - i >= 3 && memcmp(c->p + i, MARK, 3) == 0;

        if (mark || c->p[i] == ' ') {
            if (!squeeze)
                put_pending(u, out);
            add_blank(u, range_of(c, i, mark ? 3 : 1), out);
            i += mark ? 2 : 0;
        } else {
            put_pending(u, out);
            put_byte(u, c->p[i], range_of(c, i, 1), out);
        }
    }
    return true;
}

/* The longest key that p[0..len) begins with, or its first character; returns
 * its bytes, or 0: no memory. */
static size_t
put_char(struct unigram *u, const uint8_t *p, size_t len, struct vocab_out *out)
{
    size_t n_key = 0, begin = (size_t)(p - u->base);
    struct change c = { .p = NULL };
    uint8_t lower[LOOKS];

    if (vocab_unigram_drops(u->v, *p))
        return 1;
    if (u->v->lower) {
        len = len < LOOKS ? len : LOOKS;
        vocab_unicode_lower(p, len, lower);
        p = lower;
    }

    if (*p >= 0x80 || !u->v->plain[*p] || (len > 1 && p[1] >= 0x80))
        c.p = vocab_charsmap_find(&u->v->charsmap, p, len, &n_key, &c.len);
    else if (u->v->plain[*p] == UNIGRAM_BLANK)
        c = (struct change){ .p = (const uint8_t *)" ", .len = n_key = 1 };
    if (!c.p) {
        c.p = p;
        c.same = true;
        n_key = c.len = *p < 0x80 ? 1 : vocab_unicode_length(p, len);
        if (n_key == 0) { /* broken */
            c.p = (const uint8_t *)REPLACED;
            c.len = 3;
            c.same = false;
            n_key = 1;
        }
    }
    c.from = (struct gg_range){ begin, begin + n_key };
    return put_text(u, &c, out) ? n_key : 0;
}

void
vocab_unigram_begin(struct unigram *u, const struct gg_vocab *v,
                    const uint8_t *base, bool first, struct cache *cache)
{
    u->v = v;
    u->base = base;
    u->cache = v->words ? cache : NULL;
    u->n = u->begin = u->at = u->reach = 0;
    u->sums[0] = 0;
    u->blank = (struct gg_range){ 0, 0 };
    u->prefix = first && v->add_blank;
    u->after_blank = first && v->squeeze;
    u->pending = 0;
    u->unknown = false;
}

bool
vocab_unigram_part(struct unigram *u, const uint8_t *p, size_t len,
                   struct vocab_out *out)
{
    const uint8_t *end = p + len, *stop;

    while (p < end) {
        for (stop = end - p > CHUNK ? p + CHUNK : end; p < stop;) {
            size_t n = 0;

            if (u->cache && u->pending == 1 &&
                (u->n == 0 || u->text[u->n - 1] != ' '))
                n = take_known(u, p, (size_t)(end - p), out);
            if (n == 0)
                n = put_char(u, p, (size_t)(end - p), out);
            if (n == 0)
                return false;
            p += n;
        }
        vocab_unigram_advance(u, false, out);
    }
    return true;
}

bool
vocab_unigram_user(struct unigram *u, const uint8_t *p, int32_t id,
                   struct vocab_out *out)
{
    size_t n, begin = (size_t)(p - u->base);
    const uint8_t *bytes = vocab_bytes(u->v, id, &n);

    if (!reserve_text(u, u->pending + 1, out->ranges))
        return false;
    if (u->prefix)
        add_blank(u,
                  u->blank.end ? u->blank : (struct gg_range){ begin, begin },
                  out);
    u->prefix = false;
    put_pending(u, out);
    vocab_unigram_finish(u, out);
    vocab_emit_range(out, id, begin, begin + n);
    u->after_blank = u->v->squeeze && n && bytes[n - 1] == ' ';
    u->unknown = false;
    return true;
}

void
vocab_unigram_end(struct unigram *u, struct vocab_out *out)
{
    if (!u->v->squeeze)
        put_pending(u, out);
    u->pending = 0;
    if (u->n)
        end_word(u, out);
}

void
vocab_unigram_clear(struct unigram *u)
{
    mem_free(u->text);
    mem_free(u->last);
    mem_free(u->from);
}
