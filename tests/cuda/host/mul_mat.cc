/* mul_mat.cc - for the host: see cuda/emulate.h */
#include "cuda/mul_mat.cu"
