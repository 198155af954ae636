/* recurrence.cc - for the host: see cuda/emulate.h */
#include "cuda/recurrence.cu"
