/* gemma_keys.c - what Gemma 3n and 4 have in common */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_EMBD = 1 << 16, /* of a layer's own embedding */
};

/* A number a layer, under ARCH.name; the array is the caller's. */
void
convert_hf_gemma_list(struct hf *h, const char *name, enum gguf_type type,
                      const void *list)
{
    char key[96];

    snprintf(key, sizeof(key), "%s.%s", h->family->arch, name);
    gguf_set_arr_data(h->gguf, key, type, list, (size_t)h->n_layer);
}

bool
convert_hf_gemma_is_windowed(const struct hf *h, int32_t layer, int period)
{
    const json_t *list = core_json_find(&h->config, "layer_types");
    const char *type = json_string_value(json_array_get(list, (size_t)layer));

    return type ? !strcmp(type, "sliding_attention")
                : layer % period != period - 1;
}

/* Window, and which layers see no more than it. */
void
convert_hf_gemma_windows(struct hf *h, int period)
{
    const json_t *list = core_json_array_of(&h->config, "layer_types");
    bool *windowed = mem_array((size_t)h->n_layer, sizeof(*windowed));

    convert_hf_keys_window(h);
    if (json_array_size(list) && json_array_size(list) != (size_t)h->n_layer)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "layer_types: not one a layer");
    if (!windowed)
        h->config.status = error_nomem(h->config.err);
    for (int32_t i = 0; windowed && i < h->n_layer; i++)
        windowed[i] = convert_hf_gemma_is_windowed(h, i, period);
    if (windowed)
        convert_hf_gemma_list(h, "attention.sliding_window_pattern",
                              GGUF_TYPE_BOOL, windowed);
    mem_free(windowed);
}

/* Keys of both. 0: there is no cap; without a key all readers take one. */
void
convert_hf_gemma_keys(struct hf *h, int64_t shared, int period)
{
    struct core_json_keys *c = &h->config;

    convert_hf_gemma_windows(h, period);
    convert_hf_set_u32(
        h, "attention.shared_kv_layers",
        core_json_int(c, "num_kv_shared_layers", 0, h->n_layer - 1, shared));
    convert_hf_set_u32(
        h, "embedding_length_per_layer_input",
        core_json_int(c, "hidden_size_per_layer_input", 0, MAX_EMBD, 0));
    convert_hf_set_f32(
        h, "final_logit_softcapping",
        core_json_number(c, "final_logit_softcapping", 0, 1e6, 0));
}

#endif
