/* rope.c - rotary positions: what the scaling of a long context changes
 *
 * Pair i of a head turns by position * base^(-2i / n_rot). Linear scaling
 * divides the position; the others divide each pair's angle by a number of its
 * own, which a file gives (Llama 3, Phi 3) or YaRN's formula does. */
#include "graph/rope.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"

/* The pair, not a whole number, that makes `turns` in n_ctx_orig positions. */
static double
pair_of(const struct rope_params *p, double turns)
{
    const double two_pi = 6.283185307179586;

    return (double)p->n_rot * log((double)p->n_ctx_orig / (turns * two_pi)) /
           (2 * log((double)p->base));
}

double
graph_rope_yarn_divisor(const struct rope_params *p, int32_t i)
{
    double low = pair_of(p, (double)p->beta_fast);
    double high = pair_of(p, (double)p->beta_slow), ramp;

    if (!p->exact_ramp) {
        low = floor(low);
        high = ceil(high);
    }
    low = fmax(low, 0);
    high = fmin(high, (double)p->n_rot - 1);
    ramp = ((double)i - low) / fmax(high - low, 0.001);
    ramp = fmin(fmax(ramp, 0), 1); /* 0: as trained, 1: divided */
    return 1 / ((1 - ramp) + ramp / (double)p->factor);
}

/* Yarn: temperature of the softmax; long: Ding et al. 2024. */
static float
magnitude_of(const struct rope_params *p, int32_t n_ctx_train)
{
    double m = p->magnitude > 0 ? (double)p->magnitude : 1;
    double ratio = (double)n_ctx_train / p->n_ctx_orig;

    if (p->magnitude < 0)
        return 1;
    if (p->scaling == ROPE_YARN && p->factor > 1 && p->log_multiplier <= 0)
        m *= 1 + 0.1 * log((double)p->factor);
    if (p->scaling == ROPE_LONG && p->magnitude <= 0 && ratio > 1)
        m = sqrt(1 + log(ratio) / log((double)p->n_ctx_orig));
    return (float)m;
}

static float
attention_of(const struct rope_params *p)
{
    double m = 1;

    if (p->scaling == ROPE_YARN && p->factor > 1 && p->log_multiplier > 0)
        m += (double)p->log_multiplier * log((double)p->factor);
    return (float)(m * m);
}

void
graph_rope_plain(const struct rope_params *params, float base,
                 struct model_rope *rope)
{
    *rope = (struct model_rope){ *params, 1, 1, 1, NULL, NULL };
    rope->params.base = base;
    rope->params.scaling = ROPE_NONE;
}

/* A tensor for what the formula gives. */
static struct ggml_tensor *
new_divisors(struct model_loader *l, int32_t n)
{
    struct ggml_init_params params = {
        .mem_size = ggml_tensor_overhead(),
        .no_alloc = true,
    };
    struct model *m = l->model;
    struct ggml_tensor *t;

    if (l->status != GG_OK)
        return NULL;
    m->made_ctx = ggml_init(params);
    t = m->made_ctx ? ggml_new_tensor_1d(m->made_ctx, GGML_TYPE_F32, n) : NULL;
    if (t)
        ggml_set_name(t, "rope_divisors");
    else
        l->status = error_nomem(l->err);
    return t;
}

void
graph_rope_find(struct model_loader *l, const struct rope_params *params,
                struct model_rope *rope)
{
    int64_t pairs = params->n_rot / 2;
    enum model_need need = MODEL_OPTIONAL;

    graph_rope_plain(params, params->base, rope);
    rope->params = *params;
    rope->magnitude = magnitude_of(params, l->model->hp.n_ctx_train);
    rope->attention = attention_of(params);
    if (params->scaling == ROPE_LINEAR)
        rope->scale = 1 / params->factor;
    if (params->scaling == ROPE_YARN) {
        rope->divisors = new_divisors(l, params->n_rot / 2);
        if (params->own_divisors)
            graph_find_vector(l, "rope_freqs", pairs, need); /* checked */
        return;
    }
    if (params->no_divisors)
        return;
    /* Files of Phi 3 have both and don't name their scaling. */
    if (params->scaling == ROPE_LONG)
        need = MODEL_REQUIRED;
    rope->divisors_long =
        graph_find_vector(l, "rope_factors_long", pairs, need);
    if (rope->divisors_long)
        rope->divisors =
            graph_find_vector(l, "rope_factors_short", pairs, MODEL_REQUIRED);
    else
        rope->divisors = graph_find_vector(
            l, "rope_freqs", params->n_freqs > 0 ? params->n_freqs : pairs,
            MODEL_OPTIONAL);
}

void
graph_rope_divisors(const struct model *m, float *x, size_t n)
{
    const struct gguf_tensor *own = NULL;

    if (m->rope.params.own_divisors)
        own = gguf_tensor_named(m->file->gguf, "rope_freqs.weight");
    for (size_t i = 0; i < n; i++) {
        float d = 1;

        if (own)
            memcpy(&d, (const char *)own->data + i * sizeof(d), sizeof(d));
        x[i] = (float)graph_rope_yarn_divisor(&m->rope.params, (int32_t)i) * d;
    }
}

static bool
says_nothing(const struct gg_model_params *p)
{
    return !p->rope_scaling && p->rope_factor == 0 && p->rope_base == 0 &&
           p->rope_n_ctx == 0;
}

/* 0 stands for the file's own; a NaN lies nowhere. */
static bool
lies_in(float x, float min, float max)
{
    return x == 0 || (x >= min && x <= max);
}

static enum gg_status
check_override(const struct gg_model_params *p, struct gg_error *err)
{
    if (!lies_in(p->rope_factor, 1e-6f, 1e6f))
        return error_set(err, GG_ERR_ARG, "RoPE factor is not in 1e-6..1e6");
    if (!lies_in(p->rope_base, 1, 1e12f))
        return error_set(err, GG_ERR_ARG, "RoPE base is not in 1..1e12");
    if (p->rope_n_ctx < 0)
        return error_set(err, GG_ERR_ARG, "RoPE context is below 0");
    return GG_OK;
}

/* A factor alone, where the file has no scaling, means linear. */
static enum gg_status
override_scaling(struct rope_params *rope, const struct gg_model_params *p,
                 struct gg_error *err)
{
    const char *name = p->rope_scaling;

    if (!name && p->rope_factor != 0 && rope->scaling == ROPE_NONE)
        name = "linear";
    if (!name)
        return GG_OK;
    if (!strcmp(name, "none"))
        rope->scaling = ROPE_NONE;
    else if (!strcmp(name, "linear"))
        rope->scaling = ROPE_LINEAR;
    else if (!strcmp(name, "yarn"))
        rope->scaling = ROPE_YARN;
    else
        return error_set(err, GG_ERR_ARG,
                         "RoPE scaling is none, linear or yarn");
    return GG_OK;
}

enum gg_status
graph_rope_override(struct rope_params *rope,
                    const struct gg_model_params *params, struct gg_error *err)
{
    const struct gg_model_params *p = params;
    enum gg_status st;

    if (says_nothing(p))
        return GG_OK;
    if (rope->n_rot == 0)
        return error_set(err, GG_ERR_ARG, "the model has no rotary positions");
    st = check_override(p, err);
    if (st == GG_OK)
        st = override_scaling(rope, p, err);
    if (st == GG_OK && p->rope_factor != 0)
        rope->factor = p->rope_factor;
    if (st == GG_OK && p->rope_base != 0)
        rope->base = p->rope_base;
    if (st == GG_OK && p->rope_n_ctx != 0)
        rope->n_ctx_orig = p->rope_n_ctx;
    return st;
}
