/* states.c - what families with state spaces have in common */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "convert/hf/states.h"
#include "core/mem.h"

enum {
    MAX_LENGTH = 1 << 20,
};

const struct hf_name convert_hf_backbone[] = {
    { "backbone.embeddings", "token_embd", HF_OR_NEXT },
    { "backbone.embedding", "token_embd", 0 },
    { "backbone.norm_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
const struct hf_name convert_hf_final_norm[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.final_layernorm", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};

/* A rank that is a sixteenth of the embedding unless the configuration has a
 * number. */
int64_t
convert_hf_rank_of(struct hf *h, const char *name)
{
    const char *text = json_string_value(core_json_find(&h->config, name));
    int64_t usual = (h->n_embd + 15) / 16;

    return text && !strcmp(text, "auto")
               ? usual
               : convert_hf_number(h, name, MAX_LENGTH, usual);
}

void
convert_hf_set_space(struct hf *h, int64_t n_inner, int64_t d_state,
                     int64_t n_rank)
{
    convert_hf_set_u32(
        h, "ssm.conv_kernel",
        convert_hf_number(h, "mamba_d_conv|conv_kernel", HF_MAX_CONV, 4));
    convert_hf_set_u32(h, "ssm.inner_size", n_inner);
    convert_hf_set_u32(h, "ssm.state_size", d_state);
    convert_hf_set_u32(h, "ssm.time_step_rank", n_rank);
}

void
convert_hf_set_heads(struct hf *h, const char *heads, const char *length,
                     int64_t n_inner)
{
    struct core_json_keys *c = &h->config;
    const json_t *limits = core_json_array_of(c, "time_step_limit");
    int64_t n = convert_hf_number(h, heads, MAX_LENGTH, -1);
    bool said = json_is_integer(core_json_find(c, length)); /* or "auto" */
    int64_t d =
        said ? convert_hf_number(h, length, MAX_LENGTH, -1) : n_inner / n;

    if (!convert_hf_good(h))
        return;
    if (n_inner != n * d)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "%s: times %s is not the length of what they read", heads,
                      length);
    if (json_number_value(json_array_get(limits, 0)) != 0)
        core_json_bad(c, GG_ERR_UNSUPPORTED, "time_step_limit: begins with 0");
    h->delta.n_key =
        (int32_t)convert_hf_number(h, "mamba_n_groups|n_groups", MAX_LENGTH, 1);
    convert_hf_set_space(
        h, n_inner,
        convert_hf_number(h, "mamba_d_state|ssm_state_size|state_size",
                          MAX_LENGTH, 128),
        n);
    convert_hf_set_u32(h, "ssm.group_count", h->delta.n_key);
}

void
convert_hf_set_attention(struct hf *h, bool *has)
{
    int32_t *heads = mem_array((size_t)h->n_layer, sizeof(*heads));
    char key[96];

    snprintf(key, sizeof(key), "%s.attention.head_count_kv", h->family->arch);
    for (int32_t i = 0; has && heads && i < h->n_layer; i++)
        heads[i] = has[i] ? h->n_head_kv : 0;
    if (!has) {
        mem_free(heads);
        heads = NULL;
    }
    convert_hf_set_list(h, key, GGUF_TYPE_INT32, heads);
    mem_free(has);
}

#endif
