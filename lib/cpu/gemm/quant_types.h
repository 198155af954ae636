/* quant_types.h - how products with weights of each type are made, for any
 * vectors; see quant_products.h
 *
 * quant_types_scaled.h and its neighbours have the types themselves, so that a
 * file need not compile all of them. */
#ifndef CPU_GEMM_QUANT_TYPES_H
#define CPU_GEMM_QUANT_TYPES_H

#include "cpu/gemm/unpack_types.h"

/* Codes as many columns meet them: whatever type they were opened from, one
 * function multiplies them. A type has
 *
 *     name_codes(f)             the format of the type f with such codes
 *     many_name                 its `many` */
#define CODES_OF(name, in_group, minima, below, largest, integers, odd)        \
    INLINE struct format name##_codes(struct format f)                         \
    {                                                                          \
        f.group = in_group;                                                    \
        f.min = minima;                                                        \
        f.offset = below;                                                      \
        f.most = largest;                                                      \
        f.coded = integers;                                                    \
        f.even = odd;                                                          \
        f.many = many_##name;                                                  \
        return f;                                                              \
    }
#define MANY(name, in_group, minima, below, largest, integers, odd)            \
    static void many_##name(const struct cpu_product *p,                       \
                            const struct format *f);                           \
    CODES_OF(name, in_group, minima, below, largest, integers, odd)            \
    APART void many_##name(const struct cpu_product *p,                        \
                           const struct format *f)                             \
    {                                                                          \
        multiply_columns(p, name##_codes(*f));                                 \
    }

/* A type: values of a block, units that are opened together, which scales, and
 * as many columns as meet codes where these are opened. */
#define MULTIPLY(name, values, codes, abreast, how, most)                      \
    enum {                                                                     \
        few_##name = most                                                      \
    };                                                                         \
    INLINE struct format format_##name(void)                                   \
    {                                                                          \
        return codes##_codes(                                                  \
            (struct format){ .block = values,                                  \
                             .size = sizeof(struct block_##name),              \
                             .together = abreast,                              \
                             how,                                              \
                             .load = load_##name,                              \
                             .code = code_##name,                              \
                             .few = few_##name });                             \
    }                                                                          \
    OPEN_AND_MULTIPLY(name)
#define OPEN_AND_MULTIPLY(name)                                                \
    APART void open_blocks_##name(int64_t n, struct rows *r,                   \
                                  const char **next, struct opened o)          \
    {                                                                          \
        open_blocks(format_##name(), n, r, next, o);                           \
    }                                                                          \
    static void multiply_##name(const struct cpu_product *p)                   \
    {                                                                          \
        struct format f = format_##name();                                     \
                                                                               \
        f.open = open_blocks_##name;                                           \
        multiply(p, f);                                                        \
    }
#define ALONE(way, name) FLOATS(name), .alone = way
#define QUADS(how)       how, .quads = true
#define LOOPS(how)       how, .loops = true
/* As many columns meet codes where these are opened as registers suffice for:
 * of 32, where FEW is 8, of 16, where it is 4. */
#define FEW_OF(many, some) (FEW == 8 ? (many) : FEW == 4 ? (some) : 1)

#define FILL_TYPE(k, name, type)                                               \
    do {                                                                       \
        (k)->mul_mat[type].multiply = multiply_##name;                         \
        (k)->mul_mat[type].abreast = VEC;                                      \
        (k)->mul_mat[type].lead = FETCH_LEAD;                                  \
        (k)->mul_mat[type].few = few_##name;                                   \
        (k)->mul_mat[type].scratch_size = NULL;                                \
    } while (0)

/* How columns are prepared for all types. */
INLINE void
fill_prepare(struct cpu_kernels *k,
             void (*prepare)(const float *x, void *column, int64_t k))
{
#define FILL(name, type, kind) k->mul_mat[type].prepare = prepare;
    CPU_GROUP_TYPES(FILL)
#undef FILL
}

#endif
