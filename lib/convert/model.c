/* model.c - collects keys and tensors, and rewrites blocks */
#include "convert/model.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/check.h"
#include "core/half.h"
#include "core/mem.h"
#include "core/order.h"
#include "quant/order.h"

enum gg_status
convert_bad(const struct convert_model *m, struct gg_error *err,
            const char *fmt, ...)
{
    char text[192];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    error_set(err, GG_ERR_FORMAT, "%s", text);
    return error_prefix(err, GG_ERR_FORMAT, "%s", m->path);
}

enum gg_status
convert_add(struct convert_model *m, const char *name, const int64_t ne[2],
            const struct convert_tensor *from, struct gg_error *err)
{
    size_t n = (size_t)gguf_get_n_tensors(m->gguf);
    struct ggml_tensor t = {
        .type = from->blocks.type,
        .ne = { ne[0], ne[1], 1, 1 },
    };

    if (!mem_grow(&m->tensors, &m->cap_tensors, n + 1, sizeof(*m->tensors)))
        return error_nomem(err);
    m->tensors[n] = *from;
    snprintf(t.name, sizeof(t.name), "%s", name);
    if (from->blocks.convert || from->group)
        m->rewrites = true;
    else
        t.data = (void *)(uintptr_t)from->data;
    gguf_add_tensor(m->gguf, &t);
    return GG_OK;
}

void
convert_name(char out[GGML_MAX_NAME], const char *name, uint32_t layer)
{
    const char *at = strstr(name, "%d");

    if (at)
        snprintf(out, GGML_MAX_NAME, "%.*s%u%s", (int)(at - name), name,
                 (unsigned)layer, at + 2);
    else
        snprintf(out, GGML_MAX_NAME, "%s", name);
}

static void
set_u32(struct convert_model *m, const struct convert_shape *shape,
        const char *name, uint32_t value)
{
    char key[96];

    snprintf(key, sizeof(key), "%s.%s", shape->architecture, name);
    gguf_set_val_u32(m->gguf, key, value);
}

void
convert_set_shape(struct convert_model *m, const struct convert_shape *shape)
{
    char key[96];

    gguf_set_val_str(m->gguf, "general.architecture", shape->architecture);
    set_u32(m, shape, "context_length", shape->n_ctx);
    set_u32(m, shape, "embedding_length", shape->n_embd);
    set_u32(m, shape, "block_count", shape->n_layer);
    set_u32(m, shape, "feed_forward_length", shape->n_ff);
    set_u32(m, shape, "attention.head_count", shape->n_head);
    set_u32(m, shape, "attention.head_count_kv", shape->n_head_kv);
    snprintf(key, sizeof(key), "%s.%s", shape->architecture, shape->eps_key);
    gguf_set_val_f32(m->gguf, key, shape->eps);
}

/* ---- data that does not stay as it is ------------------------------------ */

static bool
rewrite_blocks(const struct convert_tensor *from, size_t n, size_t size,
               uint8_t *to)
{
    const uint8_t *p = from->data;
    bool fits = true;

    for (size_t i = 0; i < n; i++, p += from->blocks.size, to += size)
        fits &= from->blocks.convert(p, to);
    return fits;
}

static bool
rewrite_groups(const struct convert_tensor *from, size_t n, size_t size,
               uint8_t *to)
{
    size_t each = (size_t)ggml_blck_size(from->blocks.type);
    bool fits = true;

    for (size_t i = 0; i < n; i++, to += size) {
        size_t group = i * each / from->group;
        float scale = core_bits_float(core_load_le32(from->scales + 4 * group));

        fits &= convert_blocks_from_group((const int8_t *)from->data + i * each,
                                          scale, to);
    }
    return fits;
}

static bool
rewrite(const struct convert_tensor *from, size_t bytes, uint8_t *to)
{
    size_t size = ggml_type_size(from->blocks.type), n = bytes / size;

    if (from->group)
        return rewrite_groups(from, n, size, to);
    if (from->blocks.convert)
        return rewrite_blocks(from, n, size, to);
    memcpy(to, from->data, bytes);
    if (CORE_BIG_ENDIAN)
        quant_swap_order(from->blocks.type, to, bytes);
    return true;
}

enum gg_status
convert_rewrite(struct convert_model *m, struct file_map *map,
                struct gg_error *err)
{
    int64_t n = gguf_get_n_tensors(m->gguf);
    const struct gguf_tensor *last = gguf_tensor(m->gguf, n - 1);
    enum gg_status st = file_map_memory(last->offset + last->size, map, err);

    for (int64_t i = 0; st == GG_OK && i < n; i++) {
        const struct gguf_tensor *t = gguf_tensor(m->gguf, i);
        uint8_t *to = (uint8_t *)map->data + t->offset;

        if (!rewrite(&m->tensors[i], t->size, to))
            st = convert_bad(m, err, "%s: a scale is too large for 16 bits",
                             t->name);
        gguf_set_tensor_data(m->gguf, t->name, to);
    }
    return st;
}
