/* opt_step.cc - for the host: see cuda/emulate.h */
#include "cuda/opt_step.cu"
