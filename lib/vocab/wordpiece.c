/* wordpiece.c - BERT's WordPiece: words, and the pieces that they consist of
 *
 * Words are what BERT's BasicTokenizer makes: white space ends one, and
 * punctuation and Chinese characters are words of their own; control characters
 * are dropped. Models that have no capital letters see lower case without
 * accents. A word is then the longest piece that it begins with, the longest
 * that goes on from there, and so on; or unknown as a whole.
 *
 * Files mark the pieces that begin a word, by U+2581 in front, where BERT's
 * vocabularies mark the others by ##. Here the mark is a blank. */
#include "vocab/wordpiece.h"

#include "vocab/fold.h"
#include "vocab/trie.h"
#include "vocab/unicode.h"

/* A blank, and the characters so far. */
struct word {
    uint8_t bytes[1 + 4 * WORDPIECE_MAX_CHARS];
    size_t n;     /* bytes, with the blank */
    size_t chars; /* also of those that have no place any more */
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
    return unicode_class(cp) == UNICODE_PUNCTUATION ||
           (cp < 0x80 && unicode_class(cp) == UNICODE_SYMBOL);
}

/* The pieces of a word that is no piece. False: it has none. */
static bool
split_word(const struct gg_vocab *v, const uint8_t *p, size_t len,
           struct vocab_out *out)
{
    int32_t id = 0;
    size_t n = 0;

    for (size_t at = 0; at < len && id >= 0; at += n) {
        id = trie_longest(&v->trie, p + at, len - at, &n);
        vocab_emit(out, id);
    }
    return id >= 0;
}

static void
end_word(const struct gg_vocab *v, struct word *w, struct vocab_out *out)
{
    size_t before = out->n;
    int32_t id;

    if (w->chars > WORDPIECE_MAX_CHARS) {
        vocab_emit(out, v->unk);
    } else if (w->chars > 0) {
        id = vocab_find_piece(v, w->bytes, w->n);
        if (id >= 0) {
            vocab_emit(out, id);
        } else if (!split_word(v, w->bytes, w->n, out)) {
            out->n = before;
            vocab_emit(out, v->unk);
        }
    }
    w->n = 1;
    w->chars = 0;
}

static void
add_char(struct word *w, const uint8_t *p, size_t n)
{
    if (w->chars++ < WORDPIECE_MAX_CHARS) {
        memcpy(w->bytes + w->n, p, n);
        w->n += n;
    }
}

/* Characters without accents, in lower case; `alone`: each is a word. */
static void
add_chars(const struct gg_vocab *v, struct word *w, const uint8_t *p,
          size_t len, bool alone, struct vocab_out *out)
{
    size_t n;

    for (size_t i = 0; i < len; i += n) {
        bool one = is_punctuation(unicode_at(p + i, len - i, &n)) || alone;

        if (one)
            end_word(v, w, out);
        add_char(w, p + i, n);
        if (one)
            end_word(v, w, out);
    }
}

void
wordpiece_encode(const struct gg_vocab *v, const uint8_t *p, size_t len,
                 struct vocab_out *out)
{
    struct word w = { .n = 1 };
    uint8_t text[FOLD_MAX];
    size_t n;

    w.bytes[0] = ' ';
    for (size_t i = 0; i < len; i += n) {
        uint32_t cp = unicode_at(p + i, len - i, &n);
        enum fold fold = fold_of(cp);

        if (cp == UNICODE_BROKEN || fold == FOLD_CONTROL)
            continue;
        if (unicode_class(cp) == UNICODE_SPACE)
            end_word(v, &w, out);
        else if (!v->lower || fold == FOLD_SAME)
            add_chars(v, &w, p + i, n, is_chinese(cp), out);
        else if (fold == FOLD_OTHER)
            add_chars(v, &w, text, fold_text(cp, text), is_chinese(cp), out);
    }
    end_word(v, &w, out);
}

/* Where a vocabulary has the capital letters, the model sees them: nothing in
 * the file says it. */
static bool
has_capitals(const struct gg_vocab *v)
{
    int n = 0;

    for (char c = 'A'; c <= 'Z'; c++)
        n += vocab_find_piece(v, (const uint8_t[]){ ' ', (uint8_t)c }, 2) >= 0;
    return n > 13;
}

enum gg_status
vocab_load_wordpiece(struct gg_vocab *v, const struct gguf_context *gguf,
                     struct gg_error *err)
{
    if (v->unk < 0)
        return gguf_bad_value(gguf, "tokenizer.ggml.tokens", err,
                              "no unknown token");
    v->lower = !has_capitals(v);
    return vocab_load_trie(v, gguf, err);
}
