/* bpe.c - byte-level BPE: merging the bytes of a word */
#include "vocab/bpe.h"

#include "vocab/cache.h"
#include "vocab/vocab.h"

/* Of merges in ascending order of `left`. */
static const struct vocab_merge *
search(const struct vocab_merge *m, size_t n, uint32_t left)
{
    size_t lo = 0, hi = n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (m[mid].left < left)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && m[lo].left == left ? &m[lo] : NULL;
}

/* The merge that makes the token and has so long a left part, or NULL. */
static inline const struct vocab_merge *
find_merge(const struct gg_vocab *v, int32_t id, uint32_t left)
{
    const struct vocab_merge *m = v->merges + v->made[id];
    size_t n = v->made[id + 1] - v->made[id];

    if (n > BPE_FEW)
        return search(m, n, left);
    for (size_t i = 0; i < n; i++)
        if (m[i].left == left)
            return &m[i];
    return NULL;
}

static struct merge_pair
look_up(const struct merge_word *word, const struct merge_symbol *left,
        const struct merge_symbol *right)
{
    int32_t id = vocab_find_piece(word->v, word->bytes + left->begin,
                                  (size_t)left->len + right->len);
    const struct vocab_merge *m =
        id < 0 ? NULL : find_merge(word->v, id, left->len);

    return m ? (struct merge_pair){ m->rank, id }
             : (struct merge_pair){ MERGE_NEVER, -1 };
}

struct merge_pair
bpe_find(const struct merge_word *word, const struct merge_symbol *left,
         const struct merge_symbol *right)
{
    struct cache_pair *known;

    if (!word->cache)
        return look_up(word, left, right);
    known = cache_pair(word->cache, left->id, right->id);
    if (known->left != -1 - left->id || known->right != -1 - right->id)
        *known = (struct cache_pair){ -1 - left->id, -1 - right->id,
                                      look_up(word, left, right) };
    return known->found;
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
