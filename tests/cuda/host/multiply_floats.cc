/* multiply_floats.cc - for the host: see cuda/emulate.h */
#include "cuda/multiply_floats.cu"
