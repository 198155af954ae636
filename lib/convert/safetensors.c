/* safetensors.c - reads the header of a file of safetensors */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/check.h"
#include "core/cursor.h"
#include "core/mem.h"
#include "core/magic.h"
#include "core/plant.h"

enum {
    MAX_HEADER = 100000000, /* the library's own limit */
    MAX_NAME = 512,
};

/* The names are those of the library's enum Dtype. */
static const struct {
    const char *name;
    unsigned bits;
    enum ggml_type type;
} dtypes[] = {
    { "F32", 32, GGML_TYPE_F32 },
    { "F16", 16, GGML_TYPE_F16 },
    { "BF16", 16, GGML_TYPE_BF16 },
    { "F64", 64, GGML_TYPE_F64 },
    { "I8", 8, GGML_TYPE_I8 },
    { "I16", 16, GGML_TYPE_I16 },
    { "I32", 32, GGML_TYPE_I32 },
    { "I64", 64, GGML_TYPE_I64 },
    { "BOOL", 8, GGML_TYPE_COUNT },
    { "U8", 8, GGML_TYPE_COUNT },
    { "U16", 16, GGML_TYPE_COUNT },
    { "U32", 32, GGML_TYPE_COUNT },
    { "U64", 64, GGML_TYPE_COUNT },
    { "C64", 64, GGML_TYPE_COUNT },
    { "F8_E4M3", 8, GGML_TYPE_COUNT },
    { "F8_E5M2", 8, GGML_TYPE_COUNT },
    { "F8_E8M0", 8, GGML_TYPE_COUNT },
    { "F8_E4M3FNUZ", 8, GGML_TYPE_COUNT },
    { "F8_E5M2FNUZ", 8, GGML_TYPE_COUNT },
    { "F6_E2M3", 6, GGML_TYPE_COUNT },
    { "F6_E3M2", 6, GGML_TYPE_COUNT },
    { "F4", 4, GGML_TYPE_COUNT },
};

enum {
    N_DTYPES = sizeof(dtypes) / sizeof(dtypes[0])
};

struct reader {
    struct core_json_keys keys; /* of the tensor that is looked at */
    struct safetensors *s;
    const uint8_t *data; /* what follows the header */
    size_t size;
};

/* ---- one tensor ---------------------------------------------------------- */

static void
read_dtype(struct reader *r, struct safetensors_tensor *t, unsigned *bits)
{
    const char *name = core_json_text(&r->keys, "dtype", "");

    for (size_t i = 0; i < N_DTYPES; i++)
        if (strcmp(dtypes[i].name, name) == 0) {
            t->dtype = dtypes[i].name;
            t->type = dtypes[i].type;
            *bits = dtypes[i].bits;
            return;
        }
    core_json_bad(&r->keys, GG_ERR_UNSUPPORTED,
                  "%s: the type '%.32s' is not known", t->name, name);
}

static void
read_shape(struct reader *r, struct safetensors_tensor *t)
{
    const json_t *shape = core_json_array_of(&r->keys, "shape");
    size_t n = json_array_size(shape);

    if (!shape || n > SAFETENSORS_MAX_DIMS) {
        core_json_bad(&r->keys, GG_ERR_FORMAT,
                      "%s: has no shape of up to %d numbers", t->name,
                      SAFETENSORS_MAX_DIMS);
        return;
    }
    t->n_dims = (int)n;
    t->n = 1;
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(shape, i);

        t->shape[i] = json_is_integer(v) ? json_integer_value(v) : -1;
        if (t->shape[i] < 0 || !check_mul(t->n, (uint64_t)t->shape[i], &t->n)) {
            core_json_bad(&r->keys, GG_ERR_FORMAT,
                          "%s: its shape makes no sense", t->name);
            return;
        }
    }
}

static bool
read_offset(const json_t *v, size_t max, size_t *out)
{
    if (!json_is_integer(v) || json_integer_value(v) < 0 ||
        (uint64_t)json_integer_value(v) > max)
        return false;
    *out = (size_t)json_integer_value(v);
    return true;
}

static void
read_place(struct reader *r, struct safetensors_tensor *t, unsigned bits)
{
    const json_t *place = core_json_array_of(&r->keys, "data_offsets");
    size_t begin = 0, end = 0, want = 0;

    if (r->keys.status != GG_OK)
        return;
    if (json_array_size(place) != 2 ||
        !read_offset(json_array_get(place, 0), r->size, &begin) ||
        !read_offset(json_array_get(place, 1), r->size, &end) || begin > end) {
        core_json_bad(&r->keys, GG_ERR_FORMAT, "%s: data ends past end of file",
                      t->name);
        return;
    }
    t->data = r->data + begin;
    t->size = end - begin;
    if (!check_mul(t->n, bits, &want) || want % 8 || want / 8 != t->size)
        core_json_bad(&r->keys, GG_ERR_FORMAT,
                      "%s: has %zu bytes, which its shape and %s do not",
                      t->name, t->size, t->dtype);
}

static void
read_tensor(struct reader *r, const char *name, const json_t *value)
{
    struct safetensors_tensor *t = &r->s->tensors[r->s->n];
    unsigned bits = 0;

    *t = (struct safetensors_tensor){ .name = name };
    if (!json_is_object(value) || !*name || strlen(name) > MAX_NAME) {
        core_json_bad(&r->keys, GG_ERR_FORMAT, "'%.80s' describes no tensor",
                      name);
        return;
    }
    r->keys.object = value;
    read_dtype(r, t, &bits);
    if (r->keys.status == GG_OK)
        read_shape(r, t);
    if (r->keys.status == GG_OK)
        read_place(r, t, bits);
    r->s->n++;
}

/* ---- all of them --------------------------------------------------------- */

static int
by_place(const void *a, const void *b)
{
    const struct safetensors_tensor *x = a, *y = b;

    if (x->data != y->data)
        return x->data < y->data ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

/* In the order of their data, which must neither overlap nor leave gaps. */
static void
sort_tensors(struct reader *r)
{
    struct safetensors *s = r->s;
    const uint8_t *at = r->data;

    if (r->keys.status != GG_OK)
        return;
    qsort(s->tensors, s->n, sizeof(*s->tensors), by_place);
    for (size_t i = 0; i < s->n; i++) {
        const struct safetensors_tensor *t = &s->tensors[i];

        if (t->data != at) {
            core_json_bad(&r->keys, GG_ERR_FORMAT, "%s: its data %s", t->name,
                          t->data < at ? "is that of another, too"
                                       : "leaves a gap in front of it");
            return;
        }
        at += t->size;
    }
    if (at != r->data + r->size)
        core_json_bad(&r->keys, GG_ERR_FORMAT,
                      "%zu bytes at its end are of no tensor",
                      (size_t)(r->data + r->size - at));
}

static void
read_tensors(struct reader *r)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)r->s->header, name, value)
    {
        if (r->keys.status != GG_OK)
            return;
        if (strcmp(name, "__metadata__") != 0)
            read_tensor(r, name, value);
    }
    sort_tensors(r);
}

static enum gg_status
read_header(const char *path, struct safetensors *s, struct gg_error *err)
{
    struct cursor c = cursor_over(s->map.data, s->map.size);
    uint64_t length = cursor_u64(&c);
    const char *text = length <= MAX_HEADER ? cursor_take(&c, length) : NULL;
    const char *name =
        length > MAX_HEADER ? magic_name(s->map.data, s->map.size) : NULL;
    struct reader r = { .keys = { .path = path, .err = err }, .s = s };
    json_t *header = NULL;
    enum gg_status st;

    if (!text || !length || *text != '{') {
        error_set(err, GG_ERR_FORMAT, "is no file of safetensors, %s%s",
                  name ? "but " : "or is cut", name ? name : "");
        return error_prefix(err, GG_ERR_FORMAT, "%s", path);
    }
    st = core_json_parse(path, text, (size_t)length, &header, err);
    if (st != GG_OK)
        return st;
    s->header = header;
    s->tensors = mem_array(json_object_size(header) + 1, sizeof(*s->tensors));
    if (!s->tensors)
        return error_nomem(err);
    r.data = c.pos;
    r.size = cursor_left(&c);
    read_tensors(&r);
    return r.keys.status;
}

enum gg_status
convert_safetensors_open(const char *path, struct safetensors *out,
                         struct gg_error *err)
{
    enum gg_status st;

    *out = (struct safetensors){ 0 };
    st = file_map(path, &out->map, err);
    if (st == GG_OK)
        st = read_header(path, out, err);
    gg_plant("safetensors");
    if (st != GG_OK)
        convert_safetensors_close(out);
    return st;
}

void
convert_safetensors_close(struct safetensors *s)
{
    json_decref(s->header);
    mem_free(s->tensors);
    file_unmap(&s->map);
    *s = (struct safetensors){ 0 };
}

#endif
