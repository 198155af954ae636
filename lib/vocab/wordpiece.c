/* wordpiece.c - BERT's WordPiece: words, and the pieces that they consist of
 *
 * Words are what BERT's BasicTokenizer makes: white space ends one, and
 * punctuation and Chinese characters are words of their own; control characters
 * are dropped. Models that have no capital letters see lower case without
 * accents. A word is then the longest piece that it begins with, the longest
 * that continues it, and so on; or unknown as a whole.
 *
 * Files mark the pieces that begin a word, by U+2581 in front, where BERT's
 * vocabularies mark the others by ##. Here the mark is a blank. */
#include "vocab/wordpiece.h"

#include <stdio.h>

#include "vocab/fold.h"
#include "vocab/trie.h"
#include "vocab/unicode.h"

enum {
    MAX_BYTES = 1 + 4 * WORDPIECE_MAX_CHARS
};

/* A blank, and the characters so far. */
struct word {
    const struct gg_vocab *v;
    struct vocab_out *out;
    uint8_t bytes[MAX_BYTES];
    size_t n;             /* bytes, with the blank */
    size_t chars;         /* also of those that have no place any more */
    struct gg_range here; /* of the character of the text */
    struct gg_range all;  /* of the word */
    /* Only for ranges: which bytes of the text each byte comes from. */
    struct gg_range from[MAX_BYTES];
};

/* The blocks that BERT calls Chinese, but for one that begins at U+2B920 and
 * not at U+2B820: so it is in the tokenizers that models are trained with. */
static bool
is_chinese(uint32_t cp)
{
    return (cp >= 0x4e00 && cp <= 0x9fff) || (cp >= 0x3400 && cp <= 0x4dbf) ||
           (cp >= 0xf900 && cp <= 0xfaff) || (cp >= 0x20000 && cp <= 0x2a6df) ||
           (cp >= 0x2a700 && cp <= 0x2b73f) ||
           (cp >= 0x2b740 && cp <= 0x2b81f) ||
           (cp >= 0x2b920 && cp <= 0x2ceaf) || (cp >= 0x2f800 && cp <= 0x2fa1f);
}

/* Symbols of ASCII are punctuation here. */
static bool
is_punctuation(uint32_t cp)
{
    return vocab_unicode_class(cp) == UNICODE_PUNCTUATION ||
           (cp < 0x80 && vocab_unicode_class(cp) == UNICODE_SYMBOL);
}

/* ---- words ---- */

/* Piece `id` is the bytes [from, to) of the word. */
static void
emit_piece(struct word *w, int32_t id, size_t from, size_t to)
{
    if (w->out->ranges)
        vocab_emit_range(w->out, id, w->from[from].begin, w->from[to - 1].end);
    else
        vocab_emit(w->out, id);
}

/* The pieces of a word that is no piece. False: it has none. */
static bool
split_word(struct word *w)
{
    int32_t ids[MAX_BYTES];
    uint16_t ends[MAX_BYTES];
    size_t n = 0, len;

    for (size_t at = 0; at < w->n; at += len, n++) {
        ids[n] =
            vocab_trie_longest(&w->v->trie, w->bytes + at, w->n - at, &len);
        if (ids[n] < 0)
            return false;
        ends[n] = (uint16_t)(at + len);
    }
    for (size_t i = 0; i < n; i++)
        emit_piece(w, ids[i], i ? ends[i - 1] : 0, ends[i]);
    return true;
}

/* A word that has no pieces. */
static void
emit_unknown(struct word *w)
{
    if (w->v->unk >= 0)
        vocab_emit_range(w->out, w->v->unk, w->all.begin, w->all.end);
    else
        vocab_leave_out(w->out, w->bytes + 1, w->n - 1);
}

static void
end_word(struct word *w)
{
    const struct gg_vocab *v = w->v;
    bool known = w->chars > 0 && w->chars <= WORDPIECE_MAX_CHARS;
    int32_t id = known ? vocab_find_piece(v, w->bytes, w->n) : -1;

    if (id >= 0)
        emit_piece(w, id, 0, w->n);
    else if (w->chars > 0 && !(known && split_word(w)))
        emit_unknown(w);
    w->n = 1;
    w->chars = 0;
}

static void
add_char(struct word *w, const uint8_t *p, size_t n)
{
    if (w->chars == 0) {
        w->all.begin = w->here.begin;
        w->from[0] = (struct gg_range){ w->here.begin, w->here.begin };
    }
    w->all.end = w->here.end;
    if (w->chars++ >= WORDPIECE_MAX_CHARS)
        return;
    memcpy(w->bytes + w->n, p, n);
    for (size_t end = w->n + n; w->n < end; w->n++)
        if (w->out->ranges)
            w->from[w->n] = w->here;
}

/* Characters without accents, in lower case; `alone`: each is a word. */
static void
add_chars(struct word *w, const uint8_t *p, size_t len, bool alone)
{
    size_t n;

    for (size_t i = 0; i < len; i += n) {
        bool one =
            is_punctuation(vocab_unicode_at(p + i, len - i, &n)) || alone;

        if (one)
            end_word(w);
        add_char(w, p + i, n);
        if (one)
            end_word(w);
    }
}

/* The character at text[at..at + len); returns its bytes. */
static size_t
take_char(struct word *w, const uint8_t *text, size_t at, size_t len)
{
    uint8_t folded[FOLD_MAX];
    size_t n;
    uint32_t cp = vocab_unicode_at(text + at, len, &n);
    enum fold fold = vocab_fold_of(cp);

    w->here = (struct gg_range){ at, at + n };
    if (cp == UNICODE_BROKEN || fold == FOLD_CONTROL)
        return n;
    if (vocab_unicode_class(cp) == UNICODE_SPACE)
        end_word(w);
    else if (!w->v->lower || fold == FOLD_SAME)
        add_chars(w, text + at, n, is_chinese(cp));
    else if (fold == FOLD_OTHER)
        add_chars(w, folded, vocab_fold_text(cp, folded), is_chinese(cp));
    return n;
}

/* ---- texts ---- */

static enum wordpiece_byte
kind_of(uint8_t b)
{
    if (b >= 0x80 || vocab_fold_of(b) == FOLD_CONTROL)
        return WORDPIECE_PART;
    return vocab_unicode_class(b) == UNICODE_SPACE ? WORDPIECE_SPACE
           : is_punctuation(b)                     ? WORDPIECE_PUNCTUATION
                                                   : WORDPIECE_PART;
}

/* The bytes of p[0..len) before white space or punctuation of ASCII. */
static size_t
part_length(const struct gg_vocab *v, const uint8_t *p, size_t len)
{
    size_t n = 0;

    for (; n < len; n++) {
        n += vocab_bytes_letters(p + n, len - n);
        if (n == len || vocab_wordpiece_parts(v, p[n]))
            break;
    }
    return n;
}

static void
encode_part(struct word *w, const uint8_t *text, size_t at, size_t len)
{
    for (size_t end = at + len; at < end;)
        at += take_char(w, text, at, end - at);
    end_word(w);
}

/* Encodes a part by the cache, which learns it. `readable`: from its begin. */
static void
encode_known(struct word *w, struct cache *cache, const uint8_t *text,
             size_t at, size_t len, size_t readable)
{
    struct vocab_out *out = w->out;
    struct cache_word key, *place;
    const struct cache_word *found;
    size_t before = out->n, left_out = out->left_out, n;

    vocab_cache_key(&key, text + at, len, readable);
    place = vocab_cache_place(cache, &key);
    found = vocab_cache_find(place, &key);
    for (uint32_t i = 0; found && i < found->n; i++)
        vocab_emit(out, found->ids[i]);
    if (found)
        return;
    encode_part(w, text, at, len);
    n = out->n - before;
    if (n <= CACHE_IDS && out->n <= out->cap && out->left_out == left_out) {
        key.n = (uint32_t)n;
        memcpy(key.ids, out->ids + before, n * sizeof(*key.ids));
        vocab_cache_add(place, &key);
    }
}

void
vocab_wordpiece_encode(const struct gg_vocab *v, const uint8_t *text, size_t at,
                       size_t len, struct cache *cache, struct vocab_out *out)
{
    struct word w;
    size_t end = at + len, n;

    w.v = v;
    w.out = out;
    w.n = 1;
    w.chars = 0;
    w.bytes[0] = ' ';
    for (; at < end; at += n) {
        int kind = v->plain[text[at]];

        n = 1;
        if (kind == WORDPIECE_SPACE)
            continue;
        if (kind == WORDPIECE_PUNCTUATION) {
            if (v->alone[text[at]] >= 0)
                vocab_emit_range(out, v->alone[text[at]], at, at + 1);
            else
                vocab_leave_out(out, text + at, 1);
            continue;
        }
        n = part_length(v, text + at, end - at);
        if (cache && n <= CACHE_BYTES)
            encode_known(&w, cache, text, at, n, end - at);
        else
            encode_part(&w, text, at, n);
    }
}

/* ---- the vocabulary ---- */

/* Where a vocabulary has the capital letters, the model sees them: in most
 * files nothing else says it. */
static bool
has_capitals(const struct gg_vocab *v)
{
    int n = 0;

    for (char c = 'A'; c <= 'Z'; c++)
        n += vocab_find_piece(v, (const uint8_t[]){ ' ', (uint8_t)c }, 2) >= 0;
    return n > 13;
}

static enum gg_status
read_case(struct gg_vocab *v, const struct gguf_context *gguf,
          struct gg_error *err)
{
    static const char lower[] = "tokenizer.ggml.normalizer.lowercase";
    static const char strip[] = "tokenizer.ggml.normalizer.strip_accents";
    enum gg_status st;
    bool stripped;

    v->lower = !has_capitals(v);
    st = gguf_opt_bool(gguf, lower, &v->lower, err);
    stripped = v->lower;
    if (st == GG_OK)
        st = gguf_opt_bool(gguf, strip, &stripped, err);
    if (st == GG_OK && stripped != v->lower)
        snprintf(v->note, sizeof(v->note),
                 "%s: accents go with capital letters here; ids can be wrong "
                 "where a text has some",
                 strip);
    return st;
}

enum gg_status
vocab_load_wordpiece(struct gg_vocab *v, const struct gguf_context *gguf,
                     struct gg_error *err)
{
    enum gg_status st = read_case(v, gguf, err);

    if (st != GG_OK)
        return st;
    for (unsigned b = 0; b < 0x80; b++) {
        int32_t id = vocab_find_piece(v, (uint8_t[]){ ' ', (uint8_t)b }, 2);

        v->plain[b] = (uint8_t)kind_of((uint8_t)b);
        v->alone[b] = id < 0 ? v->unk : id;
    }
    return vocab_load_trie(v, gguf, err);
}
