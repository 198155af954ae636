/* binary.cc - for the host: see cuda/emulate.h */
#include "cuda/binary.cu"
