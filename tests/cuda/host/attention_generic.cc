/* attention_generic.cc - for the host: see cuda/emulate.h */
#include "cuda/attention_generic.cu"
