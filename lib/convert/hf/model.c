/* model.c - a model in the making: its keys and tensors */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/hf/families.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"

enum {
    MAX_VALUE = 1 << 24, /* of a setting that must have one value */
};

bool
convert_hf_good(const struct hf *h)
{
    return convert_hf_status(h) == GG_OK;
}

enum gg_status
convert_hf_status(const struct hf *h)
{
    if (h->config.status != GG_OK)
        return h->config.status;
    if (h->top.status != GG_OK)
        return h->top.status;
    return h->here.status != GG_OK ? h->here.status : h->input.status;
}

void
convert_hf_add(struct hf *h, const char *name, enum ggml_type type,
               const int64_t ne[GGML_MAX_DIMS], const struct hf_rows *rows)
{
    size_t n = (size_t)gguf_get_n_tensors(h->gguf);
    struct ggml_tensor t = { .type = type };

    if (convert_hf_good(h) && gguf_find_tensor(h->gguf, name) >= 0)
        core_json_bad(&h->here, GG_ERR_FORMAT, "%s: comes from two tensors",
                      name);
    if (convert_hf_good(h) &&
        !mem_grow(&h->rows, &h->cap_rows, n + 1, sizeof(*h->rows)))
        h->here.status = error_nomem(h->here.err);
    if (!convert_hf_good(h)) {
        mem_free(rows->from);
        mem_free((void *)(uintptr_t)rows->made);
        return;
    }
    h->rows[n] = *rows;
    memcpy(t.ne, ne, sizeof(t.ne));
    snprintf(t.name, sizeof(t.name), "%s", name);
    gguf_add_tensor(h->gguf, &t);
    if ((size_t)gguf_get_n_tensors(h->gguf) == n) { /* no memory: finish says */
        mem_free(rows->from);
        mem_free((void *)(uintptr_t)rows->made);
    }
}

/* ---- keys ---------------------------------------------------------------- */

static const char *
full_key(const struct hf *h, const char *name, char buf[96])
{
    snprintf(buf, 96, "%s.%s", h->family->arch, name);
    return buf;
}

void
convert_hf_set_u32(struct hf *h, const char *name, int64_t value)
{
    char key[96];

    gguf_set_val_u32(h->gguf, full_key(h, name, key), (uint32_t)value);
}

void
convert_hf_set_f32(struct hf *h, const char *name, double value)
{
    char key[96];

    gguf_set_val_f32(h->gguf, full_key(h, name, key), (float)value);
}

void
convert_hf_set_str(struct hf *h, const char *name, const char *value)
{
    char key[96];

    gguf_set_val_str(h->gguf, full_key(h, name, key), value);
}

void
convert_hf_set_bool(struct hf *h, const char *name, bool value)
{
    char key[96];

    gguf_set_val_bool(h->gguf, full_key(h, name, key), value);
}

void
convert_hf_set_list(struct hf *h, const char *key, enum gguf_type type, void *x)
{
    if (!x)
        h->config.status = error_nomem(h->config.err);
    else if (convert_hf_good(h))
        gguf_set_arr_data(h->gguf, key, type, x,
                          (size_t)(h->n_layer + h->n_mtp));
    mem_free(x);
}

const json_t *
convert_hf_layers_list(struct hf *h, const char *name)
{
    const json_t *list = core_json_array_of(&h->config, name);

    if (list && json_array_size(list) != (size_t)h->n_layer) {
        core_json_bad(&h->config, GG_ERR_FORMAT, "%s: not one a layer", name);
        return NULL;
    }
    return list;
}

void
convert_hf_must_be(struct hf *h, const char *name, bool value, bool other)
{
    if (core_json_bool(&h->config, name, other) != value)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED, "%s: %s has it %s here",
                      name, h->family->arch, value ? "true" : "false");
}

void
convert_hf_must_be_int(struct hf *h, const char *name, int64_t value)
{
    if (core_json_int(&h->config, name, 0, MAX_VALUE, value) != value)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED, "%s: %s has %d here",
                      name, h->family->arch, (int)value);
}

#endif
