/* ops_flash.c - FLASH_ATTN_EXT: softmax(q k^T * scale + mask) v in one pass
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
 * are the queries, a token's heads side by side. A block of keys is made
 * floats, key beside key, once for all rows, so that scores need no sums
 * across lanes. Where few heads share keys this would be for a single row in
 * decoding: there scores are products of rows. The shape of the model alone
 * decides, as the two sum in different orders. */
#include <math.h>
#include <string.h>

#include "cpu/ops.h"
#include "tensor/tensor.h"

#define KEYS 64  /* in a block */
#define ROWS 192 /* of a piece, or the heads of a group if they are more */
/* Pieces for each thread, if they keep so many tokens. */
#define PIECES     4
#define FEW_TOKENS 8
/* Groups of so few heads have their scores from products of rows. */
#define FEW_HEADS 4
/* So few rows meet keys and values where they lie, without converting. */
#define FEW_ROWS 4

/* What a row sees of a block. */
enum sight {
    HIDDEN, /* nothing */
    PART,
    ALL /* and the mask adds nothing */
};

/* The scratch of one thread. */
struct room {
    float *queries;            /* rows x d, scaled */
    float *scores;             /* rows x KEYS */
    float *sums;               /* rows x e */
    float *max, *total, *rise; /* of each row; rise: ALiBi's slope */
    unsigned char *sight;
    const uint16_t **masks; /* of each row */
    float *floats;          /* KEYS x d or e */
    float *keys;            /* d x KEYS */
};

struct attention {
    const struct ggml_tensor *q, *k, *v, *mask, *sinks;
    struct ggml_tensor *dst;
    float scale, max_bias, softcap;
    int64_t group;  /* heads that share keys and values */
    bool by_rows;   /* scores are products of rows */
    int64_t tokens; /* of a piece */
    int64_t blocks; /* of so many tokens */
    size_t d, e;    /* floats of a row of q and k, of v, with padding */
};

static size_t
padded(int64_t n)
{
    return cpu_pad((size_t)n * sizeof(float)) / sizeof(float);
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
                           .scale = tensor_get_f32(dst, 0),
                           .max_bias = tensor_get_f32(dst, 1),
                           .softcap = tensor_get_f32(dst, 2) };
    int64_t groups;

    if (a.softcap != 0)
        a.scale /= a.softcap;
    a.group = a.k->ne[2] == a.v->ne[2] ? a.q->ne[2] / a.k->ne[2] : 1;
    a.by_rows = a.group <= FEW_HEADS;
    a.tokens = a.group < ROWS ? ROWS / a.group : 1;
    a.tokens = a.tokens < a.q->ne[1] ? a.tokens : a.q->ne[1];
    groups = a.q->ne[2] / a.group * a.q->ne[3];
    while (a.tokens > FEW_TOKENS && n_threads > 1 &&
           a.q->ne[1] / a.tokens * groups < PIECES * n_threads)
        a.tokens /= 2;
    a.blocks = (a.q->ne[1] + a.tokens - 1) / a.tokens;
    a.d = padded(a.q->ne[0]);
    a.e = padded(a.v->ne[0]);
    return a;
}

/* Cuts the scratch into its parts (or, from NULL, finds its size). */
static size_t
lay_out(const struct attention *a, char *base, struct room *room)
{
    size_t at = 0, rows = (size_t)(a->group * a->tokens);
#define PART_OF(p, n)                                                          \
    (room->p = base ? (void *)(base + at) : NULL,                              \
     at += cpu_pad((n) * sizeof(*room->p)))
    PART_OF(queries, rows * a->d);
    PART_OF(scores, rows * KEYS);
    PART_OF(sums, rows * a->e);
    PART_OF(max, rows);
    PART_OF(total, rows);
    PART_OF(rise, rows);
    PART_OF(sight, rows);
    PART_OF(masks, rows);
    PART_OF(floats, KEYS * (a->d > a->e ? a->d : a->e));
    PART_OF(keys, a->d * KEYS);
#undef PART_OF
    return at;
}

static size_t
work_size(const struct ggml_tensor *dst, int n_threads,
          const struct cpu_kernels *k)
{
    struct attention a = read_params(dst, 1);
    struct room room;

    (void)k;
    return lay_out(&a, NULL, &room) * (size_t)n_threads;
}

/* The queries of a piece. */
struct queries {
    int64_t head, n_heads, first, n_tokens, batch;
    int64_t rows;
    int64_t begin, end; /* rows that see something of the block */
};

/* Where row i of the queries is in q, and so in the mask. */
static struct cpu_row
row_of(const struct queries *qs, int64_t i)
{
    return (struct cpu_row){ qs->first + i / qs->n_heads,
                             qs->head + i % qs->n_heads, qs->batch };
}

static const uint16_t *
mask_row(const struct attention *a, const struct queries *qs, int64_t i)
{
    struct cpu_row r = cpu_row_wrap(a->mask, row_of(qs, i));

    return (const uint16_t *)(const void *)cpu_row_data(a->mask, r);
}

/* Many values at a time: -infinity in each, or a bit that is set in any. */
static enum sight
look_at(const uint16_t *m, int64_t n)
{
    const uint64_t minus_infinity = 0xfc00fc00fc00fc00;
    uint64_t some[8], any = 0, other = 0;
    int64_t j = 0;

    for (; j + 32 <= n; j += 32) {
        memcpy(some, m + j, sizeof(some));
        for (int i = 0; i < 8; i++) {
            any |= some[i];
            other |= some[i] ^ minus_infinity;
        }
    }
    for (; j < n; j++) {
        any |= m[j];
        other |= (uint64_t)(m[j] ^ 0xfc00);
    }
    return !other ? HIDDEN : any ? PART : ALL;
}

/* What each row sees, and between which rows any of the keys is seen; false if
 * none is. A mask that is the same for all heads is looked at once a token. */
static bool
look(const struct attention *a, struct queries *qs, int64_t key, int64_t n,
     struct room *room)
{
    qs->begin = qs->rows;
    qs->end = 0;
    for (int64_t i = 0; i < qs->rows; i++) {
        if (!a->mask)
            room->sight[i] = ALL;
        else if (i > 0 && room->masks[i] == room->masks[i - 1])
            room->sight[i] = room->sight[i - 1];
        else
            room->sight[i] = (unsigned char)look_at(room->masks[i] + key, n);
        if (room->sight[i] == HIDDEN)
            continue;
        qs->begin = i < qs->begin ? i : qs->begin;
        qs->end = i + 1;
    }
    return qs->begin < qs->end;
}

static void
load_queries(const struct cpu_task *t, const struct attention *a,
             const struct queries *qs, struct room *room)
{
    for (int64_t i = 0; i < qs->rows; i++) {
        struct cpu_row r = row_of(qs, i);
        float *y = room->queries + (size_t)i * a->d;
        const float *row = cpu_load_row(t, a->q, r, y);

        t->k->scale(a->q->ne[0], y, row, a->scale, 0);
        memset(y + a->q->ne[0], 0, (a->d - (size_t)a->q->ne[0]) * sizeof(*y));
        if (a->mask)
            room->masks[i] = mask_row(a, qs, i);
        memset(room->sums + (size_t)i * a->e, 0, a->e * sizeof(float));
        room->max[i] = -INFINITY;
        room->total[i] = 0;
        room->rise[i] = cpu_alibi_slope(r.i2, a->q->ne[2], a->max_bias);
    }
}

/* Rows [key, key + n) of k or v as floats, with zeros behind their ends. */
static void
load_rows(const struct cpu_task *t, const struct ggml_tensor *x,
          const char *rows, int64_t n, float *y, size_t stride)
{
    size_t used = (size_t)x->ne[0];

    for (int64_t i = 0; i < n; i++, y += stride) {
        t->k->to_float[x->type](rows + (size_t)i * x->nb[1], y, x->ne[0]);
        if (used < stride)
            memset(y + used, 0, (stride - used) * sizeof(*y));
    }
}

static const char *
block_of(const struct ggml_tensor *x, const struct attention *a,
         const struct queries *qs, int64_t key)
{
    struct cpu_row r = { key, qs->head / (a->q->ne[2] / x->ne[2]),
                         qs->batch / (a->q->ne[3] / x->ne[3]) };

    return cpu_row_data(x, r);
}

/* As products of rows where they lie. */
static void
multiply_rows(const struct cpu_task *t, const struct attention *a,
              const struct queries *qs, int64_t key, int64_t n,
              struct room *room)
{
    struct cpu_product p = { .k = a->k->ne[0],
                             .n_rows = n,
                             .n_cols = qs->end - qs->begin,
                             .rows = block_of(a->k, a, qs, key),
                             .row_stride = a->k->nb[1],
                             .cols = (const char *)(room->queries +
                                                    (size_t)qs->begin * a->d),
                             .col_stride = a->d * sizeof(float),
                             .out = room->scores + qs->begin * KEYS,
                             .out_stride = KEYS };

    t->k->mul_mat[a->k->type].multiply(&p);
}

/* As a product of matrices: with the block's n keys, and some that are zero. */
static void
multiply_block(const struct cpu_task *t, const struct attention *a,
               const struct queries *qs, int64_t key, int64_t n,
               struct room *room)
{
    int64_t n_rows = (n + 15) / 16 * 16;
    struct cpu_panel panel = { .m = qs->end - qs->begin,
                               .n = n_rows,
                               .k = a->q->ne[0],
                               .a = room->queries + (size_t)qs->begin * a->d,
                               .b = room->keys,
                               .c = room->scores + qs->begin * KEYS,
                               .a_stride = a->d,
                               .b_stride = KEYS,
                               .c_stride = KEYS };

    load_rows(t, a->k, block_of(a->k, a, qs, key), n, room->floats, a->d);
    memset(room->floats + (size_t)n * a->d, 0,
           (size_t)(n_rows - n) * a->d * sizeof(float));
    t->k->transpose(n_rows, (int64_t)a->d, room->floats, a->d, room->keys,
                    KEYS);
    if (a->by_rows)
        t->k->multiply_lanes(&panel);
    else
        t->k->multiply_panel(&panel);
}

/* Products of rows are the same either way. */
static void
multiply_keys(const struct cpu_task *t, const struct attention *a,
              const struct queries *qs, int64_t key, int64_t n,
              struct room *room)
{
    const struct cpu_mul_mat *kernel = &t->k->mul_mat[a->k->type];

    if (a->by_rows && qs->end - qs->begin <= FEW_ROWS && kernel->multiply &&
        !kernel->prepare)
        multiply_rows(t, a, qs, key, n, room);
    else
        multiply_block(t, a, qs, key, n, room);
}

/* A masked key does not count, whatever its score: what lies in a part of a
 * cache that was never written may be no number. Returns the greatest. */
static float
adjust_scores(const struct cpu_task *t, const struct attention *a, int64_t i,
              int64_t key, int64_t n, struct room *room)
{
    float *s = room->scores + i * KEYS;

    if (room->sight[i] == HIDDEN)
        return -INFINITY;
    if (a->softcap != 0) {
        t->k->tanh(n, s, s);
        t->k->scale(n, s, s, a->softcap, 0);
    }
    if (room->sight[i] == PART)
        t->k->mask_scores(n, s, room->masks[i] + key, room->rise[i]);
    for (int64_t j = n; j < KEYS; j++)
        s[j] = -INFINITY; /* so that a short block is like a masked one */
    return t->k->max(KEYS, s);
}

/* A row's scores become weights of the values: all zero if it sees none. */
static void
weigh_row(const struct cpu_task *t, const struct attention *a, int64_t i,
          float block_max, struct room *room)
{
    float *s = room->scores + i * KEYS, *sums = room->sums + (size_t)i * a->e;
    float *max = &room->max[i], keep;

    if (block_max == -INFINITY) {
        memset(s, 0, KEYS * sizeof(*s));
        return;
    }
    if (block_max > *max) {
        keep = *max == -INFINITY ? 0 : expf(*max - block_max);
        *max = block_max;
        room->total[i] *= keep;
        t->k->scale(a->v->ne[0], sums, sums, keep, 0);
    }
    room->total[i] += t->k->exp_sum(KEYS, s, s, *max);
}

static void
weigh_each(const struct cpu_task *t, const struct attention *a,
           const struct queries *qs, enum ggml_type type, const char *v,
           size_t stride, int64_t n, struct room *room)
{
    for (int64_t i = qs->begin; i < qs->end; i++)
        t->k->weigh_rows[type](a->v->ne[0], room->sums + (size_t)i * a->e, v,
                               stride, room->scores + i * KEYS, n);
}

/* Adds the weighed values to the sums. Rows that do not see a value must not
 * meet it if it is no number; all ways add in the order of the keys. */
static void
add_values(const struct cpu_task *t, const struct attention *a,
           const struct queries *qs, int64_t key, int64_t n, struct room *room)
{
    const char *v = block_of(a->v, a, qs, key);
    struct cpu_panel panel = { .m = qs->end - qs->begin,
                               .n = (int64_t)a->e,
                               .k = n,
                               .a = room->scores + qs->begin * KEYS,
                               .b = room->floats,
                               .c = room->sums + (size_t)qs->begin * a->e,
                               .a_stride = KEYS,
                               .b_stride = a->e,
                               .c_stride = a->e,
                               .add = true };

    if (panel.m <= FEW_ROWS && t->k->weigh_rows[a->v->type]) {
        weigh_each(t, a, qs, a->v->type, v, a->v->nb[1], n, room);
        return;
    }
    load_rows(t, a->v, v, n, room->floats, a->e);
    if (panel.m > FEW_ROWS &&
        isfinite(t->k->sum(n * (int64_t)a->e, room->floats)))
        t->k->multiply_panel(&panel);
    else
        weigh_each(t, a, qs, GGML_TYPE_F32, (const char *)room->floats,
                   a->e * sizeof(float), n, room);
}

/* The head's score without a value: it takes its part of the sum. */
static void
add_sink(const struct cpu_task *t, const struct attention *a, float sink,
         float *sums, float *max, float *total)
{
    float most = sink > *max ? sink : *max;

    if (*max == -INFINITY || sink == -INFINITY)
        return;
    t->k->scale(a->v->ne[0], sums, sums, expf(*max - most), 0);
    *total = *total * expf(*max - most) + expf(sink - most);
    *max = most;
}

/* Who sees no key at all gets zeros. */
static void
store_results(const struct cpu_task *t, const struct attention *a,
              const struct queries *qs, struct room *room)
{
    for (int64_t i = 0; i < qs->rows; i++) {
        struct cpu_row of_q = row_of(qs, i);
        struct cpu_row r = { of_q.i2, of_q.i1, of_q.i3 };
        float *sums = room->sums + (size_t)i * a->e;

        if (a->sinks)
            add_sink(t, a, cpu_sink(a->sinks, of_q.i2), sums, &room->max[i],
                     &room->total[i]);
        t->k->scale(a->v->ne[0], (float *)(void *)cpu_row_data(a->dst, r), sums,
                    room->total[i] > 0 ? 1 / room->total[i] : 0, 0);
    }
}

/* n keys without those at their end that row i does not see. */
static int64_t
seen_by(const struct attention *a, const struct room *room, int64_t i,
        int64_t key, int64_t n)
{
    const uint16_t *m = a->mask ? room->masks[i] + key : NULL;

    while (m && n > 0 && m[n - 1] == 0xfc00)
        n--;
    return n;
}

/* Keys of a block without those at its end that no row sees: what is left out
 * counts as masked. Several tokens mostly see all of them. */
static int64_t
seen_keys(const struct attention *a, const struct queries *qs, int64_t key,
          int64_t n, const struct room *room)
{
    int64_t most = 0, seen;

    if (qs->n_tokens > 1)
        return n;
    for (int64_t i = qs->begin; i < qs->end && most < n; i++) {
        seen = seen_by(a, room, i, key, n);
        most = seen > most ? seen : most;
    }
    return most;
}

/* A head's rows lie too far apart for the processor to foresee them: they are
 * fetched one step before they are read. */
static void
fetch_rows(const struct ggml_tensor *x, const struct attention *a,
           const struct queries *qs, int64_t key, int64_t n)
{
    const char *row = block_of(x, a, qs, key);
    size_t size = ggml_row_size(x->type, x->ne[0]);

    for (; n > 0; n--, row += x->nb[1])
        for (size_t at = 0; at < size; at += CPU_LINE)
            __builtin_prefetch(row + at, 0, 2);
}

/* The next block's keys, or the first of `next`, which the thread goes on
 * with; NULL: it does not. */
static void
fetch_keys(const struct attention *a, const struct queries *qs, int64_t key,
           const struct queries *next, const struct room *room)
{
    int64_t rest = a->k->ne[1] - key, n = rest < KEYS ? rest : KEYS;
    int64_t last = qs->rows - 1; /* it mostly sees the most */

    n = n > 0 ? seen_by(a, room, last, key, n) : 0;
    if (n > 0) {
        fetch_rows(a->k, a, qs, key, n);
    } else if (next) {
        n = a->k->ne[1] < KEYS ? a->k->ne[1] : KEYS;
        fetch_rows(a->k, a, next, 0, seen_by(a, room, last, 0, n));
    }
}

static void
attend(const struct cpu_task *t, const struct attention *a, struct queries *qs,
       const struct queries *next, struct room *room)
{
    int64_t n_keys = a->k->ne[1];

    load_queries(t, a, qs, room);
    for (int64_t key = 0; key < n_keys; key += KEYS) {
        int64_t n = n_keys - key < KEYS ? n_keys - key : KEYS;

        if (!look(a, qs, key, n, room))
            continue;
        n = seen_keys(a, qs, key, n, room);
        fetch_rows(a->v, a, qs, key, n);
        multiply_keys(t, a, qs, key, n, room);
        for (int64_t i = qs->begin; i < qs->end; i++)
            weigh_row(t, a, i, adjust_scores(t, a, i, key, n, room), room);
        fetch_keys(a, qs, key + KEYS, next, room);
        add_values(t, a, qs, key, n, room);
    }
    store_results(t, a, qs, room);
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
pieces(const struct ggml_tensor *dst, int n_threads)
{
    struct attention a = read_params(dst, n_threads);
    int64_t n_groups = a.q->ne[2] / a.group;

    return (int)(a.blocks * n_groups * a.q->ne[3] * parts_of(&a, n_threads));
}

/* Those of piece `ith`. The last queries see the most keys: they come first. */
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
compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct attention a = read_params(dst, t->n_threads);
    struct queries qs = queries_of(&a, t->ith, t->n_threads), next;
    struct room room;
    size_t size = lay_out(&a, NULL, &room);

    a.dst = dst;
    lay_out(&a, cpu_scratch(t, size), &room);
    if (t->more)
        next = queries_of(&a, t->ith + 1, t->n_threads);
    if (qs.rows > 0)
        attend(t, &a, &qs, t->more ? &next : NULL, &room);
}

static bool
readable(const struct cpu_kernels *k, const struct ggml_tensor *x)
{
    return k->to_float[x->type] && x->nb[0] == ggml_type_size(x->type);
}

static bool
supports(const struct ggml_tensor *dst)
{
    const struct cpu_kernels *k = cpu_kernels_reference();

    return cpu_is_plain(dst) && cpu_has_elements(dst->src[0]->type) &&
           readable(k, dst->src[1]) && readable(k, dst->src[2]) &&
           (!dst->src[4] || cpu_is_plain(dst->src[4])) &&
           (!dst->src[3] || dst->src[3]->type == GGML_TYPE_F16);
}

static int64_t
cost(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *k = dst->src[1];

    return ggml_nrows(dst->src[0]) * k->ne[1] * k->ne[0] / 24;
}

const struct cpu_op cpu_op_flash_attn = { .compute = compute,
                                          .supports = supports,
                                          .cost = cost,
                                          .pieces = pieces,
                                          .work_size = work_size };
