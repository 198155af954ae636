/* fit_loops.c - the loops of fits, for each set of instructions */
#include "quant/fit_loops_table.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "quant/format.h"
#include "quant/iq.h"

typedef float floats __attribute__((vector_size(32)));
typedef int32_t ints __attribute__((vector_size(32)));

typedef float four_floats __attribute__((vector_size(16)));
typedef int8_t bytes __attribute__((vector_size(8)));

/* Macros: vectors are no arguments where the instructions may differ. */
#define splat(x) ((floats){ 0 } + (x))
#define choose(where, a, b)                                                    \
    ((floats)(((ints)(a) & (where)) | ((ints)(b) & ~(where))))
#define magnitude(v) ((floats)((ints)(v) & ((ints){ 0 } + INT32_MAX)))
#define store_bytes(p, v)                                                      \
    do {                                                                       \
        bytes b_ = __builtin_convertvector(v, bytes);                          \
        memcpy((p), &b_, sizeof(b_));                                          \
    } while (0)
#define load(p)                                                                \
    __extension__({                                                            \
        floats v_;                                                             \
        memcpy(&v_, (p), sizeof(v_));                                          \
        v_;                                                                    \
    })

/* Bits of the lanes that a comparison is true in. */
static inline unsigned
mask_of_any(const ints *where)
{
    unsigned mask = 0;

    for (int i = 0; i < 8; i++)
        mask |= (unsigned)((*where)[i] & 1) << i;
    return mask;
}

#define LOOP(name) name##_any
#include "quant/fit_loops_set.h"
#undef LOOP

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("avx2")
static inline unsigned
mask_of_avx2(const ints *where)
{
    return (unsigned)__builtin_ia32_movmskps256((floats)*where);
}

#define LOOP(name) name##_avx2
#include "quant/fit_loops_set.h"
#undef LOOP
#pragma GCC pop_options

const struct quant_fit_loops *
quant_fit_loops(void)
{
    return __builtin_cpu_supports("avx2") ? &loops_avx2 : &loops_any;
}
#else
const struct quant_fit_loops *
quant_fit_loops(void)
{
    return &loops_any;
}
#endif

const struct quant_fit_loops *
quant_fit_loops_reference(void)
{
    return &loops_any;
}
