/* attention_split.h - split-KV attention for few queries (flash decoding)
 *
 * In decoding the keys are split, and blocks attend to the splits in parallel;
 * their partial results are combined in the order of the splits. A block has up
 * to SPLIT_ROWS queries of one KV head (GQA): rows are a token's heads, then
 * the next token's. */
#ifndef CUDA_ATTENTION_SPLIT_H
#define CUDA_ATTENTION_SPLIT_H

#include "cuda/attention.h"

#define SPLIT_ROWS 8

struct kv_split {
    int64_t splits, chunks; /* of keys; of the rows of a KV head */
    int64_t split_keys;
    float *partials; /* of each row and split: sums, if any key is visible */
    float *max_sum;  /* and maximum of scores, total of weights */
};

/* A block's work item. */
struct split_work {
    int64_t head, batch, split, splits;
    int64_t first; /* row of the KV head */
    int rows;
    int64_t begin, end;    /* keys */
    const char *q, *k, *v; /* of the batch */
    const char *mask;      /* or NULL */
    int64_t mask_stride;
    int64_t first_slot; /* partial results before this batch */
};

/* The token and head of row i of a KV head. */
DEVICE struct row
cuda_query_row(const struct attention *a, int64_t head, int64_t batch,
               int64_t i)
{
    struct row r;
    int64_t head_of_group;

    r.i1 = cuda_divide(i, a->gqa_heads, &head_of_group);
    r.i2 = head + head_of_group;
    r.i3 = batch;
    return r;
}

/* Sets the batch of a work item. */
DEVICE void
set_batch(const struct attention *a, struct split_work *p, int64_t splits)
{
    p->splits = splits;
    p->end = a->k.ne[1];
    p->q = a->q.data + p->batch * a->q.nb[3];
    p->k = a->k.data + cuda_kv_offset(a, &a->k, 0, p->batch);
    p->v = a->v.data + cuda_kv_offset(a, &a->v, 0, p->batch);
    p->mask =
        a->has_mask ? a->mask.data + cuda_mask_offset(a, 0, p->batch) : NULL;
    p->mask_stride = a->mask.nb[1];
    p->first_slot = p->batch * a->q.ne[1] * a->q.ne[2] * splits;
}

/* Sets the sequence that an item belongs to; returns the item's index in it. */
template <int N>
DEVICE int64_t
set_sequence(const struct sequences<N> *s, struct split_work *p, int64_t item)
{
    const struct sequence *one =
        cuda_sequence_at<&sequence::first_item>(s, item);

    p->splits = one->splits;
    p->end = one->keys;
    p->q = one->q;
    p->k = one->k;
    p->v = one->v;
    p->mask = one->mask;
    p->mask_stride = one->mask_stride;
    p->first_slot = one->first_slot;
    return item - one->first_item;
}

/* Items: splits of the keys, for chunks of the rows of each KV head. */
template <int N>
DEVICE struct split_work
cuda_work_at(const struct attention *a, const struct kv_split *split,
             const struct sequences<N> *s, int64_t item)
{
    struct split_work p;
    int64_t chunk, group, left, at;

    if (N > 1)
        item = set_sequence(s, &p, item);
    at = cuda_divide(item, N > 1 ? p.splits : split->splits, &p.split);
    at = cuda_divide(at, split->chunks, &chunk);
    p.batch = cuda_divide(at, a->q.ne[2] / a->gqa_heads, &group);
    if (N == 1)
        set_batch(a, &p, split->splits);
    p.head = group * a->gqa_heads;
    p.first = chunk * SPLIT_ROWS;
    left = a->q.ne[1] * a->gqa_heads - p.first;
    p.rows = left < SPLIT_ROWS ? (int)left : SPLIT_ROWS;
    p.begin = p.split * split->split_keys;
    if (p.begin + split->split_keys < p.end)
        p.end = p.begin + split->split_keys;
    return p;
}

/* The matrices of keys and values that an item's rows attend to. */
DEVICE const char *
cuda_work_keys(const struct attention *a, const struct split_work *p)
{
    return p->k + p->head / a->gqa_heads * a->k.nb[2];
}

DEVICE const char *
cuda_work_values(const struct attention *a, const struct split_work *p)
{
    return p->v + p->head / a->gqa_heads * a->v.nb[2];
}

/* The slot of the partial result of row i of an item. */
DEVICE int64_t
cuda_partial_at(const struct attention *a, const struct split_work *p, int i)
{
    struct row q = cuda_query_row(a, p->head, p->batch, p->first + i);

    return p->first_slot + (q.i1 * a->q.ne[2] + q.i2) * p->splits + p->split;
}

/* The mask of a row of an item; NULL: all keys are visible. */
DEVICE const uint16_t *
cuda_work_mask(const struct attention *a, const struct split_work *p,
               struct row q)
{
    if (!p->mask)
        return NULL;
    return (const uint16_t *)(const void *)(p->mask +
                                            cuda_modulo(q.i1, a->mask.ne[1]) *
                                                p->mask_stride +
                                            cuda_modulo(q.i2, a->mask.ne[2]) *
                                                a->mask.nb[2]);
}

/* Whether cuda_attention_decode() applies: keys and values are F16 or BF16, up
 * to 256 wide. */
bool
cuda_attention_decode_supports(const struct cuda_ctx *c,
                               const struct attention *a);

/* n items, of one sequence or, unless s is NULL, of several. */
void
cuda_attention_decode(struct cuda_ctx *c, const struct attention *a,
                      const struct kv_split *split,
                      const struct sequences<SEQUENCES> *s, int64_t n);

/* n items with keys and values of any type, of one sequence. */
void
cuda_attention_generic(struct cuda_ctx *c, const struct attention *a,
                       const struct kv_split *split, int64_t n);

#endif
