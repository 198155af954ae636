/* flash_attention.c - FLASH_ATTN_EXT: softmax(q k^T * scale + mask) v in one
 * pass
 *
 * q [d, tokens, heads, batch], k [d, keys, kv heads, batch], v [e, keys, kv
 * heads, batch], mask [keys, >= tokens, ...] F16; dst [e, heads, tokens,
 * batch]. Dao et al. 2022: keys come in blocks, with a running maximum and
 * sum. Blocks are fixed pieces of the keys, taken in order, and each query
 * is on its own, so that an answer depends on nothing but its query, its keys
 * and which of them are masked: not on other queries, threads, or how many
 * masked keys follow.
 *
 * A piece is the heads that share keys and values, for some tokens: its rows
 * are the queries, a token's heads side by side.
 *
 * ATTENTION_PART does so for keys that come in parts of whole blocks: what a
 * row has after one part is what it goes on with in the next. */
#include "cpu/ops/attention_piece.h"
#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

#define ROWS 192 /* of a piece, or the heads of a group if they are more */
/* Pieces for each thread, if they keep FEW_TOKENS. */
#define PIECES     4
#define FEW_TOKENS 8
/* From this many tokens on, the mask is summarised once for all heads. */
#define MANY_TOKENS 16

/* Floats between rows of n. Long rows have an odd number of lines, so that a
 * column of them lies in all sets of a cache, not in a few. */
static size_t
padded(int64_t n)
{
    size_t lines = cpu_pad((size_t)n * sizeof(float)) / CPU_LINE;

    return (lines < 8 ? lines : lines | 1) * (CPU_LINE / sizeof(float));
}

/* How a computation by n threads is cut; one has the largest pieces. */
static struct attention
read_params(const struct ggml_tensor *dst, int n_threads)
{
    struct attention a = { .q = dst->src[0],
                           .k = dst->src[1],
                           .v = dst->src[2],
                           .mask = dst->src[3],
                           .sinks = dst->src[4],
                           .before = dst->src[TENSOR_PART_BEFORE],
                           .more = tensor_part_has_more(dst),
                           .scale = tensor_get_f32(dst, 0),
                           .max_bias = tensor_get_f32(dst, 1),
                           .softcap = tensor_get_f32(dst, 2) };
    int64_t groups;

    if (a.softcap != 0)
        a.scale /= a.softcap;
    a.group = a.k->ne[2] == a.v->ne[2] ? a.q->ne[2] / a.k->ne[2] : 1;
    a.tokens = a.group < ROWS ? ROWS / a.group : 1;
    a.tokens = a.tokens < a.q->ne[1] ? a.tokens : a.q->ne[1];
    groups = a.q->ne[2] / a.group * a.q->ne[3];
    while (a.tokens > FEW_TOKENS && n_threads > 1 &&
           a.q->ne[1] / a.tokens * groups < PIECES * n_threads)
        a.tokens /= 2;
    a.blocks = (a.q->ne[1] + a.tokens - 1) / a.tokens;
    a.d = padded(a.q->ne[0]);
    a.e = padded(a.v->ne[0]);
    a.n_keys = a.q->ne[0] < 128 ? KEYS : KEYS + CPU_LINE / sizeof(float);
    return a;
}

/* Cuts the scratch into its parts (or, from NULL, finds its size). */
static size_t
lay_out_scratch(const struct attention *a, char *base,
                struct attention_scratch *scratch)
{
    size_t at = 0, rows = (size_t)(a->group * a->tokens);
#define PART_OF(p, n)                                                          \
    (scratch->p = base ? (void *)(base + at) : NULL,                           \
     at += cpu_pad((n) * sizeof(*scratch->p)))
    PART_OF(queries, rows * a->d);
    PART_OF(scores, rows * KEYS);
    PART_OF(sums, rows * a->e);
    PART_OF(max, rows);
    PART_OF(total, rows);
    PART_OF(slope, rows);
    PART_OF(mask_block, rows);
    PART_OF(masks, rows);
    PART_OF(summaries, rows);
    PART_OF(floats, KEYS * (a->d > a->e ? a->d : a->e));
    PART_OF(keys, a->d * a->n_keys);
#undef PART_OF
    return at;
}

static size_t
attention_scratch_size(const struct attention *a)
{
    struct attention_scratch scratch;

    return lay_out_scratch(a, NULL, &scratch);
}

/* ---- what is seen ------------------------------------------------------- */

/* Where many tokens ask, the mask is looked at once for all heads, before: it
 * is more than the caches of a processor hold. */
static bool
summarises_first(const struct ggml_tensor *dst)
{
    return dst->src[3] && dst->src[0]->ne[1] >= MANY_TOKENS;
}

/* Whole lines, so that no two threads write to one. */
static size_t
summaries_row(const struct ggml_tensor *dst)
{
    return cpu_pad((size_t)(dst->src[1]->ne[1] + KEYS - 1) / KEYS);
}

/* The summaries lie after the scratch buffers of the threads. */
static void
place_summaries(const struct cpu_task *t, const struct ggml_tensor *dst,
                struct attention *a)
{
    if (!summarises_first(dst))
        return;
    a->summaries = (mask_block *)t->work +
                   attention_scratch_size(a) * (size_t)t->n_threads;
    a->summaries_row = summaries_row(dst);
}

/* Summaries of rows [first, end) of the mask are stored. */
static void
summarise_mask(const struct attention *a, int64_t first, int64_t end)
{
    int64_t n_keys = a->k->ne[1];

    for (int64_t i = first; i < end; i++) {
        const uint16_t *row = cpu_attention_mask(a, cpu_row_at(a->mask, i));
        mask_block *out = a->summaries + (size_t)i * a->summaries_row;

        for (int64_t key = 0; key < n_keys; key += KEYS)
            *out++ = cpu_mask_block_summary(
                row + key, n_keys - key < KEYS ? n_keys - key : KEYS);
    }
}

static void
flash_prepare(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct attention a = read_params(dst, t->n_threads);
    struct cpu_range rows;

    if (!summarises_first(dst))
        return;
    place_summaries(t, dst, &a);
    rows = cpu_share(t, ggml_nrows(a.mask));
    summarise_mask(&a, rows.first, rows.end);
}

static int
flash_prepare_pieces(const struct ggml_tensor *dst, int n_threads)
{
    return summarises_first(dst) ? n_threads : 1;
}

/* ---- pieces ------------------------------------------------------------- */

static size_t
flash_work_size(const struct ggml_tensor *dst, int n_threads,
                const struct cpu_kernels *k)
{
    struct attention a = read_params(dst, 1);
    size_t n = attention_scratch_size(&a) * (size_t)n_threads;

    (void)k;
    return summarises_first(dst)
               ? n + (size_t)ggml_nrows(a.mask) * summaries_row(dst)
               : n;
}

/* Into how many pieces a group is cut: more than one if the groups are too
 * few for the threads, as when one token asks. */
static int64_t
parts_of(const struct attention *a, int n_threads)
{
    int64_t n = a->blocks * (a->q->ne[2] / a->group) * a->q->ne[3];
    int64_t heads = a->group;

    while (heads > 1 && n * ((a->group + heads - 1) / heads) < n_threads)
        heads = (heads + 1) / 2;
    return (a->group + heads - 1) / heads;
}

static int
flash_pieces(const struct ggml_tensor *dst, int n_threads)
{
    struct attention a = read_params(dst, n_threads);
    int64_t n_groups = a.q->ne[2] / a.group;

    return (int)(a.blocks * n_groups * a.q->ne[3] * parts_of(&a, n_threads));
}

/* Queries of piece `ith`. The last ones see the most keys: they come first. */
static struct queries
queries_of(const struct attention *a, int64_t ith, int n_threads)
{
    int64_t parts = parts_of(a, n_threads), part = ith % parts;
    int64_t n_groups = a->q->ne[2] / a->group, at = ith / parts;
    int64_t each = (a->group + parts - 1) / parts;
    int64_t block = a->blocks - 1 - at / n_groups % a->blocks;
    struct queries qs = { .head = at % n_groups * a->group + part * each,
                          .first = block * a->tokens,
                          .batch = at / (n_groups * a->blocks) };

    qs.n_tokens =
        a->q->ne[1] - qs.first < a->tokens ? a->q->ne[1] - qs.first : a->tokens;
    qs.n_heads = a->group - part * each < each ? a->group - part * each : each;
    qs.rows = qs.n_tokens * qs.n_heads;
    return qs;
}

static void
flash_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct attention a = read_params(dst, t->n_threads);
    struct queries qs = queries_of(&a, t->ith, t->n_threads), next;
    struct attention_scratch scratch;

    a.dst = dst;
    place_summaries(t, dst, &a);
    lay_out_scratch(&a, cpu_scratch(t, attention_scratch_size(&a)), &scratch);
    if (t->more)
        next = queries_of(&a, t->ith + 1, t->n_threads);
    if (qs.rows > 0)
        cpu_attention_piece(t, &a, &qs, t->more ? &next : NULL, &scratch);
}

static void
prefetch_first_keys(const struct cpu_task *t, const struct ggml_tensor *dst)
{
    struct attention a = read_params(dst, t->n_threads);
    struct queries qs = queries_of(&a, t->ith, t->n_threads);

    if (qs.n_tokens == 1)
        cpu_attention_prefetch(&a, &qs);
}

static bool
readable(const struct cpu_kernels *k, const struct ggml_tensor *x)
{
    return k->to_float[x->type] && x->nb[0] == ggml_type_size(x->type);
}

static bool
flash_supports(const struct ggml_tensor *dst)
{
    const struct cpu_kernels *k = cpu_kernels_reference();

    return cpu_is_plain(dst) && cpu_has_elements(dst->src[0]->type) &&
           readable(k, dst->src[1]) && readable(k, dst->src[2]) &&
           (!dst->src[4] || cpu_is_plain(dst->src[4])) &&
           (!dst->src[TENSOR_PART_BEFORE] ||
            cpu_is_plain(dst->src[TENSOR_PART_BEFORE])) &&
           (!dst->src[3] || dst->src[3]->type == GGML_TYPE_F16);
}

static int64_t
flash_cost(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *k = dst->src[1];

    return ggml_nrows(dst->src[0]) * k->ne[1] * k->ne[0] / 24;
}

const struct cpu_op cpu_op_flash_attn = { .compute = flash_compute,
                                          .supports = flash_supports,
                                          .cost = flash_cost,
                                          .pieces = flash_pieces,
                                          .work_size = flash_work_size,
                                          .prepare = flash_prepare,
                                          .prepare_pieces =
                                              flash_prepare_pieces,
                                          .prefetch = prefetch_first_keys };
