/* copy.cc - for the host: see cuda/emulate.h */
#include "cuda/copy.cu"
