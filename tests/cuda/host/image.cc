/* image.cc - for the host: see cuda/emulate.h */
#include "cuda/image.cu"
