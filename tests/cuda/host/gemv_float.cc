/* gemv_float.cc - for the host: see cuda/emulate.h */
#include "cuda/gemv_float.cu"
