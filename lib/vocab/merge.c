/* merge.c - merging the symbols of a word: best pair first, leftmost first */
#include "vocab/merge.h"

#include <string.h>

#define NEVER ((struct merge_pair){ MERGE_NEVER, -1 })

size_t
merge_short(const struct merge_word *word, merge_find find,
            struct merge_symbol *symbols, size_t n)
{
    struct merge_pair pairs[MERGE_SHORT]; /* pairs[i]: of i and i + 1 */

    for (size_t i = 0; i + 1 < n; i++)
        pairs[i] = find(word, &symbols[i], &symbols[i + 1]);
    while (n > 1) {
        size_t best = 0;

        for (size_t i = 1; i + 1 < n; i++)
            if (pairs[i].rank < pairs[best].rank)
                best = i;
        if (pairs[best].rank == MERGE_NEVER)
            break;
        symbols[best].id = pairs[best].id;
        symbols[best].len += symbols[best + 1].len;
        n--;
        memmove(&symbols[best + 1], &symbols[best + 2],
                (n - best - 1) * sizeof(*symbols));
        memmove(&pairs[best], &pairs[best + 1],
                (n - best - 1) * sizeof(*pairs));
        if (best + 1 < n)
            pairs[best] = find(word, &symbols[best], &symbols[best + 1]);
        if (best > 0)
            pairs[best - 1] = find(word, &symbols[best - 1], &symbols[best]);
    }
    return n;
}

/* A long word: symbols are linked, and a heap holds the pairs by rank and
 * place. What is in the heap may be out of date: `pairs` tells. */
struct list {
    const struct merge_word *word;
    merge_find find;
    struct merge_symbol *symbols;
    struct merge_pair *pairs; /* of i and next[i]; NEVER where i is gone */
    uint32_t *next, *prev;    /* n: none */
    uint64_t *heap;           /* rank << 32 | i */
    size_t n, n_heap;
};

size_t
merge_room(size_t n)
{
    /* A merge takes one pair off the heap and adds two at most. */
    return 2 * n * sizeof(uint64_t) + n * sizeof(struct merge_pair) +
           2 * n * sizeof(uint32_t);
}

static void
sift_down(struct list *l, size_t i, uint64_t value)
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

static void
push(struct list *l, uint64_t value)
{
    size_t i = l->n_heap++;

    for (; i > 0 && l->heap[(i - 1) / 2] > value; i = (i - 1) / 2)
        l->heap[i] = l->heap[(i - 1) / 2];
    l->heap[i] = value;
}

static uint64_t
pop(struct list *l)
{
    uint64_t top = l->heap[0];

    l->n_heap--;
    if (l->n_heap)
        sift_down(l, 0, l->heap[l->n_heap]);
    return top;
}

/* Looks the pair at i up. */
static void
look_up(struct list *l, size_t i)
{
    l->pairs[i] = l->next[i] < l->n ? l->find(l->word, &l->symbols[i],
                                              &l->symbols[l->next[i]])
                                    : NEVER;
}

static void
look_up_and_push(struct list *l, size_t i)
{
    look_up(l, i);
    if (l->pairs[i].rank != MERGE_NEVER)
        push(l, (uint64_t)l->pairs[i].rank << 32 | i);
}

/* Links the symbols, and makes a heap of all pairs in linear time. */
static void
start(struct list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        l->next[i] = (uint32_t)(i + 1);
        l->prev[i] = (uint32_t)(i ? i - 1 : l->n);
    }
    for (size_t i = 0; i < l->n; i++) {
        look_up(l, i);
        if (l->pairs[i].rank != MERGE_NEVER)
            l->heap[l->n_heap++] = (uint64_t)l->pairs[i].rank << 32 | i;
    }
    for (size_t i = l->n_heap / 2; i-- > 0;)
        sift_down(l, i, l->heap[i]);
}

/* Merges symbol i with the next one. */
static void
join(struct list *l, size_t i)
{
    size_t gone = l->next[i], after = l->next[gone];

    l->symbols[i].id = l->pairs[i].id;
    l->symbols[i].len += l->symbols[gone].len;
    l->pairs[gone] = NEVER;
    l->next[i] = (uint32_t)after;
    if (after < l->n)
        l->prev[after] = (uint32_t)i;
    look_up_and_push(l, i);
    if (l->prev[i] < l->n)
        look_up_and_push(l, l->prev[i]);
}

size_t
merge_long(const struct merge_word *word, merge_find find,
           struct merge_symbol *symbols, size_t n, void *room)
{
    struct list l = {
        .word = word, .find = find, .symbols = symbols, .n = n, .heap = room
    };
    size_t left = 0;

    l.pairs = (struct merge_pair *)(l.heap + 2 * n);
    l.next = (uint32_t *)(l.pairs + n);
    l.prev = l.next + n;
    start(&l);
    while (l.n_heap) {
        uint64_t top = pop(&l);
        size_t i = (uint32_t)top;

        if (l.pairs[i].rank == top >> 32 && l.pairs[i].rank != MERGE_NEVER)
            join(&l, i);
    }
    for (size_t i = 0; i < n; i = l.next[i])
        symbols[left++] = symbols[i];
    return left;
}
