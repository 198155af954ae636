/* merges.c - the merges of a vocabulary that has only its tokens
 *
 * Training numbers tokens in the order in which they were merged. So merging
 * the bytes of a token, always the pair that makes the lowest id, and none
 * that makes an id as high as its own, ends with the two that it was made of.
 */
#include "convert/tokens.h"

#include "core/hash.h"
#include "core/mem.h"

enum {
    /* A longer token keeps no merge: the search takes the square of this. GPT-2
     * has none of more than 128. */
    MAX_BYTES = 256,
};

struct search {
    const char *bytes;
    uint16_t starts[MAX_BYTES + 1]; /* of the parts, and the end */
    size_t n;                       /* parts */
    uint32_t id;                    /* of the token */
    const struct hash_map *ids;
};

/* The token of parts i and i + 1; UINT32_MAX: no token below this one. */
static uint32_t
merged_token(const struct search *s, size_t i)
{
    uint32_t id;

    if (hash_map_find(s->ids, s->bytes + s->starts[i],
                      (size_t)(s->starts[i + 2] - s->starts[i]), &id) &&
        id < s->id)
        return id;
    return UINT32_MAX;
}

static bool
merge_one(struct search *s)
{
    uint32_t best = UINT32_MAX;
    size_t at = 0;

    for (size_t i = 0; i + 1 < s->n; i++) {
        uint32_t id = merged_token(s, i);

        if (id < best) {
            best = id;
            at = i;
        }
    }
    if (best == UINT32_MAX)
        return false;
    memmove(&s->starts[at + 1], &s->starts[at + 2],
            (s->n - at - 1) * sizeof(s->starts[0]));
    s->n--;
    return true;
}

/* Where the second of the two begins; 0: the token is no pair. */
static size_t
find_cut(const struct hash_map *ids, const struct gguf_str *token, uint32_t id)
{
    struct search s = { .bytes = token->s, .n = token->n, .id = id };

    if (token->n < 2 || token->n > MAX_BYTES || memcmp(token->s, "<|", 2) == 0)
        return 0;
    s.ids = ids;
    for (size_t i = 0; i <= s.n; i++)
        s.starts[i] = (uint16_t)i;
    while (merge_one(&s))
        ;
    return s.n == 2 ? s.starts[1] : 0;
}

static bool
is_token(const struct hash_map *ids, const char *s, size_t n)
{
    uint32_t id;

    return hash_map_find(ids, s, n, &id);
}

/* "left right": the text of the token with a blank in it. Returns the length;
 * 0: there is none, or not of two tokens, where a byte has none. */
static size_t
put_merge(const struct hash_map *ids, const struct gguf_str *token,
          const struct gguf_str *shown, uint32_t id, char *out)
{
    struct gguf_str left = { token->s, find_cut(ids, token, id) };
    size_t cut;

    if (left.n == 0 || !is_token(ids, left.s, left.n) ||
        !is_token(ids, left.s + left.n, token->n - left.n))
        return 0;
    cut = convert_tokens_show(&left, out);
    memcpy(out, shown->s, cut);
    out[cut] = ' ';
    memcpy(out + cut + 1, shown->s + cut, shown->n - cut);
    return shown->n + 1;
}

enum gg_status
convert_merges_set(struct convert_model *m, const struct gguf_str *tokens,
                   const struct gguf_str *shown, size_t n, struct gg_error *err)
{
    struct hash_map ids = { 0 };
    struct gguf_str *merges = mem_array(n, sizeof(*merges));
    size_t total = 0, used = 0, n_merges = 0;
    char *bytes;

    for (size_t i = 0; i < n; i++)
        total += shown[i].n + 1;
    bytes = mem_alloc(total);
    if (!merges || !bytes || !hash_map_init(&ids, n)) {
        mem_free(merges);
        mem_free(bytes);
        return error_nomem(err);
    }
    for (size_t i = 0; i < n; i++)
        hash_map_add(&ids, tokens[i].s, tokens[i].n, (uint32_t)i);
    for (size_t i = 0; i < n; i++) {
        size_t len =
            put_merge(&ids, &tokens[i], &shown[i], (uint32_t)i, bytes + used);

        if (len)
            merges[n_merges++] = (struct gguf_str){ bytes + used, len };
        used += len;
    }
    gguf_set_strings(m->gguf, "tokenizer.ggml.merges", merges, n_merges);
    hash_map_clear(&ids);
    mem_free(merges);
    mem_free(bytes);
    return GG_OK;
}
