/* merges.c - reads the merges of BPE */
#include <string.h>

#include "core/mem.h"
#include "vocab/bytes.h"
#include "vocab/vocab.h"

#define MERGES "tokenizer.ggml.merges"

/* The token that a merge makes, and where that is cut. */
struct made {
    int32_t id;
    uint32_t left;
};

/* A merge that is entered into the table. */
struct step {
    const struct gguf_str *text; /* as the file writes it */
    struct vocab_query left, right;
    int32_t made, left_id, right_id;
    bool marks; /* one of them is a token that no text makes */
    uint64_t hash;
};

struct reader {
    struct gg_vocab *v;
    int32_t last;     /* what the merge before has made */
    uint8_t *scratch; /* for the bytes of two tokens */
};

/* Where `s` has a blank that is all that it has more than `t`; or 0. `t` has
 * none. */
static inline size_t
find_blank(const struct gguf_str *s, const struct gguf_str *t)
{
    uint64_t a, b;
    size_t i = 0;

    if (s->n != t->n + 1)
        return 0;
    if (s->n <= 8) {
        a = vocab_bytes_load(s->s, s->n);
        b = vocab_bytes_load(t->s, t->n);
        i = a == b ? t->n : (size_t)__builtin_ctzll(a ^ b) / 8;
        return i < t->n && (uint8_t)(a >> 8 * i) == ' ' &&
                       a >> 8 * i >> 8 == b >> 8 * i
                   ? i
                   : 0;
    }
    while (i + 8 <= t->n &&
           vocab_bytes_load8(s->s + i) == vocab_bytes_load8(t->s + i))
        i += 8;
    while (i < t->n && s->s[i] == t->s[i])
        i++;
    return i < t->n && s->s[i] == ' ' &&
                   vocab_bytes_equal(s->s + i + 1, t->s + i, t->n - i)
               ? i
               : 0;
}

static inline bool
inside(char c)
{
    return ((uint8_t)c & 0xc0) == 0x80;
}

/* Characters of the UTF-8 text p[0..n). */
static inline size_t
characters(const char *p, size_t n)
{
    size_t count = n;

    for (; n > 0; p += n < 8 ? n : 8, n -= n < 8 ? n : 8) {
        uint64_t w = vocab_bytes_load(p, n < 8 ? n : 8);

        count -= ((w & ~(w << 1) & BYTES_HIGHS) >> 7) * BYTES_ONES >> 56;
    }
    return count;
}

/* Mostly a merge makes the same token as the one before, or the next. */
static inline bool
guess(struct reader *r, const struct gguf_str *s, struct made *out)
{
    const struct gg_vocab *v = r->v;

    if (v->twins || v->ranked)
        return false;
    for (int32_t id = r->last; id < v->n && id <= r->last + 1; id++) {
        size_t blank = find_blank(s, &v->tokens[id]), n = 0;

        if (!blank || !(v->types[id] & VOCAB_PIECE) || inside(s->s[blank + 1]))
            continue;
        if (v->at[id + 1] - v->at[id] == v->tokens[id].n)
            n = blank;
        else /* each character is a byte */
            n = characters(s->s, blank);
        *out = (struct made){ id, (uint32_t)n };
        return true;
    }
    return false;
}

/* How many bytes stand in front of the blank that parts two tokens; or 0. */
static size_t
first_bytes(const struct gguf_str *s)
{
    const char *blank = s->n > 2 ? memchr(s->s + 1, ' ', s->n - 1) : NULL;

    return blank ? (size_t)(blank - s->s) : 0;
}

static bool
look_up(struct reader *r, const struct gguf_str *s, struct made *out)
{
    size_t first = first_bytes(s), n, m;

    if (!first || s->n > 2 * VOCAB_MAX_TOKEN_BYTES ||
        !vocab_piece_bytes(r->v->kind, s->s, first, r->scratch, &n) ||
        !vocab_piece_bytes(r->v->kind, s->s + first + 1, s->n - first - 1,
                           r->scratch + n, &m))
        return false;
    *out =
        (struct made){ vocab_find_piece(r->v, r->scratch, n + m), (uint32_t)n };
    return out->id >= 0;
}

/* A control token, which no text makes: a merge that names one does nothing. */
static bool
is_mark(const struct gg_vocab *v, int32_t id)
{
    enum gg_token_type type = vocab_type(v, id);

    return type == GG_TOKEN_CONTROL || type == GG_TOKEN_UNKNOWN;
}

/* A token by its text: a piece, or what is found in a text before merging. */
static int32_t
find_named(const struct reader *r, const char *s, size_t n)
{
    const struct gg_vocab *v = r->v;
    int32_t id = -1;
    size_t len;

    if (n <= VOCAB_MAX_TOKEN_BYTES &&
        vocab_piece_bytes(v->kind, s, n, r->scratch, &len))
        id = vocab_find_piece(v, r->scratch, len);
    if (id < 0)
        id = vocab_find_other(v, s, n);
    return id >= 0 && (v->types[id] & VOCAB_PIECE || is_mark(v, id) ||
                       vocab_type(v, id) == GG_TOKEN_USER_DEFINED)
               ? id
               : -1;
}

static int32_t
find_joined(const struct reader *r, const struct gguf_str *s, size_t first)
{
    char *joined = (char *)r->scratch + VOCAB_MAX_TOKEN_BYTES;
    size_t second = s->n - first - 1;

    if (s->n > VOCAB_MAX_TOKEN_BYTES)
        return -1;
    memcpy(joined, s->s, first);
    memcpy(joined + first, s->s + first + 1, second);
    return find_named(r, joined, first + second);
}

/* The parts are looked up by answer(). */
static bool
ask_named(struct reader *r, const struct gguf_str *s, struct step *step)
{
    size_t first = first_bytes(s);

    step->made = first ? find_joined(r, s, first) : -1;
    vocab_ask(r->v, NULL, 0, &step->left);
    vocab_ask(r->v, NULL, 0, &step->right);
    if (step->made < 0)
        return false;
    step->marks = is_mark(r->v, step->made);
    return true;
}

/* A merge as the file writes it: two tokens and a blank between them. */
static inline bool
ask(struct reader *r, const struct gguf_str *s, struct step *step)
{
    const uint8_t *p;
    struct made made;
    size_t n;

    step->text = s;
    step->marks = false;
    if (!guess(r, s, &made) && !look_up(r, s, &made))
        return ask_named(r, s, step);
    r->last = step->made = made.id;
    p = vocab_bytes(r->v, made.id, &n);
    vocab_ask(r->v, p, made.left, &step->left);
    vocab_ask(r->v, p + made.left, n - made.left, &step->right);
    return true;
}

static void
answer_named(const struct reader *r, struct step *step)
{
    const struct gguf_str *s = step->text;
    size_t first = first_bytes(s);

    if (step->left_id < 0)
        step->left_id = find_named(r, s->s, first);
    if (step->right_id < 0)
        step->right_id = find_named(r, s->s + first + 1, s->n - first - 1);
    if (step->left_id >= 0 && step->right_id >= 0)
        step->marks = step->marks || is_mark(r->v, step->left_id) ||
                      is_mark(r->v, step->right_id);
}

static inline bool
answer(const struct reader *r, struct step *step)
{
    const struct gg_vocab *v = r->v;

    step->left_id = vocab_answer(v, &step->left);
    step->right_id = vocab_answer(v, &step->right);
    if (step->left_id < 0 || step->right_id < 0)
        answer_named(r, step);
    step->hash = vocab_merge_hash(v, step->left_id, step->right_id);
    __builtin_prefetch(&v->merges[step->hash & v->merge_mask], 1);
    return step->left_id >= 0 && step->right_id >= 0;
}

/* Adds a merge; the first one with the same parts counts. */
static inline void
add_merge(const struct reader *r, const struct step *step, size_t rank)
{
    struct vocab_merge *m =
        vocab_merge_slot(r->v, step->left_id, step->right_id, step->hash);

    uint8_t bit, *bits = vocab_merge_bit(r->v, step->hash, &bit);

    *bits |= bit;
    if (!m->made)
        *m = (struct vocab_merge){ step->left_id, step->right_id,
                                   (uint32_t)step->made + 1, (uint32_t)rank };
}

/* Reads up to VOCAB_BATCH merges from number `first` on. Returns how many of
 * them are good. */
static size_t
read_batch(struct reader *r, const struct gguf_array *merges, size_t first)
{
    struct step steps[VOCAB_BATCH];
    size_t n = 0, good = 0;

    while (n < VOCAB_BATCH && first + n < merges->n &&
           ask(r, &merges->strings[first + n], &steps[n]))
        n++;
    while (good < n && answer(r, &steps[good]))
        good++;
    for (size_t i = 0; i < good; i++)
        if (!steps[i].marks)
            add_merge(r, &steps[i], first + i);
    return good;
}

static enum gg_status
read_merges(struct reader *r, const struct gguf_context *gguf,
            const struct gguf_array *merges, struct gg_error *err)
{
    for (size_t i = 0; i < merges->n;) {
        size_t n = read_batch(r, merges, i);

        i += n;
        if (n < VOCAB_BATCH && i < merges->n)
            return gguf_bad_value(gguf, MERGES, err,
                                  "merge %zu does not name two tokens that "
                                  "make a third",
                                  i);
    }
    return GG_OK;
}

enum gg_status
vocab_load_merges(struct gg_vocab *v, const struct gguf_context *gguf,
                  struct gg_error *err)
{
    struct reader r = { .v = v };
    struct gguf_array merges;
    size_t slots = 16;
    enum gg_status st =
        gguf_get_array(gguf, MERGES, GGUF_TYPE_STRING, &merges, err);

    if (st != GG_OK)
        return st;
    if (merges.n >= VOCAB_MAX_TOKENS)
        return gguf_bad_value(gguf, MERGES, err, "%zu merges", merges.n);
    while (slots < merges.n * 2)
        slots *= 2;
    v->merges = mem_table(slots, sizeof(*v->merges));
    v->merge_mask = slots - 1;
    v->merge_bits = mem_array(slots / 8, VOCAB_MERGE_BITS);
    r.scratch = mem_alloc(2 * VOCAB_MAX_TOKEN_BYTES);
    st = v->merges && v->merge_bits && r.scratch
             ? read_merges(&r, gguf, &merges, err)
             : error_nomem(err);
    mem_free(r.scratch);
    return st;
}
