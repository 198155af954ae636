/* vector_tile.h - the rows of weights that lanes of a vector go through
 *
 * Included after an instruction set's header, before its words for groups. */
#ifndef CPU_VECTOR_TILE_H
#define CPU_VECTOR_TILE_H

#include "cpu/simd.h"

typedef int32_t vec_ints __attribute__((vector_size(sizeof(vec))));

INLINE vec_bits
splat_bits(int32_t v)
{
    return (vec_bits){ 0 } + (uint32_t)v;
}

/* VEC rows, a stride apart: some pointers and the stride, so that registers
 * suffice for all of their addresses. */
struct rows {
    const char *fourth[VEC / 4]; /* rows 0, 4, 8, ... */
    size_t stride;
};

INLINE const char *
row_at(const struct rows *r, int i)
{
    return r->fourth[i / 4] + (size_t)(i % 4) * r->stride;
}

INLINE struct rows
rows_from(const char *first, size_t stride)
{
    struct rows r = { .stride = stride };

    for (size_t i = 0; i < VEC / 4; i++)
        r.fourth[i] = first + 4 * i * stride;
    return r;
}

INLINE struct rows
rows_at(const struct cpu_product *p, int64_t row)
{
    return rows_from(p->rows + (size_t)row * p->row_stride, p->row_stride);
}

INLINE void
rows_advance(struct rows *r, size_t size)
{
    UNROLL for (int i = 0; i < VEC / 4; i++) r->fourth[i] += size;
}

/* How many bytes of each row are fetched before they are used, lines, but no
 * more than the row has. */
#define AHEAD 1024
#define LINE  64

/* Where in the rows of a tile it stands, and up to where they were fetched;
 * after their end begins the next tile, `jump` bytes on. */
struct ahead {
    size_t by, at, fetched, row_size, end, jump;
};

INLINE struct ahead
begin_ahead(const struct cpu_product *p, int64_t row, int64_t tile,
            size_t row_size)
{
    bool last = row + tile >= p->n_rows;

    size_t by = row_size / LINE * LINE < AHEAD ? row_size / LINE * LINE : AHEAD;

    return (struct ahead){ .by = by,
                           .fetched = row ? by : 0,
                           .row_size = row_size,
                           .end = last ? row_size : 2 * row_size,
                           .jump = (size_t)tile * p->row_stride - row_size };
}

/* Call it before the next `size` bytes of r are used. */
INLINE void
fetch_ahead(struct ahead *a, const struct rows *r, size_t size)
{
    size_t to = a->at + size + a->by;

    while (a->fetched < to && a->fetched < a->end) {
        bool within = a->fetched < a->row_size;
        size_t from = a->fetched - a->at + (within ? 0 : a->jump);

        UNROLL for (int i = 0; i < VEC; i++)
            __builtin_prefetch(row_at(r, i) + from, 0, 2);
        a->fetched += LINE;
        if (within && a->fetched > a->row_size)
            a->fetched = a->row_size;
    }
    a->at += size;
}

#endif
