/* norm.cc - for the host: see cuda/emulate.h */
#include "cuda/norm.cu"
