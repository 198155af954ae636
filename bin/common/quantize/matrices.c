/* matrices.c - which tensors of a file are quantised, and their order */
#include <config.h>

#include "common/quantize/matrices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gg-media.h>

#include "common/cli.h"
#include "common/quantize/mixture.h"

/* Matrices that stay as they are, by a part of their names: norms, routers,
 * positions, small ones of other kinds of layers; as in llama.cpp. */
static const char *const kept[] = {
    "_norm.weight",
    "ffn_gate_inp",
    "ffn_gate_tid2eid.weight",
    "position_embd.weight",
    "token_types",
    "attn_rel_b",
    "ssm_conv1d",
    "shortconv.conv",
    "altup",
    "laurel",
    "per_layer_model_proj",
    "ple_norm_",
    "indexer.k_proj.weight",
    "indexer.q_proj.weight",
    "time_mix_first.weight",
    "time_mix_w0.weight",
    "time_mix_w1.weight",
    "time_mix_w2.weight",
    "time_mix_v0.weight",
    "time_mix_v1.weight",
    "time_mix_v2.weight",
    "time_mix_a0.weight",
    "time_mix_a1.weight",
    "time_mix_a2.weight",
    "time_mix_g1.weight",
    "time_mix_g2.weight",
    "time_mix_decay_w1.weight",
    "time_mix_decay_w2.weight",
    "time_mix_lerp_fused.weight",
    NULL,
};

/* And those that stay in GLM 5.3's files. */
static const char *const kept_glm5[] = {
    "hc_",
    "indexer.attn_q_b",
    "indexer.attn_k",
    "indexer.proj",
    "indexer_compressor_gate",
    "indexer_compressor_ape",
    "ssm_f_a.weight",
    "ssm_f_b.weight",
    "ssm_g_a.weight",
    "ssm_g_b.weight",
    "ssm_beta.weight",
    "attn_kv_a_mqa.weight",
    "attn_k_b.weight",
    "attn_v_b.weight",
    NULL,
};

/* Whether a part of the name is one of these; NULL ends them. */
static bool
is_kept(const char *const *parts, const char *name)
{
    while (*parts && !strstr(name, *parts))
        parts++;
    return *parts != NULL;
}

static bool
ends_in_weight(const char *name)
{
    static const char suffix[] = "weight";
    size_t len = strlen(name), n = strlen(suffix);

    return len >= n && strcmp(name + len - n, suffix) == 0;
}

bool
matrices_of_architecture(const struct gguf_context *gguf, const char *name)
{
    int64_t id = gguf_find_key(gguf, "general.architecture");

    return id >= 0 && gguf_get_kv_type(gguf, id) == GGUF_TYPE_STRING &&
           gguf_get_val_str_len(gguf, id) == strlen(name) &&
           memcmp(gguf_get_val_str(gguf, id), name, strlen(name)) == 0;
}

bool
matrices_of_projector(const struct gguf_context *gguf)
{
    return matrices_of_architecture(gguf, "clip");
}

bool
matrices_has(const struct gguf_context *gguf, int64_t tensor)
{
    const char *name = gguf_get_tensor_name(gguf, tensor);
    const int64_t *ne = gguf_get_tensor_ne(gguf, tensor);

    if (matrices_of_projector(gguf))
        return gg_projector_quantizes(name, ne);
    if (is_kept(kept, name) || (matrices_of_architecture(gguf, "glm5-next") &&
                                is_kept(kept_glm5, name)))
        return false;
    return ends_in_weight(name) && (ne[1] > 1 || ne[2] > 1);
}

struct matrix {
    int64_t id;
    int layer; /* -1: of none */
    const char *name;
};

static int
compare_matrices(const void *a, const void *b)
{
    const struct matrix *x = a, *y = b;

    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    return strcmp(x->name, y->name);
}

int32_t
matrices_number(const struct gguf_context *gguf, int32_t *numbers)
{
    size_t n = (size_t)gguf_get_n_tensors(gguf);
    struct matrix *list = cli_alloc(NULL, n ? n : 1, sizeof(*list));
    int32_t count[MIXTURE_UNCOUNTED + 1] = { 0 };

    for (size_t i = 0; i < n; i++) {
        const char *name = gguf_get_tensor_name(gguf, (int64_t)i);

        list[i] = (struct matrix){ (int64_t)i, -1, name };
        (void)sscanf(name, "blk.%d.", &list[i].layer);
        numbers[i] = 0;
    }
    qsort(list, n, sizeof(*list), compare_matrices);
    for (size_t i = 0; i < n; i++)
        if (matrices_has(gguf, list[i].id))
            numbers[list[i].id] = count[mixture_counts(list[i].name)]++;
    free(list);
    return count[MIXTURE_VALUES];
}
