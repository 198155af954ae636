/* rope.cc - for the host: see cuda/emulate.h */
#include "cuda/rope.cu"
