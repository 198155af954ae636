/* open.cc - for the host: see cuda/emulate.h */
#include "cuda/open.cu"
