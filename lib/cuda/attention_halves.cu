/* attention_halves.cu - caches of keys and values as the F16s that tensor cores
 * want */
#include "cuda/attention.h"
#include "cuda/open.h"

#define CONVERTED ((int64_t)128 << 20) /* bytes of keys, of values */

/* What is too large for an F16 becomes its largest. */
KERNEL
halve(struct view y, struct view x, int64_t n)
{
    take_turn();
    EACH_ELEMENT(y, c, i, n)
    {
        float v = load_element(&x, row_data(&x, c.row), i);

        if (v == v)
            v = fminf(fmaxf(v, -65504), 65504);
        store_element(&y, row_data(&y, c.row), i, v);
    }
}

bool
cuda_are_halves(const struct view *x)
{
    return x->type == GGML_TYPE_F16 && is_whole(x);
}

bool
cuda_can_be_halves(const struct view *x)
{
    int64_t size = x->ne[0] * x->ne[1] * x->ne[2] * x->ne[3] * 2;

    return cuda_are_halves(x) ||
           (size <= CONVERTED &&
            (x->type == GGML_TYPE_F16 || x->type == GGML_TYPE_BF16 ||
             x->type == GGML_TYPE_Q8_0));
}

bool
cuda_make_halves(struct cuda_ctx *c, struct view *x)
{
    struct view y = *x;
    int64_t rows = x->ne[1] * x->ne[2] * x->ne[3], size = sizeof(uint16_t);
    int64_t n = rows * cuda_pieces(x->ne[0], CHUNK);

    if (cuda_are_halves(x))
        return true;
    y.type = GGML_TYPE_F16;
    y.data = (char *)cuda_scratch(c, (size_t)(rows * x->ne[0] * size));
    if (!y.data)
        return false;
    for (int i = 0; i < 4; i++) {
        y.nb[i] = size;
        size *= y.ne[i];
    }
    if (x->type == GGML_TYPE_Q8_0)
        cuda_open_rows(c, &y, x, NULL);
    else
        LAUNCH(halve, shape_of(n, CUDA_THREADS), c, y, *x, n);
    *x = y;
    return true;
}
