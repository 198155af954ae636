/* find.c - tensors of encoders, by name and shape */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "media/projector.h"

/* ---- layers -------------------------------------------------------------- */

/* A linear map with a bias or, so that nothing is read by halves, without. */
static struct model_linear
find_map(struct media_loader *l, const char *name, int64_t n_in, int64_t n_out,
         bool biased)
{
    if (biased)
        return graph_find_linear(&l->l, name, n_in, n_out, MODEL_REQUIRED);
    return (struct model_linear){
        .weight = graph_find_matrix(&l->l, name, n_in, n_out, MODEL_REQUIRED),
        .scale = 1,
    };
}

/* NAME.WHAT, one number; false: the file has none such. */
static bool
find_bound(struct media_loader *l, const char *name, const char *what,
           float *out)
{
    char full[GGML_MAX_NAME];
    const struct gguf_tensor *t;

    snprintf(full, sizeof(full), "%sblk.%d%s.%s", l->e->model->arch->stack,
             (int)l->l.layer, name, what);
    t = gguf_tensor_named(l->l.gguf, full);
    if (!t || l->l.status != GG_OK)
        return false;
    if (t->type != GGML_TYPE_F32 || t->ne[0] != 1 || t->ne[1] != 1 ||
        t->ne[2] != 1 || t->ne[3] != 1) {
        l->l.status =
            gguf_bad_value(l->l.gguf, full, l->l.err, "no single f32 number");
        return false;
    }
    memcpy(out, t->data, sizeof(*out));
    l->l.taken[gguf_find_tensor(l->l.gguf, full)] = true;
    return true;
}

/* All four, or none. */
void
media_find_bounds(struct media_loader *l, const char *name,
                  struct model_linear *linear)
{
    static const char *const whats[4] = { "input_min", "input_max",
                                          "output_min", "output_max" };
    float(*b)[4] = &l->e->bounds[l->e->n_bounds];
    int n = 0;

    if (!linear->weight)
        return;
    for (int i = 0; i < 4; i++)
        n += find_bound(l, name, whats[i], &(*b)[i]);
    if (l->l.status != GG_OK || n == 0)
        return;
    if (n < 4 || !((*b)[0] <= (*b)[1] && (*b)[2] <= (*b)[3])) {
        l->l.status = gguf_bad_value(l->l.gguf, linear->weight->name, l->l.err,
                                     "its bounds are no two intervals");
        return;
    }
    linear->bounds = *b;
    l->e->n_bounds++;
}

static struct model_norm
find_norm(struct media_loader *l, const char *name, int64_t n, unsigned parts)
{
    return (struct model_norm){
        graph_find_vector(&l->l, name, n, MODEL_REQUIRED),
        parts & MEDIA_NORM_BIAS
            ? graph_find_bias(&l->l, name, n, MODEL_REQUIRED)
            : NULL,
    };
}

static void
find_attention(struct media_loader *l, struct model_layer *layer,
               unsigned parts)
{
    int64_t e = l->e->model->hp.n_embd;
    int64_t d = parts & MEDIA_WHOLE_NORMS ? e : layer->hp->d_key;
    bool biased = parts & MEDIA_BIASED && !(parts & MEDIA_QKV_UNBIASED);

    if (parts & MEDIA_FUSED) {
        layer->attn_qkv = find_map(l, ".attn_qkv", e, 3 * e, biased);
    } else {
        layer->attn_q = find_map(l, ".attn_q", e, e, biased);
        layer->attn_k = find_map(l, ".attn_k", e, e,
                                 biased && !(parts & MEDIA_KEY_UNBIASED));
        layer->attn_v = find_map(l, ".attn_v", e, e, biased);
    }
    if (parts & (MEDIA_HEAD_NORMS | MEDIA_WHOLE_NORMS)) {
        layer->attn_q_norm = find_norm(l, ".attn_q_norm", d, 0);
        layer->attn_k_norm = find_norm(l, ".attn_k_norm", d, 0);
    }
    layer->attn_output = find_map(l, ".attn_out", e, e, parts & MEDIA_BIASED);
}

/* Old converters have the names of the two maps the other way round. */
static bool
is_swapped(const struct media_loader *l, int64_t n_embd, int64_t n_ff)
{
    const struct gguf_tensor *t = graph_peek(&l->l, ".ffn_up");

    return t && n_embd != n_ff && t->ne[0] == n_ff && t->ne[1] == n_embd;
}

static void
find_feed_forward(struct media_loader *l, struct model_layer *layer,
                  unsigned parts)
{
    int64_t e = l->e->model->hp.n_embd, f = layer->hp->n_ff;
    bool swapped = is_swapped(l, e, f), biased = parts & MEDIA_BIASED;

    if (parts & MEDIA_GATED)
        layer->ffn_gate = find_map(l, ".ffn_gate", e, f, biased);
    layer->ffn_up =
        find_map(l, swapped ? ".ffn_down" : ".ffn_up", e, f, biased);
    layer->ffn_down =
        find_map(l, swapped ? ".ffn_up" : ".ffn_down", f, e, biased);
}

static void
find_layer(struct media_loader *l, struct model_layer *layer,
           struct media_layer *own, unsigned parts)
{
    int64_t e = l->e->model->hp.n_embd;

    layer->attn_norm = find_norm(l, ".ln1", e, parts);
    find_attention(l, layer, parts);
    layer->ffn_norm = find_norm(l, ".ln2", e, parts);
    find_feed_forward(l, layer, parts);
    if (parts & MEDIA_LAYER_SCALE) {
        own->attn_scale = graph_find_vector(&l->l, ".ls1", e, MODEL_REQUIRED);
        own->ffn_scale = graph_find_vector(&l->l, ".ls2", e, MODEL_REQUIRED);
    }
    if (parts & MEDIA_POST_NORMS) {
        layer->attn_post_norm = find_norm(l, ".attn_post_norm", e, 0);
        layer->ffn_post_norm = find_norm(l, ".ffn_post_norm", e, 0);
    }
}

enum {
    BOUNDED = 10, /* linear maps of a layer that may have bounds */
};

bool
media_room_for_bounds(struct media_loader *l)
{
    l->e->bounds = mem_array((size_t)l->e->model->hp.n_layer + 1,
                             BOUNDED * sizeof(*l->e->bounds));
    return l->e->bounds != NULL;
}

static void
find_layer_bounds(struct media_loader *l, struct model_layer *layer)
{
    media_find_bounds(l, ".attn_q", &layer->attn_q);
    media_find_bounds(l, ".attn_k", &layer->attn_k);
    media_find_bounds(l, ".attn_v", &layer->attn_v);
    media_find_bounds(l, ".attn_out", &layer->attn_output);
    media_find_bounds(l, ".ffn_gate", &layer->ffn_gate);
    media_find_bounds(l, ".ffn_up", &layer->ffn_up);
    media_find_bounds(l, ".ffn_down", &layer->ffn_down);
}

void
media_find_layers(struct media_loader *l, unsigned parts)
{
    struct model *m = l->e->model;

    if (parts & MEDIA_BOUNDS && !media_room_for_bounds(l)) {
        l->l.status = error_nomem(l->l.err);
        return;
    }

    for (int32_t i = 0; i < m->hp.n_layer && l->l.status == GG_OK; i++) {
        l->l.layer = i;
        l->l.hp = m->layers[i].hp;
        find_layer(l, &m->layers[i], &l->e->layers[i], parts);
        if (parts & MEDIA_BOUNDS && l->l.status == GG_OK)
            find_layer_bounds(l, &m->layers[i]);
    }
}

/* ---- before them --------------------------------------------------------- */

void
media_find_patches(struct media_loader *l, bool two, bool biased)
{
    int64_t n_embd = l->e->model->hp.n_embd, p = l->e->hp.patch;
    int64_t ne[GGML_MAX_DIMS] = { p, p, MEDIA_CHANNELS, n_embd };

    l->e->patch = graph_find_filters(&l->l, "v.patch_embd.weight", ne);
    if (two)
        l->e->patch_2 = graph_find_filters(&l->l, "v.patch_embd.weight.1", ne);
    if (biased)
        l->e->patch_bias =
            graph_find_bias(&l->l, "v.patch_embd", n_embd, MODEL_REQUIRED);
}

/* Rows that are resampled are those of a square. */
static bool
is_square(int64_t n)
{
    int64_t side = lrint(sqrt((double)n));

    return side * side == n;
}

/* The tensor's values as floats, wherever the encoder is computed. */
static void
read_table(struct media_loader *l, const struct gguf_tensor *t,
           struct media_table *out)
{
    ggml_to_float_t convert = ggml_get_type_traits(t->type)->to_float;

    *out = (struct media_table){ .width = t->ne[0], .n = t->ne[1] * t->ne[2] };
    out->x = mem_array((size_t)(out->width * out->n), sizeof(float));
    if (!out->x)
        l->l.status = error_nomem(l->l.err);
    else if (t->type == GGML_TYPE_F32)
        memcpy(out->x, t->data, t->size);
    else
        convert(t->data, out->x, out->width * out->n);
}

void
media_find_positions(struct media_loader *l, int64_t n, int64_t tables)
{
    const char *name = l->e->type->kind == GG_MEDIA_IMAGE
                           ? "v.position_embd.weight"
                           : "a.position_embd.weight";
    int64_t n_embd = l->e->model->hp.n_embd;
    const struct gguf_tensor *t;

    if (l->l.status != GG_OK)
        return;
    t = gguf_tensor_named(l->l.gguf, name);
    if (!t)
        l->l.status = gguf_bad_value(l->l.gguf, name, l->l.err,
                                     "the file has no such tensor");
    else if (t->ne[1] == 0 || t->ne[1] > MEDIA_MAX_PATCHES)
        l->l.status = gguf_bad_value(l->l.gguf, name, l->l.err,
                                     "%lld rows are not in 1..%d",
                                     (long long)t->ne[1], MEDIA_MAX_PATCHES);
    else if (n == 0 && tables == 1 && l->e->type->kind == GG_MEDIA_IMAGE &&
             !is_square(t->ne[1]))
        l->l.status =
            gguf_bad_value(l->l.gguf, name, l->l.err, "%lld rows are no square",
                           (long long)t->ne[1]);
    if (l->l.status != GG_OK)
        return;
    t = graph_find_all_on_host(&l->l, name, n_embd, n ? n : t->ne[1], tables);
    if (t)
        read_table(l, t, &l->e->positions);
}

void
media_find_square_positions(struct media_loader *l)
{
    static const char name[] = "v.position_embd.weight";
    const struct gguf_tensor *t;

    if (l->l.status != GG_OK)
        return;
    t = gguf_tensor_named(l->l.gguf, name);
    if (!t || t->ne[1] == 0 || t->ne[1] != t->ne[2] ||
        t->ne[1] > MEDIA_MAX_PATCHES / t->ne[1]) {
        l->l.status = gguf_bad_value(l->l.gguf, name, l->l.err,
                                     "there is no square of positions");
        return;
    }
    t = graph_find_all_on_host(&l->l, name, l->e->model->hp.n_embd, t->ne[1],
                               t->ne[2]);
    if (t)
        read_table(l, t, &l->e->positions);
}

int64_t
media_peek(struct media_loader *l, const char *name, int dim)
{
    const struct gguf_tensor *t = gguf_tensor_named(l->l.gguf, name);

    if (t && t->ne[dim] > 0)
        return t->ne[dim];
    if (l->l.status == GG_OK && l->keys.status == GG_OK)
        l->l.status = l->keys.status = gguf_bad_value(
            l->l.gguf, name, l->l.err, "the file has no such tensor");
    return 1;
}

void
media_pass_over(struct media_loader *l, const char *name)
{
    int64_t i = gguf_find_tensor(l->l.gguf, name);

    if (i >= 0)
        l->l.taken[i] = true;
}
