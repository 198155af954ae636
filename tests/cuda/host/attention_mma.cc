/* attention_mma.cc - for the host: see cuda/emulate.h */
#include "cuda/attention_mma.cu"
