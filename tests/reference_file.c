/* reference_file.c - what the reference reads of a file
 *
 * The keys' meaning is that of the files of the field; what a file leaves
 * unsaid is in the table of architectures. */
#include "reference_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gguf.h>

static const struct architecture architectures[] = {
    { .name = "gpt2", .means = true, .activation = GELU_TANH },
    { .name = "llama", .rotation = ROTATE_PAIRS, .window_period = 1 },
    { .name = "qwen2", .rotation = ROTATE_HALVES },
    { .name = "qwen2moe", .rotation = ROTATE_HALVES, .kept_weights = true },
    { .name = "qwen3", .rotation = ROTATE_HALVES },
    { .name = "qwen3moe", .rotation = ROTATE_HALVES },
    { .name = "gemma",
      .rotation = ROTATE_HALVES,
      .activation = GELU_TANH,
      .scaled_tokens = true },
    { .name = "gemma2",
      .rotation = ROTATE_HALVES,
      .activation = GELU_TANH,
      .window_period = 2,
      .deep = 46,
      .scaled_tokens = true },
    { .name = "gemma3",
      .rotation = ROTATE_HALVES,
      .activation = GELU_TANH,
      .window_period = 6,
      .deep = 62,
      .local_base = true,
      .scaled_tokens = true },
    { .name = "phi2",
      .means = true,
      .parallel = true,
      .rotation = ROTATE_HALVES,
      .activation = GELU_TANH },
    { .name = "phi3", .rotation = ROTATE_HALVES, .window_period = 1 },
    { .name = "gptneox",
      .means = true,
      .parallel = true,
      .rotation = ROTATE_HALVES,
      .activation = GELU_ERF },
    { .name = "falcon",
      .means = true,
      .parallel = true,
      .rotation = ROTATE_HALVES,
      .activation = GELU_ERF },
    { .name = "smollm3", .rotation = ROTATE_PAIRS, .straight_period = 4 },
    { .name = "gpt-oss",
      .rotation = ROTATE_HALVES,
      .activation = SILU_CLAMPED,
      .window_period = 2,
      .yarn_exact = true,
      .ffn_norm_post = true },
    { .name = "starcoder2",
      .means = true,
      .rotation = ROTATE_HALVES,
      .activation = GELU_TANH },
    { .name = "olmo2",
      .rotation = ROTATE_HALVES,
      .window_period = 4,
      .local_plain = true },
    { .name = "granite", .rotation = ROTATE_PAIRS },
    { .name = "gptj",
      .means = true,
      .parallel = true,
      .rotation = ROTATE_PAIRS,
      .activation = GELU_TANH },
    { .name = "bert", .means = true, .activation = GELU_ERF },
    { .name = "nomic-bert", .means = true, .rotation = ROTATE_HALVES },
};

/* ---- keys ---------------------------------------------------------------- */

static int64_t
find_key(const struct gguf_context *g, const struct reference *r,
         const char *name)
{
    char key[96];

    snprintf(key, sizeof(key), "%s.%s", r->arch->name, name);
    return gguf_find_key(g, key);
}

/* Of an array for all layers, the first layer's. */
static int
int_key(const struct gguf_context *g, const struct reference *r,
        const char *name, int other)
{
    int64_t i = find_key(g, r, name);

    if (i >= 0 && gguf_get_kv_type(g, i) == GGUF_TYPE_ARRAY)
        return *(const int32_t *)gguf_get_arr_data(g, i);
    return i < 0 ? other : (int)gguf_get_val_u32(g, i);
}

static double
float_key(const struct gguf_context *g, const struct reference *r,
          const char *name, double other)
{
    int64_t i = find_key(g, r, name);

    return i < 0 ? other : (double)gguf_get_val_f32(g, i);
}

static const struct architecture *
find_architecture(const struct gguf_context *g)
{
    const char *name =
        gguf_get_val_str(g, gguf_find_key(g, "general.architecture"));
    size_t n = sizeof(architectures) / sizeof(architectures[0]);

    for (size_t i = 0; i < n; i++)
        if (!strcmp(name, architectures[i].name))
            return &architectures[i];
    return NULL;
}

/* A list of the layers that have a window. */
static void
read_windowed(struct reference *r, const struct gguf_context *g)
{
    int64_t i = find_key(g, r, "attention.sliding_window_pattern");
    const int8_t *list;

    if (i < 0)
        return;
    list = gguf_get_arr_data(g, i);
    r->windowed = malloc((size_t)r->n_layer * sizeof(*r->windowed));
    for (int l = 0; l < r->n_layer; l++)
        r->windowed[l] = list[l];
}

static void
read_sizes(struct reference *r, const struct gguf_context *g)
{
    r->n_embd = int_key(g, r, "embedding_length", 0);
    r->n_layer = int_key(g, r, "block_count", 0);
    r->n_ctx = int_key(g, r, "context_length", 0);
    r->n_head = int_key(g, r, "attention.head_count", 0);
    r->n_head_kv = int_key(g, r, "attention.head_count_kv", r->n_head);
    r->n_ff = int_key(g, r, "feed_forward_length", 0);
    r->d = int_key(g, r, "attention.key_length", r->n_embd / r->n_head);
    r->n_rot = int_key(g, r, "rope.dimension_count", r->d);
    r->n_expert = int_key(g, r, "expert_count", 0);
    r->n_expert_used = int_key(g, r, "expert_used_count", 0);
    r->n_ff_expert = int_key(g, r, "expert_feed_forward_length", r->n_ff);
    r->n_ff_shared = int_key(g, r, "expert_shared_feed_forward_length", 0);
    if (r->arch->window_period)
        r->window = int_key(g, r, "attention.sliding_window", 0);
    read_windowed(r, g);
}

static void
read_scales(struct reference *r, const struct gguf_context *g)
{
    const struct architecture *a = r->arch;
    int64_t parallel = find_key(g, r, "use_parallel_residual");
    int d = a->deep == r->n_layer ? r->n_embd / r->n_head : r->d;

    r->eps = float_key(g, r,
                       a->means ? "attention.layer_norm_epsilon"
                                : "attention.layer_norm_rms_epsilon",
                       0);
    r->parallel = parallel < 0 ? a->parallel : gguf_get_val_bool(g, parallel);
    r->attention_scale = float_key(g, r, "attention.scale", 1 / sqrt(d));
    r->attention_cap = float_key(g, r, "attn_logit_softcapping", 0);
    r->final_cap = float_key(g, r, "final_logit_softcapping", 0);
    r->token_scale = float_key(g, r, "embedding_scale",
                               a->scaled_tokens ? sqrt(r->n_embd) : 1);
    r->residual_scale = float_key(g, r, "residual_scale", 1);
    r->logit_scale = 1 / float_key(g, r, "logit_scale", 1);
}

static void
read_rotation(struct reference *r, const struct gguf_context *g)
{
    int64_t type = find_key(g, r, "rope.scaling.type");
    int64_t turns = find_key(g, r, "rope.scaling.finetuned");

    r->straight = turns >= 0 && !gguf_get_val_bool(g, turns);
    snprintf(r->scaling, sizeof(r->scaling), "%s",
             type < 0 ? "linear" : gguf_get_val_str(g, type));
    r->base = float_key(g, r, "rope.freq_base", 10000);
    r->factor = float_key(g, r, "rope.scaling.factor", 1);
    r->magnitude = float_key(g, r, "rope.scaling.attn_factor", 1);
    r->beta_fast = float_key(g, r, "rope.scaling.yarn_beta_fast", 32);
    r->beta_slow = float_key(g, r, "rope.scaling.yarn_beta_slow", 1);
    r->n_ctx_original =
        int_key(g, r, "rope.scaling.original_context_length", r->n_ctx);
}

/* ---- tensors ------------------------------------------------------------- */

static void
read_weight(struct weight *w, const struct ggml_tensor *t)
{
    float *f;

    w->n = (int)ggml_nelements(t);
    w->x = malloc((size_t)w->n * sizeof(*w->x));
    f = malloc((size_t)w->n * sizeof(*f));
    snprintf(w->name, sizeof(w->name), "%s", t->name);
    if (t->type == GGML_TYPE_F32)
        memcpy(f, t->data, (size_t)w->n * sizeof(*f));
    else
        ggml_get_type_traits(t->type)->to_float(t->data, f, w->n);
    for (int i = 0; i < w->n; i++)
        w->x[i] = (double)f[i];
    free(f);
}

static int
by_name(const void *a, const void *b)
{
    const struct weight *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static void
read_weights(struct reference *r, const struct gguf_context *g,
             struct ggml_context *ctx)
{
    r->n_weights = (int)gguf_get_n_tensors(g);
    r->weights = calloc((size_t)r->n_weights, sizeof(*r->weights));
    for (int i = 0; i < r->n_weights; i++)
        read_weight(&r->weights[i],
                    ggml_get_tensor(ctx, gguf_get_tensor_name(g, i)));
    qsort(r->weights, (size_t)r->n_weights, sizeof(*r->weights), by_name);
    r->n_vocab = (int)ggml_get_tensor(ctx, "token_embd.weight")->ne[1];
}

const struct weight *
reference_weight(const struct reference *r, int layer, const char *name,
                 const char *suffix)
{
    struct weight w;

    if (layer < 0)
        snprintf(w.name, sizeof(w.name), "%s.%s", name, suffix);
    else
        snprintf(w.name, sizeof(w.name), "blk.%d.%s.%s", layer, name, suffix);
    return bsearch(&w, r->weights, (size_t)r->n_weights, sizeof(w), by_name);
}

/* ---- both ---------------------------------------------------------------- */

struct reference *
reference_open(const char *path)
{
    struct reference *r = calloc(1, sizeof(*r));
    struct ggml_context *ctx = NULL;
    struct gguf_init_params params = { false, &ctx };
    struct gguf_context *g = gguf_init_from_file(path, params);

    r->arch = g ? find_architecture(g) : NULL;
    if (r->arch) {
        read_sizes(r, g);
        read_scales(r, g);
        read_rotation(r, g);
        read_weights(r, g, ctx);
    } else {
        free(r);
        r = NULL;
    }
    gguf_free(g);
    ggml_free(ctx);
    return r;
}

void
reference_free(struct reference *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->n_weights; i++)
        free(r->weights[i].x);
    free(r->weights);
    free(r->windowed);
    free(r);
}

int
reference_n_embd(const struct reference *r)
{
    return r->n_embd;
}

int
reference_n_vocab(const struct reference *r)
{
    return r->n_vocab;
}

void
reference_set_n_ctx(struct reference *r, int n_ctx)
{
    r->n_ctx = n_ctx;
}
