/* attention_decode.cc - for the host: see cuda/emulate.h */
#include "cuda/attention_decode.cu"
