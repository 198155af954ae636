/* models.c - small models of random weights, made by code */
#include "models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct maker {
    struct model_spec s; /* with nothing left to custom */
    struct gguf_context *gguf;
    struct ggml_context *ctx;
    uint64_t state;
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

/* mean + deviation * normal. n_out 0: a vector, always f32. */
static void
add(struct maker *m, const char *name, int n_in, int n_out, float mean,
    float deviation)
{
    enum ggml_type type = n_out ? m->s.type : GGML_TYPE_F32;
    int rows = n_out ? n_out : 1;
    struct ggml_tensor *t;
    float *x;

    if (is(m->s.skip, name))
        return;
    if (is(m->s.shrink, name))
        n_out ? rows-- : n_in--;
    if (is(m->s.retype, name))
        type = GGML_TYPE_F16;
    x = malloc((size_t)n_in * (size_t)rows * sizeof(*x));
    for (long i = 0; i < (long)n_in * rows; i++)
        x[i] = mean + deviation * next_normal(m);
    t = n_out ? ggml_new_tensor_2d(m->ctx, type, n_in, rows)
              : ggml_new_tensor_1d(m->ctx, type, n_in);
    ggml_set_name(t, name);
    store_rows(t, x);
    gguf_add_tensor(m->gguf, t);
    free(x);
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
}

static void
add_norm(struct maker *m, const char *name, bool bias)
{
    char full[64];

    snprintf(full, sizeof(full), "%s.weight", name);
    add(m, full, m->s.n_embd, 0, 1, 0.1f);
    snprintf(full, sizeof(full), "%s.bias", name);
    if (bias)
        add(m, full, m->s.n_embd, 0, 0, 0.1f);
}

static const char *
in_layer(char *buf, int layer, const char *name)
{
    snprintf(buf, 64, "blk.%d.%s", layer, name);
    return buf;
}

static void
add_gpt2_layer(struct maker *m, int i)
{
    const struct model_spec *s = &m->s;
    int q = s->n_head * s->d_key, kv = s->n_head_kv * s->d_key;
    char b[64];

    add_norm(m, in_layer(b, i, "attn_norm"), true);
    add_linear(m, in_layer(b, i, "attn_qkv"), s->n_embd, q + 2 * kv, true);
    add_linear(m, in_layer(b, i, "attn_output"), q, s->n_embd, true);
    add_norm(m, in_layer(b, i, "ffn_norm"), true);
    add_linear(m, in_layer(b, i, "ffn_up"), s->n_embd, s->n_ff, true);
    add_linear(m, in_layer(b, i, "ffn_down"), s->n_ff, s->n_embd, true);
}

static void
add_llama_layer(struct maker *m, int i)
{
    const struct model_spec *s = &m->s;
    int q = s->n_head * s->d_key, kv = s->n_head_kv * s->d_key;
    char b[64];

    add_norm(m, in_layer(b, i, "attn_norm"), false);
    add_linear(m, in_layer(b, i, "attn_q"), s->n_embd, q, s->biases);
    add_linear(m, in_layer(b, i, "attn_k"), s->n_embd, kv, s->biases);
    add_linear(m, in_layer(b, i, "attn_v"), s->n_embd, kv, s->biases);
    add_linear(m, in_layer(b, i, "attn_output"), q, s->n_embd, false);
    add_norm(m, in_layer(b, i, "ffn_norm"), false);
    add_linear(m, in_layer(b, i, "ffn_gate"), s->n_embd, s->n_ff, false);
    add_linear(m, in_layer(b, i, "ffn_up"), s->n_embd, s->n_ff, false);
    add_linear(m, in_layer(b, i, "ffn_down"), s->n_ff, s->n_embd, false);
}

static void
add_tensors(struct maker *m)
{
    const struct model_spec *s = &m->s;
    bool gpt2 = is(s->arch, "gpt2");

    add(m, "token_embd.weight", s->n_embd, s->n_vocab, 0, 1);
    if (gpt2)
        add(m, "position_embd.weight", s->n_embd, s->n_ctx, 0, 0.5f);
    for (int i = 0; i < s->n_layer; i++)
        gpt2 ? add_gpt2_layer(m, i) : add_llama_layer(m, i);
    if (s->rope_freqs)
        add(m, "rope_freqs.weight", s->n_rot / 2, 0, 3, 0.5f);
    add_norm(m, "output_norm", gpt2);
    if (s->untied)
        add_linear(m, "output", s->n_embd, s->n_vocab, false);
}

/* ---- vocabulary ---------------------------------------------------------- */

/* GPT-2 writes each byte as a visible character: itself where it is one in
 * Latin-1, else the next free one from U+0100 on. */
static int
byte_to_codepoint(int byte)
{
    int next = 256;

    for (int b = 0; b < 256; b++) {
        bool visible = (b > 32 && b < 127) || (b > 160 && b != 173);

        if (b == byte)
            return visible ? b : next;
        next += !visible;
    }
    return 0;
}

static void
write_byte_token(char *out, int byte)
{
    int c = byte_to_codepoint(byte);

    if (c < 128)
        snprintf(out, 16, "%c", c);
    else
        snprintf(out, 16, "%c%c", 0xc0 | c >> 6, 0x80 | (c & 63));
}

static void
add_vocabulary(struct maker *m)
{
    enum {
        SIZE = 24,
        CONTROL = 3,
        UNUSED = 5
    };
    int n = m->s.n_vocab, n_merges = n - 257 < 676 ? n - 257 : 676;
    char(*text)[SIZE] = calloc((size_t)n * 2, SIZE);
    const char **all = calloc((size_t)n * 2, sizeof(*all));
    const char **merges = all + n;
    int32_t *types = calloc((size_t)n, sizeof(*types));

    for (int i = 0; i < n; i++) {
        int j = i - 256, a = 'a' + j % 26,
            b = 'a' + (5 * (j % 26) + j / 26) % 26;

        all[i] = text[i];
        types[i] = 1;
        if (i < 256) {
            write_byte_token(text[i], i);
        } else if (j < n_merges) {
            snprintf(text[i], SIZE, "%c%c", a, b);
            snprintf(text[n + j], SIZE, "%c %c", a, b);
            merges[j] = text[n + j];
        } else {
            snprintf(text[i], SIZE, "<unused%d>", i);
            types[i] = UNUSED;
        }
    }
    snprintf(text[n - 1], SIZE, "<|control|>");
    types[n - 1] = CONTROL;
    gguf_set_val_str(m->gguf, "tokenizer.ggml.model", "gpt2");
    gguf_set_val_str(m->gguf, "tokenizer.ggml.pre", "gpt-2");
    gguf_set_arr_str(m->gguf, "tokenizer.ggml.tokens", all, (size_t)n);
    gguf_set_arr_data(m->gguf, "tokenizer.ggml.token_type", GGUF_TYPE_INT32,
                      types, (size_t)n);
    gguf_set_arr_str(m->gguf, "tokenizer.ggml.merges", merges,
                     (size_t)n_merges);
    free(text);
    free(all);
    free(types);
}

/* ---- metadata ------------------------------------------------------------ */

static void
set_u32(struct maker *m, const char *key, int value)
{
    char full[64];

    snprintf(full, sizeof(full), "%s.%s", m->s.arch, key);
    gguf_set_val_u32(m->gguf, full, (uint32_t)value);
}

static void
set_f32(struct maker *m, const char *key, float value)
{
    char full[64];

    snprintf(full, sizeof(full), "%s.%s", m->s.arch, key);
    gguf_set_val_f32(m->gguf, full, value);
}

static void
set_llama_metadata(struct maker *m)
{
    const struct model_spec *s = &m->s;

    set_u32(m, "attention.head_count_kv", s->n_head_kv);
    set_u32(m, "rope.dimension_count", s->n_rot);
    set_f32(m, "rope.freq_base", s->rope_base);
    set_f32(m, "attention.layer_norm_rms_epsilon", 1e-5f);
    if (s->d_key * s->n_head != s->n_embd) {
        set_u32(m, "attention.key_length", s->d_key);
        set_u32(m, "attention.value_length", s->d_key);
    }
    if (s->rope_factor != 0) {
        gguf_set_val_str(m->gguf, "llama.rope.scaling.type", "linear");
        set_f32(m, "rope.scaling.factor", s->rope_factor);
    }
}

static void
set_metadata(struct maker *m)
{
    const struct model_spec *s = &m->s;

    gguf_set_val_str(m->gguf, "general.architecture", s->arch);
    set_u32(m, "context_length", s->n_ctx);
    set_u32(m, "embedding_length", s->n_embd);
    set_u32(m, "block_count", s->n_layer);
    set_u32(m, "feed_forward_length", s->n_ff);
    set_u32(m, "attention.head_count", s->n_head);
    if (is(s->arch, "llama"))
        set_llama_metadata(m);
    else
        set_f32(m, "attention.layer_norm_epsilon", 1e-5f);
}

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
    if (s->rope_base == 0)
        s->rope_base = 10000;
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
    set_metadata(&m);
    if (!m.s.no_vocab)
        add_vocabulary(&m);
    if (m.s.spoil)
        m.s.spoil(m.gguf);
    add_tensors(&m);
    done = gguf_write_to_file(m.gguf, path, false);
    gguf_free(m.gguf);
    ggml_free(m.ctx);
    return done;
}

/* ---- names --------------------------------------------------------------- */

static const struct {
    const char *name;
    enum ggml_type type;
} types[] = {
    { "f32", GGML_TYPE_F32 },   { "f16", GGML_TYPE_F16 },
    { "bf16", GGML_TYPE_BF16 }, { "q8_0", GGML_TYPE_Q8_0 },
    { "q4_0", GGML_TYPE_Q4_0 },
};

bool
models_named(const char *name, struct model_spec *out)
{
    const char *dash = strchr(name, '-');
    bool gpt2 = !strncmp(name, "gpt2-", 5), llama = !strncmp(name, "llama-", 6);

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if ((!gpt2 && !llama) || strcmp(dash + 1, types[i].name))
            continue;
        *out = (struct model_spec){
            .arch = gpt2 ? "gpt2" : "llama",
            .type = types[i].type,
            .n_head_kv = gpt2 ? 4 : 2,
            .untied = true,
            .seed = 1,
        };
        return true;
    }
    return false;
}
