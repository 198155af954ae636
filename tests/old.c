/* old.c - writes a GGUF model in an older format */
#include "old.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/half.h"
#include "gguf/reader.h"
#include "quant/types.h"
#include "vocab/vocab.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum layout {
    PAIRS,
    HALVES,
    TODAY
};

static const struct format {
    const char *name;
    uint32_t magic, version; /* 0: is not written */
    enum layout layout;
    bool scores, aligned;
    int llama2c; /* the version, or -1 */
} formats[] = {
    { "ggml", 0x67676d6c, 0, TODAY, false, false, -1 },
    { "ggml-0", 0x67676d6c, 0, PAIRS, false, false, -1 },
    { "ggml-1", 0x67676d6c, 0, HALVES, false, false, -1 },
    { "ggmf", 0x67676d66, 1, PAIRS, true, false, -1 },
    { "ggjt-1", 0x67676a74, 1, PAIRS, true, true, -1 },
    { "ggjt-2", 0x67676a74, 2, HALVES, true, true, -1 },
    { "ggjt-3", 0x67676a74, 3, TODAY, true, true, -1 },
    { "llama2c-0", 0, 0, TODAY, true, false, 0 },
    { "llama2c-1", 0x616b3432, 1, TODAY, true, false, 1 },
    { "llama2c-2", 0x616b3432, 2, TODAY, true, false, 2 },
};

/* The names that differ, in the order in which a loader may expect them. */
static const char *const gpt2_names[][2] = {
    { "token_embd.weight", "model/wte" },
    { "position_embd.weight", "model/wpe" },
    { "output_norm.weight", "model/ln_f/g" },
    { "output_norm.bias", "model/ln_f/b" },
    { "output.weight", "model/lm_head" },
    { "attn_norm.weight", "model/h%d/ln_1/g" },
    { "attn_norm.bias", "model/h%d/ln_1/b" },
    { "attn_qkv.weight", "model/h%d/attn/c_attn/w" },
    { "attn_qkv.bias", "model/h%d/attn/c_attn/b" },
    { "attn_output.weight", "model/h%d/attn/c_proj/w" },
    { "attn_output.bias", "model/h%d/attn/c_proj/b" },
    { "ffn_norm.weight", "model/h%d/ln_2/g" },
    { "ffn_norm.bias", "model/h%d/ln_2/b" },
    { "ffn_up.weight", "model/h%d/mlp/c_fc/w" },
    { "ffn_up.bias", "model/h%d/mlp/c_fc/b" },
    { "ffn_down.weight", "model/h%d/mlp/c_proj/w" },
    { "ffn_down.bias", "model/h%d/mlp/c_proj/b" },
};
static const char *const llama_names[][2] = {
    { "token_embd.weight", "tok_embeddings.weight" },
    { "output_norm.weight", "norm.weight" },
    { "output.weight", "output.weight" },
    { "attn_norm.weight", "layers.%d.attention_norm.weight" },
    { "attn_q.weight", "layers.%d.attention.wq.weight" },
    { "attn_k.weight", "layers.%d.attention.wk.weight" },
    { "attn_v.weight", "layers.%d.attention.wv.weight" },
    { "attn_output.weight", "layers.%d.attention.wo.weight" },
    { "ffn_norm.weight", "layers.%d.ffn_norm.weight" },
    { "ffn_gate.weight", "layers.%d.feed_forward.w1.weight" },
    { "ffn_down.weight", "layers.%d.feed_forward.w2.weight" },
    { "ffn_up.weight", "layers.%d.feed_forward.w3.weight" },
};

static const struct format *form;
static struct gguf_file model;
static struct gg_vocab *vocab;
static bool gpt2;
static uint32_t n_layer, n_vocab;
static char tokenizer[4096]; /* its path */
static FILE *out;

static void
die(const char *what)
{
    fprintf(stderr, "old_write: %s\n", what);
    exit(1);
}

static void
put(const void *data, size_t n)
{
    if (n && fwrite(data, 1, n, out) != n)
        die("cannot write");
}

static void
put_u32(uint32_t v)
{
    put(&v, sizeof(v));
}

static uint32_t
key(const char *name)
{
    char full[96];
    uint32_t v = 0;
    struct gg_error err;

    snprintf(full, sizeof(full), "%s.%s", gpt2 ? "gpt2" : "llama", name);
    if (gguf_get_u32(model.gguf, full, &v, &err) != GG_OK)
        die(err.message);
    return v;
}

/* ---- tokens ------------------------------------------------------------- */

/* The bytes of a token, but that llama2.c and LLaMA's files know better. */
static size_t
token(int32_t id, char *buf)
{
    size_t n = vocab->at[id + 1] - vocab->at[id];
    bool spm = vocab->kind == VOCAB_SPM;

    if (!gpt2 && id < 3)
        return form->llama2c >= 0 ? (size_t)sprintf(buf, "\n<%d>\n", (int)id)
                                  : 0;
    if (spm && form->llama2c >= 0 && id < 259)
        return (size_t)sprintf(buf, "<0x%02X>", (unsigned)id - 3);
    memcpy(buf, vocab->bytes + vocab->at[id], n);
    return n;
}

static float
score(int32_t id)
{
    return vocab->kind == VOCAB_SPM ? gguf_array_f32(&vocab->scores, (size_t)id) : -(float)id;
}

static void
put_tokens(void)
{
    char buf[VOCAB_MAX_TOKEN_BYTES];

    for (int32_t id = 0; id < gg_vocab_size(vocab); id++) {
        size_t n = token(id, buf);
        float s = score(id);

        if (form->llama2c >= 0)
            put(&s, sizeof(s));
        put_u32((uint32_t)n);
        put(buf, n);
        if (form->scores && form->llama2c < 0)
            put(&s, sizeof(s));
    }
}

static void
write_tokenizer(void)
{
    FILE *weights = out;

    out = fopen(tokenizer, "wb");
    if (!out)
        die(tokenizer);
    put_u32(VOCAB_MAX_TOKEN_BYTES);
    put_tokens();
    if (fclose(out))
        die(tokenizer);
    out = weights;
}

/* ---- blocks of older layouts --------------------------------------------- */

static void
halves_to_pairs(const uint8_t *from, uint8_t *to)
{
    uint8_t q[32];

    for (int i = 0; i < 16; i++) {
        q[i] = from[i] & 15;
        q[i + 16] = from[i] >> 4;
    }
    for (int i = 0; i < 16; i++)
        to[i] = (uint8_t)(q[2 * i] | q[2 * i + 1] << 4);
}

/* n scales of 16 bits in 32. */
static void
put_wide(const uint8_t *from, int n)
{
    for (int i = 0; i < n; i++) {
        uint16_t h;
        float f;

        memcpy(&h, from + 2 * i, sizeof(h));
        f = half_to_float(h);
        put(&f, sizeof(f));
    }
}

/* One block of today: `head` bytes of scales and high bits, then nibbles. */
static void
put_nibbles(const uint8_t *block, int head, int wide)
{
    uint8_t q[16];

    if (wide)
        put_wide(block, wide);
    else
        put(block, (size_t)head);
    if (form->layout == PAIRS)
        halves_to_pairs(block + head, q);
    else
        memcpy(q, block + head, sizeof(q));
    put(q, sizeof(q));
}

static void
put_block(enum ggml_type type, const uint8_t *block)
{
    switch (type) {
    case GGML_TYPE_Q4_0:
        put_nibbles(block, 2, 1);
        break;
    case GGML_TYPE_Q4_1:
        put_nibbles(block, 4, 2);
        break;
    case GGML_TYPE_Q5_0:
        put_nibbles(block, 6, 0);
        break;
    case GGML_TYPE_Q5_1:
        put_nibbles(block, 8, 0);
        break;
    default: /* Q8_0 */
        put_wide(block, 1);
        put(block + 2, 32);
    }
}

static void
put_data(const struct gguf_tensor *t)
{
    size_t each = ggml_type_size(t->type);

    if (form->layout == TODAY || t->type == GGML_TYPE_F32 ||
        t->type == GGML_TYPE_F16) {
        put(t->data, t->size);
        return;
    }
    for (size_t i = 0; i < t->size; i += each)
        put_block(t->type, (const uint8_t *)t->data + i);
}

/* ---- ggml, ggmf, ggjt --------------------------------------------------- */

/* blk.3.attn_q.weight: 3 and the rest; no layer: the whole name. */
static const char *
after_layer(const char *name, int *layer)
{
    int used = 0;

    *layer = 0;
    if (sscanf(name, "blk.%d.%n", layer, &used) == 1 && used)
        return name + used;
    return name;
}

static void
old_name(const char *name, char *buf, size_t size)
{
    const char *const(*names)[2] = gpt2 ? gpt2_names : llama_names;
    size_t n = gpt2 ? COUNT(gpt2_names) : COUNT(llama_names);
    int layer;

    name = after_layer(name, &layer);
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i][0], name) == 0) {
            const char *to = names[i][1], *at = strstr(to, "%d");

            if (at)
                snprintf(buf, size, "%.*s%d%s", (int)(at - to), to, layer,
                         at + 2);
            else
                snprintf(buf, size, "%s", to);
            return;
        }
    die(name);
}

static void
put_tensor(const struct gguf_tensor *t)
{
    static const char zeros[32];
    char name[64];

    old_name(t->name, name, sizeof(name));
    put_u32((uint32_t)t->n_dims);
    put_u32((uint32_t)strlen(name));
    put_u32((uint32_t)t->type);
    for (int i = 0; i < t->n_dims; i++)
        put_u32((uint32_t)t->ne[i]);
    put(name, strlen(name));
    if (form->aligned)
        put(zeros, (size_t)(-ftell(out) & 31));
    put_data(t);
}

static void
put_header(void)
{
    put_u32(form->magic);
    if (form->version)
        put_u32(form->version);
    put_u32(n_vocab);
    if (gpt2)
        put_u32(key("context_length"));
    put_u32(key("embedding_length"));
    if (!gpt2)
        put_u32(256); /* n_mult */
    put_u32(key("attention.head_count"));
    put_u32(n_layer);
    if (!gpt2)
        put_u32(key("embedding_length") / key("attention.head_count"));
    put_u32(gpt2 ? (uint32_t)form->layout * 1000 : 0); /* ftype */
    if (gpt2)
        put_u32(n_vocab);
}

static void
write_old(void)
{
    put_header();
    put_tokens();
    for (int64_t i = 0; i < gguf_get_n_tensors(model.gguf); i++)
        put_tensor(gguf_tensor(model.gguf, i));
}

/* ---- llama2.c ----------------------------------------------------------- */

static const struct gguf_tensor *
tensor(const char *name, uint32_t layer)
{
    const char *at = strstr(name, "%d");
    char full[GGML_MAX_NAME];
    const struct gguf_tensor *t;

    if (at)
        snprintf(full, sizeof(full), "%.*s%u%s", (int)(at - name), name,
                 (unsigned)layer, at + 2);
    t = gguf_tensor_named(model.gguf, at ? full : name);
    if (!t)
        die(name);
    return t;
}

static void
put_floats(const struct gguf_tensor *t)
{
    if (t->type != GGML_TYPE_F32)
        die("llama2c needs an f32 model");
    put(t->data, t->size);
}

/* Groups of 32: the values of Q8_0 blocks, then their scales. */
static void
put_groups(const struct gguf_tensor *t)
{
    const uint8_t *p = t->data;

    if (t->type != GGML_TYPE_Q8_0)
        die("llama2c-2 needs a q8_0 model");
    for (size_t i = 0; i < t->size; i += 34)
        put(p + i + 2, 32);
    for (size_t i = 0; i < t->size; i += 34)
        put_wide(p + i, 1);
}

static void
put_all(const char *name, bool matrix)
{
    for (uint32_t i = 0; i < (strstr(name, "%d") ? n_layer : 1); i++)
        (matrix && form->llama2c == 2 ? put_groups
                                      : put_floats)(tensor(name, i));
}

static void
put_zeros(size_t n)
{
    while (n--)
        fputc(0, out);
}

static void
put_attention(void)
{
    put_all("blk.%d.attn_q.weight", true);
    put_all("blk.%d.attn_k.weight", true);
    put_all("blk.%d.attn_v.weight", true);
    put_all("blk.%d.attn_output.weight", true);
}

static void
put_feed_forward(void)
{
    put_all("blk.%d.ffn_gate.weight", true);
    put_all("blk.%d.ffn_down.weight", true);
    put_all("blk.%d.ffn_up.weight", true);
}

static void
write_llama2c(void)
{
    uint32_t dim = key("embedding_length"), n_ctx = key("context_length");
    uint32_t heads = key("attention.head_count");
    bool own = gguf_tensor_named(model.gguf, "output.weight") != NULL;
    bool first = form->llama2c == 0;

    if (form->magic) {
        put_u32(form->magic);
        put_u32(form->version);
    }
    put_u32(dim);
    put_u32(key("feed_forward_length"));
    put_u32(n_layer);
    put_u32(heads);
    put_u32(key("attention.head_count_kv"));
    put_u32(own && first ? 0u - n_vocab : n_vocab);
    put_u32(n_ctx);
    if (!first) {
        fputc(!own, out);
        if (form->llama2c == 2)
            put_u32(32);
        put_zeros(256 - (size_t)ftell(out));
        put_all("blk.%d.attn_norm.weight", false);
        put_all("blk.%d.ffn_norm.weight", false);
        put_all("output_norm.weight", false);
    }
    put_all("token_embd.weight", true);
    if (first)
        put_all("blk.%d.attn_norm.weight", false);
    put_attention();
    if (first)
        put_all("blk.%d.ffn_norm.weight", false);
    put_feed_forward();
    if (first) {
        put_all("output_norm.weight", false);
        put_zeros((size_t)n_ctx * (dim / heads / 2) * 2 * sizeof(float));
    }
    if (own)
        put_all("output.weight", true);
    write_tokenizer();
}

/* ------------------------------------------------------------------------- */

static void
open_all(const char *path, const char *tokens)
{
    struct gguf_str arch;
    struct gg_error err;

    if (gguf_file_open(path, GGUF_OPEN_ALL, &model, &err) != GG_OK ||
        gg_vocab_open(tokens, &vocab, &err) != GG_OK ||
        gguf_get_str(model.gguf, "general.architecture", &arch, &err) != GG_OK)
        die(err.message);
    gpt2 = arch.n == 4 && memcmp(arch.s, "gpt2", 4) == 0;
    n_vocab = (uint32_t)gg_vocab_size(vocab);
    n_layer = key("block_count");
}

void
old_write(const char *format, const char *path, const char *tokens,
          const char *to)
{
    const char *slash = strrchr(to, '/');

    form = NULL;
    for (size_t i = 0; i < COUNT(formats); i++)
        if (strcmp(formats[i].name, format) == 0)
            form = &formats[i];
    if (!form)
        die("no such format");
    snprintf(tokenizer, sizeof(tokenizer), "%.*stokenizer.bin",
             slash ? (int)(slash + 1 - to) : 0, to);
    open_all(path, tokens);
    out = fopen(to, "wb");
    if (!out)
        die(to);
    if (form->llama2c >= 0)
        write_llama2c();
    else
        write_old();
    if (fclose(out))
        die(to);
    gg_vocab_free(vocab);
    gguf_file_close(&model);
}
