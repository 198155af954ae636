/* simd.h - what the kernels of all instruction sets share */
#ifndef CPU_SIMD_H
#define CPU_SIMD_H

#include <string.h>

#include "cpu/kernels.h"

/* Loops over the registers of a tile must be gone after compiling; but not
 * where sanitizers have changed them so much that gcc warns of what it cannot
 * unroll. */
#ifdef __SANITIZE_ADDRESS__
#define UNROLL
#elif defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
/* A loop whose body needs all registers. */
#ifdef __clang__
#define ROLLED _Pragma("clang loop unroll(disable)")
#else
#define ROLLED _Pragma("GCC unroll 1")
#endif
/* A function that callers share, though they all pass constants. */
#ifdef __clang__
#define NOINLINE static __attribute__((noinline))
#else
#define NOINLINE static __attribute__((noipa))
#endif
/* Code after this that uses the pointer is not moved before the vector is
 * there; the vector is made, not computed with in another form. */
#ifdef __aarch64__
#define AFTER(pointer, vector) __asm__("" : "+r"(pointer) : "w"(vector))
#define IN_REGISTER(vector)    __asm__("" : "+w"(vector))
#else
#define AFTER(pointer, vector) __asm__("" : "+r"(pointer) : "v"(vector))
#define IN_REGISTER(vector)    __asm__("" : "+v"(vector))
#endif
#define INLINE       static inline __attribute__((always_inline))
#define AS(T, p)     ((const T *)(const void *)(p))
#define AS_OUT(T, p) ((T *)(void *)(p))

/* Four bytes of a block, wherever it lies. */
INLINE int32_t
cpu_load_int32(const char *p)
{
    int32_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

#endif
