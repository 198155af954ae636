/* rotations.c - Hadamard's matrices: entries of one size, whose signs make rows
 * orthogonal */
#include "session/rotations.h"

#include <math.h>

#include "core/mem.h"

static void
new_rotation(struct cache_home *home, int64_t d)
{
    int i = graph_rotation_of(d);
    int64_t n = CACHE_ROTATED_LEAST << i;

    if (home->rotations[i])
        return;
    home->rotations[i] = ggml_new_tensor_2d(home->ctx, GGML_TYPE_F32, n, n);
    ggml_format_name(home->rotations[i], "cache_rotation.%d", (int)n);
}

void
session_rotations_new(struct cache *cache)
{
    for (int32_t i = 0; i < cache->n_all; i++) {
        const struct cache_layer *l = &cache->layers[i];

        for (int k = 0; k < CACHE_TENSORS; k++)
            if (l->t[k] && graph_is_rotated(cache, l, (enum cache_tensor)k))
                new_rotation(&cache->homes[l->home], l->t[k]->ne[0]);
    }
}

/* Sylvester's: the sign is that of the parity of the bits that row and column
 * have in common. */
static void
fill_rotation(float *m, uint32_t n)
{
    float size = (float)(1 / sqrt((double)n));

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            uint32_t parity = i & j;

            for (int by = 16; by; by /= 2)
                parity ^= parity >> by;
            *m++ = parity & 1 ? -size : size;
        }
}

bool
session_rotations_fill(const struct cache_home *home)
{
    for (int i = 0; i < CACHE_ROTATIONS; i++) {
        struct ggml_tensor *t = home->rotations[i];
        float *m = t ? mem_alloc(ggml_nbytes(t)) : NULL;

        if (t && !m)
            return false;
        if (t) {
            fill_rotation(m, (uint32_t)t->ne[0]);
            ggml_backend_tensor_set(t, m, 0, ggml_nbytes(t));
        }
        mem_free(m);
    }
    return true;
}
