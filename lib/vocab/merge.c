/* merge.c - merging the symbols of a word: best pair first, leftmost first */
#include "vocab/merge.h"

#include <stdbool.h>

#define NEVER ((struct merge_pair){ MERGE_NEVER, -1 })

/* Entries that a heap has room for: see push(). */
static size_t
heap_cap(size_t len)
{
    return len > MERGE_SHORT ? len + len / 8 : 0;
}

size_t
vocab_merge_scratch_size(size_t len)
{
    return heap_cap(len) * sizeof(uint64_t) +
           len *
               (sizeof(struct merge_pair) + sizeof(uint32_t) + sizeof(int32_t));
}

static inline struct merge_symbol
symbol(const struct merge_list *l, size_t i)
{
    return (struct merge_symbol){ (uint32_t)i, l->lens[i], l->ids[i] };
}

static inline void
set_len(struct merge_list *l, size_t i, uint32_t len)
{
    l->lens[i] = len;
    l->lens[i + len - 1] = len;
}

/* Looks up what the symbol at i and the next one become. */
static inline void
look_up(struct merge_list *l, size_t i)
{
    struct merge_symbol left = symbol(l, i), right;
    size_t next = i + left.len;

    l->pairs[i] = NEVER;
    if (next < l->word->len) {
        right = symbol(l, next);
        l->pairs[i] = l->rules->find(l->word, &left, &right);
    }
}

/* Puts each character or byte of the word where it stands. */
static void
start_list(struct merge_list *l)
{
    size_t n = l->word->len, len;

    for (size_t i = 0; i < n; i += len) {
        struct merge_symbol s = l->rules->first(l->word, i);

        len = s.len;
        set_len(l, i, s.len);
        l->ids[i] = s.id;
        for (size_t k = 1; k < len; k++)
            l->pairs[i + k] = NEVER;
    }
    for (size_t i = 0; i < n; i += l->lens[i])
        look_up(l, i);
}

/* Makes one of the symbol at i and the next, and looks its pairs up. Returns
 * where the one before it begins, or i. */
static inline size_t
join(struct merge_list *l, size_t i)
{
    size_t gone = i + l->lens[i], before;

    l->ids[i] = l->pairs[i].id;
    l->pairs[gone] = NEVER;
    set_len(l, i, l->lens[i] + l->lens[gone]);
    look_up(l, i);
    before = i ? i - l->lens[i - 1] : i;
    if (before < i)
        look_up(l, before);
    return before;
}

/* ---- a short word ---- */

static inline size_t
best_of(const struct merge_pair *pairs, size_t n)
{
    uint64_t best = UINT64_MAX;

    for (size_t i = 0; i < n; i++) { /* without branches */
        uint64_t key = (uint64_t)pairs[i].rank << 32 | i;

        best = key < best ? key : best;
    }
    return (uint32_t)best;
}

static void
merge_short(struct merge_list *l)
{
    for (;;) {
        size_t i = best_of(l->pairs, l->word->len);

        if (l->pairs[i].rank == MERGE_NEVER)
            break;
        (void)join(l, i);
    }
}

/* ---- a long word: a heap holds the pairs by rank and place. What is in it
 * may be out of date: `pairs` tells. ---- */

static void
sift_down(struct merge_list *l, size_t i, uint64_t value)
{
    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= l->n_heap)
            break;
        if (child + 1 < l->n_heap && l->heap[child + 1] < l->heap[child])
            child++;
        if (l->heap[child] >= value)
            break;
        l->heap[i] = l->heap[child];
        i = child;
    }
    l->heap[i] = value;
}

/* A heap of all pairs, in linear time. */
static void
fill_heap(struct merge_list *l)
{
    l->n_heap = 0;
    for (size_t i = 0; i < l->word->len; i += l->lens[i])
        if (l->pairs[i].rank != MERGE_NEVER)
            l->heap[l->n_heap++] = (uint64_t)l->pairs[i].rank << 32 | i;
    for (size_t i = l->n_heap / 2; i-- > 0;)
        sift_down(l, i, l->heap[i]);
}

/* There are fewer pairs than bytes by one for each merge so far, and a merge
 * takes one off the heap and adds two at most: what is out of date fills it
 * after n / 8 merges, and each time it is filled anew, not before twice as many
 * again. */
static void
push(struct merge_list *l, size_t i)
{
    uint64_t value = (uint64_t)l->pairs[i].rank << 32 | i;
    size_t at;

    if (l->pairs[i].rank == MERGE_NEVER)
        return;
    if (l->n_heap == heap_cap(l->word->len)) {
        fill_heap(l);
        return;
    }
    for (at = l->n_heap++; at > 0 && l->heap[(at - 1) / 2] > value;
         at = (at - 1) / 2)
        l->heap[at] = l->heap[(at - 1) / 2];
    l->heap[at] = value;
}

static uint64_t
pop(struct merge_list *l)
{
    uint64_t top = l->heap[0];

    l->n_heap--;
    if (l->n_heap)
        sift_down(l, 0, l->heap[l->n_heap]);
    return top;
}

static void
merge_long(struct merge_list *l)
{
    fill_heap(l);
    while (l->n_heap) {
        uint64_t top = pop(l);
        size_t i = (uint32_t)top, before;

        if (l->pairs[i].rank != top >> 32)
            continue;
        before = join(l, i);
        push(l, i);
        if (before < i)
            push(l, before);
    }
}

void
vocab_merge_pairs(struct merge_list *l, void *scratch)
{
    size_t n = l->word->len;
    bool is_long = n > MERGE_SHORT;

    l->heap = is_long ? scratch : NULL;
    l->pairs = is_long ? (void *)(l->heap + heap_cap(n)) : scratch;
    l->lens = (uint32_t *)(l->pairs + n);
    l->ids = (int32_t *)(l->lens + n);
    start_list(l);
    if (is_long)
        merge_long(l);
    else
        merge_short(l);
}
