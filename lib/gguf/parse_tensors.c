/* parse_tensors.c - reads a GGUF file's tensor table and checks its layout */
#include "gguf/context.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/check.h"
#include "core/cursor.h"
#include "core/escape.h"
#include "core/mem.h"
#include "quant/types.h"

static enum gg_status
about_tensor(const struct gguf_tensor *t, enum gg_status status,
             struct gg_error *err)
{
    char shown[4 * GGML_MAX_NAME];

    escape_bytes(shown, sizeof(shown), t->name, strlen(t->name));
    return error_prefix(err, status, "%s", shown);
}

static enum gg_status
read_name(struct gguf_context *ctx, struct gguf_tensor *t, uint32_t i,
          struct cursor *c, struct gg_error *err)
{
    uint64_t n = cursor_u64(c);
    const char *s = cursor_take(c, n);

    if (!s)
        return error_set(err, GG_ERR_TRUNCATED,
                         "tensor %" PRIu32 ": file ends in the middle", i);
    if (n == 0 || n >= GGML_MAX_NAME || memchr(s, '\0', (size_t)n))
        return error_set(err, GG_ERR_FORMAT,
                         "tensor %" PRIu32 ": its name is empty, longer than "
                         "%d bytes or has a NUL in it",
                         i, GGML_MAX_NAME - 1);
    t->name = mem_strndup(s, (size_t)n);
    if (!t->name)
        return error_nomem(err);
    if (hash_map_add(&ctx->names, t->name, (size_t)n, i) != i)
        return about_tensor(
            t, error_set(err, GG_ERR_FORMAT, "the name occurs twice"), err);
    return GG_OK;
}

static enum gg_status
read_shape(struct gguf_tensor *t, struct cursor *c, struct gg_error *err)
{
    uint32_t n = cursor_u32(c);

    if (!c->bad && n > GGML_MAX_DIMS)
        return error_set(err, GG_ERR_FORMAT,
                         "%" PRIu32 " dimensions, but %d are allowed", n,
                         GGML_MAX_DIMS);
    t->n_dims = (int)n;
    for (uint32_t i = 0; i < GGML_MAX_DIMS; i++) {
        uint64_t ne = i < n && !c->bad ? cursor_u64(c) : 1;

        if (!c->bad && ne > INT64_MAX)
            return error_set(err, GG_ERR_FORMAT,
                             "dimension %" PRIu32 " is %" PRIu64, i, ne);
        t->ne[i] = (int64_t)ne;
    }
    return GG_OK;
}

/* The bytes of its data; each product is formed only if it fits, that of the
 * elements in an int64_t. That of some dimensions without one of 0 must fit,
 * too, so that rows, say, can be counted. */
static bool
data_size(const struct gguf_tensor *t, const struct ggml_type_traits *traits,
          size_t *out)
{
    int64_t elements = 1, bytes;
    size_t size;

    for (int i = 0; i < GGML_MAX_DIMS; i++)
        if (__builtin_mul_overflow(elements, t->ne[i] ? t->ne[i] : 1,
                                   &elements))
            return false;
    if (__builtin_mul_overflow(elements / traits->blck_size, traits->type_size,
                               &bytes) ||
        !check_add((uint64_t)bytes, 0, &size))
        return false;
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        if (t->ne[i] == 0)
            size = 0;
    *out = size;
    return true;
}

static enum gg_status
check_type(struct gguf_tensor *t, uint32_t type, struct gg_error *err)
{
    const struct ggml_type_traits *traits =
        type < GGML_TYPE_COUNT ? quant_traits((enum ggml_type)type) : NULL;

    if (!traits || traits->blck_size == 0 || traits->type_size == 0)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "its type %" PRIu32 " is unknown or was removed",
                         type);
    t->type = (enum ggml_type)type;
    if (t->ne[0] % traits->blck_size != 0)
        return error_set(err, GG_ERR_FORMAT,
                         "rows of %" PRId64 ", but %s comes in blocks of "
                         "%" PRId64,
                         t->ne[0], traits->type_name, traits->blck_size);
    if (!data_size(t, traits, &t->size))
        return error_set(err, GG_ERR_FORMAT,
                         "so many elements cannot be counted");
    return GG_OK;
}

static enum gg_status
read_tensor(struct gguf_tensor *t, size_t alignment, struct cursor *c,
            struct gg_error *err)
{
    enum gg_status st = read_shape(t, c, err);
    uint32_t type = cursor_u32(c);

    t->offset = cursor_u64(c);
    if (st == GG_OK && c->bad)
        st = error_set(err, GG_ERR_TRUNCATED, "file ends in the middle");
    if (st == GG_OK)
        st = check_type(t, type, err);
    if (st == GG_OK && t->offset % alignment != 0)
        st = error_set(err, GG_ERR_FORMAT,
                       "its offset %" PRIu64 " is not a multiple of %zu",
                       t->offset, alignment);
    return st == GG_OK ? st : about_tensor(t, st, err);
}

enum gg_status
gguf_parse_tensors(struct gguf_context *ctx, struct cursor *c, size_t n,
                   struct gg_error *err)
{
    enum gg_status st = GG_OK;

    ctx->tensors = mem_array(n, sizeof(*ctx->tensors));
    ctx->cap_tensors = n;
    if (!ctx->tensors || !hash_map_init(&ctx->names, n))
        return error_nomem(err);
    for (size_t i = 0; i < n && st == GG_OK; i++) {
        struct gguf_tensor *t = &ctx->tensors[ctx->n_tensors++];

        st = read_name(ctx, t, (uint32_t)i, c, err);
        if (st == GG_OK)
            st = read_tensor(t, ctx->alignment, c, err);
    }
    return st;
}

static int
by_offset(const void *a, const void *b)
{
    const struct gguf_tensor *x = *(const struct gguf_tensor *const *)a;
    const struct gguf_tensor *y = *(const struct gguf_tensor *const *)b;

    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

const struct gguf_tensor **
gguf_tensors_by_offset(const struct gguf_context *ctx)
{
    size_t n = ctx->n_tensors;
    const struct gguf_tensor **order = mem_array(n, sizeof(*order));

    if (!order)
        return NULL;
    for (size_t i = 0; i < n; i++)
        order[i] = &ctx->tensors[i];
    qsort(order, n, sizeof(*order), by_offset);
    return order;
}

/* In the order of their offsets each must end before the next begins; one
 * without bytes may be where another begins. */
static enum gg_status
check_overlap(const struct gguf_context *ctx, struct gg_error *err)
{
    const struct gguf_tensor **order = gguf_tensors_by_offset(ctx);
    enum gg_status st = GG_OK;

    if (!order)
        return error_nomem(err);
    for (size_t i = 1; i < ctx->n_tensors && st == GG_OK; i++)
        if (order[i]->offset - order[i - 1]->offset < order[i - 1]->size) {
            st = error_set(err, GG_ERR_FORMAT,
                           "its data overlaps that of another tensor");
            about_tensor(order[i], st, err);
        }
    mem_free(order);
    return st;
}

static bool
ends_within(const struct gguf_tensor *t, size_t limit)
{
    return t->offset <= limit && t->size <= limit - t->offset;
}

/* Data that may be `missing` may end anywhere that can be counted, and is NULL
 * where it is not whole; a tensor without bytes has them where the section
 * begins. */
static enum gg_status
place_data(struct gguf_tensor *t, const char *data, size_t room, bool missing,
           struct gg_error *err)
{
    if (t->size == 0)
        t->data = data;
    else if (!ends_within(t, missing ? INT64_MAX : room))
        return about_tensor(
            t, error_set(err, GG_ERR_TRUNCATED, "data ends past end of file"),
            err);
    else if (ends_within(t, room))
        t->data = data + t->offset;
    return GG_OK;
}

enum gg_status
gguf_place_tensors(struct gguf_context *ctx, const void *data, size_t size,
                   unsigned flags, struct gg_error *err)
{
    bool absent = size <= ctx->data_offset;
    size_t room = absent ? 0 : size - ctx->data_offset;
    const char *start = absent ? data : (const char *)data + ctx->data_offset;
    bool missing =
        (flags & GGUF_PARSE_CUT) || (absent && (flags & GGUF_PARSE_BARE));
    enum gg_status st = GG_OK;

    for (size_t i = 0; i < ctx->n_tensors && st == GG_OK; i++)
        st = place_data(&ctx->tensors[i], start, room, missing, err);
    return st == GG_OK ? check_overlap(ctx, err) : st;
}
