/* spm.c - SentencePiece: the scores, and merging the characters of a word
 *
 * SentencePiece's BPE merges the two neighbours that make the piece with the
 * highest score, leftmost first, over a text of any length. Gemma 4's tokenizer
 * is of this kind, but the pairs that merge are listed, in their order, and
 * none goes over the end of a line. Where no piece has
 * two characters next to each other, no merge ever goes over that place, and
 * the text can be cut there without a change: mostly in front of blanks. */
#include "vocab/spm.h"

#include <math.h>

#include "core/half.h"
#include "core/mem.h"
#include "vocab/bytes.h"
#include "vocab/unicode.h"
#include "vocab/unigram.h"

#define SCORES "tokenizer.ggml.scores"

/* Descending scores as ascending numbers: floats of one sign are ordered as
 * their bits are. */
static uint32_t
rank(const struct gg_vocab *v, int32_t id)
{
    float score = gguf_array_f32(&v->scores, (size_t)id) + 0.0f; /* no -0 */
    uint32_t bits = core_float_bits(score);

    return bits & 0x80000000 ? bits : ~bits & 0x7fffffff;
}

/* Whether all bytes of p[0..n), of v->bytes, are letters or of characters
 * beyond ASCII. */
static inline bool
are_letters(const uint8_t *p, size_t n)
{
    for (; n > 8; p += 8, n -= 8)
        if (!vocab_bytes_are_letters(vocab_bytes_load8(p)))
            return false;
    /* Bytes after these shall not count. */
    return n == 0 ||
           vocab_bytes_are_letters(vocab_bytes_first(vocab_bytes_load8(p), n) |
                                   ~vocab_bytes_first(~UINT64_C(0), n));
}

static inline uint8_t *
joint(struct gg_vocab *v, uint8_t a, uint8_t b)
{
    return &v->joined[(a < 0x80 ? a : 0x80) * 129 + (b < 0x80 ? b : 0x80)];
}

/* Letters are taken to be joined: where no piece does it, nothing is lost but
 * a place to cut, and most pieces need not be read byte by byte. */
static void
join_letters(struct gg_vocab *v)
{
    for (int a = 0; a <= 0x80; a++)
        for (int b = 0; b <= 0x80; b++)
            if (are_letters(&(uint8_t[8]){ (uint8_t)a }[0], 1) &&
                are_letters(&(uint8_t[8]){ (uint8_t)b }[0], 1))
                *joint(v, (uint8_t)a, (uint8_t)b) = 1;
}

enum gg_status
vocab_load_joints(struct gg_vocab *v, struct gg_error *err)
{
    v->joined = mem_array(129 * 129, 1);
    if (!v->joined)
        return error_nomem(err);
    join_letters(v);
    for (int32_t id = 0; id < v->n; id++) {
        size_t n;
        const uint8_t *p = vocab_bytes(v, id, &n);

        if (n < 2 ||
            (!(v->types[id] & VOCAB_PIECE) && !vocab_unigram_has_blank(v, id)))
            continue;
        *joint(v, p[0], p[1]) = 1;
        if (!are_letters(p + 1, n - 1))
            for (size_t i = 2; i < n; i++)
                *joint(v, p[i - 1], p[i]) = 1;
    }
    return GG_OK;
}

enum gg_status
vocab_load_scores(struct gg_vocab *v, const struct gguf_context *gguf,
                  struct gg_error *err)
{
    enum gg_status st = gguf_get_array_n(gguf, SCORES, GGUF_TYPE_FLOAT32,
                                         (size_t)v->n, &v->scores, err);

    if (st != GG_OK)
        return st;
    for (size_t i = 0; i < v->scores.n; i++)
        if (!isfinite(gguf_array_f32(&v->scores, i)))
            return gguf_bad_value(gguf, SCORES, err,
                                  "the score of token %zu is not finite", i);
    return vocab_load_joints(v, err);
}

/* A character; a byte of a broken one stands for itself. */
static struct merge_symbol
first(const struct merge_word *word, size_t at)
{
    size_t n = vocab_unicode_length(word->bytes + at, word->len - at);

    return (struct merge_symbol){ (uint32_t)at, (uint32_t)(n ? n : 1), -1 };
}

static struct merge_pair
find_pair(const struct merge_word *word, const struct merge_symbol *left,
          const struct merge_symbol *right)
{
    int32_t id = vocab_find_piece(word->v, word->bytes + left->begin,
                                  (size_t)left->len + right->len);

    return id < 0 ? (struct merge_pair){ MERGE_NEVER, -1 }
                  : (struct merge_pair){ rank(word->v, id), id };
}

const struct merge_rules vocab_spm_rules = { first, find_pair };

static struct merge_symbol
first_ranked(const struct merge_word *word, size_t at)
{
    struct merge_symbol s = first(word, at);

    s.id = vocab_find_piece(word->v, word->bytes + at, s.len);
    return s;
}

static struct merge_pair
find_ranked(const struct merge_word *word, const struct merge_symbol *left,
            const struct merge_symbol *right)
{
    const struct vocab_merge *m =
        left->id < 0 || right->id < 0
            ? NULL
            : vocab_find_merge(word->v, left->id, right->id);

    return m ? (struct merge_pair){ m->rank, (int32_t)m->made - 1 }
             : (struct merge_pair){ MERGE_NEVER, -1 };
}

const struct merge_rules vocab_spm_ranked_rules = { first_ranked, find_ranked };

static size_t
line_ends(const uint8_t *p, size_t len)
{
    size_t n = 0;

    while (n < len && p[n] == '\n')
        n++;
    return n;
}

size_t
vocab_spm_word(const struct gg_vocab *v, const uint8_t *p, size_t len)
{
    size_t n = 1;

    if (v->ranked && p[0] == '\n')
        return line_ends(p, len);
    while (n < len && vocab_joined(v, p[n - 1], p[n]) &&
           !(v->ranked && p[n] == '\n') &&
           !(v->cuts == VOCAB_CUTS_BLANKS && p[n] == ' ')) {
        n++;
        if (vocab_bytes_letters(p + n - 1, 1))
            n += vocab_bytes_letters(p + n, len - n);
    }
    return n;
}
