/* mask_blocks.cc - for the host: see cuda/emulate.h */
#include "cuda/mask_blocks.cu"
