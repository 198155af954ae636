/* formats_list.h - the quantised types that kernels unpack */
#ifndef CUDA_FORMATS_LIST_H
#define CUDA_FORMATS_LIST_H

#include <ggml.h>

#define CUDA_FORMATS(X)                                                        \
    X(q4_0, GGML_TYPE_Q4_0)                                                    \
    X(q4_1, GGML_TYPE_Q4_1)                                                    \
    X(q5_0, GGML_TYPE_Q5_0)                                                    \
    X(q5_1, GGML_TYPE_Q5_1)                                                    \
    X(q8_0, GGML_TYPE_Q8_0)                                                    \
    X(q2_k, GGML_TYPE_Q2_K)                                                    \
    X(q3_k, GGML_TYPE_Q3_K)                                                    \
    X(q4_k, GGML_TYPE_Q4_K)                                                    \
    X(q5_k, GGML_TYPE_Q5_K)                                                    \
    X(q6_k, GGML_TYPE_Q6_K)                                                    \
    X(iq2_xxs, GGML_TYPE_IQ2_XXS)                                              \
    X(iq2_xs, GGML_TYPE_IQ2_XS)                                                \
    X(iq2_s, GGML_TYPE_IQ2_S)                                                  \
    X(iq3_xxs, GGML_TYPE_IQ3_XXS)                                              \
    X(iq3_s, GGML_TYPE_IQ3_S)                                                  \
    X(iq1_s, GGML_TYPE_IQ1_S)                                                  \
    X(iq1_m, GGML_TYPE_IQ1_M)                                                  \
    X(iq4_nl, GGML_TYPE_IQ4_NL)                                                \
    X(iq4_xs, GGML_TYPE_IQ4_XS)                                                \
    X(mxfp4, GGML_TYPE_MXFP4)                                                  \
    X(nvfp4, GGML_TYPE_NVFP4)                                                  \
    X(tq1_0, GGML_TYPE_TQ1_0)                                                  \
    X(tq2_0, GGML_TYPE_TQ2_0)                                                  \
    X(q1_0, GGML_TYPE_Q1_0)                                                    \
    X(q2_0, GGML_TYPE_Q2_0)

static inline bool
cuda_is_format(enum ggml_type type)
{
#define CUDA_IS(name, which)                                                   \
    if (type == which)                                                         \
        return true;
    CUDA_FORMATS(CUDA_IS)
#undef CUDA_IS
    return false;
}

#endif
