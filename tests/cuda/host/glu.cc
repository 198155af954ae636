/* glu.cc - for the host: see cuda/emulate.h */
#include "cuda/glu.cu"
