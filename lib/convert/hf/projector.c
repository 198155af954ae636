/* projector.c - the encoders of a folder become a projector file */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/hf/projector.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"

/* Encoders of a file, ended by one without a type. */
#define PROJECTOR(name)                                                        \
    extern const struct hf_projector convert_hf_projector_##name[];
#include "convert/hf/projectors.list"
#undef PROJECTOR

#define PROJECTOR(name) convert_hf_projector_##name,
static const struct hf_projector *const files[] = {
#include "convert/hf/projectors.list"
};
#undef PROJECTOR

/* As in lib/media/keys.c. */
enum {
    N_FILES = sizeof(files) / sizeof(files[0]),
    CHANNELS = 3,
    MAX_LAYERS = 4096,
    MAX_EMBD = 1 << 16,
    MAX_FF = 1 << 18,
    MAX_HEADS = 1 << 10,
    MAX_SIDE = 1 << 14,
    MAX_PATCH = 256,
    MAX_PIXELS = 1 << 28,
    MOST = 2, /* encoders of a folder */
};

/* ---- what is prepared ---------------------------------------------------- */

/* preprocessor_config.json; or processor_config.json, of transformers 5. */
static void
read_input(struct hf *h)
{
    static const char *const names[] = { "preprocessor_config.json",
                                         "processor_config.json" };

    for (size_t i = 0; i < 2 && !h->input_document && convert_hf_good(h); i++) {
        if (snprintf(h->input_path, sizeof(h->input_path), "%s/%s", h->path,
                     names[i]) >= (int)sizeof(h->input_path))
            core_json_bad(&h->here, GG_ERR_IO, "the name is too long");
        else
            h->here.status = core_json_read(h->input_path, false,
                                            &h->input_document, h->here.err);
    }
}

/* The encoder's part of it, where it has parts. */
static void
choose_input(struct hf *h, const char *part)
{
    const json_t *inner = json_object_get(h->input_document, part);

    h->input = (struct core_json_keys){
        h->input_path, json_is_object(inner) ? inner : h->input_document, GG_OK,
        h->here.err
    };
}

/* A list of three numbers. */
static void
set_colours(struct hf *h, const char *name)
{
    const json_t *list = core_json_array_of(&h->input, name);
    float colours[CHANNELS];
    char key[96];

    if (json_array_size(list) != CHANNELS) {
        core_json_bad(&h->input, GG_ERR_FORMAT, "%s: is no three numbers",
                      name);
        return;
    }
    for (size_t i = 0; i < CHANNELS; i++)
        colours[i] = (float)core_json_real(json_array_get(list, i));
    snprintf(key, sizeof(key), "%s.%s", h->family->arch, name);
    gguf_set_arr_data(h->gguf, key, GGUF_TYPE_FLOAT32, colours, CHANNELS);
}

void
convert_hf_copy_u32(struct hf *h, const char *key, const char *names,
                    int64_t max, int64_t other)
{
    convert_hf_set_u32(h, key, core_json_int(&h->config, names, 1, max, other));
}

void
convert_hf_set_pixel_bounds(struct hf *h)
{
    struct core_json_keys size = h->input;
    int64_t min, max;

    size.object = core_json_object_of(&h->input, "size");
    min = core_json_int(&size, "shortest_edge", 1, MAX_PIXELS, 0);
    max = core_json_int(&size, "longest_edge", 1, MAX_PIXELS, 0);
    h->input.status = size.status;
    convert_hf_set_u32(
        h, "image_min_pixels",
        core_json_int(&h->input, "min_pixels", 1, MAX_PIXELS, min));
    convert_hf_set_u32(
        h, "image_max_pixels",
        core_json_int(&h->input, "max_pixels", 1, MAX_PIXELS, max));
}

/* ---- keys ---------------------------------------------------------------- */

static bool
is_sound(const struct hf *h)
{
    return !strcmp(h->family->arch, HF_AUDIO);
}

static void
read_numbers(struct hf *h, const struct hf_projector_numbers *others)
{
    struct core_json_keys *c = &h->config;

    h->n_embd = (int32_t)core_json_int(c, "hidden_size|d_model", 1, MAX_EMBD,
                                       others->n_embd);
    h->n_layer = (int32_t)core_json_int(
        c, "num_hidden_layers|depth|encoder_layers|num_layers", 1, MAX_LAYERS,
        others->n_layer);
    h->n_ff = (int32_t)core_json_int(
        c, "intermediate_size|encoder_ffn_dim", 1, MAX_FF,
        others->n_ff ? others->n_ff : 4 * (int64_t)h->n_embd);
    h->n_head = (int32_t)core_json_int(
        c, "num_attention_heads|num_heads|encoder_attention_heads", 1,
        MAX_HEADS, others->n_head);
}

/* The length of the model's rows, as the projector's last map has it. */
static int64_t
width_of(struct hf *h, const char *name)
{
    const struct safetensors_tensor *t =
        convert_hf_weights_find(&h->weights, name);

    if (!t || t->n_dims != 2 || t->shape[0] < 1 || t->shape[0] > MAX_EMBD)
        core_json_bad(&h->here, GG_ERR_FORMAT, "%s: is %s", name,
                      t ? "no matrix of the model's values" : "missing");
    return convert_hf_good(h) ? t->shape[0] : 1;
}

/* And as the configuration says. */
static int64_t
text_width(struct hf *h)
{
    struct core_json_keys text = h->config;
    int64_t n;

    text.object = json_object_get(h->document, "text_config");
    if (!text.object)
        text.object = h->document;
    n = core_json_int(&text, "hidden_size|n_embd|d_model", 1, MAX_EMBD, 0);
    h->config.status = text.status;
    return n;
}

void
convert_hf_fix_number(struct hf *h, struct core_json_keys *in, const char *name,
                      double value)
{
    double is = core_json_number(in, name, -1e30, 1e30, value);

    if (is != value)
        core_json_bad(in, GG_ERR_UNSUPPORTED, "%s: %s has %g here, not %g",
                      name, h->family->arch, value, is);
}

static void
set_numbers(struct hf *h, const struct hf_projector *p)
{
    char key[96];

    snprintf(key, sizeof(key), "%s.projection_dim", h->family->arch);
    if (gguf_find_key(h->gguf, key) < 0)
        convert_hf_set_u32(h, "projection_dim",
                           p->width ? width_of(h, p->width) : text_width(h));
    convert_hf_set_u32(h, "embedding_length", h->n_embd);
    convert_hf_set_u32(h, "feed_forward_length", h->n_ff);
    convert_hf_set_u32(h, "block_count", h->n_layer);
    convert_hf_set_u32(h, "attention.head_count", h->n_head);
    convert_hf_set_f32(h, "attention.layer_norm_epsilon",
                       core_json_number(&h->config,
                                        "layer_norm_eps|rms_norm_eps", 0, 0.1,
                                        h->family->epsilon));
}

static void
set_image(struct hf *h, const struct hf_projector_numbers *others)
{
    char key[96];

    snprintf(key, sizeof(key), "%s.image_size", h->family->arch);
    if (gguf_find_key(h->gguf, key) < 0)
        convert_hf_set_u32(h, "image_size",
                           convert_hf_side(&h->config, "image_size", MAX_SIDE,
                                           others->image_size));
    convert_hf_set_u32(h, "patch_size",
                       convert_hf_side(&h->config, "patch_size", MAX_PATCH,
                                       others->patch_size));
    set_colours(h, "image_mean");
    set_colours(h, "image_std");
}

static void
set_type(struct hf *h, const struct hf_projector *p, bool only)
{
    char key[96];

    snprintf(key, sizeof(key), "%s.projector_type",
             only ? "clip" : p->names.arch);
    gguf_set_val_str(h->gguf, key, p->type);
    gguf_set_val_bool(h->gguf,
                      is_sound(h) ? "clip.has_audio_encoder"
                                  : "clip.has_vision_encoder",
                      true);
    if (!p->use)
        return;
    snprintf(key, sizeof(key), "clip.%s", p->use);
    gguf_set_val_bool(h->gguf, key, true);
}

static void
read_keys(struct hf *h, const struct hf_projector *p, bool only)
{
    static const struct hf_projector_numbers none = { 0 };
    const struct hf_projector_numbers *others = p->others ? p->others : &none;

    if (!is_sound(h) && !h->input_document)
        core_json_bad(&h->here, GG_ERR_IO,
                      "there is neither preprocessor_config.json nor "
                      "processor_config.json");
    set_type(h, p, only);
    read_numbers(h, others);
    convert_hf_check_activation(h);
    if (convert_hf_good(h) && h->family->keys)
        h->family->keys(h);
    if (!convert_hf_good(h))
        return;
    set_numbers(h, p);
    if (!is_sound(h))
        set_image(h, others);
}

/* ---- encoders ------------------------------------------------------------ */

/* The configuration of the encoder; NULL: the folder's model has none. */
static const json_t *
config_of(const struct hf *h, const struct hf_projector *p)
{
    const json_t *v = json_object_get(h->document, p->config);
    const char *type = json_string_value(json_object_get(v, "model_type"));

    if (p->model_type && (!type || strcmp(type, p->model_type)))
        return NULL;
    return json_is_object(v) ? v : NULL;
}

static void
add_tensors(struct hf *h, const struct hf_projector *p)
{
    char from[256], to[64];

    h->weights.parts = p->parts;
    convert_hf_take_list(h, "", "", h->family->whole);
    for (int32_t i = 0; i < h->n_layer && convert_hf_good(h); i++) {
        snprintf(from, sizeof(from), "%s%d.", h->family->layers, (int)i);
        snprintf(to, sizeof(to), "%s.blk.%d.", is_sound(h) ? "a" : "v", (int)i);
        for (int k = 0; k < HF_LISTS; k++)
            convert_hf_take_list(h, from, to, h->family->layer[k]);
    }
    if (p->tensors && convert_hf_good(h))
        p->tensors(h);
    h->weights.parts = NULL;
}

static void
read_encoder(struct hf *h, const struct hf_projector *p, bool only)
{
    h->family = &p->names;
    h->config.object = config_of(h, p);
    convert_hf_add_defaults(h);
    choose_input(h, is_sound(h) ? "feature_extractor" : "image_processor");
    read_keys(h, p, only);
    if (convert_hf_good(h))
        add_tensors(h, p);
}

/* The folder's encoders; returns how many there are. */
static int
find_encoders(const struct hf *h, const char *model,
              const struct hf_projector *found[MOST])
{
    int n = 0;

    for (size_t i = 0; i < N_FILES; i++)
        for (const struct hf_projector *p = files[i]; p->type && n < MOST; p++)
            if (convert_hf_names_class(&p->names, model) && config_of(h, p))
                found[n++] = p;
    return n;
}

void
convert_hf_read_projector(struct hf *h)
{
    const json_t *list = core_json_array_of(&h->config, "architectures");
    const char *model = json_string_value(json_array_get(list, 0));
    const struct hf_projector *found[MOST];
    int n = model ? find_encoders(h, model, found) : 0;

    h->top = h->config;
    h->top.object = h->document;
    if (n == 0)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "architectures: '%.60s' has no projector of images or "
                      "sounds that is known here",
                      model ? model : "");
    gguf_set_val_str(h->gguf, "general.architecture", "clip");
    gguf_set_val_str(h->gguf, "general.type", "mmproj");
    convert_hf_set_name(h);
    if (convert_hf_good(h))
        read_input(h);
    for (int i = 0; i < n && convert_hf_good(h); i++)
        read_encoder(h, found[i], n == 1);
    if (convert_hf_good(h))
        convert_hf_check_media_left(h, model);
}

#endif
