/* draft_search.c - drafts by prompt lookup: what followed the same ids */
#include "engine/draft.h"

enum {
    LONGEST = 16, /* ids at the end that are looked for before */
};

/* How many ids in front of ids[i] are those in front of ids[n]. */
static size_t
count_same(const int32_t *ids, size_t i, size_t n)
{
    size_t k = 0;

    while (k < i && k < LONGEST && ids[i - 1 - k] == ids[n - 1 - k])
        k++;
    return k;
}

/* Where the longest end of ids[0..n) stood before, the last time: the place
 * after it; *len gets its length. */
static size_t
find_before(const int32_t *ids, size_t n, size_t *len)
{
    size_t found = 0;

    *len = 0;
    for (size_t i = n - 1; i > *len && *len < LONGEST; i--) {
        size_t k = ids[i - 1] == ids[n - 1] ? count_same(ids, i, n) : 0;

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
    size_t len, at = find_before(q->ids, q->n_ids, &len);

    if (len < 2)
        return;
    out->kind = len < 4 ? 0 : len < 8 ? 1 : 2;
    d->length.again = out->again;
    out->n = engine_draft_length_best(&d->length, out->kind, most);
    for (size_t i = 0; i < out->n; i++, at++) {
        int32_t id = at < q->n_ids ? q->ids[at] : out->ids[at - q->n_ids];

        if (engine_is_row(q->engine, id))
            out->n = i;
        else
            out->ids[i] = id;
    }
    if (out->n == 0)
        engine_draft_length_skipped(&d->length, out->kind);
}
