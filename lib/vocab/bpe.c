/* bpe.c - byte-level BPE: the merges, and merging the bytes of a word */
#include "vocab/bpe.h"

#include <string.h>

#include "core/mem.h"
#include "vocab/vocab.h"

#define MERGES "tokenizer.ggml.merges"

/* The slot of the pair, or the free one where it belongs. */
static struct vocab_merge *
probe(const struct gg_vocab *v, int32_t left, int32_t right)
{
    uint64_t h = vocab_mix(
        vocab_mix(v->seed ^ (uint64_t)(uint32_t)left << 32 ^ (uint32_t)right));

    for (size_t i = h & v->merge_mask;; i = (i + 1) & v->merge_mask) {
        struct vocab_merge *m = &v->merges[i];

        if ((m->left == left && m->right == right) || m->left < 0)
            return m;
    }
}

struct merge_pair
bpe_find(const struct gg_vocab *v, const uint8_t *word,
         const struct merge_symbol *left, const struct merge_symbol *right)
{
    const struct vocab_merge *m = probe(v, left->id, right->id);

    (void)word;
    return m->left < 0 ? (struct merge_pair){ MERGE_NEVER, -1 }
                       : (struct merge_pair){ m->rank, m->id };
}

size_t
bpe_symbols(const struct gg_vocab *v, const uint8_t *p, size_t len,
            struct merge_symbol *out)
{
    for (size_t i = 0; i < len; i++) {
        int32_t id = v->byte_ids[p[i]];

        out[i] = (struct merge_symbol){ (uint32_t)i, 1, id < 0 ? v->unk : id };
        if (out[i].id < 0)
            return i;
    }
    return len;
}

/* The token that the merge makes, whose parts end and begin beside the blank
 * at `first`. Mostly it is the one that the merge before made, or the next. */
static int32_t
made_by(const struct gg_vocab *v, const struct gguf_str *s, size_t first,
        const uint8_t *bytes, size_t n, int32_t last)
{
    for (int32_t id = last; !v->twins && id < v->n && id <= last + 1; id++) {
        const struct gguf_str *t = &v->tokens[id];

        if (v->types[id] & VOCAB_PIECE && t->n == s->n - 1 &&
            memcmp(t->s, s->s, first) == 0 &&
            memcmp(t->s + first, s->s + first + 1, t->n - first) == 0)
            return id;
    }
    return vocab_find_piece(v, bytes, n);
}

/* Merge number `rank` as the file writes it: two tokens and a blank between
 * them. The bytes of both are put together in `buf`. *last: what the merge
 * before has made. */
static bool
read_merge(struct gg_vocab *v, const struct gguf_str *s, uint32_t rank,
           uint8_t *buf, int32_t *last)
{
    const char *blank = s->n > 2 ? memchr(s->s + 1, ' ', s->n - 1) : NULL;
    size_t first = blank ? (size_t)(blank - s->s) : 0, n, m;
    struct vocab_merge found, *slot;

    if (!blank || !vocab_piece_bytes(VOCAB_BPE, s->s, first, buf, &n) ||
        !vocab_piece_bytes(VOCAB_BPE, blank + 1, s->n - first - 1, buf + n, &m))
        return false;
    found.left = vocab_find_piece(v, buf, n);
    found.right = vocab_find_piece(v, buf + n, m);
    found.id = made_by(v, s, first, buf, n + m, *last);
    found.rank = rank;
    if (found.left < 0 || found.right < 0 || found.id < 0)
        return false;
    *last = found.id;
    slot = probe(v, found.left, found.right);
    if (slot->left < 0) /* else: said before, with a lower rank */
        *slot = found;
    return true;
}

enum gg_status
vocab_load_merges(struct gg_vocab *v, const struct gguf_context *gguf,
                  struct gg_error *err)
{
    uint8_t buf[2 * VOCAB_MAX_TOKEN_BYTES];
    struct gguf_array merges;
    size_t slots = 16;
    int32_t last = 0;
    enum gg_status st =
        gguf_get_array(gguf, MERGES, GGUF_TYPE_STRING, &merges, err);

    if (st != GG_OK)
        return st;
    if (merges.n >= VOCAB_MAX_TOKENS)
        return gguf_bad_value(gguf, MERGES, err, "%zu merges", merges.n);
    while (slots < merges.n * 2)
        slots *= 2;
    v->merges = mem_alloc(slots * sizeof(*v->merges));
    if (!v->merges)
        return error_nomem(err);
    memset(v->merges, 0xff, slots * sizeof(*v->merges));
    v->merge_mask = slots - 1;
    for (size_t i = 0; i < merges.n; i++) {
        const struct gguf_str *s = &merges.strings[i];

        if (s->n > sizeof(buf) || !read_merge(v, s, (uint32_t)i, buf, &last))
            return gguf_bad_value(gguf, MERGES, err,
                                  "merge %zu does not name two tokens that "
                                  "make a third",
                                  i);
    }
    return GG_OK;
}
