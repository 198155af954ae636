/* attention.cc - for the host: see cuda/emulate.h */
#include "cuda/attention.cu"
