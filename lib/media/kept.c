/* kept.c - which tensors of a projector file keep their values as they are */
#include <gg-media.h>

#include <string.h>

/* Parts of names: filters of convolutions, which read patches, pixels or
 * frames; tables of positions and single rows that are added or asked with;
 * norms. Gemma 3's projection is read by columns, which no block has. */
static const char *const kept[] = {
    "patch_embd",    "conv1d",    "conv2d",       "conv_dw",
    "position_embd", "pos_embed", "token_embd",   "class_embd",
    "norm",          "query",     "patch_merger", "mm.input_projection",
};

static bool
is_kept(const char *tensor)
{
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        if (strstr(tensor, kept[i]))
            return true;
    return false;
}

bool
gg_projector_quantizes(const char *tensor, const int64_t ne[4])
{
    static const char end[] = ".weight";
    size_t n = tensor ? strlen(tensor) : 0, m = sizeof(end) - 1;

    return n >= m && strcmp(tensor + n - m, end) == 0 && ne && ne[1] > 1 &&
           ne[2] == 1 && ne[3] == 1 && !is_kept(tensor);
}
