/* attention.cu - FLASH_ATTN_EXT: who computes it, and how parts are combined
 *
 * Dao et al. 2022: keys come in tiles, with a running maximum and sum. Many
 * queries go to attention_tiles.cu. Few meet keys in parts, see
 * attention_parts.h: of the usual types in attention_few.cu, of others in
 * attention_any.cu. */
#include "cuda/also.h"
#include "cuda/attention_parts.h"

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

void
cuda_run_attend(struct cuda_ctx *c, struct ggml_tensor *dst,
                const struct ggml_tensor *next)
{
    sequences<1> none = {};
    struct attention a = read_params(dst);
    struct cut cut = {};
    int64_t rows = a.q.ne[1] * a.q.ne[2] * a.q.ne[3], n;

    if (ggml_is_empty(dst))
        return;
    cut.parts = cuda_parts(a.k.ne[1], a.q.ne[1]);
    if (cuda_found_bytes(dst) > CUDA_FOUND)
        cut.parts = 1;
    if (cut.parts == 1 && cuda_attend_tiles(c, &a, dst, next))
        return;
    a.also = cuda_also_for(c, dst, next, true);
    cut.part_keys = cut.parts > 1 ? CUDA_PART : a.k.ne[1];
    cut.chunks = cuda_pieces(a.q.ne[1] * a.group, PART_ROWS);
    if (!make_room(c, &a, rows * cut.parts, &cut))
        return;
    n = cut.parts * cut.chunks * (a.q.ne[2] / a.group) * a.q.ne[3];
    if (cuda_can_attend_few(c, &a))
        cuda_attend_few(c, &a, &cut, NULL, n);
    else
        cuda_attend_any(c, &a, &cut, n);
    start_combine<1>(c, &a, &cut, &none, 0, rows);
}

/* Of what is found of the parts of the keys. */
int64_t
cuda_found_bytes(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *q = dst->src[0], *v = dst->src[2];

    return cuda_parts(v->ne[1], q->ne[1]) * ggml_nrows(q) * v->ne[0] *
           (int64_t)sizeof(float);
}

bool
cuda_can_attend_each(struct cuda_ctx *c, const struct ggml_tensor *dst)
{
    struct attention a = read_params(dst);

    return cuda_supports_attention(dst) && cuda_can_attend_few(c, &a) &&
           a.q.ne[3] == 1 && a.q.ne[1] < CUDA_TILE_TOKENS;
}

/* The sequences of one launch, of all from `first` on; the parts before, and
 * behind them. Returns the launch's items. */
static int64_t
list_sequences(const struct attention *a, struct ggml_tensor *const *each,
               int first, int n, char *dst, int64_t chunks, int64_t *found,
               struct sequences<SEQUENCES> *s)
{
    int64_t items = 0, rows = a->q.ne[1] * a->q.ne[2];

    s->n = n - first < SEQUENCES ? n - first : SEQUENCES;
    for (int i = 0; i < s->n; i++) {
        struct ggml_tensor *const *src = each[first + i]->src;
        struct sequence *one = &s->all[i];

        one->q = (const char *)src[0]->data;
        one->k = (const char *)src[1]->data;
        one->v = (const char *)src[2]->data;
        one->mask = src[3] ? (const char *)src[3]->data : NULL;
        one->mask_stride = src[3] ? (int64_t)src[3]->nb[1] : 0;
        one->dst = dst + (first + i) * a->q.ne[1] * a->dst.nb[2];
        one->keys = src[1]->ne[1];
        one->parts = cuda_parts(one->keys, a->q.ne[1]);
        one->first_item = items;
        one->first_found = *found;
        items += one->parts * chunks * (a->q.ne[2] / a->group);
        *found += one->parts * rows;
    }
    return items;
}

void
cuda_run_each(struct cuda_ctx *c, struct ggml_tensor *const *each, int n,
              struct ggml_tensor *dst, const struct ggml_tensor *next)
{
    struct attention a = read_params(each[0]);
    int64_t rows = a.q.ne[1] * a.q.ne[2], found = 0;
    sequences<SEQUENCES> s = {};
    struct cut cut = {};

    for (int i = 0; i < n; i++)
        found += cuda_parts(each[i]->src[1]->ne[1], a.q.ne[1]) * rows;
    a.dst = view_of(dst);
    a.also = cuda_also_for(c, dst, next, true);
    cut.part_keys = CUDA_PART;
    cut.chunks = cuda_pieces(a.q.ne[1] * a.group, PART_ROWS);
    if (!make_room(c, &a, found, &cut))
        return;
    /* all are computed before dst, which may lie over what they read */
    found = 0;
    for (int i = 0; i < n; i += SEQUENCES) {
        int64_t items =
            list_sequences(&a, each, i, n, a.dst.data, cut.chunks, &found, &s);

        cuda_attend_few(c, &a, &cut, &s, items);
    }
    found = 0;
    for (int i = 0; i < n; i += SEQUENCES) {
        list_sequences(&a, each, i, n, a.dst.data, cut.chunks, &found, &s);
        start_combine<SEQUENCES>(c, &a, &cut, &s, i * rows, s.n * rows);
    }
}

void
cuda_run_attention(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    cuda_run_attend(c, dst, NULL);
}
