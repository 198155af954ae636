/* old.c - reads ggml, ggmf and ggjt files */
#include "convert/old.h"

#include <stdio.h>

#include "core/check.h"
#include "core/cursor.h"
#include "core/escape.h"
#include "core/mem.h"
#include "core/plant.h"

enum {
    MAX_VOCAB = 1 << 24,
    MAX_TOKEN = 1 << 16,
    MAX_VALUE = 1 << 24,   /* of a hyper-parameter */
    VERSION_FACTOR = 1000, /* ftype / this: the version of block layouts */
    ALIGNMENT = 32,
};

/* The magics, as numbers. */
#define GGML 0x67676d6cu
#define GGMF 0x67676d66u
#define GGJT 0x67676a74u

static const struct container {
    uint32_t magic, version; /* 0: the file has none */
    const char *name;
    bool scores, aligned;
    enum blocks_layout layout;
} containers[] = {
    { GGML, 0, "ggml", false, false, BLOCKS_PAIRS },
    { GGMF, 1, "ggmf v1", true, false, BLOCKS_PAIRS },
    { GGJT, 1, "ggjt v1", true, true, BLOCKS_PAIRS },
    { GGJT, 2, "ggjt v2", true, true, BLOCKS_HALVES },
    { GGJT, 3, "ggjt v3", true, true, BLOCKS_TODAY },
};

enum {
    N_CONTAINERS = sizeof(containers) / sizeof(containers[0])
};

static uint32_t
u32_at(const struct file_map *map, size_t at)
{
    uint32_t v = 0;

    if (map->size >= at + sizeof(v))
        v = core_load_le32((const char *)map->data + at);
    return v;
}

/* Whether the magic is one of these, whatever the version. */
static bool
is_magic(uint32_t magic)
{
    return magic == GGML || magic == GGMF || magic == GGJT;
}

static const struct container *
find_container(const struct file_map *map)
{
    uint32_t magic = u32_at(map, 0), version = u32_at(map, 4);

    for (size_t i = 0; i < N_CONTAINERS; i++)
        if (containers[i].magic == magic &&
            (containers[i].version == 0 || containers[i].version == version))
            return &containers[i];
    return NULL;
}

bool
convert_is_old(const struct file_map *map, const char **name)
{
    const struct container *c = find_container(map);

    *name = c ? c->name : "ggml";
    return map->size >= 8 && is_magic(u32_at(map, 0));
}

/* ---- tokens ------------------------------------------------------------- */

static enum gg_status
cut_off(const struct old_file *f, const char *where, struct gg_error *err)
{
    (void)convert_bad(f->out, err, "%s end past the end of the file", where);
    return GG_ERR_TRUNCATED;
}

static enum gg_status
read_tokens(struct old_file *f, struct cursor *c, bool scores,
            struct gg_error *err)
{
    size_t n = f->n_vocab, each = scores ? 8 : 4;

    if (n == 0 || n > MAX_VOCAB)
        return convert_bad(f->out, err, "%zu tokens, not 1 to %d", n,
                           MAX_VOCAB);
    if (!cursor_holds(c, n, each))
        return cut_off(f, "its tokens", err);
    f->tokens = mem_array(n, sizeof(*f->tokens));
    f->scores = scores ? mem_array(n, sizeof(*f->scores)) : NULL;
    if (!f->tokens || (scores && !f->scores))
        return error_nomem(err);
    for (size_t i = 0; i < n && !c->bad; i++) {
        uint32_t len = cursor_u32(c);

        if (len > MAX_TOKEN)
            return convert_bad(f->out, err,
                               "token %zu has %u bytes, more than %d", i,
                               (unsigned)len, MAX_TOKEN);
        f->tokens[i] = (struct gguf_str){ cursor_take(c, len), len };
        if (scores)
            f->scores[i] = cursor_f32(c);
    }
    return c->bad ? cut_off(f, "its tokens", err) : GG_OK;
}

/* ---- tensors ------------------------------------------------------------ */

/* "path: name: sentence" */
static enum gg_status
bad_tensor(const struct old_file *f, const struct gguf_str *name,
           const char *what, struct gg_error *err)
{
    char shown[OLD_MAX_NAME * 4 + 1];

    escape_bytes(shown, sizeof(shown), name->s, name->n);
    return convert_bad(f->out, err, "%s: %s", shown, what);
}

/* Bytes of the data; false: rows of no whole blocks, or too many. */
static bool
data_size(const struct old_tensor *t, size_t *size)
{
    size_t block = (size_t)ggml_blck_size(t->blocks.type);

    return (size_t)t->ne[0] % block == 0 &&
           check_mul((uint64_t)t->ne[0] / block, t->blocks.size, size) &&
           check_mul(*size, (uint64_t)t->ne[1], size);
}

static void
align(struct cursor *c, const void *start)
{
    size_t at = (size_t)(c->pos - (const uint8_t *)start);

    (void)cursor_take(c, (ALIGNMENT - at % ALIGNMENT) % ALIGNMENT);
}

static enum gg_status
read_old_tensor(struct old_file *f, struct cursor *c, bool aligned,
                struct gg_error *err)
{
    struct old_tensor t = { .ne = { 1, 1 } };
    uint32_t n_dims = cursor_u32(c), len = cursor_u32(c), type = cursor_u32(c);
    uint32_t index = (uint32_t)f->n_tensors;
    size_t size;

    if (!c->bad && (n_dims < 1 || n_dims > 2 || len < 1 || len > OLD_MAX_NAME))
        return convert_bad(f->out, err,
                           "tensor %u has %u dimensions and a name of %u bytes",
                           (unsigned)index, (unsigned)n_dims, (unsigned)len);
    for (uint32_t i = 0; i < n_dims && i < 2; i++)
        t.ne[i] = (int64_t)cursor_u32(c);
    t.name = (struct gguf_str){ cursor_take(c, len), len };
    if (c->bad)
        return cut_off(f, "its tensors", err);
    if (t.ne[0] < 1 || t.ne[1] < 1)
        return bad_tensor(f, &t.name, "a dimension of 0", err);
    if (!convert_blocks_find(f->layout, type, &t.blocks))
        return bad_tensor(f, &t.name, "its type is none that is known here",
                          err);
    if (!data_size(&t, &size))
        return bad_tensor(f, &t.name, "its rows are no whole blocks", err);
    if (aligned)
        align(c, f->out->map->data);
    t.data = cursor_take(c, size);
    if (c->bad)
        return cut_off(f, "its tensors", err);
    if (!mem_grow(&f->tensors, &f->cap_tensors, f->n_tensors + 1, sizeof(t)))
        return error_nomem(err);
    f->tensors[f->n_tensors++] = t;
    return GG_OK;
}

static enum gg_status
index_names(struct old_file *f, struct gg_error *err)
{
    if (!hash_map_init(&f->names, f->n_tensors))
        return error_nomem(err);
    for (size_t i = 0; i < f->n_tensors; i++) {
        const struct gguf_str *name = &f->tensors[i].name;

        if (hash_map_add(&f->names, name->s, name->n, (uint32_t)i) != i)
            return bad_tensor(f, name, "two tensors have this name", err);
    }
    return GG_OK;
}

/* A tensor that nobody took. */
static enum gg_status
check_used(const struct old_file *f, struct gg_error *err)
{
    for (size_t i = 0; i < f->n_tensors; i++)
        if (!f->tensors[i].used)
            return bad_tensor(f, &f->tensors[i].name,
                              "no tensor of this family", err);
    return GG_OK;
}

/* ---- the file ----------------------------------------------------------- */

/* All hyper-parameters, before anything is believed of them. */
static enum gg_status
check_values(const struct old_file *f, const uint32_t *values, size_t n,
             struct gg_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (values[i] > MAX_VALUE)
            return convert_bad(f->out, err,
                               "hyper-parameter %zu is %u, more than %d", i,
                               (unsigned)values[i], MAX_VALUE);
    return GG_OK;
}

/* GPT-2's six are followed by the size of the vocabulary once more; of LLaMA's
 * seven the last is a small number. */
static bool
is_gpt2(const struct cursor *c)
{
    uint32_t v[7] = { 0 };
    size_t left = cursor_left(c);

    memcpy(v, c->pos, left < sizeof(v) ? left : sizeof(v));
    return v[6] == v[0];
}

static enum gg_status
read_gpt2(struct old_file *f, struct cursor *c, struct gg_error *err)
{
    uint32_t v[7], version;
    enum gg_status st;

    for (size_t i = 0; i < 7; i++)
        v[i] = cursor_u32(c);
    memcpy(&f->hp.gpt2, v, sizeof(f->hp.gpt2));
    st = check_values(f, v, 7, err);
    if (st != GG_OK)
        return st;
    version = f->hp.gpt2.ftype / VERSION_FACTOR;
    if (version > BLOCKS_TODAY)
        return convert_bad(f->out, err, "version %u of quantised blocks",
                           (unsigned)version);
    f->layout = (enum blocks_layout)version;
    f->n_vocab = v[0];
    return read_tokens(f, c, false, err);
}

static enum gg_status
read_llama(struct old_file *f, struct cursor *c, const struct container *form,
           struct gg_error *err)
{
    uint32_t v[7];
    enum gg_status st;

    for (size_t i = 0; i < 7; i++)
        v[i] = cursor_u32(c);
    memcpy(&f->hp.llama, v, sizeof(f->hp.llama));
    st = check_values(f, v, 7, err);
    if (st != GG_OK)
        return st;
    f->layout = form->layout;
    f->n_vocab = v[0];
    return read_tokens(f, c, form->scores, err);
}

static enum gg_status
read_file(struct old_file *f, const struct container *form,
          struct gg_error *err)
{
    const struct file_map *map = f->out->map;
    struct cursor c = cursor_over(map->data, map->size);
    bool gpt2;
    enum gg_status st;

    (void)cursor_take(&c, form->version ? 8 : 4);
    gpt2 = form->magic == GGML && is_gpt2(&c);
    st = gpt2 ? read_gpt2(f, &c, err) : read_llama(f, &c, form, err);
    while (st == GG_OK && cursor_left(&c) > 0)
        st = read_old_tensor(f, &c, form->aligned, err);
    if (st == GG_OK)
        st = index_names(f, err);
    if (st == GG_OK)
        st = gpt2 ? convert_old_take_gpt2(f, err)
                  : convert_old_take_llama(f, err);
    return st == GG_OK ? check_used(f, err) : st;
}

enum gg_status
convert_read_old(struct convert_model *m, struct gg_error *err)
{
    const struct container *form = find_container(m->map);
    struct old_file f = { .out = m };
    enum gg_status st;

    if (!form)
        return convert_bad(m, err, "version %u of this format is not known",
                           (unsigned)u32_at(m->map, 4));
    st = read_file(&f, form, err);
    gg_plant("older format");
    mem_free(f.tokens);
    mem_free(f.scores);
    mem_free(f.tensors);
    hash_map_clear(&f.names);
    return st;
}
