/* multiply_tiles.cc - for the host: see cuda/emulate.h */
#include "cuda/multiply_tiles.cu"
