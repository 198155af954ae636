/* attention_halves.cc - for the host: see cuda/emulate.h */
#include "cuda/attention_halves.cu"
