/* models_keys.c - the keys of the tests' models */
#include "models_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct made {
    struct gguf_context *gguf;
    const struct model_spec *s; /* with nothing left to custom */
};

static bool
has(const struct made *m, unsigned trait)
{
    return m->s->traits & trait;
}

static void
set_u32(const struct made *m, const char *key, int value)
{
    char full[64];

    snprintf(full, sizeof(full), "%s.%s", m->s->arch, key);
    gguf_set_val_u32(m->gguf, full, (uint32_t)value);
}

static void
set_f32(const struct made *m, const char *key, float value)
{
    char full[64];

    snprintf(full, sizeof(full), "%s.%s", m->s->arch, key);
    gguf_set_val_f32(m->gguf, full, value);
}

static void
set_for_each(const struct made *m, const char *key, int32_t number)
{
    int32_t *x = malloc((size_t)m->s->n_layer * sizeof(*x));

    for (int i = 0; i < m->s->n_layer; i++)
        x[i] = number;
    gguf_set_arr_data(m->gguf, key, GGUF_TYPE_INT32, x, (size_t)m->s->n_layer);
    free(x);
}

static void
set_list(const struct made *m, const char *key, const char *digits)
{
    int8_t x[64];
    size_t n = strlen(digits);

    for (size_t i = 0; i < n; i++)
        x[i] = digits[i] == '1';
    gguf_set_arr_data(m->gguf, key, GGUF_TYPE_BOOL, x, n);
}

static void
set_key(const struct made *m, const struct model_key *k)
{
    char full[96];

    snprintf(full, sizeof(full), "%s.%s", m->s->arch, k->name);
    if (k->kind == 'u')
        gguf_set_val_u32(m->gguf, full, (uint32_t)k->number);
    else if (k->kind == 'f')
        gguf_set_val_f32(m->gguf, full, (float)k->number);
    else if (k->kind == 'b')
        gguf_set_val_bool(m->gguf, full, k->number != 0);
    else if (k->kind == 'e')
        set_for_each(m, full, (int32_t)k->number);
    else if (k->kind == 'l')
        set_list(m, full, k->text);
    else
        gguf_set_val_str(m->gguf, full, k->text);
}

static void
set_rotary(const struct made *m, const struct model_spec *given)
{
    const struct model_spec *s = m->s;
    bool always = has(m, MODELS_ROT_KEYS);

    if (always || given->n_rot)
        set_u32(m, "rope.dimension_count", s->n_rot);
    if (always || given->rope_base != 0)
        set_f32(m, "rope.freq_base", s->rope_base);
    if (s->rope_factor != 0) {
        set_key(m,
                &(struct model_key){ "rope.scaling.type", 's', 0, "linear" });
        set_f32(m, "rope.scaling.factor", s->rope_factor);
    }
}

static void
set_experts(const struct made *m)
{
    const struct model_spec *s = m->s;

    set_u32(m, "expert_count", s->n_expert);
    set_u32(m, "expert_used_count", s->n_expert_used);
    if (s->n_ff_expert != s->n_ff || strcmp(s->arch, "llama"))
        set_u32(m, "expert_feed_forward_length", s->n_ff_expert);
    if (s->n_ff_shared)
        set_u32(m, "expert_shared_feed_forward_length", s->n_ff_shared);
}

void
models_set_keys(struct gguf_context *gguf, const struct model_spec *s,
                const struct model_spec *given)
{
    const struct made *m = &(struct made){ gguf, s };

    gguf_set_val_str(m->gguf, "general.architecture", s->arch);
    set_u32(m, "context_length", s->n_ctx);
    set_u32(m, "embedding_length", s->n_embd);
    set_u32(m, "block_count", s->n_layer);
    set_u32(m, "feed_forward_length", s->n_ff);
    set_u32(m, "attention.head_count", s->n_head);
    set_f32(m,
            has(m, MODELS_LAYER_NORM) ? "attention.layer_norm_epsilon"
                                      : "attention.layer_norm_rms_epsilon",
            s->eps);
    if (has(m, MODELS_POSITIONS))
        return;
    set_u32(m, "attention.head_count_kv", s->n_head_kv);
    set_rotary(m, given);
    if (has(m, MODELS_KEY_LENGTH) || s->d_key * s->n_head != s->n_embd) {
        set_u32(m, "attention.key_length", s->d_key);
        set_u32(m, "attention.value_length", s->d_key);
    }
    if (s->n_expert)
        set_experts(m);
    for (size_t i = 0; i < COUNT(s->keys) && s->keys[i].kind; i++)
        set_key(m, &s->keys[i]);
}
