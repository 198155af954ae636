/* shape.c - writes a model of a real shape with random weights
 *
 *   shape NAME TYPE FILE
 *
 * The shapes are GPT-2's with 117 million weights; Llama 3.2's with a billion
 * and a vocabulary of 32,000, or with its own, whose table is the output, too;
 * Llama 3.1's with eight; four of the 48 layers of Qwen3-30B-A3B, which chooses
 * 8 of 128 experts; eight of the 24 layers of Qwen3.5-2B, three of four
 * recurrent; and four of GLM 4.7 Flash, dense and with latent attention. Two
 * have an MTP layer in addition: one of a billion weights in layers as Llama
 * 3.2's, and a mixture of 1.7 billion, which chooses 8 of 64 experts.
 * Vocabularies have 32,000 tokens where nothing else is stated. All matrices
 * are of TYPE, but that which chooses experts, and convolutions, of F32. What
 * such a model says means nothing; how long it takes is as for any other. The
 * same arguments write the same bytes. */
#include "fixtures/models_parts.h"

#include <gguf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MADE = 1 << 18, /* values that are drawn, and repeated */
};

struct maker;

static void
add_gpt2_layer(struct maker *m, int i);
static void
add_llama_layer(struct maker *m, int i);
static void
add_hybrid_layer(struct maker *m, int i);
static void
add_latent_layer(struct maker *m, int i);

static const struct shape {
    const char *name, *arch;
    void (*add_layer)(struct maker *m, int i);
    int n_embd, n_layer, n_head, n_head_kv, n_ff, n_ctx, n_vocab;
    float rope_base;              /* 0: positions are learned */
    bool tied;                    /* the table of embeddings is the output */
    int d_head, n_expert, n_used; /* of a mixture */
    int n_mtp;                    /* layers after n_layer */
} shapes[] = {
    { "gpt2", "gpt2", add_gpt2_layer, 768, 12, 12, 12, 3072, 1024, 50257, 0,
      true, 0, 0, 0, 0 },
    { "llama1b", "llama", add_llama_layer, 2048, 16, 32, 8, 8192, 8192, 32000,
      500000, false, 0, 0, 0, 0 },
    { "llama3.2-1b", "llama", add_llama_layer, 2048, 16, 32, 8, 8192, 131072,
      128256, 500000, true, 0, 0, 0, 0 },
    { "llama3.1-8b", "llama", add_llama_layer, 4096, 32, 32, 8, 14336, 131072,
      128256, 500000, false, 0, 0, 0, 0 },
    { "mixture", "qwen3moe", add_llama_layer, 2048, 4, 32, 4, 768, 40960, 32000,
      1000000, false, 128, 128, 8, 0 },
    { "mtp1b", "mimo2", add_llama_layer, 2048, 16, 32, 8, 8192, 8192, 32000,
      500000, false, 64, 0, 0, 1 },
    { "mtp-mixture", "mimo2", add_llama_layer, 1024, 16, 16, 4, 512, 8192,
      32000, 500000, false, 128, 64, 8, 1 },
    { "hybrid", "qwen35", add_hybrid_layer, 2048, 8, 8, 2, 6144, 262144, 32000,
      10000000, true, 256, 0, 0, 0 },
    { "latent", "deepseek2", add_latent_layer, 2048, 4, 20, 1, 10240, 202752,
      32000, 1000000, false, 256, 0, 0, 0 },
};

enum {
    /* The gated delta rule of "hybrid": heads, values of each, values that a
     * convolution sees. */
    DELTA_HEADS = 16,
    DELTA_WIDTH = 128,
    DELTA_CONV = 4,
    /* Latent attention: values of a latent row, of a query's, rotated ones, and
     * of a head's key and value that come from a latent row. */
    LATENT_RANK = 512,
    LATENT_QUERY_RANK = 768,
    LATENT_ROTATED = 64,
    LATENT_KEY = 192,
    LATENT_VALUE = 256,
};

struct maker {
    const struct shape *s;
    enum ggml_type type;
    struct gguf_context *gguf;
    struct ggml_context *ctx;
    float *values; /* MADE of them */
};

/* ---- tensors ------------------------------------------------------------ */

static void
add_named(struct maker *m, struct ggml_tensor *t, const char *fmt, int layer)
{
    ggml_format_name(t, fmt, layer);
    gguf_add_tensor(m->gguf, t);
}

static void
add(struct maker *m, enum ggml_type type, int n_in, int n_out, const char *fmt,
    int layer)
{
    add_named(m,
              n_out ? ggml_new_tensor_2d(m->ctx, type, n_in, n_out)
                    : ggml_new_tensor_1d(m->ctx, type, n_in),
              fmt, layer);
}

static void
add_matrix(struct maker *m, int n_in, int n_out, const char *fmt, int layer)
{
    add(m, m->type, n_in, n_out, fmt, layer);
}

static void
add_vector(struct maker *m, int n, const char *fmt, int layer)
{
    add(m, GGML_TYPE_F32, n, 0, fmt, layer);
}

static void
add_gpt2_layer(struct maker *m, int i)
{
    int n = m->s->n_embd, n_ff = m->s->n_ff;

    add_vector(m, n, "blk.%d.attn_norm.weight", i);
    add_vector(m, n, "blk.%d.attn_norm.bias", i);
    add_matrix(m, n, 3 * n, "blk.%d.attn_qkv.weight", i);
    add_vector(m, 3 * n, "blk.%d.attn_qkv.bias", i);
    add_matrix(m, n, n, "blk.%d.attn_output.weight", i);
    add_vector(m, n, "blk.%d.attn_output.bias", i);
    add_vector(m, n, "blk.%d.ffn_norm.weight", i);
    add_vector(m, n, "blk.%d.ffn_norm.bias", i);
    add_matrix(m, n, n_ff, "blk.%d.ffn_up.weight", i);
    add_vector(m, n_ff, "blk.%d.ffn_up.bias", i);
    add_matrix(m, n_ff, n, "blk.%d.ffn_down.weight", i);
    add_vector(m, n, "blk.%d.ffn_down.bias", i);
}

/* Matrices, one for each of n. */
static void
add_matrices(struct maker *m, int n_in, int n_out, int n, const char *fmt,
             int layer)
{
    add_named(m, ggml_new_tensor_3d(m->ctx, m->type, n_in, n_out, n), fmt,
              layer);
}

static void
add_experts(struct maker *m, int n_in, int n_out, const char *fmt, int layer)
{
    add_matrices(m, n_in, n_out, m->s->n_expert, fmt, layer);
}

static int
head_size(const struct shape *s)
{
    return s->d_head ? s->d_head : s->n_embd / s->n_head;
}

static void
add_mixture(struct maker *m, int i)
{
    int n = m->s->n_embd, n_ff = m->s->n_ff;

    add(m, GGML_TYPE_F32, n, m->s->n_expert, "blk.%d.ffn_gate_inp.weight", i);
    add_experts(m, n, n_ff, "blk.%d.ffn_gate_exps.weight", i);
    add_experts(m, n, n_ff, "blk.%d.ffn_up_exps.weight", i);
    add_experts(m, n_ff, n, "blk.%d.ffn_down_exps.weight", i);
}

static void
add_ffn(struct maker *m, int i)
{
    int n = m->s->n_embd, n_ff = m->s->n_ff;

    add_matrix(m, n, n_ff, "blk.%d.ffn_gate.weight", i);
    add_matrix(m, n, n_ff, "blk.%d.ffn_up.weight", i);
    add_matrix(m, n_ff, n, "blk.%d.ffn_down.weight", i);
}

/* `per_query`: 2, if a query is projected with its gate. */
static void
add_attention(struct maker *m, int i, int per_query)
{
    int n = m->s->n_embd, head = head_size(m->s);
    int q = head * m->s->n_head, kv = head * m->s->n_head_kv;

    add_vector(m, n, "blk.%d.attn_norm.weight", i);
    add_matrix(m, n, q * per_query, "blk.%d.attn_q.weight", i);
    add_matrix(m, n, kv, "blk.%d.attn_k.weight", i);
    add_matrix(m, n, kv, "blk.%d.attn_v.weight", i);
    add_matrix(m, q, n, "blk.%d.attn_output.weight", i);
}

static void
add_head_norms(struct maker *m, int i)
{
    add_vector(m, head_size(m->s), "blk.%d.attn_q_norm.weight", i);
    add_vector(m, head_size(m->s), "blk.%d.attn_k_norm.weight", i);
}

static void
add_llama_layer(struct maker *m, int i)
{
    add_attention(m, i, 1);
    add_vector(m, m->s->n_embd, "blk.%d.ffn_norm.weight", i);
    if (m->s->n_expert && !m->s->n_mtp)
        add_head_norms(m, i);
    if (m->s->n_expert)
        add_mixture(m, i);
    else
        add_ffn(m, i);
}

static void
add_delta_rule(struct maker *m, int i)
{
    int n = m->s->n_embd, inner = DELTA_HEADS * DELTA_WIDTH;

    add_vector(m, n, "blk.%d.attn_norm.weight", i);
    add_matrix(m, n, 3 * inner, "blk.%d.attn_qkv.weight", i);
    add_matrix(m, n, inner, "blk.%d.attn_gate.weight", i);
    add(m, GGML_TYPE_F32, DELTA_CONV, 3 * inner, "blk.%d.ssm_conv1d.weight", i);
    add_vector(m, DELTA_HEADS, "blk.%d.ssm_dt.bias", i);
    add_vector(m, DELTA_HEADS, "blk.%d.ssm_a", i);
    add_matrix(m, n, DELTA_HEADS, "blk.%d.ssm_beta.weight", i);
    add_matrix(m, n, DELTA_HEADS, "blk.%d.ssm_alpha.weight", i);
    add_vector(m, DELTA_WIDTH, "blk.%d.ssm_norm.weight", i);
    add_matrix(m, inner, n, "blk.%d.ssm_out.weight", i);
}

/* Every fourth layer has attention. */
static void
add_hybrid_layer(struct maker *m, int i)
{
    if (i % 4 < 3) {
        add_delta_rule(m, i);
    } else {
        add_attention(m, i, 2);
        add_head_norms(m, i);
    }
    add_vector(m, m->s->n_embd, "blk.%d.post_attention_norm.weight", i);
    add_ffn(m, i);
}

static void
add_latent_layer(struct maker *m, int i)
{
    int n = m->s->n_embd, heads = m->s->n_head;

    add_vector(m, n, "blk.%d.attn_norm.weight", i);
    add_matrix(m, n, LATENT_QUERY_RANK, "blk.%d.attn_q_a.weight", i);
    add_vector(m, LATENT_QUERY_RANK, "blk.%d.attn_q_a_norm.weight", i);
    add_matrix(m, LATENT_QUERY_RANK, heads * (LATENT_KEY + LATENT_ROTATED),
               "blk.%d.attn_q_b.weight", i);
    add_matrix(m, n, LATENT_RANK + LATENT_ROTATED,
               "blk.%d.attn_kv_a_mqa.weight", i);
    add_vector(m, LATENT_RANK, "blk.%d.attn_kv_a_norm.weight", i);
    add_matrices(m, LATENT_KEY, LATENT_RANK, heads, "blk.%d.attn_k_b.weight",
                 i);
    add_matrices(m, LATENT_RANK, LATENT_VALUE, heads, "blk.%d.attn_v_b.weight",
                 i);
    add_matrix(m, heads * LATENT_VALUE, n, "blk.%d.attn_output.weight", i);
    add_vector(m, n, "blk.%d.ffn_norm.weight", i);
    add_ffn(m, i);
}

static void
add_mtp_layer(struct maker *m, int i)
{
    int n = m->s->n_embd;

    add_llama_layer(m, i);
    add_matrix(m, 2 * n, n, "blk.%d.nextn.eh_proj.weight", i);
    add_vector(m, n, "blk.%d.nextn.enorm.weight", i);
    add_vector(m, n, "blk.%d.nextn.hnorm.weight", i);
    add_vector(m, n, "blk.%d.nextn.shared_head_norm.weight", i);
}

static void
add_tensors(struct maker *m)
{
    const struct shape *s = m->s;
    bool gpt2 = s->rope_base == 0;

    add_matrix(m, s->n_embd, s->n_vocab, "token_embd.weight", 0);
    if (gpt2)
        add(m, GGML_TYPE_F32, s->n_embd, s->n_ctx, "position_embd.weight", 0);
    for (int i = 0; i < s->n_layer; i++)
        s->add_layer(m, i);
    for (int i = 0; i < s->n_mtp; i++)
        add_mtp_layer(m, s->n_layer + i);
    add_vector(m, s->n_embd, "output_norm.weight", 0);
    if (gpt2)
        add_vector(m, s->n_embd, "output_norm.bias", 0);
    if (!s->tied)
        add_matrix(m, s->n_embd, s->n_vocab, "output.weight", 0);
}

/* ---- metadata ----------------------------------------------------------- */

static void
set_u32(struct maker *m, const char *key, int value)
{
    char full[128];

    snprintf(full, sizeof(full), "%s.%s", m->s->arch, key);
    gguf_set_val_u32(m->gguf, full, (uint32_t)value);
}

static void
set_f32(struct maker *m, const char *key, float value)
{
    char full[128];

    snprintf(full, sizeof(full), "%s.%s", m->s->arch, key);
    gguf_set_val_f32(m->gguf, full, value);
}

static void
set_head_size(struct maker *m, int key, int value)
{
    set_u32(m, "attention.key_length", key);
    set_u32(m, "attention.value_length", value);
}

static void
set_hybrid_keys(struct maker *m)
{
    const int32_t sections[] = { 11, 11, 10, 0 };

    set_head_size(m, m->s->d_head, m->s->d_head);
    gguf_set_arr_data(m->gguf, "qwen35.rope.dimension_sections",
                      GGUF_TYPE_INT32, sections, 4);
    set_u32(m, "rope.dimension_count", 64);
    set_u32(m, "full_attention_interval", 4);
    set_u32(m, "ssm.conv_kernel", DELTA_CONV);
    set_u32(m, "ssm.state_size", DELTA_WIDTH);
    set_u32(m, "ssm.group_count", DELTA_HEADS);
    set_u32(m, "ssm.time_step_rank", DELTA_HEADS);
    set_u32(m, "ssm.inner_size", DELTA_HEADS * DELTA_WIDTH);
}

/* Experts are required keys, although no layer has any. */
static void
set_latent_keys(struct maker *m)
{
    set_head_size(m, LATENT_RANK + LATENT_ROTATED, LATENT_RANK);
    set_u32(m, "attention.key_length_mla", LATENT_KEY + LATENT_ROTATED);
    set_u32(m, "attention.value_length_mla", LATENT_VALUE);
    set_u32(m, "attention.kv_lora_rank", LATENT_RANK);
    set_u32(m, "attention.q_lora_rank", LATENT_QUERY_RANK);
    set_u32(m, "rope.dimension_count", LATENT_ROTATED);
    set_u32(m, "leading_dense_block_count", m->s->n_layer);
    set_u32(m, "expert_feed_forward_length", 1408);
    set_u32(m, "expert_count", 64);
    set_u32(m, "expert_used_count", 6);
    set_u32(m, "expert_shared_count", 2);
    set_f32(m, "expert_weights_scale", 1);
}

static void
set_keys(struct maker *m)
{
    const struct shape *s = m->s;

    gguf_set_val_str(m->gguf, "general.architecture", s->arch);
    gguf_set_val_str(m->gguf, "general.name", s->name);
    set_u32(m, "block_count", s->n_layer + s->n_mtp);
    if (s->n_mtp)
        set_u32(m, "nextn_predict_layers", s->n_mtp);
    set_u32(m, "context_length", s->n_ctx);
    set_u32(m, "embedding_length", s->n_embd);
    set_u32(m, "feed_forward_length", s->n_ff);
    set_u32(m, "attention.head_count", s->n_head);
    set_u32(m, "attention.head_count_kv", s->n_head_kv);
    if (s->rope_base == 0) {
        set_f32(m, "attention.layer_norm_epsilon", 1e-5f);
    } else {
        set_f32(m, "attention.layer_norm_rms_epsilon", 1e-5f);
        set_f32(m, "rope.freq_base", s->rope_base);
        set_u32(m, "rope.dimension_count", head_size(s));
    }
    if (s->n_mtp && !s->n_expert) { /* of a family of mixtures */
        set_u32(m, "expert_count", 2);
        set_u32(m, "expert_used_count", 1);
        set_u32(m, "expert_feed_forward_length", s->n_ff);
    }
    if (s->n_expert) {
        set_head_size(m, s->d_head, s->d_head);
        set_u32(m, "expert_count", s->n_expert);
        set_u32(m, "expert_used_count", s->n_used);
        set_u32(m, "expert_feed_forward_length", s->n_ff);
    }
    if (s->add_layer == add_hybrid_layer)
        set_hybrid_keys(m);
    if (s->add_layer == add_latent_layer)
        set_latent_keys(m);
    models_add_vocab(m->gguf, s->n_vocab);
}

/* ---- data --------------------------------------------------------------- */

/* Uniform, of mean 0 and a deviation of 0.02, as trained models about have. */
static void
make_values(struct maker *m)
{
    uint64_t state = 1;

    m->values = malloc(MADE * sizeof(*m->values));
    if (!m->values)
        exit(1);
    for (int i = 0; i < MADE; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        m->values[i] = (float)(int32_t)(state >> 32) * 0x1p-31f * 0.035f;
    }
}

static void
convert(enum ggml_type type, const float *x, void *y, int64_t rows, int64_t n)
{
    if (type == GGML_TYPE_F32)
        memcpy(y, x, (size_t)(rows * n) * sizeof(*x));
    else if (type == GGML_TYPE_F16)
        ggml_fp32_to_fp16_row(x, y, rows * n);
    else if (type == GGML_TYPE_BF16)
        ggml_fp32_to_bf16_row(x, y, rows * n);
    else
        ggml_quantize_chunk(type, x, y, 0, rows, n, NULL);
}

/* As many rows as there are values for, again and again. */
static bool
write_matrix(const struct maker *m, const struct ggml_tensor *t, FILE *f)
{
    int64_t n = t->ne[0], most = MADE / n, rows = ggml_nrows(t);
    size_t size = ggml_row_size(t->type, n);
    char *data = malloc(size * (size_t)most);
    bool good = data != NULL;

    if (good)
        convert(t->type, m->values, data, most, n);
    for (int64_t r = 0; r < rows && good; r += most) {
        size_t take = (size_t)(rows - r < most ? rows - r : most);

        good = fwrite(data, size, take, f) == take;
    }
    free(data);
    return good;
}

/* Gains are about 1, decays about -1, biases about 0. */
static bool
write_vector(const struct maker *m, const struct ggml_tensor *t, FILE *f)
{
    float mean = strstr(t->name, "norm.weight") ? 1
                 : strstr(t->name, "ssm_a")     ? -1
                                                : 0;
    bool good = true;

    for (int64_t i = 0; i < t->ne[0] && good; i++) {
        float x = mean + m->values[i];

        good = fwrite(&x, sizeof(x), 1, f) == 1;
    }
    return good;
}

static bool
write_data(const struct maker *m, FILE *f)
{
    static const char zeros[GGUF_DEFAULT_ALIGNMENT];
    struct ggml_tensor *t = ggml_get_first_tensor(m->ctx);
    bool good = true;

    for (; t && good; t = ggml_get_next_tensor(m->ctx, t)) {
        size_t past = ggml_nbytes(t) % sizeof(zeros);

        good =
            ggml_n_dims(t) > 1 ? write_matrix(m, t, f) : write_vector(m, t, f);
        if (past && good)
            good = fwrite(zeros, sizeof(zeros) - past, 1, f) == 1;
    }
    return good;
}

static bool
write_file(const struct maker *m, const char *path)
{
    FILE *f;
    bool good;

    if (!gguf_write_to_file(m->gguf, path, true))
        return false;
    f = fopen(path, "ab");
    if (!f)
        return false;
    good = write_data(m, f);
    return fclose(f) == 0 && good;
}

static bool
make(struct maker *m, const char *path)
{
    struct ggml_init_params params = { .mem_size = 1 << 20, .no_alloc = true };
    bool good;

    m->gguf = gguf_init_empty();
    m->ctx = ggml_init(params);
    set_keys(m);
    add_tensors(m);
    make_values(m);
    good = write_file(m, path);
    free(m->values);
    gguf_free(m->gguf);
    ggml_free(m->ctx);
    return good;
}

/* GGML_TYPE_COUNT: there is no such type, or its rows need an importance
 * matrix to be made. */
static enum ggml_type
type_named(const char *name)
{
    for (int i = 0; i < GGML_TYPE_COUNT; i++) {
        const char *type = ggml_type_name((enum ggml_type)i);

        if (type && !strcmp(type, name) &&
            !ggml_quantize_requires_imatrix((enum ggml_type)i))
            return (enum ggml_type)i;
    }
    return GGML_TYPE_COUNT;
}

int
main(int argc, char **argv)
{
    struct maker m = { 0 };

    for (size_t i = 0; argc == 4 && i < sizeof(shapes) / sizeof(shapes[0]); i++)
        if (!strcmp(shapes[i].name, argv[1]))
            m.s = &shapes[i];
    m.type = argc == 4 ? type_named(argv[2]) : GGML_TYPE_COUNT;
    if (!m.s || m.type == GGML_TYPE_COUNT) {
        fputs("usage: shape", stderr);
        for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
            fprintf(stderr, "%c%s", i ? '|' : ' ', shapes[i].name);
        fputs(" TYPE FILE\n", stderr);
        return 2;
    }
    if (make(&m, argv[3]))
        return 0;
    fprintf(stderr, "shape: %s: cannot be written\n", argv[3]);
    remove(argv[3]);
    return 1;
}
