/* out_prod.cc - for the host: see cuda/emulate.h */
#include "cuda/out_prod.cu"
