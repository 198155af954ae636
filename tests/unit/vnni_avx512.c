/* vnni_avx512.c - the kernels of AVX-VNNI with the same instructions as AVX-512
 * has them, so that they are tried where only that is here, too */
#define cpu_fill_avxvnni fill_vnni_avx512
#include "cpu/x86/groups_avxvnni.c"
