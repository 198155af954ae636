/* parse.c - reads a GGUF file's header and its key/value pairs */
#include "gguf/context.h"

#include <inttypes.h>

#include "core/check.h"
#include "core/cursor.h"
#include "core/escape.h"
#include "core/mem.h"
#include "core/magic.h"
#include "core/plant.h"

enum {
    MIN_KV = 14,     /* length, one byte of key, type, one byte of value */
    MIN_TENSOR = 25, /* length, one byte of name, dimensions, type, offset */
};

enum gg_status
gguf_in_file(const struct gguf_context *ctx, enum gg_status status,
             struct gg_error *err)
{
    return ctx->name ? error_prefix(err, status, "%s", ctx->name) : status;
}

static enum gg_status
cut_off(struct gg_error *err)
{
    return error_set(err, GG_ERR_TRUNCATED, "file ends in the middle");
}

bool
gguf_is_swapped(uint32_t version)
{
    return version != 0 && (version & 0xffff) == 0;
}

static enum gg_status
check_version(uint32_t version, struct gg_error *err)
{
    if (version == 1)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "GGUF version 1, which is not read any more");
    if (version == 2 || version == GGUF_VERSION)
        return GG_OK;
    return error_set(err, GG_ERR_UNSUPPORTED,
                     "GGUF version %" PRIu32 ", but 2 and 3 are known",
                     version);
}

/* A count is a claim: it must fit what is left of the file. */
static enum gg_status
check_count(const struct cursor *c, uint64_t n, size_t size, const char *what,
            struct gg_error *err)
{
    if (!cursor_holds(c, n, size) || n > INT32_MAX)
        return error_set(err, GG_ERR_FORMAT,
                         "claims %" PRIu64 " %s, more than the file can hold",
                         n, what);
    return GG_OK;
}

/* All that follows is read in the byte order of the version. */
static enum gg_status
read_version(struct gguf_context *ctx, struct cursor *c, unsigned flags,
             struct gg_error *err)
{
    c->swap = false;
    ctx->version = cursor_u32(c);
    if (c->bad)
        return cut_off(err);
    ctx->order = GGUF_MACHINE_ORDER;
    c->swap = gguf_is_swapped(ctx->version);
    if (c->swap) {
        ctx->version = __builtin_bswap32(ctx->version);
        ctx->order = CORE_BIG_ENDIAN ? GGUF_LITTLE_ENDIAN : GGUF_BIG_ENDIAN;
    }
    if (c->swap && !(flags & GGUF_PARSE_SWAPPED))
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "a GGUF file for machines of the other byte order");
    return check_version(ctx->version, err);
}

static enum gg_status
read_header(struct gguf_context *ctx, struct cursor *c, unsigned flags,
            struct gg_error *err)
{
    const char *name = magic_name(c->pos, cursor_left(c));
    const void *magic = cursor_take(c, 4);
    enum gg_status st;
    uint64_t n_tensors, n_kv;

    if (!magic || memcmp(magic, GGUF_MAGIC, 4) != 0)
        return error_set(err, GG_ERR_FORMAT, "not a GGUF file%s%s",
                         name ? ", but " : "", name ? name : "");
    st = read_version(ctx, c, flags, err);
    if (st != GG_OK)
        return st;
    n_tensors = cursor_u64(c);
    n_kv = cursor_u64(c);
    if (c->bad)
        return cut_off(err);
    st = check_count(c, n_tensors, MIN_TENSOR, "tensors", err);
    if (st == GG_OK)
        st = check_count(c, n_kv, MIN_KV, "keys", err);
    ctx->n_tensors = (size_t)n_tensors;
    ctx->n_kv = (size_t)n_kv;
    return st;
}

static struct gguf_str
read_string(struct cursor *c)
{
    uint64_t n = cursor_u64(c);
    const char *s = cursor_take(c, n);

    return (struct gguf_str){ s, s ? (size_t)n : 0 };
}

/* Strings of an array are walked once, so that any of them is found at once
 * later. */
static enum gg_status
read_strings(struct gguf_kv *kv, struct cursor *c, struct gg_error *err)
{
    kv->strings = kv->owned = mem_array(kv->n, sizeof(*kv->strings));
    if (!kv->strings)
        return error_nomem(err);
    for (size_t i = 0; i < kv->n && !c->bad; i++)
        kv->strings[i] = read_string(c);
    return c->bad ? cut_off(err) : GG_OK;
}

static enum gg_status
read_text(struct gguf_kv *kv, struct cursor *c, struct gg_error *err)
{
    struct gguf_str s = read_string(c);

    if (c->bad)
        return cut_off(err);
    kv->strings = kv->owned = gguf_copy_strings(&s, 1);
    return kv->strings ? GG_OK : error_nomem(err);
}

/* Bytes that are neither 0 nor 1 are true; the array becomes one of the
 * context's own then. */
static enum gg_status
read_bools(struct gguf_kv *kv, struct gg_error *err)
{
    const uint8_t *p = kv->data;
    uint8_t *made;
    size_t i = 0;

    while (i < kv->n && p[i] <= 1)
        i++;
    if (i == kv->n)
        return GG_OK;
    kv->data = kv->owned = made = mem_alloc(kv->n);
    if (!made)
        return error_nomem(err);
    for (i = 0; i < kv->n; i++)
        made[i] = p[i] != 0;
    return GG_OK;
}

/* Numbers of the other byte order become an array of the context's own. */
static enum gg_status
read_swapped(struct gguf_kv *kv, size_t size, struct gg_error *err)
{
    void *made = mem_dup(kv->data, kv->n * size);

    if (!made && kv->n)
        return error_nomem(err);
    core_swap_array(made, kv->n, size);
    kv->data = kv->owned = made;
    return GG_OK;
}

static enum gg_status
read_array(struct gguf_kv *kv, struct cursor *c, struct gg_error *err)
{
    uint32_t type = cursor_u32(c);
    uint64_t n = cursor_u64(c);
    size_t size;

    if (c->bad)
        return cut_off(err);
    if (!gguf_type_is_value(type))
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "an array of elements of type %" PRIu32, type);
    size = gguf_type_bytes((enum gguf_type)type);
    if (!cursor_holds(c, n, size ? size : sizeof(uint64_t)))
        return error_set(
            err, GG_ERR_FORMAT,
            "claims %" PRIu64 " elements, more than the file can hold", n);
    kv->is_array = true;
    kv->type = (enum gguf_type)type;
    kv->n = (size_t)n;
    if (kv->type == GGUF_TYPE_STRING)
        return read_strings(kv, c, err);
    kv->data = cursor_take(c, n * size); /* it fits: see above */
    if (c->swap && size > 1)
        return read_swapped(kv, size, err);
    return kv->type == GGUF_TYPE_BOOL ? read_bools(kv, err) : GG_OK;
}

static enum gg_status
read_value(struct gguf_kv *kv, struct cursor *c, struct gg_error *err)
{
    uint32_t type = cursor_u32(c);
    const void *p;
    size_t size;

    if (c->bad)
        return cut_off(err);
    if (type == GGUF_TYPE_ARRAY)
        return read_array(kv, c, err);
    if (!gguf_type_is_value(type))
        return error_set(err, GG_ERR_FORMAT,
                         "a value of the unknown type %" PRIu32, type);
    kv->type = (enum gguf_type)type;
    kv->n = 1;
    if (kv->type == GGUF_TYPE_STRING)
        return read_text(kv, c, err);
    size = gguf_type_bytes(kv->type);
    p = cursor_take(c, size);
    if (!p)
        return cut_off(err);
    memcpy(&kv->scalar, p, size);
    if (c->swap)
        core_swap_array(&kv->scalar, 1, size);
    if (kv->type == GGUF_TYPE_BOOL)
        memset(&kv->scalar, *(const uint8_t *)p != 0, 1);
    return GG_OK;
}

static enum gg_status
read_key(struct gguf_context *ctx, struct gguf_kv *kv, uint32_t i,
         struct cursor *c, struct gg_error *err)
{
    struct gguf_str s = read_string(c);

    if (c->bad)
        return cut_off(err);
    if (s.n == 0 || s.n > GGUF_MAX_KEY || memchr(s.s, '\0', s.n))
        return error_set(err, GG_ERR_FORMAT,
                         "its name is empty, too long or has a NUL in it");
    kv->key = mem_strndup(s.s, s.n);
    kv->key_len = s.n;
    if (!kv->key)
        return error_nomem(err);
    if (hash_map_add(&ctx->keys, kv->key, s.n, i) != i)
        return error_set(err, GG_ERR_FORMAT, "the key occurs twice");
    return GG_OK;
}

/* Says which key the message is about: by name, once that is known. */
static enum gg_status
about_key(const struct gguf_kv *kv, size_t i, enum gg_status status,
          struct gg_error *err)
{
    char shown[128];

    if (!kv->key)
        return error_prefix(err, status, "key %zu", i);
    escape_bytes(shown, sizeof(shown), kv->key, kv->key_len);
    return error_prefix(err, status, "%s", shown);
}

static enum gg_status
read_kvs(struct gguf_context *ctx, struct cursor *c, struct gg_error *err)
{
    size_t n = ctx->n_kv;

    ctx->n_kv = 0;
    ctx->kv = mem_array(n, sizeof(*ctx->kv));
    ctx->cap_kv = n;
    if (!ctx->kv || !hash_map_init(&ctx->keys, n))
        return error_nomem(err);
    for (size_t i = 0; i < n; i++) {
        struct gguf_kv *kv = &ctx->kv[ctx->n_kv++];
        enum gg_status st = read_key(ctx, kv, (uint32_t)i, c, err);

        if (st == GG_OK)
            st = read_value(kv, c, err);
        if (st != GG_OK)
            return about_key(kv, i, st, err);
    }
    return GG_OK;
}

static enum gg_status
read_alignment(struct gguf_context *ctx, struct gg_error *err)
{
    static const char key[] = GGUF_KEY_GENERAL_ALIGNMENT;
    uint32_t i, alignment;
    const struct gguf_kv *kv;

    ctx->alignment = GGUF_DEFAULT_ALIGNMENT;
    if (!hash_map_find(&ctx->keys, key, sizeof(key) - 1, &i))
        return GG_OK;
    kv = &ctx->kv[i];
    if (kv->is_array || kv->type != GGUF_TYPE_UINT32)
        return error_set(err, GG_ERR_FORMAT, "%s: not of type u32", key);
    alignment = (uint32_t)gguf_kv_bits(kv);
    if (!check_power_of_two(alignment) || alignment > GGUF_MAX_ALIGNMENT)
        return error_set(err, GG_ERR_FORMAT,
                         "%s: %" PRIu32 " is not a power of two from %d to %d",
                         key, alignment, GGUF_MIN_ALIGNMENT,
                         GGUF_MAX_ALIGNMENT);
    ctx->alignment = alignment;
    return GG_OK;
}

/* The data section begins at the next boundary, if there is any tensor. */
static enum gg_status
find_data(struct gguf_context *ctx, size_t metadata, struct gg_error *err)
{
    ctx->data_offset = metadata;
    if (ctx->n_tensors == 0)
        return GG_OK;
    if (!check_align(metadata, ctx->alignment, &ctx->data_offset))
        return error_set(err, GG_ERR_FORMAT, "too long");
    return GG_OK;
}

static enum gg_status
parse(struct gguf_context *ctx, const void *data, size_t size, unsigned flags,
      struct gg_error *err)
{
    struct cursor c = cursor_over(data, size);
    enum gg_status st = read_header(ctx, &c, flags, err);
    size_t n_tensors = ctx->n_tensors;

    ctx->n_tensors = 0;
    if (st != GG_OK)
        ctx->n_kv = 0;
    if (st == GG_OK)
        st = read_kvs(ctx, &c, err);
    if (st == GG_OK)
        st = read_alignment(ctx, err);
    if (st == GG_OK)
        st = gguf_parse_tensors(ctx, &c, n_tensors, err);
    if (st == GG_OK)
        st = find_data(ctx, (size_t)(c.pos - (const uint8_t *)data), err);
    if (st == GG_OK)
        st = gguf_place_tensors(ctx, data, size, flags, err);
    ctx->indexed = st == GG_OK;
    return st == GG_OK ? st : gguf_in_file(ctx, st, err);
}

enum gg_status
gguf_parse_some(const void *data, size_t size, const char *name, unsigned flags,
                struct gguf_context **out, struct gg_error *err)
{
    struct gguf_context *ctx = mem_zalloc(sizeof(*ctx));
    enum gg_status st;

    if (!ctx)
        return error_nomem(err);
    if (name)
        ctx->name = mem_strndup(name, strlen(name));
    if (name && !ctx->name)
        st = error_nomem(err);
    else
        st = parse(ctx, data, size, flags, err);
    gg_plant("GGUF");
    if (st == GG_OK)
        *out = ctx;
    else
        gguf_free(ctx);
    return st;
}

enum gg_status
gguf_parse(const void *data, size_t size, const char *name,
           struct gguf_context **out, struct gg_error *err)
{
    return gguf_parse_some(data, size, name, 0, out, err);
}
