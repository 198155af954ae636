/* filters.c - layouts of what encoders of pictures and sounds have: filters of
 * convolutions, and queries, keys and values in one matrix */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/hf/layout.h"

enum {
    CHANNELS = 3,
    FRAMES = 2,
};

static void
bad_filters(struct hf *h, const struct hf_conversion *g, const char *what)
{
    core_json_bad(&h->here, GG_ERR_FORMAT, "%s: %s", g->first->name, what);
}

static void
set_shape(struct hf_conversion *g, int64_t n0, int64_t n1, int64_t n2,
          int64_t n3)
{
    g->ne[0] = n0;
    g->ne[1] = n1;
    g->ne[2] = n2;
    g->ne[3] = n3;
}

/* n_blocks x n_rows rows of `length` values, which stand together. */
static void
set_rows(struct hf_conversion *g, int64_t n_blocks, int64_t n_rows,
         int64_t length)
{
    struct hf_rows *r = &g->rows;

    r->step = 1;
    r->n_blocks = n_blocks;
    r->n_rows = n_rows;
    r->length = length;
    r->row = (size_t)length;
    r->block = (size_t)(n_rows * length);
}

/* n x channels x height x width, as they are; or those of one frame. */
static void
lay_out_convolution(struct hf *h, struct hf_conversion *g, int frame)
{
    const struct safetensors_tensor *t = g->first;
    const int64_t *s = t->shape, *side = s + (frame < 0 ? 2 : 3);

    if (t->n_dims != (frame < 0 ? 4 : 5)) {
        bad_filters(h, g, "has not the shape of filters");
        return;
    }
    if (frame >= 0 && s[2] != FRAMES) {
        bad_filters(h, g, "its filters are not over two frames");
        return;
    }
    set_rows(g, s[0] * s[1], side[0], side[1]);
    if (frame >= 0) {
        g->rows.first = (size_t)frame * g->rows.block;
        g->rows.block *= FRAMES;
    }
    set_shape(g, side[1], side[0], s[1], s[0]);
}

/* A row is a square of pixels. */
static void
lay_out_pixels(struct hf *h, struct hf_conversion *g)
{
    const struct safetensors_tensor *t = g->first;
    int64_t area = t->n_dims == 2 ? t->shape[1] / CHANNELS : 0, side = 0;

    while (side * side < area && side < 1 << 10)
        side++;
    if (area == 0 || side * side != area || t->shape[1] != area * CHANNELS) {
        bad_filters(h, g, "its rows are no squares of pixels");
        return;
    }
    set_rows(g, t->shape[0], CHANNELS, area);
    g->rows.step = CHANNELS;
    g->rows.row = 1;
    set_shape(g, side, side, CHANNELS, t->shape[0]);
}

static void
lay_out_third(struct hf *h, struct hf_conversion *g, int third)
{
    const struct safetensors_tensor *t = g->first;
    int64_t n = t->n_dims > 0 ? t->shape[0] / 3 : 0;

    if (t->n_dims < 1 || t->n_dims > 2 || n < 1 || t->shape[0] != 3 * n) {
        bad_filters(h, g, "is not queries, keys and values in one");
        return;
    }
    if (t->n_dims == 1) {
        set_rows(g, 1, 1, n);
        set_shape(g, n, 1, 1, 1);
    } else {
        set_rows(g, 1, n, t->shape[1]);
        set_shape(g, t->shape[1], n, 1, 1);
    }
    g->rows.first = (size_t)third * g->rows.block;
}

void
convert_hf_lay_out_filters(struct hf *h, struct hf_conversion *g)
{
    enum hf_layout is = (enum hf_layout)(g->how & HF_LAYOUT);

    if (g->first->n == 0) {
        bad_filters(h, g, "is empty");
    } else if (is >= HF_THIRD_1 && is <= HF_THIRD_3) {
        lay_out_third(h, g, (int)is - HF_THIRD_1);
    } else if (g->first->n_dims <= 1) {
        set_rows(g, 1, 1, (int64_t)g->first->n);
        set_shape(g, (int64_t)g->first->n, 1, 1, 1);
    } else if (is == HF_PIXELS) {
        lay_out_pixels(h, g);
    } else {
        lay_out_convolution(h, g,
                            is == HF_FRAME_1   ? 0
                            : is == HF_FRAME_2 ? 1
                                               : -1);
    }
}

#endif
