/* gradient.cc - for the host: see cuda/emulate.h */
#include "cuda/gradient.cu"
