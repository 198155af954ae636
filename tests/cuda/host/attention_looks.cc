/* attention_looks.cc - for the host: see cuda/emulate.h */
#include "cuda/attention_looks.cu"
