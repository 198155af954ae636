/* attention_parts.h - how few queries meet keys that are cut into parts
 *
 * In decoding the keys are cut into parts, which blocks take side by side; what
 * they found is combined in the order of the parts. A block has up to
 * PART_ROWS queries that share keys and values: a token's heads lie side by
 * side. */
#ifndef CUDA_ATTENTION_PARTS_H
#define CUDA_ATTENTION_PARTS_H

#include "cuda/attention.h"

#define PART_ROWS    8
#define PART_THREADS 128
#define PART_MINE    (PART_ROWS / (PART_THREADS / LANES)) /* rows of a warp */

struct cut {
    int64_t parts, chunks; /* of keys; of a group's queries */
    int64_t part_keys;
    int tile;          /* keys */
    int width;         /* floats of a row of the tile, or of a query */
    bool whole;        /* keys can be loaded in pieces of 16 bytes */
    float *found;      /* of each row and part: sums, if any key is seen */
    float *found_ends; /* and maximum and total */
};

/* What a block works on. */
struct piece {
    int64_t head, batch, part;
    int64_t first; /* row of the group */
    int rows;
    int64_t begin, end; /* keys */
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

/* Items: parts of the keys, for chunks of a group's queries. */
DEVICE struct piece
piece_at(const struct attention *a, const struct cut *cut, int64_t item)
{
    struct piece p;
    int64_t chunk, group, left, at = divide(item, cut->parts, &p.part);

    at = divide(at, cut->chunks, &chunk);
    p.batch = divide(at, a->q.ne[2] / a->group, &group);
    p.head = group * a->group;
    p.first = chunk * PART_ROWS;
    left = a->q.ne[1] * a->group - p.first;
    p.rows = left < PART_ROWS ? (int)left : PART_ROWS;
    p.begin = p.part * cut->part_keys;
    p.end = p.begin + cut->part_keys < a->k.ne[1] ? p.begin + cut->part_keys
                                                  : a->k.ne[1];
    return p;
}

/* Where what is found of row i of a piece goes: a number of rows and parts. */
DEVICE int64_t
place_of(const struct attention *a, const struct cut *cut,
         const struct piece *p, int i)
{
    struct row q = query_at(a, p->head, p->batch, p->first + i);

    return ((q.i3 * a->q.ne[1] + q.i1) * a->q.ne[2] + q.i2) * cut->parts +
           p->part;
}

/* Keys and values of two bytes, up to 256 wide; false: of others. */
bool
cuda_attend_few(struct cuda_ctx *c, const struct attention *a,
                const struct cut *cut);

#endif
