/* lane_rows.h - the rows of weights that lanes of a vector go through
 *
 * Included after an instruction set's vector header, before its functions for
 * blocks. */
#ifndef CPU_GEMM_LANE_ROWS_H
#define CPU_GEMM_LANE_ROWS_H

#include "cpu/prefetch.h"

/* 32 bytes of one row, and 16. */
typedef uint8_t row_bytes __attribute__((vector_size(32)));
typedef uint16_t row_halves __attribute__((vector_size(32)));
typedef uint32_t row_words __attribute__((vector_size(32)));
typedef uint64_t row_longs __attribute__((vector_size(32)));
typedef uint8_t half_bytes __attribute__((vector_size(16)));
typedef uint16_t half_halves __attribute__((vector_size(16)));
typedef uint32_t half_words __attribute__((vector_size(16)));

/* Where lanes begin, in bytes, in the four that are shuffled together. */
INLINE vec_bits
v_lane_starts(void)
{
    vec_bits at;

    UNROLL for (int i = 0; i < VEC; i++) at[i] = (uint32_t)(i % 4 * 4);
    return at;
}

/* For such a shuffle: of each lane byte i, nothing, byte j, nothing. */
INLINE vec_bits
v_two_bytes(int i, int j)
{
    return (v_lane_starts() * 0x10001 + (uint32_t)(i | j << 16)) | 0x80008000;
}

INLINE vec_bits
v_splat_bits(int32_t v)
{
    return (vec_bits){ 0 } + (uint32_t)v;
}

/* *p in each lane, which the compiler shall not compute with before. */
INLINE vec_bits
v_splat_at(const int32_t *p)
{
    vec_bits v = v_splat_bits(*p);

    IN_REGISTER(v);
    return v;
}

/* Two in each lane. */
INLINE vec_bits
v_splat_pair(const int16_t *p)
{
    vec_bits v = v_splat_bits(cpu_load_int32(AS(char, p)));

    IN_REGISTER(v);
    return v;
}

/* VEC rows, a stride apart: some pointers and the stride, so that registers
 * suffice for all of their addresses. */
struct rows {
    const char *fourth[VEC / 4]; /* rows 0, 4, 8, ... */
    size_t stride;
};

INLINE const char *
cpu_weight_row(const struct rows *r, int i)
{
    return r->fourth[i / 4] + (size_t)(i % 4) * r->stride;
}

INLINE struct rows
cpu_rows_from(const char *first, size_t stride)
{
    struct rows r = { .stride = stride };

    for (size_t i = 0; i < VEC / 4; i++)
        r.fourth[i] = first + 4 * i * stride;
    return r;
}

INLINE struct rows
cpu_weight_rows(const struct cpu_product *p, int64_t row)
{
    return cpu_rows_from(p->rows + (size_t)row * p->row_stride, p->row_stride);
}

INLINE void
cpu_rows_advance(struct rows *r, size_t size)
{
    UNROLL for (int i = 0; i < VEC / 4; i++) r->fourth[i] += size;
}

#endif
