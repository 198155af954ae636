/* softmax.cc - for the host: see cuda/emulate.h */
#include "cuda/softmax.cu"
