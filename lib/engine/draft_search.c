/* draft_search.c - drafts by prompt lookup: what followed the same ids */
#include "engine/draft.h"

enum {
    LONGEST = 16, /* ids at the end that are looked for before */
};

/* The text's ids, and after them what is drafted. */
struct searched {
    const int32_t *ids, *drafted;
    size_t n_ids;
};

static int32_t
id_at(const struct searched *s, size_t i)
{
    return i < s->n_ids ? s->ids[i] : s->drafted[i - s->n_ids];
}

/* How many ids in front of i are those in front of n. */
static size_t
count_same(const struct searched *s, size_t i, size_t n)
{
    size_t k = 0;

    while (k < i && k < LONGEST && id_at(s, i - 1 - k) == id_at(s, n - 1 - k))
        k++;
    return k;
}

/* Where the longest end of the first n ids stood before, the last time: the
 * place after it; *len gets its length. */
static size_t
find_before(const struct searched *s, size_t n, size_t *len)
{
    int32_t last = id_at(s, n - 1);
    size_t found = 0;

    *len = 0;
    for (size_t i = n - 1; i > *len && *len < LONGEST; i--) {
        size_t k = id_at(s, i - 1) == last ? count_same(s, i, n) : 0;

        if (k > *len) {
            *len = k;
            found = i;
        }
    }
    return found;
}

/* Drafts the ids that followed then, again and again where they go up to the
 * end. */
void
engine_draft_by_search(struct engine_draft *d, struct gg_text *t, size_t most)
{
    const struct gg_sequence *q = t->sequence;
    struct text_draft *out = &t->draft;
    struct searched s = { q->ids, out->ids, q->n_ids };
    size_t len, at = find_before(&s, q->n_ids + out->n, &len), n;

    if (len < 2)
        return;
    out->kind = len < 4 ? 0 : len < 8 ? 1 : 2;
    d->length.again = out->again;
    d->length.given = out->n;
    n = engine_draft_length_best(&d->length, out->kind, most - out->n);
    if (n == 0)
        engine_draft_length_skipped(&d->length, out->kind);
    for (; n > 0 && !engine_is_row(q->engine, id_at(&s, at)); n--, at++)
        out->ids[out->n++] = id_at(&s, at);
}
