/* encode.c - from text to ids */
#include <config.h>

#include <string.h>

#include "core/mem.h"
#include "vocab/bpe.h"
#include "vocab/cache.h"
#include "vocab/spm.h"
#include "vocab/unicode.h"
#include "vocab/vocab.h"

/* One call of gg_vocab_encode(). What short words need is here; memory is
 * requested only by long ones, and kept for the next. */
struct encoder {
    const struct gg_vocab *v;
    struct cache *cache; /* or NULL, for short texts */
    struct vocab_out out;
    uint64_t *scratch;  /* for merging long words */
    size_t cap_scratch; /* in units of 8 bytes */
    uint8_t *text;      /* SPM: with blanks for marks */
    size_t cap_text;
    uint8_t *first; /* SPM: the first word with a blank in front */
    size_t cap_first;
    struct gg_error *err;
};

static inline void
emit(struct encoder *e, int32_t id)
{
    vocab_emit(&e->out, id);
}

/* Text that merging left over without a token becomes its bytes. */
static void
emit_left_over(struct encoder *e, const uint8_t *p, size_t len)
{
    const struct gg_vocab *v = e->v;
    int32_t id = vocab_find_piece(v, p, len);
    size_t known = 0;

    while (id < 0 && known < len && v->byte_ids[p[known]] >= 0)
        known++;
    id = id < 0 && known < len ? v->unk : id;
    if (id >= 0)
        emit(e, id);
    else if (known < len)
        vocab_leave_out(&e->out, p, len);
    else
        for (size_t i = 0; i < len; i++)
            emit(e, v->byte_ids[p[i]]);
}

/* Memory for merging a long word. */
static enum gg_status
grow_merge_scratch(struct encoder *e, size_t len)
{
    if (len >= UINT32_MAX)
        return error_set(e->err, GG_ERR_UNSUPPORTED,
                         "a word of %zu bytes is too long", len);
    return mem_grow(&e->scratch, &e->cap_scratch,
                    vocab_merge_scratch_size(len) / 8 + 1, 8)
               ? GG_OK
               : error_nomem(e->err);
}

/* *n gets the symbols that merging leaves. */
static enum gg_status
merge_word(struct encoder *e, const uint8_t *p, size_t len, size_t *n)
{
    uint64_t few[MERGE_SHORT_SCRATCH / sizeof(uint64_t)];
    struct merge_word word = { e->v, p, len };
    struct merge_list l = {
        .word = &word,
        .rules = e->v->kind == VOCAB_BPE ? &vocab_bpe_rules
                 : e->v->ranked          ? &vocab_spm_ranked_rules
                                         : &vocab_spm_rules,
    };
    enum gg_status st = len > MERGE_SHORT ? grow_merge_scratch(e, len) : GG_OK;

    if (st != GG_OK)
        return st;
    vocab_merge_pairs(&l, len > MERGE_SHORT ? e->scratch : few);
    *n = 0;
    for (size_t i = 0; i < len; i += l.lens[i], ++*n) {
        if (l.ids[i] >= 0)
            emit(e, l.ids[i]);
        else
            emit_left_over(e, p + i, l.lens[i]);
    }
    return GG_OK;
}

/* Whether a word that is a token is that token, whatever merging would make.
 * Gemma 4: of ends of lines. */
static inline bool
is_never_merged(const struct gg_vocab *v, const uint8_t *p)
{
    return v->ignore_merges ||
           (v->ranked && p[0] == '\n' && v->cuts != VOCAB_CUTS_MERGED_LINES);
}

/* Most words are tokens. That merging makes them so is found out once. */
static enum gg_status
look_up_word(struct encoder *e, const uint8_t *p, size_t len)
{
    int32_t id = vocab_find_piece(e->v, p, len);
    _Atomic uint8_t *whole = id < 0 ? NULL : &e->v->whole[id];
    enum gg_status st;
    size_t n;

    if (whole && (is_never_merged(e->v, p) ||
                  atomic_load_explicit(whole, memory_order_relaxed) ==
                      VOCAB_WHOLE_YES)) {
        emit(e, id);
        return GG_OK;
    }
    st = merge_word(e, p, len, &n);
    if (whole && st == GG_OK)
        atomic_store_explicit(whole, n == 1 ? VOCAB_WHOLE_YES : VOCAB_WHOLE_NO,
                              memory_order_relaxed);
    return st;
}

/* A word of the text. */
struct word {
    const uint8_t *p;
    size_t len;
    struct cache_word *place; /* of the cache; or NULL: not to be there */
    struct cache_word key;
};

static enum gg_status
learn_word(struct encoder *e, struct word *word)
{
    const struct vocab_out before = e->out, *out = &e->out;
    enum gg_status st = look_up_word(e, word->p, word->len);
    size_t n = out->n - before.n;

    if (st == GG_OK && n <= CACHE_IDS && out->n <= out->cap &&
        out->left_out == before.left_out) {
        word->key.n = (uint32_t)n;
        memcpy(word->key.ids, out->ids + before.n, n * sizeof(*out->ids));
        vocab_cache_add(word->place, &word->key);
    }
    return st;
}

/* Begins to look for the word of `len` bytes at p; after it comes what fills
 * `readable` bytes. */
static inline void
fetch_word(struct encoder *e, const uint8_t *p, size_t len, size_t readable,
           struct word *word)
{
    word->p = p;
    word->len = len;
    word->place = NULL;
    if (!e->cache || len > CACHE_BYTES)
        return;
    vocab_cache_key(&word->key, p, len, readable);
    word->place = vocab_cache_place(e->cache, &word->key);
    __builtin_prefetch(word->place);
}

static inline enum gg_status
encode_word(struct encoder *e, struct word *word)
{
    struct vocab_out *out = &e->out;
    const struct cache_word *found;

    if (!word->place)
        return look_up_word(e, word->p, word->len);
    found = vocab_cache_find(word->place, &word->key);
    if (!found)
        return learn_word(e, word);
    if (out->n + CACHE_IDS <= out->cap) {
        memcpy(out->ids + out->n, found->ids, sizeof(found->ids));
        out->n += found->n;
    } else {
        for (size_t i = 0; i < found->n; i++)
            emit(e, found->ids[i]);
    }
    return GG_OK;
}

/* Words by some at a time: when they are looked up, their places in the cache
 * are at hand. */
static inline enum gg_status
encode_words(struct encoder *e, const uint8_t *p, size_t len,
             size_t (*next)(const struct gg_vocab *v, struct split_at *at,
                            const uint8_t *p, size_t len))
{
    struct word words[VOCAB_BATCH];
    struct split_at at = { 0 };
    enum gg_status st = GG_OK;

    while (len && st == GG_OK) {
        size_t n = 0;

        for (; len && n < VOCAB_BATCH; n++) {
            size_t bytes = next(e->v, &at, p, len);

            fetch_word(e, p, bytes, len, &words[n]);
            p += bytes;
            len -= bytes;
        }
        for (size_t i = 0; i < n && st == GG_OK; i++)
            st = encode_word(e, &words[i]);
    }
    return st;
}

static enum gg_status
encode_one(struct encoder *e, const uint8_t *p, size_t len)
{
    struct word word;

    fetch_word(e, p, len, len, &word);
    return encode_word(e, &word);
}

static size_t
next_bpe(const struct gg_vocab *v, struct split_at *at, const uint8_t *p,
         size_t len)
{
    return vocab_split_next(v->split, v->group, at, p, len);
}

static size_t
next_spm(const struct gg_vocab *v, struct split_at *at, const uint8_t *p,
         size_t len)
{
    (void)at;
    return vocab_spm_word(v, p, len);
}

static bool
has_mark(const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len;

    for (; (p = memchr(p, 0xe2, (size_t)(end - p))); p++)
        if (end - p >= 3 && p[1] == 0x96 && p[2] == 0x81)
            return true;
    return false;
}

/* Copies the text with blanks for marks: SentencePiece cannot tell the two. */
static enum gg_status
unmark(struct encoder *e, const uint8_t **p, size_t *len)
{
    size_t n = 0;

    if (!has_mark(*p, *len))
        return GG_OK;
    if (!mem_grow(&e->text, &e->cap_text, *len, 1))
        return error_nomem(e->err);
    for (size_t i = 0; i < *len; n++) {
        bool mark = *len - i >= 3 && memcmp(*p + i, "\xe2\x96\x81", 3) == 0;

        e->text[n] = mark ? ' ' : (*p)[i];
        i += mark ? 3 : 1;
    }
    *p = e->text;
    *len = n;
    return GG_OK;
}

/* The first word of p[0..len), len > 0, with a blank in front. Where no piece
 * begins with a blank and its first byte, the blank is a word of its own. *n
 * gets the bytes that are done. */
static enum gg_status
encode_first(struct encoder *e, const uint8_t *p, size_t len, size_t *n)
{
    uint8_t few[64], *word = few;

    *n = vocab_joined(e->v, ' ', p[0]) ? vocab_spm_word(e->v, p, len) : 0;
    if (*n >= sizeof(few)) {
        if (!mem_grow(&e->first, &e->cap_first, *n + 1, 1))
            return error_nomem(e->err);
        word = e->first;
    }
    word[0] = ' ';
    memcpy(word + 1, p, *n);
    return encode_one(e, word, *n + 1);
}

/* `blank`: one goes in front. len > 0. */
static enum gg_status
encode_spm(struct encoder *e, const uint8_t *p, size_t len, bool blank)
{
    enum gg_status st = GG_OK;
    size_t done = 0;

    if (blank)
        st = encode_first(e, p, len, &done);
    return st == GG_OK ? encode_words(e, p + done, len - done, next_spm) : st;
}

/* Bytes of the white space that p[0..len) begins with. */
static size_t
white_space(const uint8_t *p, size_t len)
{
    size_t at = 0, n;

    while (at < len && vocab_unicode_class(vocab_unicode_at(
                           p + at, len - at, &n)) == UNICODE_SPACE)
        at += n;
    return at;
}

static enum gg_status
in_lower_case(struct encoder *e, const uint8_t **p, size_t len)
{
    const uint8_t *before = e->text;

    if (!e->v->lower)
        return GG_OK;
    if (!mem_grow(&e->text, &e->cap_text, len, 1))
        return error_nomem(e->err);
    vocab_unicode_lower(*p == before ? e->text : *p, len, e->text);
    *p = e->text;
    return GG_OK;
}

/* A word with the mark that ends it. */
static enum gg_status
encode_ended(struct encoder *e, const uint8_t *p, size_t len)
{
    const size_t n = sizeof(VOCAB_END) - 1;

    if (!mem_grow(&e->first, &e->cap_first, len + n, 1))
        return error_nomem(e->err);
    memcpy(e->first, p, len);
    memcpy(e->first + len, VOCAB_END, n);
    return encode_one(e, e->first, len + n);
}

static enum gg_status
encode_clip(struct encoder *e, const uint8_t *p, size_t len)
{
    enum gg_status st = in_lower_case(e, &p, len);

    for (size_t at = 0, n; at < len && st == GG_OK; at += n) {
        n = white_space(p + at, len - at);
        if (n > 0)
            continue;
        n = e->v->split(p + at, len - at);
        st = encode_ended(e, p + at, n);
    }
    return st;
}

/* The words between white space, which is dropped. */
static enum gg_status
encode_dropping(struct encoder *e, const uint8_t *p, size_t len)
{
    enum gg_status st = in_lower_case(e, &p, len);
    size_t at = 0, n;

    while (at < len && st == GG_OK) {
        size_t word = at + white_space(p + at, len - at);

        for (at = word; at < len; at += n)
            if (vocab_unicode_class(vocab_unicode_at(p + at, len - at, &n)) ==
                UNICODE_SPACE)
                break;
        st = encode_words(e, p + word, at - word, next_spm);
    }
    return st;
}

/* As encode_spm(), for each line. */
static enum gg_status
encode_lines(struct encoder *e, const uint8_t *p, size_t len, bool blank)
{
    enum gg_status st = unmark(e, &p, &len);

    for (size_t n, done; len && st == GG_OK; p += n, len -= n) {
        const uint8_t *end = memchr(p, '\n', len);

        n = *p == '\n' ? vocab_spm_word(e->v, p, len)
            : end      ? (size_t)(end - p)
                       : len;
        done = 0;
        if (blank && *p != ' ' && *p != '\n')
            st = encode_first(e, p, n, &done);
        if (st == GG_OK)
            st = encode_words(e, p + done, n - done, next_spm);
        blank = true;
    }
    return st;
}

/* A text without control tokens. */
static enum gg_status
encode_plain(struct encoder *e, const uint8_t *p, size_t len, bool blank)
{
    enum gg_status st;

    if (vocab_marks_ends(e->v))
        return encode_clip(e, p, len);
    if (e->v->kind != VOCAB_SPM)
        return encode_words(e, p, len, next_bpe);
    if (e->v->cuts == VOCAB_CUTS_WORDS)
        return encode_dropping(e, p, len);
    if (e->v->cuts == VOCAB_CUTS_BLANKS)
        return encode_lines(e, p, len, blank);
    st = unmark(e, &p, &len);
    if (st == GG_OK)
        st = in_lower_case(e, &p, len);
    return st == GG_OK ? encode_spm(e, p, len, blank) : st;
}

/* Special tokens part the text; each part is encoded on its own. SentencePiece
 * puts a blank in front of a text, and what stands before or after a control
 * token is a text of its own. */
static enum gg_status
encode_text(struct encoder *e, const uint8_t *p, size_t len,
            const struct special_set *set, bool blank)
{
    const struct gg_vocab *v = e->v;
    bool spm = v->kind == VOCAB_SPM;
    enum gg_status st = GG_OK;

    while (len && st == GG_OK) {
        size_t at;
        int32_t id = vocab_special_find(set, v, p, len, &at);
        bool user = id >= 0 && vocab_type(v, id) == GG_TOKEN_USER_DEFINED;
        size_t left = vocab_special_left(v, id, p, at);

        if (left)
            st = encode_plain(e, p, left, blank);
        else if (spm && blank && user && v->cuts != VOCAB_CUTS_BLANKS)
            st = encode_one(e, (const uint8_t *)" ", 1);
        if (st == GG_OK && id >= 0) {
            emit(e, id);
            at = vocab_special_after(v, id, p, len, at);
        }
        blank = vocab_blank_after(v, user);
        p += at;
        len -= at;
    }
    return st;
}

enum gg_status
vocab_encode_part(const struct gg_vocab *v, const char *text, size_t len,
                  const struct special_set *set, bool first,
                  struct vocab_out *out, struct gg_error *err)
{
    struct encoder e = { .v = v, .out = *out, .err = err };
    const uint8_t *p = (const uint8_t *)text;
    enum gg_status st;

    if (v->textless[0])
        return error_set(err, GG_ERR_UNSUPPORTED, "%s", v->textless);
    e.cache = vocab_cache_take(v->caches, len);
    if (v->kind <= VOCAB_SPM)
        st = encode_text(&e, p, len, set, first && v->add_blank);
    else if (vocab_encode_kind(v, p, len, set, first, e.cache, &e.out))
        st = GG_OK;
    else
        st = error_nomem(err);
    vocab_cache_give(v->caches, e.cache);
    mem_free(e.scratch);
    mem_free(e.text);
    mem_free(e.first);
    *out = e.out;
    return st;
}

enum gg_status
vocab_encoded(const struct vocab_out *out, bool strict,
              struct gg_encoded *result, struct gg_error *err)
{
    if (strict && out->left_out)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "the vocabulary has no token for byte 0x%02X",
                         out->without);
    *result = (struct gg_encoded){ out->n, out->left_out };
    return GG_OK;
}

enum gg_status
gg_vocab_encode(const struct gg_vocab *v, const char *text, size_t len,
                unsigned flags, int32_t *ids, size_t cap,
                struct gg_encoded *result, struct gg_error *err)
{
    const struct special_set *set;
    bool bos = flags & GG_ENCODE_BOS, eos = flags & GG_ENCODE_EOS;
    struct vocab_out out = { .ids = ids, .cap = cap };
    enum gg_status st;

    if (!v || !result || (!text && len) || (!ids && cap))
        return error_null(err);
    set = flags & GG_ENCODE_SPECIAL ? &v->all : &v->user;
    if ((bos && v->bos < 0) || (eos && v->eos < 0))
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "the vocabulary has no %s token",
                         bos && v->bos < 0 ? "BOS" : "EOS");
    if (bos)
        vocab_emit(&out, v->bos);
    if (flags & GG_ENCODE_GREEDY)
        st = vocab_encode_greedy(v, text, len, set, &out, err);
    else
        st = vocab_encode_part(v, text, len, set, !(flags & GG_ENCODE_CONTINUE),
                               &out, err);
    if (st != GG_OK)
        return st;
    if (eos)
        vocab_emit(&out, v->eos);
    while (eos && out.n < (size_t)v->n_padded)
        vocab_emit(&out, v->pad);
    if (eos && v->start >= 0)
        vocab_emit(&out, v->start);
    return vocab_encoded(&out, flags & GG_ENCODE_STRICT, result, err);
}
