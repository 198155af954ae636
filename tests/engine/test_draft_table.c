/* test_draft_table.c - a table of n-grams finds what a search of all ids finds,
 * of the same key, and no more than it may keep */
#include "core/mem.h"
#include "engine/draft_table.h"
#include "harness/tap.h"

enum {
    N = 6000,
    LETTERS = 9, /* ids that there are */
};

static struct text {
    size_t begin, end;
    const char *key;
} texts[N];
static int32_t ids[N];
static size_t n_texts, n_ids;
static uint64_t state = 5;

static int
draw_below(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

static bool
is_key(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* The longest end of end[0..n) that an id follows in a text of the key. */
static size_t
search_all(const int32_t *end, size_t n, const char *key)
{
    size_t best = 0;

    for (size_t i = 0; i < n_texts; i++)
        for (size_t p = texts[i].begin + 1;
             p < texts[i].end && is_key(texts[i].key, key); p++) {
            size_t k = 0;

            while (k < n && k < p - texts[i].begin &&
                   ids[p - 1 - k] == end[n - 1 - k])
                k++;
            best = k > best ? k : best;
        }
    return best < TABLE_LEAST ? 0 : best;
}

static const char *
any_key(void)
{
    static const char *const keys[] = { NULL, "one", "two" };

    return keys[draw_below(3)];
}

/* In random texts as many places are alike as a chain may have steps. */
static void
check_search(void)
{
    struct draft_table *t = engine_table_new();
    int wrong = 0, found = 0, worse = 0;
    uint64_t place;

    while (n_ids + 40 < N) {
        struct text *x = &texts[n_texts++];

        *x = (struct text){ n_ids, n_ids + 3 + (size_t)draw_below(30),
                            any_key() };
        for (; n_ids < x->end; n_ids++)
            ids[n_ids] = draw_below(LETTERS);
        engine_table_add(t, ids + x->begin, x->end - x->begin, x->key);
    }
    for (int i = 0; i < 2000; i++) {
        size_t at = (size_t)draw_below(N - 60), n = 3 + (size_t)draw_below(14);
        const char *key = any_key();
        size_t len = engine_table_find(t, ids + at, n, key, &place);
        size_t most = search_all(ids + at, n, key);

        found += len > 0;
        worse += len < most;
        wrong += len > most;
        for (size_t k = 0; k < len; k++)
            wrong += engine_table_id(t, place - 1 - k) != ids[at + n - 1 - k];
        wrong += len > 0 && engine_table_id(t, place) < 0;
    }
    printf("# %d found, %d of them shorter than the longest\n", found, worse);
    ok(wrong == 0, "ends are found where they stand");
    ok(found > 500 && worse < 20, "the longest of them");
    engine_table_free(t);
}

static void
check_bound(void)
{
    struct draft_table *t = engine_table_new();
    static int32_t text[1000];
    uint64_t place = 0;
    int32_t n_added = TABLE_MOST * 2, first[5];
    bool right = true;

    for (int32_t i = 0; i < n_added; i += 1000) {
        for (int32_t k = 0; k < 1000; k++)
            text[k] = i + k;
        engine_table_add(t, text, 1000, NULL);
    }
    for (int i = 0; i < 5; i++)
        first[i] = i;
    ok(engine_table_find(t, first, 5, NULL, &place) == 0,
       "the oldest ids have gone");
    for (int i = 0; i < 5; i++)
        first[i] = n_added / 2 + 30000 + i;
    ok(engine_table_find(t, first, 5, NULL, &place) == 5, "others are there");
    for (int i = 0; i < 100; i++)
        right = right &&
                engine_table_id(t, place + (uint64_t)i) == first[4] + 1 + i;
    ok(right, "with what followed");
    engine_table_free(t);
}

/* Without memory nothing is added, and what was there stays. */
static void
check_no_room(void)
{
    int32_t text[300], end[4];
    bool right = true, failed = true;
    uint64_t place;
    int n_failed = -1;

    for (int32_t i = 0; i < 300; i++)
        text[i] = i;
    memcpy(end, text + 10, sizeof(end));
    for (long k = 0; failed && k < 100; k++, n_failed++) {
        struct draft_table *t = engine_table_new();

        engine_table_add(t, text, 100, "a");
        mem_fail_after(k);
        engine_table_add(t, text, 300, "b");
        mem_fail_after(-1);
        right = right && engine_table_find(t, end, 4, "a", &place) == 4;
        failed = engine_table_find(t, end, 4, "b", &place) == 0;
        engine_table_free(t);
    }
    ok(right && !failed && n_failed > 3, "without memory nothing is added");
}

int
main(void)
{
    uint64_t place;

    engine_table_add(NULL, ids, 9, NULL);
    ok(engine_table_find(NULL, ids, 9, NULL, &place) == 0,
       "a table that is not there has nothing");
    check_search();
    check_bound();
    check_no_room();
    return tap_done();
}
