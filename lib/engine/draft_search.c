/* draft_search.c - drafts by prompt lookup: what followed the same ids earlier
 * in the text, or in a text that has ended */
#include "engine/draft.h"
#include "engine/draft_table.h"

enum {
    LONGEST = TABLE_LONGEST, /* ids at the end that are looked for before */
};

/* The text's ids, and after them what is drafted. */
struct searched {
    const int32_t *ids, *drafted;
    size_t n_ids;
};

static int32_t
searched_id(const struct searched *s, size_t i)
{
    return i < s->n_ids ? s->ids[i] : s->drafted[i - s->n_ids];
}

/* How many ids in front of i are those in front of n. */
static size_t
count_same(const struct searched *s, size_t i, size_t n)
{
    size_t k = 0;

    while (k < i && k < LONGEST &&
           searched_id(s, i - 1 - k) == searched_id(s, n - 1 - k))
        k++;
    return k;
}

/* Where the longest end of the first n ids stood before, the last time: the
 * place after it; *len gets its length. */
static size_t
find_before(const struct searched *s, size_t n, size_t *len)
{
    int32_t last = searched_id(s, n - 1);
    size_t found = 0;

    *len = 0;
    for (size_t i = n - 1; i > *len && *len < LONGEST; i--) {
        size_t k = searched_id(s, i - 1) == last ? count_same(s, i, n) : 0;

        if (k > *len) {
            *len = k;
            found = i;
        }
    }
    return found;
}

/* Goes on with what followed the place in the text, again and again where that
 * goes up to the end. */
static void
copy_own(struct gg_text *t, const struct searched *s, size_t at, size_t n)
{
    struct text_draft *td = &t->draft;

    for (; n > 0 && !engine_is_row(t->sequence->engine, searched_id(s, at));
         n--)
        td->ids[td->n++] = searched_id(s, at++);
}

static void
copy_other(const struct engine_draft *d, struct text_draft *td, uint64_t place,
           size_t n)
{
    int32_t id;

    for (; n > 0 && (id = engine_table_id(d->table, place)) >= 0; n--, place++)
        td->ids[td->n++] = id;
}

/* The longest end that stands in the table. */
static size_t
find_other(const struct engine_draft *d, const struct gg_text *t,
           const struct searched *s, uint64_t *place)
{
    size_t n = s->n_ids + t->draft.n, k = n < LONGEST ? n : LONGEST;
    int32_t end[LONGEST];

    for (size_t i = 0; i < k; i++)
        end[i] = searched_id(s, n - k + i);
    return engine_table_find(d->table, end, k, t->sequence->key, place);
}

void
engine_draft_by_search(struct engine_draft *d, struct gg_text *t, size_t most)
{
    const struct gg_sequence *q = t->sequence;
    struct text_draft *td = &t->draft;
    struct searched s = { q->ids, td->ids, q->n_ids };
    uint64_t place;
    size_t own, len, n, at = find_before(&s, q->n_ids + td->n, &own);

    len = own < LONGEST ? find_other(d, t, &s, &place) : 0;
    len = len > own ? len : own;
    if (len < 2)
        return;
    td->kind = len < 4 ? 0 : len < 8 ? 1 : 2;
    d->length.again = td->again;
    d->length.given = td->n;
    n = engine_draft_length_best(&d->length, td->kind, most - td->n);
    if (n == 0)
        engine_draft_length_skipped(&d->length, td->kind);
    if (len > own)
        copy_other(d, td, place, n);
    else
        copy_own(t, &s, at, n);
}

/* The answer, and what it followed; the last id is none of the sequence's. */
void
engine_draft_learn(struct engine_draft *d, const struct gg_text *t)
{
    const struct gg_sequence *q = t->sequence;
    size_t n = t->n_made + LONGEST, i = q->n_ids;

    if (!d->table || t->finish == GG_FINISH_ERROR)
        return;
    while (i > 0 && q->n_ids - i < n &&
           !engine_is_row(q->engine, q->ids[i - 1]))
        i--;
    engine_table_add(d->table, q->ids + i, q->n_ids - i, q->key);
}
