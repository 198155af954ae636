/* folder_tensors.c - GGUF's tensors as transformers has them: what the
 * converters of the field do to them is undone */
#include "folder_parts.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The names of a family come first, then those that most have. */
static const struct {
    const char *archs; /* "" : all */
    const char *from, *to;
} names[] = {
    { "gpt2 gptj", "token_embd", "transformer.wte" },
    { "gpt2", "position_embd", "transformer.wpe" },
    { "gpt2 gptj falcon", "output_norm", "transformer.ln_f" },
    { "gpt2 gptj", "attn_norm", "ln_1" },
    { "gpt2", "attn_qkv", "attn.c_attn" },
    { "gpt2", "attn_output", "attn.c_proj" },
    { "gpt2", "ffn_norm", "ln_2" },
    { "gpt2 starcoder2", "ffn_up", "mlp.c_fc" },
    { "gpt2 starcoder2", "ffn_down", "mlp.c_proj" },
    { "gptj", "attn_q", "attn.q_proj" },
    { "gptj", "attn_k", "attn.k_proj" },
    { "gptj", "attn_v", "attn.v_proj" },
    { "gptj", "attn_output", "attn.out_proj" },
    { "gptj", "ffn_up", "mlp.fc_in" },
    { "gptj", "ffn_down", "mlp.fc_out" },
    { "gptneox", "token_embd", "gpt_neox.embed_in" },
    { "gptneox", "output_norm", "gpt_neox.final_layer_norm" },
    { "gptneox", "output", "embed_out" },
    { "gptneox", "attn_qkv", "attention.query_key_value" },
    { "gptneox", "attn_output", "attention.dense" },
    { "falcon", "token_embd", "transformer.word_embeddings" },
    { "falcon", "attn_qkv", "self_attention.query_key_value" },
    { "falcon", "attn_output", "self_attention.dense" },
    { "gptneox falcon", "ffn_up", "mlp.dense_h_to_4h" },
    { "gptneox falcon", "ffn_down", "mlp.dense_4h_to_h" },
    { "phi2", "output_norm", "model.final_layernorm" },
    { "phi2", "attn_output", "self_attn.dense" },
    { "phi2", "ffn_up", "mlp.fc1" },
    { "phi2", "ffn_down", "mlp.fc2" },
    { "phi3", "attn_qkv", "self_attn.qkv_proj" },
    { "phi3", "ffn_up", "mlp.gate_up_proj" },
    { "gpt-oss", "ffn_gate_inp", "mlp.router" },
    { "llama", "ffn_gate_inp", "block_sparse_moe.gate" },
    { "llama", "ffn_gate_exps", "block_sparse_moe.experts.%d.w1" },
    { "llama", "ffn_down_exps", "block_sparse_moe.experts.%d.w2" },
    { "llama", "ffn_up_exps", "block_sparse_moe.experts.%d.w3" },
    { "gemma2 gemma3", "ffn_norm", "pre_feedforward_layernorm" },
    { "bert", "token_embd", "bert.embeddings.word_embeddings" },
    { "bert", "position_embd", "bert.embeddings.position_embeddings" },
    { "bert", "token_types", "bert.embeddings.token_type_embeddings" },
    { "bert", "token_embd_norm", "bert.embeddings.LayerNorm" },
    { "bert", "attn_q", "attention.self.query" },
    { "bert", "attn_k", "attention.self.key" },
    { "bert", "attn_v", "attention.self.value" },
    { "bert", "attn_output", "attention.output.dense" },
    { "bert", "attn_output_norm", "attention.output.LayerNorm" },
    { "bert", "ffn_up", "intermediate.dense" },
    { "bert", "ffn_down", "output.dense" },
    { "bert", "layer_output_norm", "output.LayerNorm" },
    { "nomic-bert", "token_embd", "embeddings.word_embeddings" },
    { "nomic-bert", "token_types", "embeddings.token_type_embeddings" },
    { "nomic-bert", "token_embd_norm", "emb_ln" },
    { "nomic-bert", "attn_qkv", "attn.Wqkv" },
    { "nomic-bert", "attn_output", "attn.out_proj" },
    { "nomic-bert", "attn_output_norm", "norm1" },
    { "nomic-bert", "ffn_up", "mlp.fc11" },
    { "nomic-bert", "ffn_gate", "mlp.fc12" },
    { "nomic-bert", "ffn_down", "mlp.fc2" },
    { "nomic-bert", "layer_output_norm", "norm2" },
    { "", "post_attention_norm", "post_attention_layernorm" },
    { "", "post_ffw_norm", "post_feedforward_layernorm" },
    { "", "token_embd", "model.embed_tokens" },
    { "", "output_norm", "model.norm" },
    { "", "output", "lm_head" },
    { "", "attn_norm", "input_layernorm" },
    { "", "ffn_norm", "post_attention_layernorm" },
    { "", "attn_q", "self_attn.q_proj" },
    { "", "attn_k", "self_attn.k_proj" },
    { "", "attn_v", "self_attn.v_proj" },
    { "", "attn_output", "self_attn.o_proj" },
    { "", "attn_q_norm", "self_attn.q_norm" },
    { "", "attn_k_norm", "self_attn.k_norm" },
    { "", "attn_sinks", "self_attn.sinks" },
    { "", "ffn_gate", "mlp.gate_proj" },
    { "", "ffn_up", "mlp.up_proj" },
    { "", "ffn_down", "mlp.down_proj" },
    { "", "ffn_gate_inp", "mlp.gate" },
    { "", "ffn_gate_exps", "mlp.experts.%d.gate_proj" },
    { "", "ffn_up_exps", "mlp.experts.%d.up_proj" },
    { "", "ffn_down_exps", "mlp.experts.%d.down_proj" },
    { "", "ffn_gate_inp_shexp", "mlp.shared_expert_gate" },
    { "", "ffn_gate_shexp", "mlp.shared_expert.gate_proj" },
    { "", "ffn_up_shexp", "mlp.shared_expert.up_proj" },
    { "", "ffn_down_shexp", "mlp.shared_expert.down_proj" },
};

static const struct {
    const char *archs, *prefix;
} layers[] = {
    { "gpt2 gptj falcon", "transformer.h" },
    { "gptneox", "gpt_neox.layers" },
    { "bert", "bert.encoder.layer" },
    { "nomic-bert", "encoder.layers" },
    { "", "model.layers" },
};

static bool
is_in(const char *list, const char *arch)
{
    size_t n = strlen(arch);
    const char *at = list;

    if (!*list)
        return true;
    while ((at = strstr(at, arch))) {
        if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' '))
            return true;
        at += n;
    }
    return false;
}

static const char *
name_of(const struct folder *f, const char *from)
{
    if (!strcmp(f->family, "falcon40") && !strcmp(from, "attn_norm"))
        return "ln_mlp";
    if (!strcmp(f->family, "falcon40") && !strcmp(from, "attn_norm_2"))
        return "ln_attn";
    for (size_t i = 0; i < COUNT(names); i++)
        if (is_in(names[i].archs, f->arch) && !strcmp(names[i].from, from))
            return names[i].to;
    folder_die(from);
    return NULL;
}

/* ---- orders -------------------------------------------------------------- */

/* Row i goes to place(i). */
static void
move_rows(const uint8_t *from, uint8_t *to, size_t n, size_t size,
          size_t (*place)(const struct folder *f, size_t i, size_t n,
                          uint32_t heads),
          const struct folder *f, uint32_t heads)
{
    for (size_t i = 0; i < n; i++)
        memcpy(to + place(f, i, n, heads) * size, from + i * size, size);
}

/* Pairs that lie together go to the two halves of a head. */
static size_t
apart(const struct folder *f, size_t i, size_t n, uint32_t heads)
{
    size_t d = n / heads, in = i % d;

    (void)f;
    return i - in + (in % 2) * (d / 2) + in / 2;
}

/* All queries, keys, values go to groups that share a key. */
static size_t
grouped(const struct folder *f, size_t i, size_t n, uint32_t heads)
{
    size_t each = f->n_head / f->n_head_kv, d = n / heads, head = i / d;
    size_t group, in;

    if (head < f->n_head) {
        group = head / each;
        in = head % each;
    } else {
        head -= f->n_head;
        group = head % f->n_head_kv;
        in = each + head / f->n_head_kv;
    }
    return (group * (each + 2) + in) * d + i % d;
}

static void
turn(const uint8_t *from, uint8_t *to, size_t rows, size_t columns, size_t size)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            memcpy(to + (c * rows + r) * size, from + (r * columns + c) * size,
                   size);
}

static void
take_one(uint8_t *data, size_t size)
{
    float x;

    for (size_t i = 0; i < size; i += sizeof(x)) {
        memcpy(&x, data + i, sizeof(x));
        x -= 1;
        memcpy(data + i, &x, sizeof(x));
    }
}

/* ---- tensors ------------------------------------------------------------- */

static struct folder_tensor *
add(struct folder_tensors *all, const char *name, enum ggml_type type,
    int n_dims, const int64_t *shape)
{
    struct folder_tensor *t = &all->list[all->n++];

    if (all->n >= (int)COUNT(all->list))
        folder_die("too many tensors");
    snprintf(t->name, sizeof(t->name), "%s", name);
    t->type = type;
    t->n_dims = n_dims;
    t->size = ggml_type_size(type);
    for (int i = 0; i < n_dims; i++) {
        t->shape[i] = shape[i];
        t->size *= (size_t)shape[i];
    }
    t->data = malloc(t->size);
    return t;
}

static bool
is(const char *a, const char *b)
{
    return !strcmp(a, b);
}

static void
reorder(const struct folder *f, const char *base, const struct gguf_tensor *t,
        struct folder_tensor *to)
{
    bool vector = t->n_dims == 1;
    size_t n = (size_t)(vector ? t->ne[0] : t->ne[1]), row = t->size / n;
    uint32_t all = f->n_head + 2 * f->n_head_kv;
    const uint8_t *from = t->data;

    if (is_in("llama granite smollm3", f->arch) && is(base, "attn_q"))
        move_rows(from, to->data, n, row, apart, f, f->n_head);
    else if (is_in("llama granite smollm3", f->arch) && is(base, "attn_k"))
        move_rows(from, to->data, n, row, apart, f, f->n_head_kv);
    else if (is_in("gptneox falcon", f->arch) && is(base, "attn_qkv"))
        move_rows(from, to->data, n, row, grouped, f, all);
    else if (is(f->arch, "gpt2") && !vector && to->n_dims == 2 &&
             strstr(to->name, ".h."))
        turn(from, to->data, n, (size_t)t->ne[0], ggml_type_size(t->type));
    else
        memcpy(to->data, from, t->size);
    if (!strncmp(f->arch, "gemma", 5) && strstr(base, "norm"))
        take_one(to->data, to->size);
}

static void
add_plain(const struct folder *f, const char *name, const char *base,
          const struct gguf_tensor *t, struct folder_tensors *all)
{
    int64_t shape[2] = { t->ne[1], t->ne[0] };
    bool turned = is(f->arch, "gpt2") && t->n_dims == 2 && strstr(name, ".h.");

    if (turned) {
        shape[0] = t->ne[0];
        shape[1] = t->ne[1];
    }
    if (is(base, "ffn_gate_inp_shexp")) /* a matrix of one row there */
        memcpy(add(all, name, t->type, 2, shape)->data, t->data, t->size);
    else
        reorder(f, base, t,
                add(all, name, t->type, t->n_dims, shape + (t->n_dims == 1)));
}

static void
add_experts(const struct folder *f, const char *name,
            const struct gguf_tensor *t, struct folder_tensors *all)
{
    int64_t shape[2] = { t->ne[1], t->ne[0] };
    size_t each = t->size / f->n_expert;
    char full[96];

    for (uint32_t i = 0; i < f->n_expert; i++) {
        const char *at = strstr(name, "%d");

        snprintf(full, sizeof(full), "%.*s%u%s", (int)(at - name), name,
                 (unsigned)i, at + 2);
        memcpy(add(all, full, t->type, 2, shape)->data,
               (const uint8_t *)t->data + i * each, each);
    }
}

/* gpt-oss: all experts in one, rows as columns; gates and ups in turns. */
static void
add_oss(const struct folder *f, const char *prefix, const char *what, bool bias,
        struct folder_tensors *all)
{
    bool both = is(what, "gate");
    const char *suffix = bias ? "bias" : "weight";
    const struct gguf_tensor *t[2];
    struct folder_tensor *to;
    int64_t shape[3] = { f->n_expert };
    size_t n_in, n_out, size;
    char name[96];

    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof(name), "blk.%s.ffn_%s_exps.%s", prefix,
                 i ? "up" : what, suffix);
        t[i] = gguf_tensor_named(f->gguf, name);
    }
    n_in = bias ? 1 : (size_t)t[0]->ne[0];
    n_out = (size_t)t[0]->ne[bias ? 0 : 1];
    size = ggml_type_size(t[0]->type);
    snprintf(name, sizeof(name), "model.layers.%s.mlp.experts.%s_proj%s",
             prefix, both ? "gate_up" : "down", bias ? "_bias" : "");
    shape[1] = (int64_t)n_in;
    shape[bias ? 1 : 2] = (int64_t)n_out * (both ? 2 : 1);
    to = add(all, name, t[0]->type, bias ? 2 : 3, shape);
    for (size_t e = 0; e < f->n_expert; e++)
        for (size_t o = 0; o < n_out * (both ? 2 : 1); o++)
            for (size_t i = 0; i < n_in; i++) {
                const struct gguf_tensor *from = t[both ? o % 2 : 0];
                size_t row = both ? o / 2 : o;
                size_t width = n_out * (both ? 2 : 1);

                memcpy(to->data + ((e * n_in + i) * width + o) * size,
                       (const uint8_t *)from->data +
                           ((e * n_out + row) * n_in + i) * size,
                       size);
            }
}

/* phi2: three tensors of one. */
static void
add_thirds(const char *prefix, const char *suffix, const struct gguf_tensor *t,
           struct folder_tensors *all)
{
    bool vector = t->n_dims == 1;
    int64_t shape[2] = { t->ne[1] / 3, t->ne[0] };
    char name[96];

    if (vector)
        shape[0] = t->ne[0] / 3;
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof(name), "model.layers.%s.self_attn.%c_proj.%s",
                 prefix, "qkv"[i], suffix);
        memcpy(add(all, name, t->type, vector ? 1 : 2, shape)->data,
               (const uint8_t *)t->data + (size_t)i * (t->size / 3),
               t->size / 3);
    }
}

static void
add_of_layer(const struct folder *f, const struct gguf_tensor *t,
             const char *layer, const char *base, const char *suffix,
             struct folder_tensors *all)
{
    char name[96];
    size_t i = 0;

    if (is(f->arch, "gpt-oss") && strstr(base, "_exps")) {
        if (is(base, "ffn_gate_exps") || is(base, "ffn_down_exps"))
            add_oss(f, layer, is(base, "ffn_down_exps") ? "down" : "gate",
                    is(suffix, "bias"), all);
        return;
    }
    if (is(f->arch, "phi2") && is(base, "attn_qkv")) {
        add_thirds(layer, suffix, t, all);
        return;
    }
    while (!is_in(layers[i].archs, f->arch))
        i++;
    snprintf(name, sizeof(name), "%s.%s.%s%s%s", layers[i].prefix, layer,
             name_of(f, base), is(base, "attn_sinks") ? "" : ".",
             is(base, "attn_sinks") ? "" : suffix);
    if (strstr(base, "_exps"))
        add_experts(f, name, t, all);
    else
        add_plain(f, name, base, t, all);
}

void
folder_tensors(const struct folder *f, struct folder_tensors *out)
{
    for (int64_t i = 0; i < gguf_get_n_tensors(f->gguf); i++) {
        const struct gguf_tensor *t = gguf_tensor(f->gguf, i);
        char layer[8], base[64], suffix[16], name[96];

        if (sscanf(t->name, "blk.%7[0-9].%63[^.].%15s", layer, base, suffix) ==
            3) {
            add_of_layer(f, t, layer, base, suffix, out);
        } else if (!strncmp(t->name, "rope_", 5)) {
            continue; /* of the configuration */
        } else if (sscanf(t->name, "%63[^.].%15s", base, suffix) == 2) {
            snprintf(name, sizeof(name), "%s.%s", name_of(f, base), suffix);
            add_plain(f, name, base, t, out);
        }
    }
}
