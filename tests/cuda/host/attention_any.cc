/* attention_any.cc - for the host: see cuda/emulate.h */
#include "cuda/attention_any.cu"
