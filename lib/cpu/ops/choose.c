/* choose.c - CHOOSE: the rows that a token attends to, by their scores
 *
 * The n best of many are found by their least: it is narrowed down digit by
 * digit, by counts of how many scores have each, in time linear in the number
 * of scores. So a list depends on nothing but what its token sees. */
#include <math.h>
#include <string.h>

#include "cpu/ops/mask_summary.h"
#include "cpu/ops/op_table.h"
#include "tensor/sparse.h"

enum {
    MOST_BITS = 11, /* of a digit */
    DIGITS = 1 << MOST_BITS,
};

/* A token's choice from the scores of one list. */
struct choosing {
    struct tensor_choice c;
    const float *scores;  /* or NULL */
    const uint16_t *mask; /* which may hide keys before the last that it sees;
                             or NULL */
    int64_t n;            /* keys that it sees, the hidden among them */
    int64_t n_blocks;     /* that are compared */
    uint32_t *ranks;      /* of each block */
    uint32_t *left;       /* those that are still compared */
    int64_t n_ranked;     /* blocks that are ranked, the first ones */
    int64_t n_listed;     /* number of those that are listed */
};

static size_t
choose_scratch_size(const struct ggml_tensor *dst)
{
    struct tensor_choice c = tensor_get_choice(dst);
    int64_t n = tensor_choice_keys(dst) / c.block + 1;

    return dst->src[TENSOR_CHOOSE_SCORES]
               ? 2 * cpu_pad((size_t)n * sizeof(uint32_t))
               : 0;
}

static size_t
choose_work_size(const struct ggml_tensor *dst, int n_threads,
                 const struct cpu_kernels *k)
{
    (void)k;
    return choose_scratch_size(dst) * (size_t)n_threads;
}

/* The order of floats is that of their ranks; -0 has that of 0. */
static uint32_t
rank_of(float score)
{
    float v = score + 0.0f;
    uint32_t bits;

    if (isnan(v))
        return UINT32_MAX;
    memcpy(&bits, &v, sizeof(bits));
    return bits >> 31 ? ~bits : bits | 0x80000000U;
}

/* The best rank of the keys of a block that are seen. */
static uint32_t
rank_block(const struct choosing *a, int64_t block)
{
    int64_t first = block * a->c.block, end = first + a->c.block;
    uint32_t best = 0;

    if (a->c.pooled)
        return rank_of(a->scores[block]);
    for (int64_t i = first; i < end && i < a->n; i++) {
        uint32_t rank = rank_of(a->scores[i]);

        best = rank > best ? rank : best;
    }
    return best;
}

/* Copies those of m ranks whose digit it is to y, which may be x. */
static int64_t
keep_digit(const uint32_t *x, int64_t m, int shift, uint32_t mask,
           uint32_t digit, uint32_t *y)
{
    int64_t n = 0;

    for (int64_t i = 0; i < m; i++) {
        uint32_t rank = x[i];

        y[n] = rank;
        n += (rank >> shift & mask) == digit;
    }
    return n;
}

/* The least rank of the n best; *n_equal: how many with it are among these. */
static uint32_t
least_rank(const struct choosing *a, int64_t n, int64_t *n_equal)
{
    static const int bits[] = { MOST_BITS, MOST_BITS, 32 - 2 * MOST_BITS };
    const uint32_t *x = a->ranks;
    int64_t m = a->n_ranked;
    uint32_t least = 0;
    int shift = 32;

    for (int pass = 0; pass < 3; pass++) {
        uint32_t mask = (1U << bits[pass]) - 1, digit = mask;
        int32_t counts[DIGITS] = { 0 };

        shift -= bits[pass];
        for (int64_t i = 0; i < m; i++)
            counts[x[i] >> shift & mask]++;
        while (counts[digit] < n)
            n -= counts[digit--];
        least |= digit << shift;
        m = keep_digit(x, m, shift, mask, digit, a->left);
        x = a->left;
    }
    *n_equal = n;
    return least;
}

static int32_t *
list_keys(const struct choosing *a, int64_t first, int64_t end, int32_t *y)
{
    for (int64_t i = first; i < end && i < a->n; i++)
        if (!a->mask || a->mask[i] != MINUS_INFINITY)
            *y++ = (int32_t)(a->c.row + i);
    return y;
}

static int32_t *
list_best(const struct choosing *a, int32_t *y)
{
    int64_t n_equal = 0;
    uint32_t least =
        a->n_listed > 0 ? least_rank(a, a->n_listed, &n_equal) : UINT32_MAX;

    for (int64_t i = 0; i < a->n_ranked; i++) {
        bool equal = a->ranks[i] == least;

        if (equal ? n_equal > 0 : a->ranks[i] > least)
            y = list_keys(a, i * a->c.block, (i + 1) * a->c.block, y);
        n_equal -= equal;
    }
    return y;
}

/* Returns the end of the list. */
static int32_t *
choose_rows(struct choosing *a, int32_t *y)
{
    int64_t local = a->c.n_local < a->c.n_best ? a->c.n_local : a->c.n_best;

    if (a->n_blocks <= a->c.n_best)
        return list_keys(a, 0, a->n, y);
    if (!a->scores)
        local = a->c.n_best;
    a->n_ranked = a->n_blocks - local;
    a->n_listed = a->c.n_best - local;
    for (int64_t i = 0; i < a->n_ranked && a->n_listed > 0; i++)
        a->ranks[i] = rank_block(a, i);
    if (a->n_listed > 0)
        y = list_best(a, y);
    return list_keys(a, a->n_ranked * a->c.block, a->n, y);
}

/* A token's position, or its row of the mask. */
static const void *
seen_by(const struct ggml_tensor *seen, int64_t token)
{
    size_t each = seen->nb[seen->type == GGML_TYPE_F16];

    return (const char *)seen->data + (size_t)token * each;
}

/* Positions that it has passed. */
static int64_t
passed(const struct ggml_tensor *seen, int64_t token,
       const struct tensor_choice *c)
{
    const void *at = seen_by(seen, token);

    return seen->type == GGML_TYPE_I32
               ? (int64_t) * (const int32_t *)at + 1
               : c->start + cpu_mask_visible_keys(at, seen->ne[0]);
}

static struct choosing
choosing_of(const struct ggml_tensor *dst, struct cpu_row r)
{
    const struct ggml_tensor *scores = dst->src[TENSOR_CHOOSE_SCORES];
    struct choosing a = { .c = tensor_get_choice(dst) };
    int64_t most = tensor_choice_keys(dst);
    const struct ggml_tensor *seen = dst->src[TENSOR_CHOOSE_SEEN];
    int64_t n = passed(seen, r.i2, &a.c);

    n = n / a.c.each - a.c.start / a.c.each;
    n = n > 0 ? n : 0;
    a.n = n < most ? n : most;
    a.n_blocks = (a.c.tail ? a.n : a.n + a.c.block - 1) / a.c.block;
    if (seen->type == GGML_TYPE_F16 && a.c.each == 1)
        a.mask = seen_by(seen, r.i2);
    if (scores)
        a.scores = (const float *)(const void *)cpu_row_data(scores, r);
    return a;
}

static void
choose_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    size_t size = choose_scratch_size(dst);

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        struct choosing a = choosing_of(dst, r);
        int32_t *y = (int32_t *)(void *)cpu_row_data(dst, r);
        int32_t *end = y + dst->ne[0];

        if (a.scores) {
            a.ranks = cpu_scratch(t, size);
            a.left = a.ranks + size / 2 / sizeof(*a.left);
        }
        for (y = choose_rows(&a, y); y < end; y++)
            *y = -1;
    }
}

static bool
choose_supports(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *scores = dst->src[TENSOR_CHOOSE_SCORES];
    const struct ggml_tensor *seen = dst->src[TENSOR_CHOOSE_SEEN];

    return dst->nb[0] == sizeof(int32_t) && (!scores || cpu_is_plain(scores)) &&
           (seen->type == GGML_TYPE_I32 || seen->nb[0] == sizeof(uint16_t));
}

static int64_t
choose_cost(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *scores = dst->src[TENSOR_CHOOSE_SCORES];

    return ggml_nelements(dst) + (scores ? 4 * ggml_nelements(scores) : 0);
}

const struct cpu_op cpu_op_choose = { .compute = choose_compute,
                                      .supports = choose_supports,
                                      .cost = choose_cost,
                                      .work_size = choose_work_size };
