/* groups.h - the types of weights that are multiplied group by group
 *
 * All types of blocks: integers with a scale, and a minimum in some, over
 * groups of 16 or 32. */
#ifndef CPU_GROUPS_H
#define CPU_GROUPS_H

/* X(name, type, whether it has minima) */
#define CPU_GROUP_TYPES(X)                                                     \
    X(q8_0, GGML_TYPE_Q8_0, false)                                             \
    X(q4_0, GGML_TYPE_Q4_0, false)                                             \
    X(q4_1, GGML_TYPE_Q4_1, true)                                              \
    X(q5_0, GGML_TYPE_Q5_0, false)                                             \
    X(q5_1, GGML_TYPE_Q5_1, true)                                              \
    X(q2_k, GGML_TYPE_Q2_K, true)                                              \
    X(q3_k, GGML_TYPE_Q3_K, false)                                             \
    X(q4_k, GGML_TYPE_Q4_K, true)                                              \
    X(q5_k, GGML_TYPE_Q5_K, true)                                              \
    X(q6_k, GGML_TYPE_Q6_K, false)                                             \
    X(iq4_nl, GGML_TYPE_IQ4_NL, false)                                         \
    X(iq4_xs, GGML_TYPE_IQ4_XS, false)                                         \
    X(mxfp4, GGML_TYPE_MXFP4, false)                                           \
    X(iq2_xxs, GGML_TYPE_IQ2_XXS, false)                                       \
    X(iq2_xs, GGML_TYPE_IQ2_XS, false)                                         \
    X(iq2_s, GGML_TYPE_IQ2_S, false)                                           \
    X(iq3_xxs, GGML_TYPE_IQ3_XXS, false)                                       \
    X(iq3_s, GGML_TYPE_IQ3_S, false)                                           \
    X(iq1_s, GGML_TYPE_IQ1_S, false)                                           \
    X(iq1_m, GGML_TYPE_IQ1_M, false)                                           \
    X(tq1_0, GGML_TYPE_TQ1_0, false)                                           \
    X(tq2_0, GGML_TYPE_TQ2_0, false)                                           \
    X(q1_0, GGML_TYPE_Q1_0, false)                                             \
    X(q2_0, GGML_TYPE_Q2_0, false)                                             \
    X(nvfp4, GGML_TYPE_NVFP4, false)

#endif
