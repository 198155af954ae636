/* reserve.h - an emergency allocator for NVIDIA's run-time at load time */
#ifndef CUDA_RESERVE_H
#define CUDA_RESERVE_H

#include <stdbool.h>

/* The module is loaded: from now on allocations can fail. Returns whether the
 * reserve was used, as one had failed before; what was allocated is valid then,
 * but there is no memory to go on with. */
bool
cuda_reserve_end(void);

#endif
