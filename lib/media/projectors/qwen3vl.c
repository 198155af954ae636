/* qwen3vl.c - Qwen3-VL, and Qwen 3.5 and later (Qwen team 2025)
 *
 * x = embed(patches) + positions, resampled to the image; layers, which turn
 * heads by the places of patches; rows = down(gelu(up(join(norm(x))))). After
 * some layers (deepstack) a projector of its own makes rows that are added
 * after the model's first layers.
 */
#include <stdio.h>

#include "media/graph.h"
#include "media/plan.h"

static const char *const keys[] = { "spatial_merge_size", "is_deepstack_layers",
                                    "image_min_pixels", "image_max_pixels",
                                    NULL };

static void
read_deepstack(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;

    if (!graph_key_exists(&l->keys, "is_deepstack_layers"))
        return;
    l->keys.n_layer = l->e->model->hp.n_layer;
    if (!graph_keys_layer_flags(&l->keys, "is_deepstack_layers", hp->deepens,
                                sizeof(bool)))
        graph_key_refuse(&l->keys, GG_ERR_FORMAT, "is_deepstack_layers",
                         "no array with a value for each layer");
    for (int32_t i = 0; i < l->keys.n_layer; i++)
        hp->n_deeper += hp->deepens[i];
    l->keys.n_layer = 0;
    if (hp->n_deeper > MEDIA_MAX_DEEPER)
        graph_key_refuse(&l->keys, GG_ERR_UNSUPPORTED, "is_deepstack_layers",
                         "%d layers give rows, more than %d", (int)hp->n_deeper,
                         MEDIA_MAX_DEEPER);
}

static void
hparams(struct media_loader *l)
{
    media_read_merge(l, "spatial_merge_size", 2);
    media_check_heads(l, 4);
    media_read_bounds(l, 8, 4096);
    read_deepstack(l);
}

static void
find_deepstack(struct media_loader *l, int32_t layer)
{
    struct media_layer *d = &l->e->layers[layer];
    int64_t n =
        (int64_t)l->e->model->hp.n_embd * l->e->hp.merge * l->e->hp.merge;
    char name[64];

    snprintf(name, sizeof(name), "v.deepstack.%d.norm", (int)layer);
    d->deep_norm = graph_find_norm(&l->l, name, n, MODEL_REQUIRED);
    snprintf(name, sizeof(name), "v.deepstack.%d.fc1", (int)layer);
    d->deep_up = graph_find_linear(&l->l, name, n, n, MODEL_REQUIRED);
    snprintf(name, sizeof(name), "v.deepstack.%d.fc2", (int)layer);
    d->deep_down =
        graph_find_linear(&l->l, name, n, l->e->hp.width, MODEL_REQUIRED);
}

static void
weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd, joined = n * e->hp.merge * e->hp.merge;

    media_find_patches(l, true, true);
    media_find_positions(l, 0, 1);
    media_find_layers(l, MEDIA_FUSED | MEDIA_BIASED | MEDIA_NORM_BIAS);
    e->post_norm = graph_find_norm(&l->l, "v.post_ln", n, MODEL_REQUIRED);
    for (int32_t i = 0; i < e->model->hp.n_layer; i++)
        if (e->hp.deepens[i])
            find_deepstack(l, i);
    e->linears[0] =
        graph_find_linear(&l->l, "mm.0", joined, joined, MODEL_REQUIRED);
    e->linears[1] =
        graph_find_linear(&l->l, "mm.2", joined, e->hp.width, MODEL_REQUIRED);
}

static void
plan(struct media_planner *p)
{
    media_plan_rounded(p, "<|vision_start|>", "<|vision_end|>");
}

static void
deepen(struct media_graph *m, int32_t layer, struct ggml_tensor *x)
{
    const struct media_layer *d = &m->e->layers[layer];

    if (!m->e->hp.deepens[layer])
        return;
    x = graph_norm(&m->g, media_join(m, x, m->e->hp.merge), &d->deep_norm);
    m->deeper[m->n_deeper++] =
        media_mlp(m, x, &d->deep_up, &d->deep_down, MODEL_GELU_ERF);
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x;

    media_order_squares(m, e->hp.merge);
    x = ggml_add(m->g.ctx, media_embed(m), media_positions(m, MEDIA_CORNERS));
    x = media_vit(
        m, x,
        &(struct media_vit){ .turn = media_turn_sections, .after = deepen });
    x = media_join(m, graph_norm(&m->g, x, &e->post_norm), e->hp.merge);
    return media_mlp(m, x, &e->linears[0], &e->linears[1], MODEL_GELU_ERF);
}

const struct media_type media_projector_qwen3vl[] = {
    { .name = "qwen3vl_merger",
      .kind = GG_MEDIA_IMAGE,
      .sections = true,
      .keys = keys,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { 0 },
};
