/* unary.cc - for the host: see cuda/emulate.h */
#include "cuda/unary.cu"
