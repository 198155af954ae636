/* product.c - the precision of a product */
#include "graph/arch.h"

struct ggml_tensor *
graph_product(struct graph *g, struct ggml_tensor *product)
{
    if (g->bf16)
        ggml_mul_mat_set_prec(product, GGML_PREC_BF16);
    return product;
}
