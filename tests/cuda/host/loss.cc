/* loss.cc - for the host: see cuda/emulate.h */
#include "cuda/loss.cu"
