/* multiply.cc - for the host: see cuda/emulate.h */
#include "cuda/multiply.cu"
