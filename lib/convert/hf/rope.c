/* rope.c - rotary positions of a configuration
 *
 * Up to 2025 the base stood next to rope_scaling; since then rope_parameters
 * has both, for each kind of layer where there are two. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_CTX = 1 << 28,
};

/* The settings of the layers that see all keys, and of the others. */
struct rope {
    struct core_json_keys all, windowed;
    double base;
};

static void
find_objects(struct hf *h, struct rope *r)
{
    const json_t *own = core_json_object_of(&h->config, "rope_parameters");
    const json_t *all = json_object_get(own, "full_attention");
    const json_t *blocks = json_object_get(own, "compress"); /* DeepSeek V4 */
    const json_t *old = core_json_object_of(&h->config, "rope_scaling");

    r->all = r->windowed = h->config;
    r->windowed.object = json_object_get(own, "sliding_attention");
    all = json_is_object(all) ? all : blocks;
    if (!all)
        all = json_object_get(own, "indexed_attention");
    r->all.object = json_is_object(all) ? all : own ? own : old;
    if (!r->all.object)
        r->all.object = core_json_object_of(&h->config, "attn_config");
}

/* The number of the scaling where it has one, else of the configuration. */
static double
number_between(struct hf *h, struct rope *r, const char *names, double min,
               double max, double other)
{
    double v = core_json_number(&h->config, names, min, max, other);

    if (convert_hf_good(h))
        v = core_json_number(&r->all, names, min, max, v);
    if (r->all.status != GG_OK)
        h->config.status = r->all.status;
    return v;
}

/* ---- divisors of the frequencies ----------------------------------------- */

static int64_t
n_divisors(const struct hf *h)
{
    return (h->family->half_turns ? h->d_head : h->n_rot) / 2;
}

static void
add_divisors(struct hf *h, const char *name, float *values)
{
    int64_t n = n_divisors(h), ne[GGML_MAX_DIMS] = { n, 1, 1, 1 };
    struct hf_rows rows = {
        .made = values, .n_rows = 1, .n_blocks = 1, .length = n
    };

    convert_hf_add(h, name, GGML_TYPE_F32, ne, &rows);
}

/* Llama 3.1: waves that fit its old context four times stay, those longer than
 * it are stretched, and between them it goes gradually. */
static void
add_llama3(struct hf *h, struct rope *r)
{
    double factor = core_json_number(&r->all, "factor", 1, 1e6, 8);
    double low = core_json_number(&r->all, "low_freq_factor", 1e-3, 1e3, 1);
    double high = core_json_number(&r->all, "high_freq_factor", 1e-3, 1e3, 4);
    double old = core_json_number(&r->all, "original_max_position_embeddings",
                                  1, MAX_CTX, 8192);
    size_t n = (size_t)h->n_rot / 2, all = (size_t)n_divisors(h);
    float *x = mem_array(all, sizeof(*x));

    if (!x)
        h->config.status = error_nomem(h->config.err);
    for (size_t i = n; x && i < all; i++)
        x[i] = 1;
    for (size_t i = 0; x && i < n; i++) {
        double wave = 2 * acos(-1) * pow(r->base, 2.0 * (double)i / h->n_rot);
        double fits = old / wave, smooth = (fits - low) / (high - low);

        if (fits > high)
            x[i] = 1;
        else if (fits < low)
            x[i] = (float)factor;
        else
            x[i] = (float)(1 / ((1 - smooth) / factor + smooth));
    }
    if (x)
        add_divisors(h, "rope_freqs.weight", x);
}

static void
add_list(struct hf *h, struct rope *r, const char *from, const char *to)
{
    const json_t *list = core_json_array_of(&r->all, from);
    size_t n = (size_t)h->n_rot / 2;
    float *x = json_array_size(list) == n ? mem_array(n, sizeof(*x)) : NULL;

    if (!x) {
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "%s: is no array of %zu numbers", from, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        x[i] = (float)json_number_value(json_array_get(list, i));
    add_divisors(h, to, x);
}

/* Phi 3. The magnitude follows from how much longer the context became. */
static void
set_long(struct hf *h, struct rope *r)
{
    static const char name[] = "original_max_position_embeddings";
    double old = number_between(h, r, name, 1, MAX_CTX, h->n_ctx);
    double ratio = h->n_ctx / old;
    double magnitude = ratio > 1 ? sqrt(1 + log(ratio) / log(old)) : 1;

    magnitude =
        core_json_number(&r->all, "attention_factor", 0, 1e3, magnitude);
    convert_hf_set_u32(h, "rope.scaling.original_context_length", (int64_t)old);
    convert_hf_set_f32(h, "rope.scaling.attn_factor", magnitude);
    if (!h->weighed)
        return;
    add_list(h, r, "long_factor", "rope_factors_long.weight");
    if (convert_hf_good(h))
        add_list(h, r, "short_factor", "rope_factors_short.weight");
}

/* ---- scaling by a formula ------------------------------------------------ */

/* .plain_yarn: the magnitude is that of mscale over that of mscale_all_dim. */
static void
set_multiplier(struct hf *h, struct rope *r)
{
    if (core_json_number(&r->all, "mscale", 0, 100, 1) != 1)
        core_json_bad(&r->all, GG_ERR_UNSUPPORTED, "mscale: is 1 here");
    convert_hf_set_f32(h, "rope.scaling.yarn_log_multiplier",
                       core_json_number(&r->all, "mscale_all_dim", 0, 100, 0));
}

/* DeepSeek: q k is multiplied by the square of what mscale_all_dim makes, what
 * is rotated by the ratio of both. */
static void
set_log_multiplier(struct hf *h, struct rope *r, double factor)
{
    double all = core_json_number(&r->all, "mscale_all_dim", 0, 100, 0);
    double own = core_json_number(&r->all, "mscale", 0, 100, 0);
    double magnitude = 1;

    if (factor > 1 && own > 0)
        magnitude =
            (1 + 0.1 * own * log(factor)) / (1 + 0.1 * all * log(factor));
    magnitude =
        core_json_number(&r->all, "attention_factor", 0, 1e3, magnitude);
    convert_hf_set_f32(h, "rope.scaling.yarn_log_multiplier", 0.1 * all);
    if (magnitude != 1)
        convert_hf_set_f32(h, "rope.scaling.attn_factor", magnitude);
}

static void
set_yarn(struct hf *h, struct rope *r)
{
    struct core_json_keys *k = &r->all;
    double factor = core_json_number(k, "factor", 1, 1e6, 1);
    double usual = 1 + 0.1 * log(factor);
    double magnitude = core_json_number(k, "attention_factor", 0, 1e3, usual);
    bool latent =
        h->d_own > 0 && core_json_number(k, "mscale_all_dim", 0, 100, 0) > 0;
    double fast = core_json_number(k, "beta_fast", 1e-3, 1e6, 32);
    double slow = core_json_number(k, "beta_slow", 1e-3, 1e6, 1);
    bool whole = core_json_bool(k, "truncate", true);

    if (h->family->plain_yarn)
        set_multiplier(h, r);
    else if (latent)
        set_log_multiplier(h, r, factor);
    else if (core_json_find(k, "mscale|mscale_all_dim"))
        core_json_bad(k, GG_ERR_UNSUPPORTED, "mscale: is not computed here");
    if (whole == h->family->exact_yarn)
        core_json_bad(k, GG_ERR_UNSUPPORTED, "truncate: %s has it %s here",
                      h->family->arch, whole ? "false" : "true");
    convert_hf_set_str(h, "rope.scaling.type", "yarn");
    convert_hf_set_f32(h, "rope.scaling.factor", factor);
    convert_hf_set_u32(h, "rope.scaling.original_context_length",
                       core_json_int(k, "original_max_position_embeddings", 1,
                                     MAX_CTX, h->n_ctx));
    if (fast != 32)
        convert_hf_set_f32(h, "rope.scaling.yarn_beta_fast", fast);
    if (slow != 1)
        convert_hf_set_f32(h, "rope.scaling.yarn_beta_slow", slow);
    if (magnitude != usual && !latent)
        convert_hf_set_f32(h, "rope.scaling.attn_factor", magnitude / usual);
}

static void
set_linear(struct hf *h, struct rope *r)
{
    convert_hf_set_str(h, "rope.scaling.type", "linear");
    convert_hf_set_f32(h, "rope.scaling.factor",
                       core_json_number(&r->all, "factor", 1e-6, 1e6, 1));
}

static void
set_llama3(struct hf *h, struct rope *r)
{
    if (h->weighed)
        add_llama3(h, r);
}

/* Gemma 4: only the first pairs of a head turn, as fast as if all did; what
 * divides the angles of the others stops them. */
static void
set_proportional(struct hf *h, struct rope *r)
{
    double part = core_json_number(&r->all, "partial_rotary_factor", 0, 1, 1);
    double factor = core_json_number(&r->all, "factor", 1e-3, 1e6, 1);
    size_t n = (size_t)h->n_rot / 2, turned = (size_t)(part * (double)n);
    float *x = h->weighed ? mem_array(n, sizeof(*x)) : NULL;

    if (!h->weighed)
        return;
    if (!x)
        h->config.status = error_nomem(h->config.err);
    for (size_t i = 0; x && i < n; i++)
        x[i] = i < turned ? (float)factor : 1e30f;
    if (x)
        add_divisors(h, "rope_freqs.weight", x);
}

/* Nothing up to the context that the model was made for; with alpha the base
 * becomes base * alpha^(d / (d - 2)). */
static void
set_dynamic(struct hf *h, struct rope *r)
{
    double alpha = core_json_number(&r->all, "alpha", 1, 1e6, 1);
    double d = h->n_rot;

    if (!core_json_find(&r->all, "alpha"))
        return;
    if (!h->family->alpha || d <= 2)
        core_json_bad(&r->all, GG_ERR_UNSUPPORTED,
                      "alpha: rope_type dynamic has none here");
    else if (*h->family->alpha)
        convert_hf_set_f32(h, h->family->alpha, alpha);
    else
        convert_hf_set_f32(h, "rope.freq_base",
                           r->base * pow(alpha, d / (d - 2)));
}

static const struct {
    const char *name;
    void (*set)(struct hf *h, struct rope *r);
} scalings[] = {
    { "linear", set_linear },
    { "yarn", set_yarn },
    { "deepseek_yarn", set_yarn },
    { "llama3", set_llama3 },
    { "longrope", set_long },
    { "su", set_long },
    { "dynamic", set_dynamic },
    { "xdrope", set_dynamic },
    { "default", NULL },
    { "mrope", NULL }, /* one position thrice */
    { "proportional", set_proportional },
};

static void
set_scaling(struct hf *h, struct rope *r)
{
    const char *type = core_json_text(&r->all, "rope_type|type", "default");

    for (size_t i = 0; i < sizeof(scalings) / sizeof(scalings[0]); i++)
        if (!strcmp(type, scalings[i].name)) {
            if (scalings[i].set)
                scalings[i].set(h, r);
            return;
        }
    core_json_bad(
        &r->all, GG_ERR_UNSUPPORTED,
        "rope_type: '%.32s' is none of linear, yarn, llama3, longrope, "
        "dynamic, default",
        type);
}

/* The base of the first layer of that kind, where a list has one for each; else
 * `other`. */
static double
listed_base(struct hf *h, bool windowed, double other)
{
    const json_t *list = core_json_find(&h->config, "rope_theta");

    for (int32_t i = 0; json_is_array(list) && i < h->n_layer; i++) {
        double base = json_number_value(json_array_get(list, (size_t)i));

        if (convert_hf_is_windowed(h, i, false) != windowed)
            continue;
        if (!(base >= 1 && base <= 1e12))
            core_json_bad(&h->config, GG_ERR_FORMAT, "rope_theta: %g", base);
        return base;
    }
    return other;
}

/* ---- all of it ----------------------------------------------------------- */

/* How much of a head turns. */
static void
read_length(struct hf *h, struct rope *r)
{
    double turns = h->family->turns > 0 ? h->family->turns : 1;
    double part = number_between(h, r, "partial_rotary_factor|rotary_pct",
                                 0.001, 1, turns);

    if (!strcmp(core_json_text(&r->all, "rope_type|type", ""), "proportional"))
        part = 1; /* set_proportional() */
    if (h->n_rot == 0)
        h->n_rot =
            (int32_t)core_json_int(&h->config, "rotary_dim", 1, h->d_head,
                                   (int64_t)(part * h->d_head));
    if (h->n_rot < 2 || h->n_rot % 2)
        core_json_bad(&h->config, GG_ERR_FORMAT, "%d values of a head turn",
                      (int)h->n_rot);
    else
        convert_hf_set_u32(h, "rope.dimension_count",
                           h->family->half_turns ? h->d_head : h->n_rot);
    if (h->family->half_turns && 2 * h->n_rot != h->d_head)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "partial_rotary_factor: is 0.5 in layers that see all");
}

static void
set_windowed_base(struct hf *h, struct rope *r, double other)
{
    double base = core_json_number(
        &h->config, "rope_local_base_freq|swa_rope_theta|local_rope_theta", 1,
        1e12, other);

    base = core_json_number(&r->windowed, "rope_theta", 1, 1e12, base);
    if (strcmp(core_json_text(&r->windowed, "rope_type", "default"), "default"))
        core_json_bad(&r->windowed, GG_ERR_UNSUPPORTED,
                      "sliding_attention: its rope_type is not default");
    convert_hf_set_f32(h, "rope.freq_base_swa", base);
}

void
convert_hf_read_rope(struct hf *h)
{
    struct rope r;

    find_objects(h, &r);
    read_length(h, &r);
    if (json_is_array(core_json_find(&h->config, "rope_theta")))
        r.base = listed_base(h, false, 10000);
    else
        r.base = number_between(h, &r,
                                "rope_theta|rotary_emb_base|global_rope_theta|"
                                "rope_freq_constant",
                                1, 1e12, 10000);
    r.base *= core_json_number(&h->config, "rope_ratio", 1e-3, 1e9, 1);
    if (!convert_hf_good(h))
        return;
    if (!h->family->no_base)
        convert_hf_set_f32(h, "rope.freq_base", r.base);
    set_scaling(h, &r);
    if (h->family->windowed_base > 0)
        set_windowed_base(h, &r, h->family->windowed_base);
    else if (h->family->listed || h->family->windowed_base < 0)
        set_windowed_base(h, &r, listed_base(h, true, r.base));
    if (r.all.status != GG_OK)
        h->config.status = r.all.status;
    if (r.windowed.status != GG_OK)
        h->config.status = r.windowed.status;
}

#endif
