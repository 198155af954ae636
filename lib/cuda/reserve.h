/* reserve.h - memory for NVIDIA's run-time while the module is loaded */
#ifndef CUDA_RESERVE_H
#define CUDA_RESERVE_H

#include <stdbool.h>

/* The module is loaded: from now on an allocation that fails does so. Returns
 * whether one did before, and the reserve was used; then all that was allocated
 * works, but there is no memory to go on with. */
bool
cuda_reserve_end(void);

#endif
