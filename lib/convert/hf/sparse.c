/* sparse.c - which layers have indexers, hyper-connections, limits of gates */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_STREAMS = 16,
    MAX_SINKHORN = 1000,
    USUAL_OFFSET = 2, /* of layers without an indexer */
};

/* A pattern of letters, or every Nth layer from the first few on. */
bool
convert_hf_indexer_by_number(struct hf *h, int32_t layer)
{
    struct core_json_keys *c = &h->config;
    const char *pattern = core_json_text(c, "index_topk_pattern", "");
    int64_t every = core_json_int(c, "index_topk_freq", 1, HF_MAX_CTX, 1);
    int64_t first =
        core_json_int(c, "index_skip_topk_offset", 0, HF_MAX_CTX, USUAL_OFFSET);

    if (*pattern)
        return (size_t)layer < strlen(pattern) && pattern[layer] == 'F';
    return layer < first || (layer - first + 1) % every == 0;
}

static bool
is_listed_full(struct hf *h, const json_t *types, int32_t layer)
{
    const char *type = json_string_value(json_array_get(types, (size_t)layer));

    if (!type || (strcmp(type, "full") != 0 && strcmp(type, "shared") != 0))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "indexer_types: %.40s is none of full, shared",
                      type ? type : "null");
    return type && !strcmp(type, "full");
}

/* The list has no MTP layers, as other programs want it. */
void
convert_hf_set_indexer_types(struct hf *h, bool (*other)(struct hf *, int32_t),
                             bool always)
{
    const json_t *types = convert_hf_layers_list(h, "indexer_types");
    bool *own = mem_array((size_t)h->n_layer, sizeof(*own)), all = true;
    char key[96];

    for (int32_t i = 0; own && i < h->n_layer; i++) {
        own[i] = types ? is_listed_full(h, types, i) : other(h, i);
        all = all && own[i];
    }
    snprintf(key, sizeof(key), "%s.attention.indexer.types", h->family->arch);
    if (!own)
        h->config.status = error_nomem(h->config.err);
    else if (convert_hf_good(h) && (always || !all))
        gguf_set_arr_data(h->gguf, key, GGUF_TYPE_BOOL, own,
                          (size_t)h->n_layer);
    mem_free(own);
}

const struct hf_name convert_hf_stream_names[] = {
    { "hc_attn_fn", "hc_attn_fn.weight", HF_EXACT | HF_F32 },
    { "hc_attn_base", "hc_attn_base.weight", HF_EXACT | HF_F32 },
    { "hc_attn_scale", "hc_attn_scale.weight", HF_EXACT | HF_F32 },
    { "hc_ffn_fn", "hc_ffn_fn.weight", HF_EXACT | HF_F32 },
    { "hc_ffn_base", "hc_ffn_base.weight", HF_EXACT | HF_F32 },
    { "hc_ffn_scale", "hc_ffn_scale.weight", HF_EXACT | HF_F32 },
    { 0 },
};

void
convert_hf_set_streams(struct hf *h, bool independent)
{
    struct core_json_keys *c = &h->config;

    convert_hf_set_u32(h, "hyper_connection.count",
                       core_json_int(c, "hc_mult", 2, MAX_STREAMS, 4));
    convert_hf_set_f32(h, "hyper_connection.epsilon",
                       core_json_number(c, "hc_eps", 0, 1, 1e-6));
    if (independent)
        convert_hf_set_f32(h, "hyper_connection.magnitude",
                           core_json_number(c, "hc_magnitude", 1e-6, 1e6, 2));
    else
        convert_hf_set_u32(
            h, "hyper_connection.sinkhorn_iterations",
            core_json_int(c, "hc_sinkhorn_iters", 1, MAX_SINKHORN, 20));
}

void
convert_hf_set_limit(struct hf *h, const char *to)
{
    double limit = core_json_number(&h->config, "swiglu_limit", 0, 1e6, 0);
    size_t all = (size_t)(h->n_layer + h->n_mtp);
    float *x = limit > 0 ? mem_array(all, sizeof(*x)) : NULL;

    for (size_t i = 0; x && i < all; i++)
        x[i] = (float)limit;
    if (limit > 0)
        convert_hf_set_layers(h, to, GGUF_TYPE_FLOAT32, x);
}

#endif
