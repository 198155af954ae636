/* unigram.c - SentencePiece's Unigram: the most likely tokens of a text
 *
 * The score of a piece is the logarithm of its probability. Of all ways to cut
 * the text into pieces the one with the highest sum is taken, by Viterbi's
 * algorithm: for each place the best way there. Where all ways pass, what came
 * before is decided: so memory is that of the longest stretch in which pieces
 * overlap, and sums are of few scores, so that in double precision they are
 * exact. (SentencePiece itself adds up a whole text in single precision.) */
#include "vocab/unigram.h"

#include <float.h>
#include <string.h>

#include "core/mem.h"
#include "vocab/trie.h"
#include "vocab/unicode.h"

#define MARK     "\xe2\x96\x81"
#define REPLACED "\xef\xbf\xbd" /* U+FFFD */

enum {
    CHUNK = 1 << 15,      /* bytes that are normalised in one go */
    UNKNOWN_PENALTY = 10, /* below the lowest score: SentencePiece's */
};

/* ---- the best way ---- */

static void
emit_unknown(struct unigram *u, const uint8_t *p, size_t len,
             struct vocab_out *out)
{
    const struct gg_vocab *v = u->v;
    bool bytes = true;

    for (size_t i = 0; i < len; i++)
        bytes = bytes && v->byte_ids[p[i]] >= 0;
    for (size_t i = 0; bytes && i < len; i++)
        vocab_emit(out, v->byte_ids[p[i]]);
    if (!bytes && !u->unknown) /* a run of them is one token */
        vocab_emit(out, v->unk);
    u->unknown = !bytes;
}

/* The tokens from u->from to `end`, which all ways pass. */
static void
emit_way(struct unigram *u, size_t end, struct vocab_out *out)
{
    struct unigram_node *nodes = u->nodes, token = { 0, 0, -1 }, before;

    /* Each node has the token that ends there; it gets the one that begins. */
    for (size_t at = end; at > u->from; at -= before.len) {
        before = nodes[at];
        nodes[at] = token;
        token = before;
    }
    nodes[u->from] = token;
    for (size_t at = u->from; at < end; at += nodes[at].len) {
        if (nodes[at].id < 0) {
            emit_unknown(u, u->text + at, nodes[at].len, out);
        } else {
            vocab_emit(out, nodes[at].id);
            u->unknown = false;
        }
    }
    u->from = end;
    nodes[end] = (struct unigram_node){ 0 };
}

/* Of two ways with the same score the one that was found first stays: its last
 * token is the longer one. */
static void
lead(struct unigram *u, size_t len, int32_t id, double score)
{
    struct unigram_node *to = &u->nodes[u->at + len];
    double sum = u->nodes[u->at].score + score;

    if (to->len == 0 || sum > to->score)
        *to = (struct unigram_node){ sum, (uint32_t)len, id };
    if (u->at + len > u->reach)
        u->reach = u->at + len;
}

/* What the user defined shall win: a tenth for each byte but one, as in
 * SentencePiece 0.2.3. */
static double
score_of(const struct gg_vocab *v, int32_t id)
{
    if (vocab_type(v, id) == GG_TOKEN_USER_DEFINED)
        return 0.1f * (float)(v->tokens[id].n - 1);
    return gguf_array_f32(&v->scores, (size_t)id);
}

/* All tokens that begin at u->at; then on to the next character. */
static void
step(struct unigram *u)
{
    const struct gg_vocab *v = u->v;
    const uint8_t *p = u->text + u->at;
    size_t len = u->n - u->at, one = unicode_length(p, len);
    uint32_t node = TRIE_ROOT;
    bool known = false;

    one = one ? one : 1;
    for (size_t i = 0; i < len; i++) {
        int32_t id;

        node = trie_step(&v->trie, node, p[i]);
        if (node == TRIE_NONE)
            break;
        id = v->trie.ids[node];
        if (id >= 0) {
            lead(u, i + 1, id, score_of(v, id));
            known = known || i + 1 == one;
        }
    }
    if (!known)
        lead(u, one, -1, (double)v->unk_score);
    u->at += one;
}

/* Goes on as far as pieces can be seen whole; `last`: to the end. */
static void
advance(struct unigram *u, bool last, struct vocab_out *out)
{
    size_t ahead = last ? 0 : UNIGRAM_MAX_PIECE;

    while (u->at < u->n && u->n - u->at > ahead) {
        step(u);
        if (u->reach <= u->at)
            emit_way(u, u->at, out);
    }
    if (u->from > 0) {
        memmove(u->text, u->text + u->from, u->n - u->from);
        memmove(u->nodes, u->nodes + u->from,
                (u->n - u->from + 1) * sizeof(*u->nodes));
        u->n -= u->from;
        u->at -= u->from;
        u->reach -= u->from;
        u->from = 0;
    }
}

/* ---- what the text is before ---- */

/* Makes room for n more bytes. */
static bool
reserve(struct unigram *u, size_t n)
{
    if (!mem_grow(&u->text, &u->cap, u->n + n, 1) ||
        !mem_grow(&u->nodes, &u->cap_nodes, u->n + n + 1, sizeof(*u->nodes)))
        return false;
    if (u->n == 0)
        u->nodes[0] = (struct unigram_node){ 0 };
    return true;
}

static void
put(struct unigram *u, uint8_t byte)
{
    u->text[u->n++] = byte;
    u->nodes[u->n].len = 0;
}

static void
put_pending(struct unigram *u)
{
    for (; u->pending; u->pending--)
        put(u, ' ');
}

/* What a character has become. */
static bool
put_text(struct unigram *u, const uint8_t *p, size_t len)
{
    bool squeeze = u->v->squeeze;

    if (!squeeze || len != 1 || *p != ' ') { /* else it may still vanish */
        u->pending += u->prefix;
        u->prefix = false;
    }
    for (; u->after_blank && len && *p == ' '; len--)
        p++;
    if (len > 0)
        u->after_blank = squeeze && p[len - 1] == ' ';
    if (!reserve(u, u->pending + len))
        return false;
    for (size_t i = 0; i < len; i++) {
        bool mark = len - i >= 3 && memcmp(p + i, MARK, 3) == 0;

        if (mark || p[i] == ' ') {
            u->pending++;
            i += mark ? 2 : 0;
        } else {
            put_pending(u);
            put(u, p[i]);
        }
    }
    if (!squeeze)
        put_pending(u);
    return true;
}

/* The longest key that p[0..len) begins with, or its first character; returns
 * its bytes, or 0: no memory. */
static size_t
put_char(struct unigram *u, const uint8_t *p, size_t len)
{
    size_t n_key = 0, n = 0;
    const uint8_t *text = charsmap_find(&u->v->charsmap, p, len, &n_key, &n);

    if (!text) {
        text = p;
        n_key = n = unicode_length(p, len);
        if (n == 0) { /* broken */
            text = (const uint8_t *)REPLACED;
            n_key = 1;
            n = 3;
        }
    }
    return put_text(u, text, n) ? n_key : 0;
}

void
unigram_begin(struct unigram *u, const struct gg_vocab *v, bool prefix)
{
    u->v = v;
    u->n = u->from = u->at = u->reach = 0;
    u->prefix = prefix;
    u->after_blank = v->squeeze;
    u->pending = 0;
    u->unknown = false;
}

bool
unigram_part(struct unigram *u, const uint8_t *p, size_t len,
             struct vocab_out *out)
{
    while (len) {
        size_t done = 0;

        while (done < len && done < CHUNK) {
            size_t n = put_char(u, p + done, len - done);

            if (n == 0)
                return false;
            done += n;
        }
        advance(u, false, out);
        p += done;
        len -= done;
    }
    return true;
}

/* Decides what is left. */
static void
finish(struct unigram *u, struct vocab_out *out)
{
    advance(u, true, out);
    u->n = u->from = u->at = u->reach = 0;
}

bool
unigram_user(struct unigram *u, int32_t id, struct vocab_out *out)
{
    size_t n;
    const uint8_t *p = vocab_bytes(u->v, id, &n);

    u->pending += u->prefix;
    u->prefix = false;
    if (!reserve(u, u->pending))
        return false;
    put_pending(u);
    finish(u, out);
    vocab_emit(out, id);
    u->after_blank = u->v->squeeze && n && p[n - 1] == ' ';
    u->unknown = false;
    return true;
}

void
unigram_end(struct unigram *u, struct vocab_out *out)
{
    finish(u, out);
    u->pending = 0;
}

void
unigram_clear(struct unigram *u)
{
    mem_free(u->text);
    mem_free(u->nodes);
    *u = (struct unigram){ 0 };
}

/* ---- the vocabulary ---- */

static enum gg_status
find_unknown_score(struct gg_vocab *v, const struct gguf_context *gguf,
                   struct gg_error *err)
{
    float lowest = FLT_MAX;
    size_t n;

    for (int32_t id = 0; id < v->n; id++) {
        float score = gguf_array_f32(&v->scores, (size_t)id);
        bool piece = vocab_type(v, id) == GG_TOKEN_NORMAL;

        if (piece && score < lowest)
            lowest = score;
        vocab_bytes(v, id, &n);
        if ((piece || unigram_has_blank(v, id)) && n > UNIGRAM_MAX_PIECE)
            return gguf_bad_value(gguf, "tokenizer.ggml.tokens", err,
                                  "token %d stands for %zu bytes, more than %d",
                                  (int)id, n, UNIGRAM_MAX_PIECE);
    }
    v->unk_score = lowest - UNKNOWN_PENALTY;
    return GG_OK;
}

enum gg_status
vocab_load_unigram(struct gg_vocab *v, const struct gguf_context *gguf,
                   struct gg_error *err)
{
    enum gg_status st = vocab_load_scores(v, gguf, err);

    if (st == GG_OK)
        st = find_unknown_score(v, gguf, err);
    if (st == GG_OK)
        st = gguf_opt_bool(gguf, "tokenizer.ggml.remove_extra_whitespaces",
                           &v->squeeze, err);
    if (st == GG_OK)
        st = charsmap_load(&v->charsmap, gguf, err);
    return st == GG_OK ? vocab_load_trie(v, gguf, err) : st;
}
