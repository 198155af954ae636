/* sums.cc - for the host: see cuda/emulate.h */
#include "cuda/sums.cu"
