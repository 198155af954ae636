/* hparams_rope.c - hyper-parameters of rotary positions */
#include <math.h>
#include <string.h>

#include "core/escape.h"
#include "graph/keys.h"

static enum rope_scaling
read_scaling(struct model_keys *keys)
{
    static const char name[] = "rope.scaling.type";
    static const char *const names[] = { "none", "linear", "yarn", "longrope" };
    struct gguf_str type = { "linear", 6 };
    char shown[64];

    graph_key_str(keys, name, &type);
    for (int i = 0; i < 4; i++)
        if (type.n == strlen(names[i]) && !memcmp(type.s, names[i], type.n))
            return (enum rope_scaling)i;
    escape_bytes(shown, sizeof(shown), type.s, type.n);
    graph_key_refuse(keys, GG_ERR_UNSUPPORTED, name,
                     "%s is none of none, linear, yarn, longrope", shown);
    return ROPE_NONE;
}

/* Files say by what the usual magnitude is multiplied; or, as configurations of
 * YaRN do, what it is: 1 is written there by programs that don't know. */
static float
read_magnitude(struct model_keys *keys, const struct rope_params *r)
{
    float times = graph_key_float(keys, "rope.scaling.attn_factor", 0, 1e3f, 0);
    float whole = graph_key_float_or_zero(keys, "rope.scaling.yarn_attn_factor",
                                          1e-3f, 1e3f, 1);

    if (r->scaling != ROPE_YARN || r->factor <= 1 || whole == 1)
        return times;
    return (times > 0 ? times : 1) * whole / (1 + 0.1f * logf(r->factor));
}

static int32_t
longest_key(const struct model_hparams *hp)
{
    int32_t d = 1;

    for (int32_t i = 0; i < hp->n_layer; i++)
        d = hp->layers[i].d_key > d ? hp->layers[i].d_key : d;
    return d;
}

/* Ids have one position, for which sections do not matter: those that make no
 * sense count as none. */
static void
read_sections(struct model_keys *keys, struct rope_params *r)
{
    char key[MODEL_MAX_KEY];
    struct gguf_array a = { .n = 0 };
    int32_t pairs = 0;

    r->section_mode = 0;
    graph_key_name(keys, "rope.dimension_sections", key);
    if (keys->status != GG_OK || r->mode != GGML_ROPE_TYPE_NEOX ||
        gguf_get_array(keys->gguf, key, GGUF_TYPE_INT32, &a, NULL) != GG_OK ||
        a.n != GGML_MROPE_SECTIONS)
        return;
    for (size_t i = 0; i < a.n; i++) {
        r->sections[i] = gguf_array_i32(&a, i);
        if (r->sections[i] < 0 || r->sections[i] > r->n_rot)
            return;
        pairs += r->sections[i];
    }
    if (pairs > 0)
        r->section_mode = GGML_ROPE_TYPE_MROPE;
}

void
graph_keys_interleaved_sections(struct model_hparams *hp)
{
    if (hp->rope.section_mode != 0)
        hp->rope.section_mode = GGML_ROPE_TYPE_IMROPE;
}

void
graph_keys_rope(struct model_keys *keys, struct model_hparams *hp, int mode)
{
    struct rope_params *r = &hp->rope;
    int32_t d_key = longest_key(hp);
    float factor;

    r->mode = mode;
    r->n_rot = graph_key_int(keys, "rope.dimension_count", 1, d_key, d_key);
    if (r->n_rot % 2)
        graph_key_mismatch(keys, "rope.dimension_count", "is odd, of", r->n_rot,
                           d_key);
    read_sections(keys, r);
    r->base = graph_key_float(keys, "rope.freq_base", 1, 1e12f, 10000);
    r->scaling = read_scaling(keys);
    factor = graph_key_float_or_zero(keys, "rope.scale_linear", 1e-6f, 1e6f, 1);
    r->factor = graph_key_float_or_zero(keys, "rope.scaling.factor", 1e-6f,
                                        1e6f, factor);
    r->magnitude = read_magnitude(keys, r);
    r->n_ctx_orig =
        graph_key_int_or_zero(keys, "rope.scaling.original_context_length",
                              MODEL_MAX_CTX, hp->n_ctx_train);
    r->beta_fast =
        graph_key_float(keys, "rope.scaling.yarn_beta_fast", 1e-3f, 1e6f, 32);
    r->beta_slow =
        graph_key_float(keys, "rope.scaling.yarn_beta_slow", 1e-3f, 1e6f, 1);
}

void
graph_keys_log_multiplier(struct model_keys *keys, struct model_hparams *hp)
{
    hp->rope.log_multiplier =
        graph_key_float(keys, "rope.scaling.yarn_log_multiplier", 0, 100, 0);
}

void
graph_keys_rope_local(struct model_keys *keys, struct model_hparams *hp,
                      float other)
{
    hp->rope_local_differs = true;
    hp->rope_local = hp->rope;
    hp->rope_local.scaling = ROPE_NONE;
    hp->rope_local.base =
        graph_key_float_or_zero(keys, "rope.freq_base_swa", 1, 1e12f, other);
}

void
graph_keys_rotated_local(struct model_keys *keys, struct model_hparams *hp,
                         int32_t other)
{
    static const char name[] = "rope.dimension_count_swa";
    int32_t n = graph_key_int(keys, name, 1, longest_key(hp), other);

    if (n % 2)
        graph_key_mismatch(keys, name, "is odd, of", n, longest_key(hp));
    hp->rope_local.n_rot = n;
}

void
graph_keys_rope_same(struct model_keys *keys, const struct model_hparams *hp)
{
    static const char name[] = "rope.freq_base_swa";
    float base = graph_key_float_or_zero(keys, name, 1, 1e12f, hp->rope.base);

    if (base != hp->rope.base)
        graph_key_refuse(
            keys, GG_ERR_UNSUPPORTED, name,
            "%g is not rope.freq_base, which is %g: %s has one base here",
            (double)base, (double)hp->rope.base, keys->arch);
}
