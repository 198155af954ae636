/* caches.c - sizes of this machine's caches, which kernels choose by */
#include <config.h>

#include <unistd.h>

#include "cpu/kernels.h"

bool cpu_large_l1;
bool cpu_only_l2_large;

void
cpu_find_cache_sizes(void)
{
#ifdef _SC_LEVEL1_DCACHE_SIZE
    cpu_large_l1 = sysconf(_SC_LEVEL1_DCACHE_SIZE) >= 48 * 1024;
    cpu_only_l2_large =
        !cpu_large_l1 && sysconf(_SC_LEVEL2_CACHE_SIZE) >= 1024 * 1024;
#endif
}
