/* packed_types.c - what tensors of packed weights become: blocks that hold
 * them, or floats */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/layout.h"
#include "convert/hf/packed.h"
#include "core/mem.h"

/* The types that take least memory come first. */
static const enum ggml_type block_types[] = {
    GGML_TYPE_MXFP4, GGML_TYPE_Q4_0, GGML_TYPE_NVFP4,
    GGML_TYPE_Q4_1,  GGML_TYPE_Q5_0, GGML_TYPE_Q8_0,
};

/* Whether values stay as they are and in their order along rows. */
static bool
rows_stay(const struct hf_conversion *g)
{
    const struct hf_rows *r = &g->rows;

    return !r->made && r->step == 1 && r->add == 0 && !r->decays &&
           !r->softplus && !convert_hf_is_scaled(r) && r->n_bands == 0 &&
           g->first->n_dims > 1 && !(g->how & (HF_F32 | HF_PLUS_1)) &&
           !strstr(g->name, ".bias");
}

/* Whether rows are made of whole blocks. */
static bool
blocks_fit(const struct hf_rows *r, size_t block)
{
    size_t length = (size_t)r->length;

    if (r->n_groups > 0)
        length /= (size_t)r->n_groups * (size_t)r->n_each;
    return length % block == 0 && r->first % block == 0 &&
           r->row % block == 0 && r->block % block == 0;
}

/* Whether a graph asks for the number that goes with such a tensor: those of
 * linear layers and experts do, not tables. */
static bool
takes_whole(const struct hf_conversion *g)
{
    enum hf_layout layout = (enum hf_layout)(g->how & HF_LAYOUT);
    const char *end = strstr(g->name, ".weight");

    return end && end[strlen(".weight")] == '\0' && layout != HF_LATENT_V &&
           layout != HF_VOCAB && layout != HF_POSITIONS &&
           (!strncmp(g->name, "blk.", 4) || !strcmp(g->name, "output.weight"));
}

static bool
parts_hold(const struct hf_conversion *g, enum ggml_type type)
{
    for (size_t i = 0; i < g->rows.n_from; i++) {
        const struct hf_packed *p = g->rows.from[i]->packed;

        if (!p || !convert_hf_packed_holds(p, type) ||
            (p->whole && !takes_whole(g)))
            return false;
    }
    return true;
}

enum ggml_type
convert_hf_blocks_of(const struct hf_conversion *g)
{
    if (!rows_stay(g))
        return GGML_TYPE_COUNT;
    for (size_t i = 0; i < sizeof(block_types) / sizeof(block_types[0]); i++)
        if (parts_hold(g, block_types[i]) &&
            blocks_fit(&g->rows, (size_t)ggml_blck_size(block_types[i])))
            return block_types[i];
    return GGML_TYPE_COUNT;
}

void
convert_hf_note_rounding(struct hf *h, const struct hf_conversion *g)
{
    const struct hf_packed *p;
    bool rounds = false;

    if (g->type == GGML_TYPE_F32)
        return; /* as products of floats are */
    for (size_t i = 0; i < g->rows.n_from && !rounds; i++) {
        p = g->rows.from[i]->packed;
        rounds = p && !convert_hf_packed_holds(p, g->type);
    }
    /* A number for the whole goes with blocks, and is multiplied in else. */
    for (size_t i = 0; i < g->rows.n_from && !rounds; i++)
        rounds = g->rows.from[i]->packed && !ggml_is_quantized(g->type) &&
                 g->rows.from[i]->packed->whole;
    if (!rounds)
        return;
    if (h->rounded.n++ == 0) {
        snprintf(h->rounded.first, sizeof(h->rounded.first), "%s", g->name);
        h->rounded.type = g->type;
    }
}

/* "blk.0.attn_q.weight" becomes "blk.0.attn_q.scale": one number, or one for
 * each expert. */
void
convert_hf_add_whole(struct hf *h, const struct hf_conversion *g)
{
    const struct hf_rows *r = &g->rows;
    int64_t n = g->ne[2] > 1 ? g->ne[2] : 1, ne[GGML_MAX_DIMS] = { n, 1, 1, 1 };
    struct hf_rows numbers = { .n_blocks = 1, .n_rows = 1, .length = n };
    char name[GGML_MAX_NAME];
    float *made;
    bool any = false;

    for (size_t i = 0; i < r->n_from; i++)
        any = any || (r->from[i]->packed && r->from[i]->packed->whole);
    if (!any || g->type != GGML_TYPE_NVFP4)
        return;
    snprintf(name, sizeof(name), "%.*s.scale",
             (int)(strlen(g->name) - strlen(".weight")), g->name);
    numbers.made = made = mem_array((size_t)n, sizeof(*made));
    if (!made) {
        h->here.status = error_nomem(h->here.err);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        made[i] = (float)convert_hf_packed_whole(
            r->from[r->n_from > 1 ? i : 0]->packed,
            r->n_from > 1 ? 0 : (size_t)i);
    convert_hf_add(h, name, GGML_TYPE_F32, ne, &numbers);
}

char *
convert_hf_packed_note(struct hf *h)
{
    char rounded[256] = "", text[512], *note;

    if (h->rounded.n)
        snprintf(rounded, sizeof(rounded),
                 "%zu tensors of quantised weights, such as %s, become %s, "
                 "which rounds their values",
                 h->rounded.n, h->rounded.first,
                 ggml_type_name(h->rounded.type));
    snprintf(text, sizeof(text), "%s%s%s", rounded,
             *rounded && h->cache_scales ? "; " : "",
             h->cache_scales ? "scales of a KV cache are left out" : "");
    if (!*text)
        return NULL;
    note = mem_strndup(text, strlen(text));
    if (!note)
        h->here.status = error_nomem(h->here.err);
    return note;
}

#endif
