/* attention_parts.h - how few queries meet keys that are cut into parts
 *
 * In decoding the keys are cut into parts, which blocks take side by side; what
 * they found is combined in the order of the parts. A block has up to
 * PART_ROWS queries that share keys and values: a token's heads lie side by
 * side. */
#ifndef CUDA_ATTENTION_PARTS_H
#define CUDA_ATTENTION_PARTS_H

#include "cuda/attention.h"

#define PART_ROWS 8

struct cut {
    int64_t parts, chunks; /* of keys; of a sequence's group's queries */
    int64_t part_keys;
    float *found;      /* of each row and part: sums, if any key is seen */
    float *found_ends; /* and maximum and total */
};

/* What a block works on. */
struct piece {
    int64_t head, batch, part, parts;
    int64_t first; /* row of the group */
    int rows;
    int64_t begin, end;    /* keys */
    const char *q, *k, *v; /* of the batch */
    const char *mask;      /* or NULL */
    int64_t mask_stride;
    int64_t first_found; /* rows and parts before this batch */
};

/* A group's row i: which token, which head. */
DEVICE struct row
query_at(const struct attention *a, int64_t head, int64_t batch, int64_t i)
{
    struct row r;
    int64_t of_group;

    r.i1 = divide(i, a->group, &of_group);
    r.i2 = head + of_group;
    r.i3 = batch;
    return r;
}

/* The batch of a piece. */
DEVICE void
find_batch(const struct attention *a, struct piece *p, int64_t parts)
{
    p->parts = parts;
    p->end = a->k.ne[1];
    p->q = a->q.data + p->batch * a->q.nb[3];
    p->k = a->k.data + matrix_at(a, &a->k, 0, p->batch);
    p->v = a->v.data + matrix_at(a, &a->v, 0, p->batch);
    p->mask = a->has_mask ? a->mask.data + mask_at(a, 0, p->batch) : NULL;
    p->mask_stride = a->mask.nb[1];
    p->first_found = p->batch * a->q.ne[1] * a->q.ne[2] * parts;
}

/* The sequence that an item belongs to, and its number there. */
template <int N>
DEVICE int64_t
enter_sequence(const struct sequences<N> *s, struct piece *p, int64_t item)
{
    const struct sequence *one = find_sequence<&sequence::first_item>(s, item);

    p->parts = one->parts;
    p->end = one->keys;
    p->q = one->q;
    p->k = one->k;
    p->v = one->v;
    p->mask = one->mask;
    p->mask_stride = one->mask_stride;
    p->first_found = one->first_found;
    return item - one->first_item;
}

/* Items: parts of the keys, for chunks of a group's queries. */
template <int N>
DEVICE struct piece
piece_at(const struct attention *a, const struct cut *cut,
         const struct sequences<N> *s, int64_t item)
{
    struct piece p;
    int64_t chunk, group, left, at;

    if (N > 1)
        item = enter_sequence(s, &p, item);
    at = divide(item, N > 1 ? p.parts : cut->parts, &p.part);
    at = divide(at, cut->chunks, &chunk);
    p.batch = divide(at, a->q.ne[2] / a->group, &group);
    if (N == 1)
        find_batch(a, &p, cut->parts);
    p.head = group * a->group;
    p.first = chunk * PART_ROWS;
    left = a->q.ne[1] * a->group - p.first;
    p.rows = left < PART_ROWS ? (int)left : PART_ROWS;
    p.begin = p.part * cut->part_keys;
    if (p.begin + cut->part_keys < p.end)
        p.end = p.begin + cut->part_keys;
    return p;
}

/* The matrices of keys and values that a piece's rows see. */
DEVICE const char *
piece_keys(const struct attention *a, const struct piece *p)
{
    return p->k + p->head / a->group * a->k.nb[2];
}

DEVICE const char *
piece_values(const struct attention *a, const struct piece *p)
{
    return p->v + p->head / a->group * a->v.nb[2];
}

/* Where what is found of row i of a piece goes: a number of rows and parts. */
DEVICE int64_t
place_of(const struct attention *a, const struct piece *p, int i)
{
    struct row q = query_at(a, p->head, p->batch, p->first + i);

    return p->first_found + (q.i1 * a->q.ne[2] + q.i2) * p->parts + p->part;
}

/* What the mask says of a row of a piece; NULL: all is seen. */
DEVICE const uint16_t *
piece_mask(const struct attention *a, const struct piece *p, struct row q)
{
    if (!p->mask)
        return NULL;
    return (const uint16_t *)(const void *)(p->mask +
                                            modulo(q.i1, a->mask.ne[1]) *
                                                p->mask_stride +
                                            modulo(q.i2, a->mask.ne[2]) *
                                                a->mask.nb[2]);
}

/* Whether cuda_attend_few() can: keys and values of two bytes, up to 256 wide.
 */
bool
cuda_can_attend_few(const struct cuda_ctx *c, const struct attention *a);

/* n parts, of one sequence or, unless NULL, of some. */
void
cuda_attend_few(struct cuda_ctx *c, const struct attention *a,
                const struct cut *cut, const struct sequences<SEQUENCES> *s,
                int64_t n);

/* The same of any types, of one sequence. */
void
cuda_attend_any(struct cuda_ctx *c, const struct attention *a,
                const struct cut *cut, int64_t n);

#endif
