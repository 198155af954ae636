/* attention_tiles.cc - for the host: see cuda/emulate.h */
#include "cuda/attention_tiles.cu"
