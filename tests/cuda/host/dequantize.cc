/* dequantize.cc - for the host: see cuda/emulate.h */
#include "cuda/dequantize.cu"
