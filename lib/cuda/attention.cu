/* attention.cu - FLASH_ATTN_EXT: who computes it, and how parts are combined
 *
 * Dao et al. 2022: keys come in tiles, with a running maximum and sum. Many
 * queries go to attention_tiles.cu. Few meet keys in parts, see
 * attention_parts.h: of the usual types in attention_few.cu, of others in
 * attention_any.cu. Sequences whose results lie behind each other are computed
 * in groups that one launch can take. */
#include <string.h>

#include "cuda/also.h"
#include "cuda/attention_parts.h"
#include "cuda/copy.h"

/* A row's result, and what was found of it. */
struct result {
    const float *found, *ends;
    int64_t parts, head;
    char *to;
};

/* Row i of all: of the heads of tokens, of sequences or batches. */
template <int N>
DEVICE struct result
result_at(const struct attention *a, const struct cut *cut,
          const struct sequences<N> *s, int64_t i)
{
    struct result r;
    int64_t at, token, batch, first;

    at = divide(i, a->q.ne[2], &r.head);
    batch = divide(at, a->q.ne[1], &token);
    if (N > 1) {
        const struct sequence *one = &s->all[batch];

        r.parts = one->parts;
        first = one->first_found + (token * a->q.ne[2] + r.head) * one->parts;
        r.to = one->dst;
    } else {
        r.parts = cut->parts;
        first = i * cut->parts;
        r.to = a->dst.data + batch * a->dst.nb[3];
    }
    r.to += r.head * a->dst.nb[1] + token * a->dst.nb[2];
    r.found = cut->found + first * a->v.ne[0];
    r.ends = cut->found_ends + first * 2;
    return r;
}

/* The parts of a row, in order; the sink, a score without a value, takes its
 * part of the sum. Who sees no key at all gets zeros. `before`: rows of dst
 * before the first. */
template <int N>
KERNEL
combine(struct attention a, struct cut cut, struct sequences<N> sequences,
        int64_t before, int64_t n_rows)
{
    SHARED(float, room, LANES);
    int64_t e = a.v.ne[0];

    take_turn();
    for (int64_t i = block_id(); i < n_rows; i += grid_size()) {
        struct result r = result_at(&a, &cut, &sequences, i);
        float sink = sink_of(&a, r.head), most = -INFINITY, total = 0;
        bool any;

        for (int64_t p = thread_id(); p < r.parts; p += block_size())
            most = fmaxf(most, r.ends[2 * p]);
        most = block_max(most, room);
        any = most != -INFINITY;
        most = fmaxf(most, sink);
        for (int64_t p = 0; p < r.parts && any; p++)
            total = fmaf(r.ends[2 * p + 1], expf(r.ends[2 * p] - most), total);
        total += any ? expf(sink - most) : 0;
        for (int64_t j = thread_id(); j < e; j += block_size()) {
            float sum = 0;

            for (int64_t p = 0; p < r.parts && any; p++)
                if (r.ends[2 * p] != -INFINITY)
                    sum = fmaf(r.found[p * e + j], expf(r.ends[2 * p] - most),
                               sum);
            sum = total > 0 ? sum / total : 0;
            store_element(&a.dst, r.to, j, sum);
            store_also(&a.also, (before + i) * e + j, sum);
        }
    }
}

template <int N>
static void
start_combine(struct cuda_ctx *c, const struct attention *a,
              const struct cut *cut, const struct sequences<N> *s,
              int64_t before, int64_t n)
{
    LAUNCH(combine<N>, shape_of(n, a->v.ne[0] > 64 ? 128 : 64), c, *a, *cut, *s,
           before, n);
}

static bool
is_cache(const struct ggml_tensor *x)
{
    return x->nb[0] == ggml_type_size(x->type) &&
           (is_float_type(x->type) || x->type == GGML_TYPE_Q8_0);
}

bool
cuda_supports_attention(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *q = dst->src[0], *k = dst->src[1];
    const struct ggml_tensor *v = dst->src[2], *mask = dst->src[3];

    return is_f32(dst) && is_float_type(q->type) && is_cache(k) &&
           is_cache(v) && k->ne[2] == v->ne[2] && q->ne[0] % 8 == 0 &&
           q->ne[0] <= 1024 && v->ne[0] <= CUDA_ATTEND_WIDEST &&
           (!mask ||
            (mask->type == GGML_TYPE_F16 && mask->nb[0] == sizeof(uint16_t))) &&
           (!dst->src[4] || is_f32(dst->src[4]));
}

static struct attention
read_params(const struct ggml_tensor *dst)
{
    struct attention a = {};

    a.q = view_of(dst->src[0]);
    a.k = view_of(dst->src[1]);
    a.v = view_of(dst->src[2]);
    a.dst = view_of(dst);
    a.has_mask = dst->src[3] != NULL;
    a.has_sinks = dst->src[4] != NULL;
    a.mask = a.has_mask ? view_of(dst->src[3]) : a.q;
    a.sinks = a.has_sinks ? view_of(dst->src[4]) : a.q;
    a.scale = tensor_get_f32(dst, 0);
    a.max_bias = tensor_get_f32(dst, 1);
    a.softcap = tensor_get_f32(dst, 2);
    if (a.softcap != 0)
        a.scale /= a.softcap;
    a.group = a.q.ne[2] / a.k.ne[2];
    return a;
}

/* Memory for what is found of so many rows and parts; false: there is none. */
static bool
make_room(struct cuda_ctx *c, const struct attention *a, int64_t n,
          struct cut *cut)
{
    cut->found =
        (float *)cuda_scratch(c, (size_t)(n * a->v.ne[0]) * sizeof(float));
    cut->found_ends = (float *)cuda_scratch(c, (size_t)n * 2 * sizeof(float));
    return cut->found && cut->found_ends;
}

static struct sequence
sequence_of(const struct attention *a)
{
    struct sequence s = {};

    s.q = a->q.data;
    s.k = a->k.data;
    s.v = a->v.data;
    s.mask = a->has_mask ? a->mask.data : NULL;
    s.mask_stride = a->has_mask ? a->mask.nb[1] : 0;
    s.dst = a->dst.data;
    s.tokens = a->q.ne[1];
    s.keys = a->k.ne[1];
    return s;
}

/* -- One node -- */

/* Bytes of what is found of the parts of the keys. */
static int64_t
found_bytes(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *q = dst->src[0], *v = dst->src[2];

    return cuda_parts(v->ne[1], q->ne[1]) * ggml_nrows(q) * v->ne[0] *
           (int64_t)sizeof(float);
}

/* Into how many parts keys are cut. */
static int64_t
parts_of(const struct ggml_tensor *dst)
{
    return found_bytes(dst) > CUDA_FOUND
               ? 1
               : cuda_parts(dst->src[1]->ne[1], dst->src[0]->ne[1]);
}

static bool
takes_tiles(const struct cuda_ctx *c, const struct attention *a,
            const struct ggml_tensor *dst)
{
    return parts_of(dst) == 1 && cuda_can_attend_tiles(c, a);
}

/* `before`: rows of all results before the first. */
static void
attend_by_tiles(struct cuda_ctx *c, const struct attention *given,
                int64_t before)
{
    struct attention a = *given;
    sequences<SEQUENCES> s = {};

    if (!cuda_make_halves(c, &a.k) || !cuda_make_halves(c, &a.v))
        return; /* c->failed says so */
    s.n = 1;
    s.all[0] = sequence_of(&a);
    s.all[0].first_row = before;
    cuda_attend_tiles(c, &a, &s);
}

static void
attend_by_parts(struct cuda_ctx *c, const struct attention *a, int64_t parts,
                int64_t before)
{
    int64_t rows = a->q.ne[1] * a->q.ne[2] * a->q.ne[3], n;
    sequences<1> none = {};
    struct cut cut = {};

    cut.parts = parts;
    cut.part_keys = parts > 1 ? CUDA_PART : a->k.ne[1];
    cut.chunks = cuda_pieces(a->q.ne[1] * a->group, PART_ROWS);
    if (!make_room(c, a, rows * parts, &cut))
        return;
    n = parts * cut.chunks * (a->q.ne[2] / a->group) * a->q.ne[3];
    if (cuda_can_attend_few(c, a))
        cuda_attend_few(c, a, &cut, NULL, n);
    else
        cuda_attend_any(c, a, &cut, n);
    start_combine<1>(c, a, &cut, &none, before, rows);
}

static void
attend(struct cuda_ctx *c, const struct ggml_tensor *dst,
       const struct attention *a, int64_t before)
{
    if (takes_tiles(c, a, dst))
        attend_by_tiles(c, a, before);
    else
        attend_by_parts(c, a, parts_of(dst), before);
}

void
cuda_run_attend(struct cuda_ctx *c, struct ggml_tensor *dst,
                const struct ggml_tensor *next)
{
    struct attention a = read_params(dst);

    if (ggml_is_empty(dst))
        return;
    a.also = cuda_also_for(c, dst, next, !takes_tiles(c, &a, dst));
    attend(c, dst, &a, 0);
}

void
cuda_run_attention(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    cuda_run_attend(c, dst, NULL);
}

/* -- Sequences -- */

/* Who computes a sequence. */
enum way {
    ALONE, /* whoever it suits, in launches of its own */
    FEW,   /* attention_few.cu */
    TILES  /* attention_tiles.cu, from the cache as it is */
};

static enum way
way_of(const struct cuda_ctx *c, const struct ggml_tensor *dst)
{
    struct attention a = read_params(dst);

    if (a.has_mask && (a.mask.ne[2] != 1 || a.mask.ne[3] != 1))
        return ALONE;
    if (a.q.ne[1] < CUDA_TILE_TOKENS)
        return cuda_can_attend_few(c, &a) ? FEW : ALONE;
    return cuda_can_attend_tiles(c, &a) && cuda_are_halves(&a.k) &&
                   cuda_are_halves(&a.v)
               ? TILES
               : ALONE;
}

static bool
are_alike(const struct ggml_tensor *a, const struct ggml_tensor *b, int dim)
{
    for (int i = 0; i < 3; i++)
        if ((i != dim && a->ne[i] != b->ne[i]) || a->nb[i] != b->nb[i])
            return false;
    return a->type == b->type;
}

/* Whether both can be of one group. Their masks' rows may be as long as there
 * are keys. */
static bool
are_of_a_group(const struct ggml_tensor *a, const struct ggml_tensor *b,
               enum way way)
{
    struct ggml_tensor *const *x = a->src, *const *y = b->src;

    if (way == FEW && (x[0]->ne[1] != y[0]->ne[1] ||
                       (x[3] && y[3] && x[3]->ne[1] != y[3]->ne[1])))
        return false;
    return are_alike(x[0], y[0], 1) && are_alike(x[1], y[1], 1) &&
           are_alike(x[2], y[2], 1) && !x[3] == !y[3] && x[4] == y[4] &&
           memcmp(a->op_params, b->op_params, sizeof(a->op_params)) == 0;
}

/* How many of the first sequences are one group, and who computes it. A single
 * one goes the way of a node of its own: with a few tokens only, tiles would
 * leave a device idle. */
static int
find_group(const struct cuda_ctx *c, struct ggml_tensor *const *each, int n,
           enum way *way)
{
    int m = 1;

    *way = way_of(c, each[0]);
    while (m < n && *way != ALONE && way_of(c, each[m]) == *way &&
           are_of_a_group(each[0], each[m], *way))
        m++;
    if (m == 1)
        *way = ALONE;
    return m;
}

/* Where results go, and how many rows of them there are so far. */
struct results {
    char *data;
    struct cuda_also also;
    int64_t rows;
};

/* As a node says it, its result put in its place. */
static struct attention
place_next(const struct ggml_tensor *dst, struct results *r)
{
    struct attention a = read_params(dst);

    a.dst.data = r->data + r->rows * a.dst.nb[1];
    a.also = r->also;
    r->rows += ggml_nrows(dst);
    return a;
}

/* The sequences of one launch. */
static void
list_sequences(struct ggml_tensor *const *each, int n, struct results *r,
               struct sequences<SEQUENCES> *s)
{
    s->n = n < SEQUENCES ? n : SEQUENCES;
    for (int i = 0; i < s->n; i++) {
        int64_t before = r->rows;
        struct attention a = place_next(each[i], r);

        s->all[i] = sequence_of(&a);
        s->all[i].first_row = before;
    }
}

/* Numbers items and what is found, *found of it before. Returns how many items
 * there are. */
static int64_t
number_parts(const struct attention *a, const struct cut *cut,
             struct sequences<SEQUENCES> *s, int64_t *found)
{
    int64_t items = 0;

    for (int i = 0; i < s->n; i++) {
        struct sequence *one = &s->all[i];

        one->parts = cuda_parts(one->keys, one->tokens);
        one->first_item = items;
        one->first_found = *found;
        items += one->parts * cut->chunks * (a->q.ne[2] / a->group);
        *found += one->parts * one->tokens * a->q.ne[2];
    }
    return items;
}

/* All is found before anything is combined: results may lie over what is read
 * for that. */
static void
attend_group_by_parts(struct cuda_ctx *c, struct ggml_tensor *const *each,
                      int n, struct results *r)
{
    struct attention a = read_params(each[0]);
    struct results first = *r;
    sequences<SEQUENCES> s = {};
    struct cut cut = {};
    int64_t found = 0;

    for (int i = 0; i < n; i++)
        found +=
            cuda_parts(each[i]->src[1]->ne[1], a.q.ne[1]) * ggml_nrows(each[i]);
    a.also = r->also;
    cut.part_keys = CUDA_PART;
    cut.chunks = cuda_pieces(a.q.ne[1] * a.group, PART_ROWS);
    if (!make_room(c, &a, found, &cut))
        return;
    found = 0;
    for (int i = 0; i < n; i += SEQUENCES) {
        list_sequences(each + i, n - i, r, &s);
        cuda_attend_few(c, &a, &cut, &s, number_parts(&a, &cut, &s, &found));
    }
    *r = first;
    found = 0;
    for (int i = 0; i < n; i += SEQUENCES) {
        int64_t before = r->rows;

        list_sequences(each + i, n - i, r, &s);
        number_parts(&a, &cut, &s, &found);
        start_combine<SEQUENCES>(c, &a, &cut, &s, before, r->rows - before);
    }
}

static void
attend_group_by_tiles(struct cuda_ctx *c, struct ggml_tensor *const *each,
                      int n, struct results *r)
{
    struct attention a = read_params(each[0]);
    sequences<SEQUENCES> s = {};

    a.also = r->also;
    for (int i = 0; i < n; i += SEQUENCES) {
        list_sequences(each + i, n - i, r, &s);
        cuda_attend_tiles(c, &a, &s);
    }
}

static void
attend_group(struct cuda_ctx *c, struct ggml_tensor *const *each, int n,
             enum way way, struct results *r)
{
    if (way == FEW) {
        attend_group_by_parts(c, each, n, r);
    } else if (way == TILES) {
        attend_group_by_tiles(c, each, n, r);
    } else {
        int64_t before = r->rows;
        struct attention a = place_next(each[0], r);

        attend(c, each[0], &a, before);
    }
}

/* Whether a result may be written while a group reads: it lies over nothing
 * that any sequence reads. One group of few reads only sinks by then. */
static bool
is_apart(const struct cuda_ctx *c, struct ggml_tensor *const *each, int n,
         const struct ggml_tensor *dst)
{
    enum way way;
    bool at_once = find_group(c, each, n, &way) == n && way == FEW;

    for (int i = 0; i < n; i++)
        for (int j = at_once ? 4 : 0; j < 5; j++)
            if (each[i]->src[j] && cuda_overlap(dst, each[i]->src[j]))
                return false;
    return true;
}

/* Whether all can make eight bits of their results: tiles cannot. */
static bool
are_few(struct ggml_tensor *const *each, int n)
{
    for (int i = 0; i < n; i++)
        if (each[i]->src[0]->ne[1] >= CUDA_TILE_TOKENS)
            return false;
    return true;
}

bool
cuda_can_attend_each(const struct ggml_tensor *dst)
{
    return cuda_supports_attention(dst) && !ggml_is_empty(dst) &&
           dst->ne[3] == 1 && ggml_is_contiguous(dst);
}

static int64_t
bytes_of_halves(const struct view *x)
{
    return cuda_are_halves(x) ? 0
                              : x->ne[0] * x->ne[1] * x->ne[2] * x->ne[3] * 2;
}

int64_t
cuda_each_bytes(const struct cuda_ctx *c, const struct ggml_tensor *dst)
{
    struct attention a = read_params(dst);

    return takes_tiles(c, &a, dst)
               ? bytes_of_halves(&a.k) + bytes_of_halves(&a.v)
               : found_bytes(dst);
}

void
cuda_run_each(struct cuda_ctx *c, struct ggml_tensor *const *each, int n,
              struct ggml_tensor *dst, const struct ggml_tensor *next)
{
    int64_t size = (int64_t)ggml_nbytes(dst);
    bool apart = is_apart(c, each, n, dst);
    struct results r = {};
    enum way way;

    r.data = (char *)(apart ? dst->data : cuda_scratch(c, (size_t)size));
    if (!r.data)
        return;
    r.also = cuda_also_for(c, dst, next, are_few(each, n));
    for (int i = 0, m; i < n && !c->failed; i += m) {
        m = find_group(c, each + i, n - i, &way);
        attend_group(c, each + i, m, way, &r);
    }
    if (!apart)
        cuda_copy_flat(c, dst->data, r.data, size);
}
