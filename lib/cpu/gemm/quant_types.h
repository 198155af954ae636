/* quant_types.h - how GEMV, small batches and GEMM with weights of each type
 * are made, for any vectors; see quant_products.h
 *
 * quant_types_scaled.h and its neighbours have the types themselves, so that a
 * file need not compile all of them. */
#ifndef CPU_GEMM_QUANT_TYPES_H
#define CPU_GEMM_QUANT_TYPES_H

#include "cpu/gemm/unpack_types.h"

/* Codes as GEMM multiplies them: whatever type they were unpacked from, one
 * function multiplies them. A type has
 *
 *     name_codes(f)             the format of the type f with such codes
 *     gemm_name                 its `gemm` */
#define CODES_OF(name, in_group, minima, below, largest, integers, odd)        \
    INLINE struct format name##_codes(struct format f)                         \
    {                                                                          \
        f.group = in_group;                                                    \
        f.min = minima;                                                        \
        f.offset = below;                                                      \
        f.max_code = largest;                                                  \
        f.has_int_scales = integers;                                           \
        f.even = odd;                                                          \
        f.gemm = gemm_##name;                                                  \
        return f;                                                              \
    }
#define DEFINE_GEMM(name, in_group, minima, below, largest, integers, odd)     \
    static void gemm_##name(const struct cpu_product *p,                       \
                            const struct format *f);                           \
    CODES_OF(name, in_group, minima, below, largest, integers, odd)            \
    NOINLINE void gemm_##name(const struct cpu_product *p,                     \
                              const struct format *f)                          \
    {                                                                          \
        cpu_gemm_rows(p, name##_codes(*f));                                    \
    }

/* A type: values of a block, units that are unpacked together, which scales,
 * and and the columns of a small batch. */
#define MULTIPLY(name, values, codes, units, how, most)                        \
    enum {                                                                     \
        small_batch_##name = most                                              \
    };                                                                         \
    INLINE struct format format_##name(void)                                   \
    {                                                                          \
        return codes##_codes(                                                  \
            (struct format){ .block = values,                                  \
                             .size = sizeof(struct block_##name),              \
                             .chunk_units = units,                             \
                             how,                                              \
                             .load = cpu_load_##name,                          \
                             .code = cpu_code_##name,                          \
                             .small_batch = small_batch_##name });             \
    }                                                                          \
    UNPACK_AND_MULTIPLY(name)
#define UNPACK_AND_MULTIPLY(name)                                              \
    NOINLINE void unpack_blocks_##name(int64_t n, struct rows *r,              \
                                       const char **next, struct unpacked o)   \
    {                                                                          \
        cpu_unpack_blocks(format_##name(), n, r, next, o);                     \
    }                                                                          \
    static void multiply_##name(const struct cpu_product *p)                   \
    {                                                                          \
        struct format f = format_##name();                                     \
                                                                               \
        f.unpack = unpack_blocks_##name;                                       \
        cpu_multiply_quant(p, f);                                              \
    }
#define GEMV(way, name) FLOAT_SCALES(name), .gemv = way
#define QUADS(how)      how, .quads = true
#define CHUNK_LOOP(how) how, .chunk_loop = true
/* As GEMM multiplies codes where these are unpacked as registers suffice for:
 * of 32, where SMALL_BATCH is 8, of 16, where it is 4. */
#define SMALL_BATCH_OF(of_32, of_16)                                           \
    (SMALL_BATCH == 8 ? (of_32) : SMALL_BATCH == 4 ? (of_16) : 1)

#define FILL_TYPE(k, name, type)                                               \
    do {                                                                       \
        (k)->mul_mat[type].multiply = multiply_##name;                         \
        (k)->mul_mat[type].rows_at_once = VEC;                                 \
        (k)->mul_mat[type].prefetch_distance = PREFETCH_DISTANCE;              \
        (k)->mul_mat[type].small_batch = small_batch_##name;                   \
        (k)->mul_mat[type].scratch_size = NULL;                                \
    } while (0)

/* How columns are prepared for all types. */
INLINE void
cpu_fill_prepare(struct cpu_kernels *k,
                 void (*prepare)(const float *x, void *column, int64_t k))
{
#define FILL(name, type, kind) k->mul_mat[type].prepare = prepare;
    CPU_GROUP_TYPES(FILL)
#undef FILL
}

#endif
