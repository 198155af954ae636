/* keys.c - hyper-parameters of a projector file, none believed unseen */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/escape.h"
#include "media/projector.h"

enum {
    MAX_EMBD = 1 << 16,
    MAX_FF = 1 << 18,
    MAX_HEADS = 1 << 10,
    MAX_PATCH = 256,
    MAX_MERGE = 16,
    MAX_MEL = 1 << 12,
    MAX_PIXELS = 1 << 28,
};

/* Keys that all files may have, after "clip". */
static const char *const general_keys[] = {
    "projector_type",
    "has_vision_encoder",
    "has_audio_encoder",
    "has_text_encoder",
    "has_llava_projector",
    "use_gelu",
    "use_silu",
    NULL,
};

/* And after "clip.vision" and "clip.audio". */
static const char *const kind_keys[] = {
    "projector_type",
    "embedding_length",
    "feed_forward_length",
    "block_count",
    "attention.head_count",
    "projection_dim",
    "attention.layer_norm_epsilon",
    NULL,
};

static const char *const image_keys[] = { "image_size", "patch_size",
                                          "image_mean", "image_std", NULL };
static const char *const sound_keys[] = { "num_mel_bins", NULL };

int32_t
media_key_int(struct media_loader *l, const char *name, int32_t min,
              int32_t max, int32_t other)
{
    struct model_keys general = l->keys;
    int32_t v;

    if (name[0] != '.')
        return graph_key_int(&l->keys, name, min, max, other);
    general.arch = "clip";
    v = graph_key_int(&general, name + 1, min, max, other);
    l->keys.status = general.status;
    return v;
}

static bool
clip_flag(struct media_loader *l, const char *name)
{
    struct model_keys general = l->keys;
    bool v;

    general.arch = "clip";
    v = graph_key_bool(&general, name, false);
    l->keys.status = general.status;
    return v;
}

static void
read_activation(struct media_loader *l)
{
    bool gelu = clip_flag(l, "use_gelu"), silu = clip_flag(l, "use_silu");

    l->e->model->hp.activation = gelu   ? MODEL_GELU
                                 : silu ? MODEL_SILU
                                        : MODEL_GELU_QUICK;
}

static void
read_layers(struct media_loader *l, int32_t min)
{
    struct model_hparams *hp = &l->e->model->hp;
    struct model_keys *k = &l->keys;
    int32_t n_head, n_ff;

    hp->n_layer =
        graph_key_int(k, "block_count", min, MODEL_MAX_LAYERS - 1, -1);
    n_head = graph_key_int(k, "attention.head_count", min, MAX_HEADS, -1);
    n_ff = graph_key_int(k, "feed_forward_length", min, MAX_FF, -1);
    if (k->status != GG_OK || hp->n_layer == 0)
        return;
    if (n_head == 0 || hp->n_embd % n_head)
        graph_key_refuse(k, GG_ERR_FORMAT, "attention.head_count",
                         "%d values are not divided among %d heads",
                         (int)hp->n_embd, (int)n_head);
    for (int32_t i = 0; i < hp->n_layer && k->status == GG_OK; i++)
        hp->layers[i] =
            (struct model_layer_hparams){ .n_head = n_head,
                                          .n_head_kv = n_head,
                                          .d_key = hp->n_embd / n_head,
                                          .d_value = hp->n_embd / n_head,
                                          .n_ff = n_ff,
                                          .kv_layer = i };
}

/* Three numbers; a deviation is above 0. */
static void
read_colours(struct media_loader *l, const char *name, float min, float *out)
{
    char key[MODEL_MAX_KEY];
    struct gguf_array a;

    if (l->keys.status != GG_OK)
        return;
    l->keys.status =
        gguf_get_array_n(l->keys.gguf, graph_key_name(&l->keys, name, key),
                         GGUF_TYPE_FLOAT32, MEDIA_CHANNELS, &a, l->keys.err);
    for (size_t i = 0; i < MEDIA_CHANNELS && l->keys.status == GG_OK; i++) {
        out[i] = gguf_array_f32(&a, i);
        if (!(out[i] >= min && out[i] <= 256))
            graph_key_refuse(&l->keys, GG_ERR_FORMAT, name,
                             "%g is not in %g..256", (double)out[i],
                             (double)min);
    }
}

static void
read_image(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;

    hp->patch = graph_key_int(&l->keys, "patch_size", 1, MAX_PATCH, -1);
    hp->image_size =
        graph_key_int(&l->keys, "image_size", 1, MEDIA_MAX_SIDE, -1);
    hp->merge = 1;
    read_colours(l, "image_mean", -256, hp->mean);
    read_colours(l, "image_std", 1e-3f, hp->std);
}

void
media_read_hparams(struct media_loader *l)
{
    struct model_hparams *hp = &l->e->model->hp;

    hp->n_embd = graph_key_int(&l->keys, "embedding_length", 1, MAX_EMBD, -1);
    l->e->hp.width = graph_key_int(&l->keys, "projection_dim", 1, MAX_EMBD, -1);
    hp->norms = MODEL_LAYER_NORM;
    hp->eps =
        graph_key_float(&l->keys, "attention.layer_norm_epsilon", 0, 1, -1);
    read_layers(l, l->e->type->flat ? 0 : 1);
    read_activation(l);
    if (l->e->type->kind == GG_MEDIA_IMAGE)
        read_image(l);
    else
        l->e->hp.n_mel =
            graph_key_int(&l->keys, "num_mel_bins", 1, MAX_MEL, -1);
    if (l->e->type->hparams)
        l->e->type->hparams(l);
}

void
media_read_merge(struct media_loader *l, const char *name, int32_t other)
{
    l->e->hp.merge = graph_key_int(&l->keys, name, 1, MAX_MERGE, other);
}

static int32_t
read_bound(struct media_loader *l, const char *name, int32_t other)
{
    int32_t side = l->e->hp.patch * l->e->hp.merge;

    if (other >= 0 && !graph_key_exists(&l->keys, name))
        return other;
    return graph_key_int(&l->keys, name, 1, MAX_PIXELS, -1) / (side * side);
}

void
media_read_bounds(struct media_loader *l, int32_t min, int32_t max)
{
    struct media_hparams *hp = &l->e->hp;

    if (l->keys.status != GG_OK)
        return;
    hp->min_rows = min ? read_bound(l, "image_min_pixels", min) : 0;
    hp->max_rows = read_bound(l, "image_max_pixels", max);
    if (l->keys.status == GG_OK &&
        (hp->max_rows == 0 || hp->min_rows > hp->max_rows))
        graph_key_mismatch(&l->keys, "image_max_pixels",
                           "rows are less than the least,", hp->max_rows,
                           hp->min_rows);
}

void
media_check_heads(struct media_loader *l, int32_t n)
{
    int32_t d = l->e->model->hp.layers[0].d_key;

    if (l->keys.status == GG_OK && d % n)
        graph_key_refuse(&l->keys, GG_ERR_FORMAT, "attention.head_count",
                         "a head has %d values, which %d does not divide",
                         (int)d, (int)n);
}

/* ---- keys that nobody reads ---------------------------------------------- */

static bool
in_list(const char *const *list, const char *name)
{
    for (; list && *list; list++)
        if (!strcmp(*list, name))
            return true;
    return false;
}

/* Keys of the type itself; of one with a dot in front the name after "clip". */
static bool
is_own(const struct media_type *type, const char *name, bool general)
{
    for (const char *const *k = type->keys; k && *k; k++)
        if (general ? (*k)[0] == '.' && !strcmp(*k + 1, name)
                    : !strcmp(*k, name))
            return true;
    return false;
}

static bool
is_known(struct media_encoder *const encoders[MEDIA_KINDS], const char *key)
{
    static const char *const prefixes[MEDIA_KINDS] = { "clip.vision.",
                                                       "clip.audio." };
    const char *name = key + strlen("clip.");

    if (in_list(general_keys, name))
        return true;
    for (int i = 0; i < MEDIA_KINDS; i++) {
        size_t n = strlen(prefixes[i]);

        if (!encoders[i])
            continue;
        if (is_own(encoders[i]->type, name, true))
            return true;
        if (strncmp(key, prefixes[i], n) == 0)
            return in_list(kind_keys, key + n) ||
                   in_list(i == GG_MEDIA_IMAGE ? image_keys : sound_keys,
                           key + n) ||
                   is_own(encoders[i]->type, key + n, false);
    }
    return false;
}

enum gg_status
media_check_keys(const struct gguf_context *gguf,
                 struct media_encoder *const encoders[MEDIA_KINDS],
                 struct gg_error *err)
{
    int64_t n = gguf_get_n_kv(gguf);

    for (int64_t i = 0; i < n; i++) {
        const char *key = gguf_get_key(gguf, i);

        if (strncmp(key, "clip.", 5) != 0 || is_known(encoders, key))
            continue;
        gguf_bad_value(gguf, key, err, "projectors of type %s have no such key",
                       encoders[GG_MEDIA_IMAGE]
                           ? encoders[GG_MEDIA_IMAGE]->type->name
                           : encoders[GG_MEDIA_SOUND]->type->name);
        return GG_ERR_UNSUPPORTED;
    }
    return GG_OK;
}
