/* vnni_avx512.c - the kernels of AVX-VNNI with the same instructions as AVX-512
 * has them, so that they are tried where only that is here, too */
#define cpu_fill_avxvnni              fill_vnni_avx512
#define cpu_avxvnni_minima_products   vnni_avx512_minima_products
#define cpu_avxvnni_codebook_products vnni_avx512_codebook_products
#include "cpu/x86/quant_avxvnni.c"
#include "cpu/x86/quant_avxvnni_minima.c"
#include "cpu/x86/quant_avxvnni_codebook.c"
