/* unigram.c - SentencePiece's Unigram: the most likely tokens of a text
 *
 * The score of a piece is the logarithm of its probability. Of all ways to cut
 * the text into pieces the one with the highest sum is taken, by Viterbi's
 * algorithm: for each place the best way there. Where all ways pass, what came
 * before is decided: so memory is that of the longest stretch in which pieces
 * overlap, three bytes for each of its bytes; and sums are of few scores, so
 * that in double precision they are exact. (SentencePiece itself adds up a
 * whole text in single precision.) */
#include "vocab/unigram.h"

#include "vocab/unicode.h"

static double *
sum_at(struct unigram *u, size_t place)
{
    return &u->sums[place % UNIGRAM_SUMS];
}

/* Bytes [from, to) of the text are a token. */
static void
emit(struct unigram *u, int32_t id, size_t from, size_t to,
     struct vocab_out *out)
{
    if (out->ranges)
        vocab_emit_range(out, id, u->from[from].begin, u->from[to - 1].end);
    else
        vocab_emit(out, id);
}

static void
emit_unknown(struct unigram *u, size_t at, size_t len, struct vocab_out *out)
{
    const struct gg_vocab *v = u->v;
    const uint8_t *p = u->text + at;
    bool bytes = true;

    for (size_t i = 0; i < len; i++)
        bytes = bytes && v->byte_ids[p[i]] >= 0;
    for (size_t i = 0; bytes && i < len; i++)
        emit(u, v->byte_ids[p[i]], at + i, at + i + 1, out);
    if (!bytes && v->unk < 0)
        vocab_leave_out(out, p, len);
    else if (!bytes && !u->unknown)
        emit(u, v->unk, at, at + len, out);
    else if (!bytes) /* a run of them is one token */
        vocab_extend(out, out->ranges ? u->from[at + len - 1].end : 0);
    u->unknown = !bytes;
    u->has_unknown = u->has_unknown || !bytes;
}

/* The tokens from u->begin to `end`, which all ways pass. */
static void
emit_way(struct unigram *u, size_t end, struct vocab_out *out)
{
    uint16_t *last = u->last, len = 0, before;

    /* Each place has the token that ends there; it gets the one that begins. */
    for (size_t at = end; at > u->begin; at -= before) {
        before = last[at];
        last[at] = len;
        len = before;
    }
    last[u->begin] = len;
    for (size_t at = u->begin; at < end; at += last[at]) {
        struct pieces_at place = { .p = u->text + at };
        const struct piece *piece = vocab_pieces_find(u->v, &place, last[at]);

        if (piece) {
            emit(u, piece->id, at, at + last[at], out);
            u->unknown = false;
        } else {
            emit_unknown(u, at, last[at], out);
        }
    }
    u->begin = end;
    last[end] = 0;
    *sum_at(u, end) = 0;
}

/* The way that was found first stays, of two with the same score: its last
 * token is the longer one. */
static inline void
lead(struct unigram *u, size_t len, double score)
{
    size_t to = u->at + len;
    double sum = *sum_at(u, u->at) + score;

    if (u->last[to] == 0 || sum > *sum_at(u, to)) {
        u->last[to] = (uint16_t)len;
        *sum_at(u, to) = sum;
    }
    if (to > u->reach)
        u->reach = to;
}

/* The pieces at u->at of PIECES_LONG bytes and more. */
static void
lead_long(struct unigram *u, struct pieces_at *place)
{
    size_t most = u->n - u->at;

    if (most > PIECES_MAX_BYTES)
        most = PIECES_MAX_BYTES;
    for (size_t n = PIECES_LONG; n <= most; n++) {
        const struct piece *piece =
            u->v->pieces.is_long[n] ? vocab_pieces_find(u->v, place, n) : NULL;

        if (piece)
            lead(u, n, (double)piece->score);
    }
}

/* All tokens that begin at u->at; then on to the next character. */
static void
step_lattice(struct unigram *u)
{
    const uint8_t *p = u->text + u->at;
    size_t len = u->n - u->at,
           one = *p < 0x80 ? 1 : vocab_unicode_length(p, len);
    uint64_t bits = vocab_pieces_lengths(&u->v->pieces, p, len);
    uint64_t more = UINT64_C(1) << (PIECES_LONG - 1);
    struct pieces_at place = { .p = p };
    bool known = false;

    one = one ? one : 1;
    for (uint64_t b = bits & ~more; b; b &= b - 1) {
        size_t n = (size_t)__builtin_ctzll(b) + 1;
        const struct piece *piece = vocab_pieces_find(u->v, &place, n);

        if (piece)
            lead(u, n, (double)piece->score);
        known = known || (piece && n == one);
    }
    if (bits & more)
        lead_long(u, &place);
    if (!known)
        lead(u, one, (double)u->v->unk_score);
    u->at += one;
}

void
vocab_unigram_advance(struct unigram *u, bool last, struct vocab_out *out)
{
    size_t ahead = last ? 0 : PIECES_MAX_BYTES, left;

    while (u->at < u->n && u->n - u->at > ahead) {
        step_lattice(u);
        if (u->reach <= u->at)
            emit_way(u, u->at, out);
    }
    /* The rest moves to the front, and keeps its place among the sums. */
    left = u->n - u->begin;
    if (last || u->begin < UNIGRAM_SUMS)
        return;
    left += u->begin % UNIGRAM_SUMS;
    memmove(u->text, u->text + u->n - left, left);
    memmove(u->last, u->last + u->n - left, (left + 1) * sizeof(*u->last));
    if (out->ranges)
        memmove(u->from, u->from + u->n - left,
                (left + u->pending) * sizeof(*u->from));
    u->at -= u->n - left;
    u->reach -= u->n - left;
    u->begin -= u->n - left;
    u->n = left;
}

void
vocab_unigram_finish(struct unigram *u, struct vocab_out *out)
{
    vocab_unigram_advance(u, true, out);
    if (out->ranges && u->pending)
        memmove(u->from, u->from + u->n, u->pending * sizeof(*u->from));
    u->n = u->begin = u->at = u->reach = 0;
    u->last[0] = 0;
    u->sums[0] = 0;
}
