/* attention.cu - FLASH_ATTN_EXT: choice of kernel, combination of KV splits
 *
 * Flash attention (Dao et al. 2022): keys come in tiles, with a running maximum
 * and sum (online softmax). Many queries go to attention_mma.cu; few to
 * split-KV kernels, see attention_split.h: attention_decode.cu for F16 and
 * BF16, attention_generic.cu for other types. Sequences whose results are
 * concatenated are batched, as many as a launch can take. */
#include <string.h>

#include "cuda/fused_output.h"
#include "cuda/attention_split.h"
#include "cuda/copy.h"

/* A row's partial results, and where its result goes. */
struct partial_row {
    const float *partials, *ends;
    int64_t splits, head;
    char *to;
};

/* Row i of all: heads of tokens of sequences or batches. */
template <int N>
DEVICE struct partial_row
partial_row_at(const struct attention *a, const struct kv_split *split,
               const struct sequences<N> *s, int64_t i)
{
    struct partial_row r;
    int64_t at, token, batch, first;

    at = cuda_divide(i, a->q.ne[2], &r.head);
    batch = cuda_divide(at, a->q.ne[1], &token);
    if (N > 1) {
        const struct sequence *one = &s->all[batch];

        r.splits = one->splits;
        first = one->first_slot + (token * a->q.ne[2] + r.head) * one->splits;
        r.to = one->dst;
    } else {
        r.splits = split->splits;
        first = i * split->splits;
        r.to = a->dst.data + batch * a->dst.nb[3];
    }
    r.to += r.head * a->dst.nb[1] + token * a->dst.nb[2];
    r.partials = split->partials + first * a->v.ne[0];
    r.ends = split->max_sum + first * 2;
    return r;
}

/* Combines the splits of a row, in order; the sink, a score without a value,
 * adds to the sum of weights. A row without visible keys becomes zero: its
 * maximum is -infinity and its total 0, not NaN. `before`: rows of dst before the first. */
template <int N>
KERNEL
combine_splits(struct attention a, struct kv_split split,
               struct sequences<N> sequences, int64_t before, int64_t n_rows)
{
    SHARED(float, scratch, LANES);
    int64_t e = a.v.ne[0];

    cuda_grid_dependency_sync();
    for (int64_t i = cuda_block_id(); i < n_rows; i += cuda_grid_size()) {
        struct partial_row r = partial_row_at(&a, &split, &sequences, i);
        float sink = cuda_sink_of(&a, r.head), most = -INFINITY, total = 0;
        bool any;

        for (int64_t p = cuda_thread_id(); p < r.splits; p += cuda_block_size())
            most = fmaxf(most, r.ends[2 * p]);
        most = cuda_block_max(most, scratch);
        most = most == -INFINITY ? LEAST_SCORE : fmaxf(most, sink);
        for (int64_t p = 0; p < r.splits; p++)
            total = fmaf(r.ends[2 * p + 1], expf(r.ends[2 * p] - most), total);
        any = total != 0;
        total += most > LEAST_SCORE ? expf(sink - most) : NAN;
        for (int64_t j = cuda_thread_id(); j < e; j += cuda_block_size()) {
            float sum = 0;

            for (int64_t p = 0; p < r.splits && any; p++)
                if (r.ends[2 * p] != -INFINITY)
                    sum = fmaf(r.partials[p * e + j],
                               expf(r.ends[2 * p] - most), sum);
            sum = any ? sum / total : 0;
            cuda_store_element(&a.dst, r.to, j, sum);
            cuda_store_fused_output(&a.fused, (before + i) * e + j, sum);
        }
    }
}

template <int N>
static void
launch_combine(struct cuda_ctx *c, const struct attention *a,
               const struct kv_split *split, const struct sequences<N> *s,
               int64_t before, int64_t n)
{
    LAUNCH(combine_splits<N>,
           cuda_default_launch(n, a->v.ne[0] > 64 ? 128 : 64), c, *a, *split,
           *s, before, n);
}

static bool
is_cache(const struct ggml_tensor *x)
{
    return x->nb[0] == ggml_type_size(x->type) &&
           (cuda_is_float_type(x->type) || cuda_can_quantize(x->type));
}

bool
cuda_supports_attention(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *q = dst->src[0], *k = dst->src[1];
    const struct ggml_tensor *v = dst->src[2], *mask = dst->src[3];

    return cuda_is_f32(dst) && cuda_is_float_type(q->type) && is_cache(k) &&
           is_cache(v) && k->ne[2] == v->ne[2] && q->ne[0] % 8 == 0 &&
           q->ne[0] <= 1024 && v->ne[0] <= CUDA_ATTENTION_MAX_WIDTH &&
           (!mask ||
            (mask->type == GGML_TYPE_F16 && mask->nb[0] == sizeof(uint16_t))) &&
           (!dst->src[4] || cuda_is_f32(dst->src[4]));
}

static struct attention
read_params(const struct ggml_tensor *dst)
{
    struct attention a = {};

    a.q = cuda_view_of(dst->src[0]);
    a.k = cuda_view_of(dst->src[1]);
    a.v = cuda_view_of(dst->src[2]);
    a.dst = cuda_view_of(dst);
    a.has_mask = dst->src[3] != NULL;
    a.has_sinks = dst->src[4] != NULL;
    a.mask = a.has_mask ? cuda_view_of(dst->src[3]) : a.q;
    a.sinks = a.has_sinks ? cuda_view_of(dst->src[4]) : a.q;
    a.scale = tensor_get_f32(dst, 0);
    a.max_bias = tensor_get_f32(dst, 1);
    a.softcap = tensor_get_f32(dst, 2);
    if (a.softcap != 0)
        a.scale /= a.softcap;
    a.gqa_heads = a.q.ne[2] / a.k.ne[2];
    return a;
}

/* Scratch memory for n partial results; false: there is none. */
static bool
alloc_partials(struct cuda_ctx *c, const struct attention *a, int64_t n,
               struct kv_split *split)
{
    split->partials =
        (float *)cuda_scratch(c, (size_t)(n * a->v.ne[0]) * sizeof(float));
    split->max_sum = (float *)cuda_scratch(c, (size_t)n * 2 * sizeof(float));
    return split->partials && split->max_sum;
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

/* Bytes of the partial results of all splits. */
static int64_t
partial_bytes(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *q = dst->src[0], *v = dst->src[2];

    return cuda_kv_splits(v->ne[1], q->ne[1]) * ggml_nrows(q) * v->ne[0] *
           (int64_t)sizeof(float);
}

/* Into how many splits keys are divided. */
static int64_t
kv_splits_of(const struct ggml_tensor *dst)
{
    return partial_bytes(dst) > CUDA_MAX_PARTIALS
               ? 1
               : cuda_kv_splits(dst->src[1]->ne[1], dst->src[0]->ne[1]);
}

static bool
uses_mma(const struct cuda_ctx *c, const struct attention *a,
         const struct ggml_tensor *dst)
{
    return kv_splits_of(dst) == 1 && cuda_attention_mma_supports(c, a);
}

/* `before`: rows of the concatenated results before the first. */
static void
attend_mma(struct cuda_ctx *c, const struct attention *given, int64_t before)
{
    struct attention a = *given;
    sequences<SEQUENCES> s = {};

    if (!cuda_kv_to_f16(c, &a.k) || !cuda_kv_to_f16(c, &a.v))
        return; /* c->failed says so */
    s.n = 1;
    s.all[0] = sequence_of(&a);
    s.all[0].first_row = before;
    cuda_attention_mma(c, &a, &s);
}

static void
attend_split(struct cuda_ctx *c, const struct attention *a, int64_t splits,
             int64_t before)
{
    int64_t rows = a->q.ne[1] * a->q.ne[2] * a->q.ne[3], n;
    sequences<1> none = {};
    struct kv_split split = {};

    split.splits = splits;
    split.split_keys = splits > 1 ? CUDA_KV_SPLIT : a->k.ne[1];
    split.chunks = cuda_ceil_div(a->q.ne[1] * a->gqa_heads, SPLIT_ROWS);
    if (!alloc_partials(c, a, rows * splits, &split))
        return;
    n = splits * split.chunks * (a->q.ne[2] / a->gqa_heads) * a->q.ne[3];
    if (cuda_attention_decode_supports(c, a))
        cuda_attention_decode(c, a, &split, NULL, n);
    else
        cuda_attention_generic(c, a, &split, n);
    launch_combine<1>(c, a, &split, &none, before, rows);
}

static void
attend(struct cuda_ctx *c, const struct ggml_tensor *dst,
       const struct attention *a, int64_t before)
{
    if (uses_mma(c, a, dst))
        attend_mma(c, a, before);
    else
        attend_split(c, a, kv_splits_of(dst), before);
}

void
cuda_run_fused_attention(struct cuda_ctx *c, struct ggml_tensor *dst,
                         const struct ggml_tensor *next)
{
    struct attention a = read_params(dst);

    if (ggml_is_empty(dst))
        return;
    a.fused = cuda_plan_fused_output(c, dst, next, !uses_mma(c, &a, dst));
    attend(c, dst, &a, 0);
}

void
cuda_run_attention(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    cuda_run_fused_attention(c, dst, NULL);
}

/* -- Sequences -- */

/* Which kernel computes a sequence. */
enum kernel {
    UNBATCHED, /* any, in launches of its own */
    DECODE,    /* attention_decode.cu */
    MMA        /* attention_mma.cu, with an F16 cache */
};

static enum kernel
kernel_for(const struct cuda_ctx *c, const struct ggml_tensor *dst)
{
    struct attention a = read_params(dst);

    if (a.has_mask && (a.mask.ne[2] != 1 || a.mask.ne[3] != 1))
        return UNBATCHED;
    if (a.q.ne[1] < CUDA_MMA_MIN_TOKENS)
        return cuda_attention_decode_supports(c, &a) ? DECODE : UNBATCHED;
    return cuda_attention_mma_supports(c, &a) && cuda_kv_is_f16(&a.k) &&
                   cuda_kv_is_f16(&a.v)
               ? MMA
               : UNBATCHED;
}

static bool
are_alike(const struct ggml_tensor *a, const struct ggml_tensor *b, int dim)
{
    for (int i = 0; i < 3; i++)
        if ((i != dim && a->ne[i] != b->ne[i]) || a->nb[i] != b->nb[i])
            return false;
    return a->type == b->type;
}

/* Whether both can be in one batch. Their masks' rows may differ in length. */
static bool
can_batch(const struct ggml_tensor *a, const struct ggml_tensor *b,
          enum kernel kernel)
{
    struct ggml_tensor *const *x = a->src, *const *y = b->src;

    if (kernel == DECODE && (x[0]->ne[1] != y[0]->ne[1] ||
                             (x[3] && y[3] && x[3]->ne[1] != y[3]->ne[1])))
        return false;
    return are_alike(x[0], y[0], 1) && are_alike(x[1], y[1], 1) &&
           are_alike(x[2], y[2], 1) && !x[3] == !y[3] && x[4] == y[4] &&
           memcmp(a->op_params, b->op_params, sizeof(a->op_params)) == 0;
}

/* How many of the first sequences are one batch, and which kernel computes it.
 * A single one is computed as a node of its own: with few tokens, the
 * tensor-core kernel would not occupy a device. */
static int
batch_length(const struct cuda_ctx *c, struct ggml_tensor *const *each, int n,
             enum kernel *kernel)
{
    int m = 1;

    *kernel = kernel_for(c, each[0]);
    while (m < n && *kernel != UNBATCHED && kernel_for(c, each[m]) == *kernel &&
           can_batch(each[0], each[m], *kernel))
        m++;
    if (m == 1)
        *kernel = UNBATCHED;
    return m;
}

/* The concatenated results, and how many rows of them there are so far. */
struct results {
    char *data;
    struct cuda_fused_output fused;
    int64_t rows;
};

/* A node's arguments, with its result appended to the others. */
static struct attention
next_sequence(const struct ggml_tensor *dst, struct results *r)
{
    struct attention a = read_params(dst);

    a.dst.data = r->data + r->rows * a.dst.nb[1];
    a.fused = r->fused;
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
        struct attention a = next_sequence(each[i], r);

        s->all[i] = sequence_of(&a);
        s->all[i].first_row = before;
    }
}

/* Assigns items and slots of partial results, from *partials on. Returns how
 * many items there are. */
static int64_t
number_splits(const struct attention *a, const struct kv_split *split,
              struct sequences<SEQUENCES> *s, int64_t *partials)
{
    int64_t items = 0;

    for (int i = 0; i < s->n; i++) {
        struct sequence *one = &s->all[i];

        one->splits = cuda_kv_splits(one->keys, one->tokens);
        one->first_item = items;
        one->first_slot = *partials;
        items += one->splits * split->chunks * (a->q.ne[2] / a->gqa_heads);
        *partials += one->splits * one->tokens * a->q.ne[2];
    }
    return items;
}

/* All partial results are computed before any are combined: results may overlap
 * the inputs. */
static void
attend_batch_split(struct cuda_ctx *c, struct ggml_tensor *const *each, int n,
                   struct results *r)
{
    struct attention a = read_params(each[0]);
    struct results first = *r;
    sequences<SEQUENCES> s = {};
    struct kv_split split = {};
    int64_t partials = 0;

    for (int i = 0; i < n; i++)
        partials += cuda_kv_splits(each[i]->src[1]->ne[1], a.q.ne[1]) *
                    ggml_nrows(each[i]);
    a.fused = r->fused;
    split.split_keys = CUDA_KV_SPLIT;
    split.chunks = cuda_ceil_div(a.q.ne[1] * a.gqa_heads, SPLIT_ROWS);
    if (!alloc_partials(c, &a, partials, &split))
        return;
    partials = 0;
    for (int i = 0; i < n; i += SEQUENCES) {
        list_sequences(each + i, n - i, r, &s);
        cuda_attention_decode(c, &a, &split, &s,
                              number_splits(&a, &split, &s, &partials));
    }
    *r = first;
    partials = 0;
    for (int i = 0; i < n; i += SEQUENCES) {
        int64_t before = r->rows;

        list_sequences(each + i, n - i, r, &s);
        number_splits(&a, &split, &s, &partials);
        launch_combine<SEQUENCES>(c, &a, &split, &s, before, r->rows - before);
    }
}

static void
attend_batch_mma(struct cuda_ctx *c, struct ggml_tensor *const *each, int n,
                 struct results *r)
{
    struct attention a = read_params(each[0]);
    sequences<SEQUENCES> s = {};

    a.fused = r->fused;
    for (int i = 0; i < n; i += SEQUENCES) {
        list_sequences(each + i, n - i, r, &s);
        cuda_attention_mma(c, &a, &s);
    }
}

static void
attend_batch(struct cuda_ctx *c, struct ggml_tensor *const *each, int n,
             enum kernel kernel, struct results *r)
{
    if (kernel == DECODE) {
        attend_batch_split(c, each, n, r);
    } else if (kernel == MMA) {
        attend_batch_mma(c, each, n, r);
    } else {
        int64_t before = r->rows;
        struct attention a = next_sequence(each[0], r);

        attend(c, each[0], &a, before);
    }
}

/* Whether results can be written to dst directly, as it overlaps no input of
 * any sequence. A single batch of the decode kernel reads only sinks by
 * then. */
static bool
can_write_directly(const struct cuda_ctx *c, struct ggml_tensor *const *each,
                   int n, const struct ggml_tensor *dst)
{
    enum kernel kernel;
    bool at_once = batch_length(c, each, n, &kernel) == n && kernel == DECODE;

    for (int i = 0; i < n; i++)
        for (int j = at_once ? 4 : 0; j < 5; j++)
            if (each[i]->src[j] && cuda_overlap(dst, each[i]->src[j]))
                return false;
    return true;
}

/* Whether all can quantise their results to 8 bits: attention_mma.cu cannot. */
static bool
all_decode(struct ggml_tensor *const *each, int n)
{
    for (int i = 0; i < n; i++)
        if (each[i]->src[0]->ne[1] >= CUDA_MMA_MIN_TOKENS)
            return false;
    return true;
}

bool
cuda_attention_batch_supports(const struct ggml_tensor *dst)
{
    return cuda_supports_attention(dst) && !ggml_is_empty(dst) &&
           dst->ne[3] == 1 && ggml_is_contiguous(dst);
}

static int64_t
f16_bytes(const struct view *x)
{
    return cuda_kv_is_f16(x) ? 0
                             : x->ne[0] * x->ne[1] * x->ne[2] * x->ne[3] * 2;
}

int64_t
cuda_attention_batch_bytes(const struct cuda_ctx *c,
                           const struct ggml_tensor *dst)
{
    struct attention a = read_params(dst);

    return uses_mma(c, &a, dst) ? f16_bytes(&a.k) + f16_bytes(&a.v)
                                : partial_bytes(dst);
}

void
cuda_run_attention_batch(struct cuda_ctx *c, struct ggml_tensor *const *each,
                         int n, struct ggml_tensor *dst,
                         const struct ggml_tensor *next)
{
    int64_t size = (int64_t)ggml_nbytes(dst);
    bool apart = can_write_directly(c, each, n, dst);
    struct results r = {};
    enum kernel kernel;

    r.data = (char *)(apart ? dst->data : cuda_scratch(c, (size_t)size));
    if (!r.data)
        return;
    r.fused = cuda_plan_fused_output(c, dst, next, all_decode(each, n));
    for (int i = 0, m; i < n && !c->failed; i += m) {
        m = batch_length(c, each + i, n - i, &kernel);
        attend_batch(c, each + i, m, kernel, &r);
    }
    if (!apart)
        cuda_copy_bytes(c, dst->data, r.data, size);
}
