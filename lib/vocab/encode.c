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
 * asked for only by long ones, and kept for the next. */
struct encoder {
    const struct gg_vocab *v;
    struct cache *cache; /* or NULL, for short texts */
    int32_t *ids;
    size_t cap, n; /* n may exceed cap: the rest is only counted */
    struct merge_symbol symbols[MERGE_SHORT];
    struct merge_symbol *long_symbols;
    size_t cap_symbols;
    uint64_t *room;
    size_t cap_room; /* in units of 8 bytes */
    uint8_t *text;   /* SPM: with blanks for marks */
    size_t cap_text;
    uint8_t *first; /* SPM: the first word with a blank in front */
    size_t cap_first;
    struct gg_error *err;
};

static inline void
emit(struct encoder *e, int32_t id)
{
    if (e->n < e->cap)
        e->ids[e->n] = id;
    e->n++;
}

/* What merging left over without a token becomes its bytes. */
static void
emit_symbol(struct encoder *e, const uint8_t *word,
            const struct merge_symbol *s)
{
    const uint8_t *p = word + s->begin;
    int32_t id = s->id < 0 ? vocab_find_piece(e->v, p, s->len) : s->id;
    bool bytes = true;

    if (id >= 0) {
        emit(e, id);
        return;
    }
    for (size_t i = 0; i < s->len; i++)
        bytes = bytes && e->v->byte_ids[p[i]] >= 0;
    for (size_t i = 0; bytes && i < s->len; i++)
        emit(e, e->v->byte_ids[p[i]]);
    if (!bytes)
        emit(e, e->v->unk);
}

/* Memory for a word of `len` bytes, where e->symbols are too few. */
static enum gg_status
make_room(struct encoder *e, size_t len)
{
    if (len >= UINT32_MAX)
        return error_set(e->err, GG_ERR_UNSUPPORTED,
                         "a word of %zu bytes is too long", len);
    if (!mem_grow(&e->long_symbols, &e->cap_symbols, len,
                  sizeof(*e->long_symbols)) ||
        !mem_grow(&e->room, &e->cap_room, merge_room(len) / 8 + 1, 8))
        return error_nomem(e->err);
    return GG_OK;
}

static enum gg_status
merge_word(struct encoder *e, const uint8_t *p, size_t len,
           struct merge_symbol **symbols, size_t *n)
{
    const struct gg_vocab *v = e->v;
    merge_find find = v->kind == VOCAB_BPE ? bpe_find : spm_find;
    struct merge_word word = { v, p, e->cache };

    *symbols = e->symbols;
    if (len > MERGE_SHORT) {
        enum gg_status st = make_room(e, len);

        if (st != GG_OK)
            return st;
        *symbols = e->long_symbols;
    }
    if (v->kind == VOCAB_SPM)
        *n = spm_symbols(p, len, *symbols);
    else if ((*n = bpe_symbols(v, p, len, *symbols)) < len)
        return error_set(e->err, GG_ERR_UNSUPPORTED,
                         "the vocabulary has no token for byte 0x%02X", p[*n]);
    *n = len > MERGE_SHORT ? merge_long(&word, find, *symbols, *n, e->room)
                           : merge_short(&word, find, *symbols, *n);
    return GG_OK;
}

/* Most words are tokens. That merging makes them so is found out once. */
static enum gg_status
look_up_word(struct encoder *e, const uint8_t *p, size_t len)
{
    int32_t id = vocab_find_piece(e->v, p, len);
    _Atomic uint8_t *whole = id < 0 ? NULL : &e->v->whole[id];
    struct merge_symbol *symbols;
    enum gg_status st;
    size_t n;

    if (whole && (e->v->ignore_merges ||
                  atomic_load_explicit(whole, memory_order_relaxed) ==
                      VOCAB_WHOLE_YES)) {
        emit(e, id);
        return GG_OK;
    }
    st = merge_word(e, p, len, &symbols, &n);
    if (st != GG_OK)
        return st;
    for (size_t i = 0; i < n; i++)
        emit_symbol(e, p, &symbols[i]);
    if (whole)
        atomic_store_explicit(whole, n == 1 ? VOCAB_WHOLE_YES : VOCAB_WHOLE_NO,
                              memory_order_relaxed);
    return GG_OK;
}

static enum gg_status
learn_word(struct encoder *e, const uint8_t *p, struct cache_word *word,
           struct cache_word *place)
{
    size_t before = e->n, n;
    enum gg_status st = look_up_word(e, p, word->len);

    n = e->n - before;
    if (st == GG_OK && n <= CACHE_IDS && e->n <= e->cap) {
        word->n = (uint8_t)n;
        memcpy(word->ids, e->ids + before, n * sizeof(*word->ids));
        cache_add(place, word);
    }
    return st;
}

/* The word of `len` bytes at p; after it comes what fills `readable` bytes. */
static inline enum gg_status
encode_word(struct encoder *e, const uint8_t *p, size_t len, size_t readable)
{
    struct cache_word word, *place;
    const struct cache_word *found;

    if (!e->cache || len > CACHE_BYTES)
        return look_up_word(e, p, len);
    cache_key(&word, p, len, readable);
    place = cache_place(e->cache, &word);
    found = cache_find(place, &word);
    if (!found)
        return learn_word(e, p, &word, place);
    if (e->n + CACHE_IDS <= e->cap) {
        memcpy(e->ids + e->n, found->ids, sizeof(found->ids));
        e->n += found->n;
    } else {
        for (size_t i = 0; i < found->n; i++)
            emit(e, found->ids[i]);
    }
    return GG_OK;
}

/* With a rule whose words have parts. */
static enum gg_status
encode_groups(struct encoder *e, const uint8_t *p, size_t len)
{
    struct split_at at = { 0 };
    enum gg_status st = GG_OK;

    while (len && st == GG_OK) {
        size_t n = split_next(e->v->split, e->v->group, &at, p, len);

        st = encode_word(e, p, n, len);
        p += n;
        len -= n;
    }
    return st;
}

static enum gg_status
encode_bpe(struct encoder *e, const uint8_t *p, size_t len)
{
    split_rule split = e->v->split;
    enum gg_status st = GG_OK;

    if (e->v->group)
        return encode_groups(e, p, len);
    while (len && st == GG_OK) {
        size_t n = split(p, len);

        st = encode_word(e, p, n, len);
        p += n;
        len -= n;
    }
    return st;
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

    *n = vocab_joined(e->v, ' ', p[0]) ? spm_word(e->v, p, len) : 0;
    if (*n >= sizeof(few)) {
        if (!mem_grow(&e->first, &e->cap_first, *n + 1, 1))
            return error_nomem(e->err);
        word = e->first;
    }
    word[0] = ' ';
    memcpy(word + 1, p, *n);
    return encode_word(e, word, *n + 1, *n + 1);
}

/* `blank`: one goes in front. len > 0. */
static enum gg_status
encode_spm(struct encoder *e, const uint8_t *p, size_t len, bool blank)
{
    enum gg_status st = unmark(e, &p, &len);
    size_t done = 0;

    if (st == GG_OK && blank)
        st = encode_first(e, p, len, &done);
    while (st == GG_OK && done < len) {
        size_t n = spm_word(e->v, p + done, len - done);

        st = encode_word(e, p + done, n, len - done);
        done += n;
    }
    return st;
}

/* A text without control tokens. */
static enum gg_status
encode_plain(struct encoder *e, const uint8_t *p, size_t len, bool blank)
{
    return e->v->kind == VOCAB_SPM ? encode_spm(e, p, len, blank)
                                   : encode_bpe(e, p, len);
}

/* Bytes of the white space that p[0..len) begins with. */
static size_t
white_space(const uint8_t *p, size_t len)
{
    size_t at = 0, n;

    while (at < len &&
           unicode_class(unicode_at(p + at, len - at, &n)) == UNICODE_SPACE)
        at += n;
    return at;
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
        size_t at, n = 0;
        int32_t id = special_find(set, v, p, len, &at);
        bool user = id >= 0 && vocab_type(v, id) == GG_TOKEN_USER_DEFINED;

        if (at)
            st = encode_plain(e, p, at, blank);
        else if (spm && blank && user)
            st = encode_word(e, (const uint8_t *)" ", 1, 1);
        if (st == GG_OK && id >= 0) {
            vocab_bytes(v, id, &n);
            emit(e, id);
            if (v->types[id] & VOCAB_STRIPS)
                n += white_space(p + at + n, len - at - n);
        }
        blank = spm && v->add_blank && !user;
        p += at + n;
        len -= at + n;
    }
    return st;
}

static enum gg_status
encode_kind(struct encoder *e, const uint8_t *p, size_t len,
            const struct special_set *set, bool first)
{
    struct vocab_out out = { .ids = e->ids, .cap = e->cap };
    bool good = vocab_encode_kind(e->v, p, len, set, first, e->cache, &out);

    e->n = out.n;
    return good ? GG_OK : error_nomem(e->err);
}

enum gg_status
vocab_encode_part(const struct gg_vocab *v, const char *text, size_t len,
                  const struct special_set *set, bool first, int32_t *ids,
                  size_t cap, size_t *n, struct gg_error *err)
{
    struct encoder e = { .v = v, .ids = ids, .cap = cap, .err = err };
    enum gg_status st;

    e.cache = cache_take(v->caches, len);
    if (v->kind > VOCAB_SPM)
        st = encode_kind(&e, (const uint8_t *)text, len, set, first);
    else
        st = encode_text(&e, (const uint8_t *)text, len, set,
                         first && v->add_blank);
    cache_give(v->caches, e.cache);
    mem_free(e.long_symbols);
    mem_free(e.room);
    mem_free(e.text);
    mem_free(e.first);
    if (st == GG_OK)
        *n = e.n;
    return st;
}

enum gg_status
gg_vocab_encode(const struct gg_vocab *v, const char *text, size_t len,
                unsigned flags, int32_t *ids, size_t cap, size_t *n,
                struct gg_error *err)
{
    bool bos = flags & GG_ENCODE_BOS, room = bos && cap > 0;
    bool eos = flags & GG_ENCODE_EOS;
    enum gg_status st;

    if ((bos && v->bos < 0) || (eos && v->eos < 0))
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "the vocabulary has no %s token",
                         bos && v->bos < 0 ? "BOS" : "EOS");
    if (room)
        ids[0] = v->bos;
    st = vocab_encode_part(
        v, text, len, flags & GG_ENCODE_SPECIAL ? &v->all : &v->user,
        !(flags & GG_ENCODE_CONTINUE), ids + room, cap - room, n, err);
    if (st == GG_OK) {
        *n += bos;
        if (eos && *n < cap)
            ids[*n] = v->eos;
        *n += eos;
    }
    return st;
}
