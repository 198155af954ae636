/* block_types.h - the types of weights that are multiplied as blocks of
 * integers
 *
 * All types of blocks: integers with a scale, and a minimum in some, over
 * groups of 16 or 32. */
#ifndef CPU_GEMM_BLOCK_TYPES_H
#define CPU_GEMM_BLOCK_TYPES_H

enum cpu_group_kind {
    CPU_MINIMA = 1,     /* groups have minima */
    CPU_INT_SCALES = 2, /* scales of groups of 16, and minima, are integers */
};

/* X(name, type, kind): those of blocks that refer to entries of codebooks;
 * whose groups have a scale each; minima, or integers as scales; codes of one
 * or two bits; and all. */
#define CPU_CODEBOOK_TYPES(X)                                                  \
    X(iq2_xxs, GGML_TYPE_IQ2_XXS, 0)                                           \
    X(iq2_xs, GGML_TYPE_IQ2_XS, CPU_INT_SCALES)                                \
    X(iq2_s, GGML_TYPE_IQ2_S, CPU_INT_SCALES)                                  \
    X(iq3_xxs, GGML_TYPE_IQ3_XXS, 0)                                           \
    X(iq3_s, GGML_TYPE_IQ3_S, 0)                                               \
    X(iq1_s, GGML_TYPE_IQ1_S, 0)                                               \
    X(iq1_m, GGML_TYPE_IQ1_M, CPU_INT_SCALES)
#define CPU_SCALED_TYPES(X)                                                    \
    X(q8_0, GGML_TYPE_Q8_0, 0)                                                 \
    X(q4_0, GGML_TYPE_Q4_0, 0)                                                 \
    X(q5_0, GGML_TYPE_Q5_0, 0)                                                 \
    X(iq4_nl, GGML_TYPE_IQ4_NL, 0)                                             \
    X(iq4_xs, GGML_TYPE_IQ4_XS, 0)                                             \
    X(mxfp4, GGML_TYPE_MXFP4, 0)                                               \
    X(nvfp4, GGML_TYPE_NVFP4, 0)
#define CPU_MINIMA_TYPES(X)                                                    \
    X(q4_1, GGML_TYPE_Q4_1, CPU_MINIMA)                                        \
    X(q5_1, GGML_TYPE_Q5_1, CPU_MINIMA)                                        \
    X(q2_k, GGML_TYPE_Q2_K, CPU_MINIMA | CPU_INT_SCALES)                       \
    X(q3_k, GGML_TYPE_Q3_K, CPU_INT_SCALES)                                    \
    X(q4_k, GGML_TYPE_Q4_K, CPU_MINIMA)                                        \
    X(q5_k, GGML_TYPE_Q5_K, CPU_MINIMA)                                        \
    X(q6_k, GGML_TYPE_Q6_K, CPU_INT_SCALES)
#define CPU_SMALL_TYPES(X)                                                     \
    X(tq1_0, GGML_TYPE_TQ1_0, 0)                                               \
    X(tq2_0, GGML_TYPE_TQ2_0, 0)                                               \
    X(q1_0, GGML_TYPE_Q1_0, 0)                                                 \
    X(q2_0, GGML_TYPE_Q2_0, 0)
#define CPU_GROUP_TYPES(X)                                                     \
    CPU_CODEBOOK_TYPES(X)                                                      \
    CPU_SCALED_TYPES(X)                                                        \
    CPU_MINIMA_TYPES(X)                                                        \
    CPU_SMALL_TYPES(X)

#endif
