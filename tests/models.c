/* models.c - small models of random weights, made by code */
#include "models_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct maker {
    struct model_spec s; /* with nothing left to custom */
    struct gguf_context *gguf;
    struct ggml_context *ctx;
    uint64_t state;
    int n_scales;
};

/* ---- numbers: SplitMix64 ------------------------------------------------- */

static uint64_t
next_u64(struct maker *m)
{
    uint64_t z = m->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Mean 0, variance 1, near enough to normal. */
static float
next_normal(struct maker *m)
{
    double sum = 0;

    for (int i = 0; i < 4; i++)
        sum += (double)(next_u64(m) >> 11) * 0x1p-53 - 0.5;
    return (float)(sum * sqrt(3.0));
}

/* ---- tensors ------------------------------------------------------------- */

static bool
is(const char *a, const char *b)
{
    return a && !strcmp(a, b);
}

static void
store_rows(struct ggml_tensor *t, const float *x)
{
    int64_t n = ggml_nelements(t);

    if (t->type == GGML_TYPE_F32)
        memcpy(t->data, x, (size_t)n * sizeof(float));
    else if (t->type == GGML_TYPE_F16)
        ggml_fp32_to_fp16_row(x, t->data, n);
    else if (t->type == GGML_TYPE_BF16)
        ggml_fp32_to_bf16_row(x, t->data, n);
    else
        ggml_quantize_chunk(t->type, x, t->data, 0, ggml_nrows(t), t->ne[0],
                            NULL);
}

static void
store(struct maker *m, const char *name, struct ggml_tensor *t, const float *x)
{
    ggml_set_name(t, name);
    store_rows(t, x);
    gguf_add_tensor(m->gguf, t);
}

/* What the tensor is stored as: vectors and what chooses experts always f32. */
static enum ggml_type
type_of(const struct maker *m, const char *name, int n_out)
{
    if (is(m->s.retype, name))
        return GGML_TYPE_F16;
    if (!n_out || strstr(name, ".bias") || strstr(name, "ffn_gate_inp"))
        return GGML_TYPE_F32;
    return m->s.type;
}

/* mean + deviation * normal. n_out 0: a vector; n_expert 0: one matrix. */
static void
add_experts(struct maker *m, const char *name, int n_in, int n_out,
            int n_expert, float mean, float deviation)
{
    enum ggml_type type = type_of(m, name, n_out);
    struct ggml_tensor *t;
    float *x;
    size_t n;

    if (is(m->s.skip, name))
        return;
    if (is(m->s.shrink, name))
        n_out ? n_out-- : n_in--;
    n = (size_t)n_in * (size_t)(n_out ? n_out : 1) *
        (size_t)(n_expert ? n_expert : 1);
    x = malloc(n * sizeof(*x));
    for (size_t i = 0; i < n; i++)
        x[i] = is(m->s.nan, name) ? NAN : mean + deviation * next_normal(m);
    if (n_expert)
        t = ggml_new_tensor_3d(m->ctx, type, n_in, n_out, n_expert);
    else if (n_out)
        t = ggml_new_tensor_2d(m->ctx, type, n_in, n_out);
    else
        t = ggml_new_tensor_1d(m->ctx, type, n_in);
    store(m, name, t, x);
    free(x);
}

static void
add(struct maker *m, const char *name, int n_in, int n_out, float mean,
    float deviation)
{
    add_experts(m, name, n_in, n_out, 0, mean, deviation);
}

/* What a product is multiplied by: n numbers, under both names that files have
 * for them; and what has no part in it. */
static void
add_scales(struct maker *m, const char *name, int n)
{
    static const char *const names[] = { "%s.scale", "%s.weight.scale" };
    char full[64];

    if (!(m->s.traits & MODELS_SCALES) || strstr(name, "ffn_gate_inp"))
        return;
    snprintf(full, sizeof(full), names[m->n_scales++ % 2], name);
    add(m, full, n, 0, 1, 0.3f);
    snprintf(full, sizeof(full), "%s.input_scale", name);
    add(m, full, n, 0, 1, 0.3f);
}

static void
add_linear(struct maker *m, const char *name, int n_in, int n_out, bool bias)
{
    char full[64];

    snprintf(full, sizeof(full), "%s.weight", name);
    add(m, full, n_in, n_out, 0, 1 / sqrtf((float)n_in));
    snprintf(full, sizeof(full), "%s.bias", name);
    if (bias)
        add(m, full, n_out, 0, 0, 0.1f);
    add_scales(m, name, 1);
}

static void
add_expert_linear(struct maker *m, const char *name, int n_in, int n_out,
                  bool bias)
{
    char full[64];

    snprintf(full, sizeof(full), "%s.weight", name);
    add_experts(m, full, n_in, n_out, m->s.n_expert, 0, 1 / sqrtf((float)n_in));
    snprintf(full, sizeof(full), "%s.bias", name);
    if (bias)
        add(m, full, n_out, m->s.n_expert, 0, 0.1f);
    add_scales(m, name, m->s.n_expert);
}

static void
add_norm(struct maker *m, const char *name, int n, bool bias)
{
    char full[64];

    snprintf(full, sizeof(full), "%s.weight", name);
    add(m, full, n, 0, 1, 0.1f);
    snprintf(full, sizeof(full), "%s.bias", name);
    if (bias)
        add(m, full, n, 0, 0, 0.1f);
}

static const char *
in_layer(char *buf, int layer, const char *name)
{
    snprintf(buf, 64, "blk.%d.%s", layer, name);
    return buf;
}

static bool
has(const struct maker *m, unsigned trait)
{
    return m->s.traits & trait;
}

/* Norms of queries and keys: of one head each, or of all heads together. */
static void
add_head_norms(struct maker *m, int i)
{
    const struct model_spec *s = &m->s;
    bool whole = has(m, MODELS_QK_NORM_WHOLE);
    char b[64];

    if (!whole && !has(m, MODELS_QK_NORM))
        return;
    add_norm(m, in_layer(b, i, "attn_q_norm"),
             whole ? s->n_head * s->d_key : s->d_key, false);
    add_norm(m, in_layer(b, i, "attn_k_norm"),
             whole ? s->n_head_kv * s->d_key : s->d_key, false);
}

static void
add_attention(struct maker *m, int i)
{
    const struct model_spec *s = &m->s;
    int q = s->n_head * s->d_key, kv = s->n_head_kv * s->d_key;
    bool biases = s->biases || has(m, MODELS_QKV_BIAS);
    char b[64];

    if (has(m, MODELS_QKV)) {
        add_linear(m, in_layer(b, i, "attn_qkv"), s->n_embd, q + 2 * kv,
                   biases);
    } else {
        add_linear(m, in_layer(b, i, "attn_q"), s->n_embd, q, biases);
        add_linear(m, in_layer(b, i, "attn_k"), s->n_embd, kv, biases);
        add_linear(m, in_layer(b, i, "attn_v"), s->n_embd, kv, biases);
    }
    add_head_norms(m, i);
    if (has(m, MODELS_SINKS))
        add(m, in_layer(b, i, "attn_sinks.weight"), s->n_head, 0, 0, 1);
    add_linear(m, in_layer(b, i, "attn_output"), q, s->n_embd,
               has(m, MODELS_OUT_BIAS));
}

static void
add_mixture(struct maker *m, int i)
{
    const struct model_spec *s = &m->s;
    int n = s->n_ff_expert, shared = s->n_ff_shared;
    bool biases = has(m, MODELS_FFN_BIAS);
    char b[64];

    add_linear(m, in_layer(b, i, "ffn_gate_inp"), s->n_embd, s->n_expert,
               biases);
    add_expert_linear(m, in_layer(b, i, "ffn_gate_exps"), s->n_embd, n, biases);
    add_expert_linear(m, in_layer(b, i, "ffn_up_exps"), s->n_embd, n, biases);
    add_expert_linear(m, in_layer(b, i, "ffn_down_exps"), n, s->n_embd, biases);
    if (!shared)
        return;
    add(m, in_layer(b, i, "ffn_gate_inp_shexp.weight"), s->n_embd, 0, 0, 0.1f);
    add_linear(m, in_layer(b, i, "ffn_gate_shexp"), s->n_embd, shared, false);
    add_linear(m, in_layer(b, i, "ffn_up_shexp"), s->n_embd, shared, false);
    add_linear(m, in_layer(b, i, "ffn_down_shexp"), shared, s->n_embd, false);
}

static void
add_feed_forward(struct maker *m, int i)
{
    const struct model_spec *s = &m->s;
    int n_up = has(m, MODELS_GATED_UP) ? 2 * s->n_ff : s->n_ff;
    bool biases = has(m, MODELS_FFN_BIAS);
    char b[64];

    if (has(m, MODELS_GATED))
        add_linear(m, in_layer(b, i, "ffn_gate"), s->n_embd, s->n_ff, biases);
    add_linear(m, in_layer(b, i, "ffn_up"), s->n_embd, n_up, biases);
    add_linear(m, in_layer(b, i, "ffn_down"), s->n_ff, s->n_embd, biases);
}

static void
add_layer(struct maker *m, int i)
{
    bool biases = has(m, MODELS_LAYER_NORM);
    int n = m->s.n_embd;
    char b[64];

    if (!has(m, MODELS_NO_ATTN_NORM))
        add_norm(m, in_layer(b, i, "attn_norm"), n, biases);
    if (has(m, MODELS_ATTN_NORM_2))
        add_norm(m, in_layer(b, i, "attn_norm_2"), n, biases);
    add_attention(m, i);
    if (has(m, MODELS_POST_NORMS))
        add_norm(m, in_layer(b, i, "post_attention_norm"), n, biases);
    if (has(m, MODELS_FFN_NORM_POST)) /* so loud that experts clamp */
        add(m, in_layer(b, i, "post_attention_norm.weight"), n, 0, 3, 0.3f);
    if (!has(m, MODELS_NO_FFN_NORM | MODELS_FFN_NORM_POST))
        add_norm(m, in_layer(b, i, "ffn_norm"), n, biases);
    m->s.n_expert ? add_mixture(m, i) : add_feed_forward(m, i);
    if (has(m, MODELS_POST_NORMS))
        add_norm(m, in_layer(b, i, "post_ffw_norm"), n, biases);
    if (has(m, MODELS_ENCODER)) {
        add_norm(m, in_layer(b, i, "attn_output_norm"), n, biases);
        add_norm(m, in_layer(b, i, "layer_output_norm"), n, biases);
    }
}

/* By what Llama 3.1 divides the frequency of a pair: waves that fit the old
 * context four times stay, those longer than it are stretched 8 times, and
 * between them it goes gradually. */
static float
llama3_divisor(const struct model_spec *s, int pair)
{
    double wave =
        2 * acos(-1) * pow((double)s->rope_base, 2.0 * pair / s->n_rot);
    double fits = s->llama3_n_ctx / wave, smooth = (fits - 1) / 3;

    if (fits > 4)
        return 1;
    return (float)(fits < 1 ? 8 : 1 / ((1 - smooth) / 8 + smooth));
}

static void
add_llama3_divisors(struct maker *m)
{
    int n = m->s.n_rot / 2;
    struct ggml_tensor *t = ggml_new_tensor_1d(m->ctx, GGML_TYPE_F32, n);
    float *x = malloc((size_t)n * sizeof(*x));

    for (int i = 0; i < n; i++)
        x[i] = llama3_divisor(&m->s, i);
    store(m, "rope_freqs.weight", t, x);
    free(x);
}

static void
add_rotary_divisors(struct maker *m)
{
    int n = m->s.n_rot / 2;

    if (m->s.rope_freqs)
        add(m, "rope_freqs.weight", n, 0, 3, 0.5f);
    if (m->s.llama3_n_ctx)
        add_llama3_divisors(m);
    if (m->s.rope_long) {
        add(m, "rope_factors_long.weight", n, 0, 8, 2);
        add(m, "rope_factors_short.weight", n, 0, 1.5f, 0.1f);
    }
}

static void
add_tensors(struct maker *m)
{
    const struct model_spec *s = &m->s;
    bool small = has(m, MODELS_SMALL_TOKENS);

    add(m, "token_embd.weight", s->n_embd, s->n_vocab, 0,
        small ? 1 / sqrtf((float)s->n_embd) : 1);
    if (has(m, MODELS_POSITIONS))
        add(m, "position_embd.weight", s->n_embd, s->n_ctx, 0, 0.5f);
    if (has(m, MODELS_ENCODER)) {
        add(m, "token_types.weight", s->n_embd, 2, 0, 0.5f);
        add_norm(m, "token_embd_norm", s->n_embd, true);
    }
    for (int i = 0; i < s->n_layer; i++)
        add_layer(m, i);
    add_rotary_divisors(m);
    if (s->extra)
        add(m, s->extra, 3, 0, 0, 1);
    if (has(m, MODELS_ENCODER))
        return;
    add_norm(m, "output_norm", s->n_embd, has(m, MODELS_LAYER_NORM));
    if (s->untied)
        add_linear(m, "output", s->n_embd, s->n_vocab,
                   has(m, MODELS_OUTPUT_BIAS));
}

/* ---- specification ----------------------------------------------------- */

static int
or_custom(int value, int custom)
{
    return value ? value : custom;
}

static void
fill_in(struct model_spec *s)
{
    s->n_embd = or_custom(s->n_embd, 64);
    s->n_layer = or_custom(s->n_layer, 2);
    s->n_head = or_custom(s->n_head, 4);
    s->n_head_kv = or_custom(s->n_head_kv, s->n_head);
    s->n_ff = or_custom(s->n_ff, 4 * s->n_embd);
    s->n_ctx = or_custom(s->n_ctx, 512);
    s->n_vocab = or_custom(s->n_vocab, MODELS_N_VOCAB);
    s->d_key = or_custom(s->d_key, s->n_embd / s->n_head);
    s->n_rot = or_custom(s->n_rot, s->d_key);
    s->n_expert_used = or_custom(s->n_expert_used, s->n_expert ? 2 : 0);
    s->n_ff_expert = or_custom(s->n_ff_expert, s->n_ff);
    if (s->rope_base == 0)
        s->rope_base = 10000;
    if (s->eps == 0)
        s->eps = 1e-5f;
    s->traits |= models_traits(s->arch);
}

bool
models_write(const struct model_spec *spec, const char *path)
{
    struct maker m = { .s = *spec, .state = spec->seed };
    struct ggml_init_params params = { .mem_size = (size_t)64 << 20 };
    bool done;

    fill_in(&m.s);
    m.gguf = gguf_init_empty();
    m.ctx = ggml_init(params);
    models_set_keys(m.gguf, &m.s, spec);
    if (!m.s.no_vocab)
        models_add_vocab(m.gguf, m.s.n_vocab);
    if (m.s.spoil)
        m.s.spoil(m.gguf);
    add_tensors(&m);
    done = gguf_write_to_file(m.gguf, path, false);
    gguf_free(m.gguf);
    ggml_free(m.ctx);
    return done;
}
