/* sort.cc - for the host: see cuda/emulate.h */
#include "cuda/sort.cu"
