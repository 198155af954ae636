/* quantize.cc - for the host: see cuda/emulate.h */
#include "cuda/quantize.cu"
