/* test_rows.c - sequences are packed, each target in one row; rates */
#include "train/rows.h"

#include <math.h>
#include <stdlib.h>

#include "harness/tap.h"
#include "train/rate.h"

enum {
    N_VOCAB = 1000,
    LENGTH = 16,
    N_SEQUENCES = 200,
};

static struct gg_error err;

static size_t
length_of(size_t i)
{
    return (i * 7 + i * i) % 45;
}

/* Sequence i has ids that tell its number and place. */
static void
fill_set(struct train_set *set)
{
    int32_t ids[64];

    for (size_t i = 0; i < N_SEQUENCES; i++) {
        for (size_t k = 0; k < length_of(i); k++)
            ids[k] = (int32_t)((i * 31 + k) % N_VOCAB);
        if (train_set_add(set, ids, NULL, length_of(i), LENGTH, N_VOCAB,
                          &err) != GG_OK)
            exit(99);
    }
}

/* Each id but the first of a sequence is a target once, and rows are no longer
 * than they may be. */
static void
test_packing(const struct train_set *set, bool shuffle)
{
    struct train_packed p;
    size_t *targets = calloc(set->n_ids, sizeof(*targets));
    size_t wanted = 0, found = 0, twice = 0, long_rows = 0, used = 0;

    if (!targets || train_pack(set, LENGTH, shuffle, 1, 0, &p, &err) != GG_OK)
        exit(99);
    for (size_t i = 0; i < N_SEQUENCES; i++)
        wanted += length_of(i) > 1 ? length_of(i) - 1 : 0;
    for (size_t r = 0; r < p.n_rows; r++) {
        int32_t n = 0;

        for (size_t i = p.starts[r]; i < p.starts[r + 1]; i++) {
            const struct train_piece *piece = &set->pieces[p.order[i]];

            n += piece->n;
            for (int32_t k = 1; k <= piece->n; k++) {
                twice += targets[piece->first + (size_t)k]++ > 0;
                found++;
            }
        }
        long_rows += n > LENGTH;
        used += (size_t)n;
    }
    is(found, wanted, "all targets are in rows");
    is(twice, (size_t)0, "and none twice");
    is(long_rows, (size_t)0, "rows are no longer than they may be");
    ok(used * 100 >= p.n_rows * LENGTH * 85, "rows are full but for 15 %");
    is(set->n_targets, (uint64_t)wanted, "they are counted");
    train_packed_clear(&p);
    free(targets);
}

static bool
packed_alike(const struct train_set *set, uint64_t seed, uint64_t epoch)
{
    struct train_packed a, b;
    bool same;

    if (train_pack(set, LENGTH, true, 1, 0, &a, &err) != GG_OK ||
        train_pack(set, LENGTH, true, seed, epoch, &b, &err) != GG_OK)
        exit(99);
    same = memcmp(a.order, b.order, set->n_pieces * sizeof(*a.order)) == 0;
    train_packed_clear(&a);
    train_packed_clear(&b);
    return same;
}

static void
test_counting(void)
{
    struct train_set set = { 0 };
    int32_t ids[] = { 1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                      11, 12, 13, 14, 15, 16, 17, 18, 19, 20 };
    bool counts[20] = { [0] = true, [2] = true, [18] = true };
    bool none[20] = { [0] = true };

    is(train_set_add(&set, ids, counts, 20, 8, N_VOCAB, &err), GG_OK, "counts");
    is(set.n_targets, (uint64_t)2, "the first id is no target");
    is(set.n_pieces, (size_t)2, "a piece without one is left out");
    is(train_set_add(&set, ids, none, 20, 8, N_VOCAB, &err), GG_OK, "none");
    is(set.n_pieces, (size_t)2, "and so is a whole sequence");
    is(train_set_add(&set, ids, NULL, 20, 8, 20, &err), GG_ERR_ARG,
       "an id that is none");
    is(err.message, "id 20 is none of the model's 20", "is named");
    train_set_clear(&set);
}

static bool
near(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

static void
test_rate(void)
{
    struct gg_train_params p = { .warm_up = 4, .least_rate = 0.1 };

    ok(near(train_rate(&p, 0, 104), 0.25), "warm-up begins");
    ok(near(train_rate(&p, 3, 104), 1), "and ends");
    ok(near(train_rate(&p, 54, 104), 0.55), "half a cosine");
    p.schedule = GG_TRAIN_LINEAR;
    ok(near(train_rate(&p, 29, 104), 0.775), "a line");
    p.fall = 10;
    ok(near(train_rate(&p, 93, 104), 1), "before the fall");
    ok(near(train_rate(&p, 99, 104), 0.55), "within it");
    p.schedule = GG_TRAIN_CONSTANT;
    ok(near(train_rate(&p, 103, 104), 1), "constant");
}

int
main(void)
{
    struct train_set set = { 0 };

    fill_set(&set);
    test_packing(&set, false);
    test_packing(&set, true);
    ok(packed_alike(&set, 1, 0), "the same seed and epoch: the same order");
    ok(!packed_alike(&set, 1, 1), "another epoch: another one");
    ok(!packed_alike(&set, 2, 0), "another seed: another one");
    train_set_clear(&set);
    test_counting();
    test_rate();
    return tap_done();
}
