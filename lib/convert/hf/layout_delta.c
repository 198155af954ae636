/* layout_delta.c - layouts of latent attention and of delta rules */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/hf/layout_parts.h"

#include <stdlib.h>
#include <string.h>

/* Heads of the tensor's layer. */
static struct hf_latent
latent_heads(const struct hf *h, const struct hf_conversion *g)
{
    int32_t layer = strncmp(g->name, "blk.", 4) ? -1 : atoi(g->name + 4);

    if (h->latent_local.n_head > 0 && layer >= 0 &&
        convert_hf_is_windowed(h, layer, false))
        return h->latent_local;
    return (struct hf_latent){ h->n_head, h->d_own, h->d_value };
}

/* Rows of each head that make its key, whose columns they become, or those
 * of its value. */
void
convert_hf_take_latent(struct hf *h, struct hf_conversion *g)
{
    struct hf_latent x = latent_heads(h, g);
    struct hf_rows *r = &g->rows;
    bool keys = convert_hf_layout_of(g) == HF_LATENT_K;
    int64_t each = (int64_t)x.d_own + x.d_value;

    if (x.d_own < 1 || x.d_value < 1 || g->first->n_dims != 2 ||
        r->n_rows != each * x.n_head) {
        convert_hf_bad_tensor(h, g, "its rows are not those of the heads");
        return;
    }
    r->n_blocks = g->ne[2] = x.n_head;
    r->n_rows = g->ne[1] = keys ? x.d_own : x.d_value;
    r->block = (size_t)each * r->row;
    r->first = keys ? 0 : (size_t)x.d_own * r->row;
    if (keys)
        convert_hf_transpose_rows(g);
}

void
convert_hf_squeeze(struct hf *h, struct hf_conversion *g)
{
    struct hf_rows *r = &g->rows;

    if (g->first->n_dims == 1) {
        convert_hf_lay_out_column(g);
        return;
    }
    if (r->n_rows != 1) {
        convert_hf_bad_tensor(h, g, "has a shape that fits nothing");
        return;
    }
    r->n_rows = g->ne[1] = r->n_blocks;
    r->n_blocks = g->ne[2] = 1;
    r->block *= (size_t)r->n_rows;
}

/* A vector becomes a row for each group. */
void
convert_hf_part_groups(struct hf *h, struct hf_conversion *g)
{
    struct hf_rows *r = &g->rows;

    if (g->first->n_dims != 1)
        return;
    if (h->delta.n_key < 1 || r->length % h->delta.n_key) {
        convert_hf_bad_tensor(h, g, "its values are not those of the groups");
        return;
    }
    r->n_rows = g->ne[1] = h->delta.n_key;
    r->length = g->ne[0] = r->length / h->delta.n_key;
    r->row = (size_t)r->length;
}

/* Queries and keys stand in front of values, where there are any. */
void
convert_hf_tile_rows(struct hf *h, struct hf_conversion *g)
{
    struct hf_rows *r = &g->rows;
    int64_t v = (int64_t)h->delta.n_value * h->delta.d_value;
    int64_t qk = 2 * (int64_t)h->delta.n_key * h->delta.d_key;

    convert_hf_make_column(g);
    r->order = HF_TILED;
    r->n_head = h->delta.n_key;
    r->n_head_kv = h->delta.n_value / h->delta.n_key;
    r->kept = r->n_rows == qk + v ? qk : 0;
    if (r->n_blocks != 1 || (r->n_rows - r->kept) % h->delta.n_value)
        convert_hf_bad_tensor(h, g, "its rows are not those of the heads");
}

void
convert_hf_squeeze_tiled(struct hf *h, struct hf_conversion *g)
{
    convert_hf_squeeze(h, g);
    if (convert_hf_good(h))
        convert_hf_tile_rows(h, g);
}

void
convert_hf_tile_columns(struct hf *h, struct hf_conversion *g)
{
    struct hf_rows *r = &g->rows;

    r->n_groups = h->delta.n_key;
    r->n_each = h->delta.n_value / h->delta.n_key;
    if (r->length % h->delta.n_value)
        convert_hf_bad_tensor(h, g, "its columns are not those of the heads");
}

/* Queries, keys, values and gates stand group by group: the first three, or the
 * last. */
void
convert_hf_take_delta(struct hf *h, struct hf_conversion *g)
{
    struct hf_rows *r = &g->rows;
    int64_t groups = h->delta.n_key, d = h->delta.d_key;
    int64_t v = (int64_t)h->delta.n_value / groups * h->delta.d_value;

    if (g->first->n_dims != 2 || r->n_rows != groups * 2 * (d + v)) {
        convert_hf_bad_tensor(h, g, "its rows are not those of the heads");
        return;
    }
    if (convert_hf_layout_of(g) == HF_DELTA_QKV) {
        r->order = HF_FLAT;
        r->n_head = h->delta.n_key;
        r->kept = d;
        r->n_rows = g->ne[1] = groups * (2 * d + v);
        return;
    }
    r->block = (size_t)(2 * (d + v)) * r->row;
    r->first = (size_t)(2 * d + v) * r->row;
    r->n_blocks = groups;
    r->n_rows = v;
    g->ne[1] = groups * v;
}

/* A matrix has all mixes, or is one a mix. */
void
convert_hf_take_mixes(struct hf *h, struct hf_conversion *g)
{
    struct hf_rows *r = &g->rows;
    int n = g->first->n_dims;

    if (n < 2 || (n > 2 ? r->n_blocks : r->length) % HF_MIXED ||
        r->n_blocks > HF_MIXED) {
        convert_hf_bad_tensor(h, g, "is not made of five mixes");
        return;
    }
    convert_hf_transpose_rows(g);
    r->order = HF_SWAPPED;
}

#endif
