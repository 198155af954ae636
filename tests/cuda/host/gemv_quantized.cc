/* gemv_quantized.cc - for the host: see cuda/emulate.h */
#include "cuda/gemv_quantized.cu"
