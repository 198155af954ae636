/* gemm_mma.cc - for the host: see cuda/emulate.h */
#include "cuda/gemm_mma.cu"
