/* attention_f16.cc - for the host: see cuda/emulate.h */
#include "cuda/attention_f16.cu"
