/* attention_few.cc - for the host: see cuda/emulate.h */
#include "cuda/attention_few.cu"
