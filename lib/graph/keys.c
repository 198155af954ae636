/* keys.c - values of a file's keys, none believed unseen */
#include "graph/keys.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/escape.h"

const char *
graph_key_name(const struct model_keys *keys, const char *name, char *buf)
{
    snprintf(buf, MODEL_MAX_KEY, "%s.%s", keys->arch, name);
    return buf;
}

static bool
have(const struct model_keys *keys, const char *key)
{
    return gguf_find_key(keys->gguf, key) >= 0;
}

/* ---- arrays with a value for each layer ---------------------------------- */

/* Element i of an array of integers or bools; what is too large for any key
 * here stays too large. */
static int64_t
element(const struct gguf_array *a, size_t i)
{
    switch (a->type) {
    case GGUF_TYPE_INT32:
        return gguf_array_i32(a, i);
    case GGUF_TYPE_UINT32:
        return gguf_array_u32(a, i);
    default:
        return ((const uint8_t *)a->data)[i];
    }
}

/* False: the file has no array of that name, or something has failed before.
 * Elsewise it must have integers or bools, n of them, or reading fails. */
static bool
get_array_of(struct model_keys *keys, const char *key, int32_t n,
             struct gguf_array *out)
{
    int64_t i = gguf_find_key(keys->gguf, key);
    enum gguf_type type;

    if (keys->status != GG_OK || keys->n_layer == 0 || i < 0 ||
        gguf_get_kv_type(keys->gguf, i) != GGUF_TYPE_ARRAY)
        return false;
    type = gguf_get_arr_type(keys->gguf, i);
    if (type != GGUF_TYPE_INT32 && type != GGUF_TYPE_UINT32 &&
        type != GGUF_TYPE_UINT8 && type != GGUF_TYPE_BOOL)
        keys->status = gguf_bad_value(keys->gguf, key, keys->err,
                                      "an array of %s found where integers are "
                                      "needed",
                                      gguf_type_name(type));
    else
        keys->status =
            gguf_get_array_n(keys->gguf, key, type, (size_t)n, out, keys->err);
    return true;
}

/* One for each layer. */
static bool
get_array(struct model_keys *keys, const char *key, struct gguf_array *out)
{
    return get_array_of(keys, key, keys->n_layer, out);
}

/* Whether the file has an array for all layers but MTP layers. */
static bool
leaves_out_mtp(const struct model_keys *keys, const char *key)
{
    int64_t i = gguf_find_key(keys->gguf, key);
    int32_t n = keys->n_layer - keys->n_after;

    return i >= 0 && gguf_get_kv_type(keys->gguf, i) == GGUF_TYPE_ARRAY &&
           gguf_get_arr_n(keys->gguf, i) == (size_t)n;
}

/* The number that all elements are. */
static void
read_equal(struct model_keys *keys, const char *key, const struct gguf_array *a,
           uint64_t *out)
{
    int64_t first = element(a, 0);

    if (first < 0)
        keys->status = gguf_bad_value(keys->gguf, key, keys->err,
                                      "%lld is below 0", (long long)first);
    for (size_t i = 1; i < a->n && keys->status == GG_OK; i++)
        if (element(a, i) != first) {
            gguf_bad_value(keys->gguf, key, keys->err,
                           "%lld in layer 0, %lld in layer %zu: %s has one "
                           "number for all layers here",
                           (long long)first, (long long)element(a, i), i,
                           keys->arch);
            keys->status = GG_ERR_UNSUPPORTED;
        }
    *out = (uint64_t)first;
}

/* An integer, or an array of the same one for each layer. */
static uint64_t
get_int(struct model_keys *keys, const char *key)
{
    struct gguf_array array;
    uint64_t v = 0;

    if (!get_array(keys, key, &array))
        keys->status = gguf_get_u64(keys->gguf, key, &v, keys->err);
    else if (keys->status == GG_OK)
        read_equal(keys, key, &array, &v);
    return v;
}

/* ---- keys ---------------------------------------------------------------- */

int32_t
graph_key_int(struct model_keys *keys, const char *name, int32_t min,
              int32_t max, int32_t other)
{
    char key[MODEL_MAX_KEY];
    uint64_t v = 0;

    if (keys->status != GG_OK)
        return min;
    graph_key_name(keys, name, key);
    if (other >= min && !have(keys, key))
        return other;
    v = get_int(keys, key);
    if (keys->status == GG_OK && (v < (uint64_t)min || v > (uint64_t)max))
        keys->status =
            gguf_bad_value(keys->gguf, key, keys->err, "%llu is not in %d..%d",
                           (unsigned long long)v, (int)min, (int)max);
    return keys->status == GG_OK ? (int32_t)v : min;
}

float
graph_key_float(struct model_keys *keys, const char *name, float min, float max,
                float other)
{
    char key[MODEL_MAX_KEY];
    float v = 0;

    if (keys->status != GG_OK)
        return min;
    graph_key_name(keys, name, key);
    if (other >= min && !have(keys, key))
        return other;
    keys->status = gguf_get_f32(keys->gguf, key, &v, keys->err);
    if (keys->status == GG_OK && !(v >= min && v <= max))
        keys->status =
            gguf_bad_value(keys->gguf, key, keys->err, "%g is not in %g..%g",
                           (double)v, (double)min, (double)max);
    return keys->status == GG_OK ? v : min;
}

float
graph_key_float_or_zero(struct model_keys *keys, const char *name, float min,
                        float max, float other)
{
    char key[MODEL_MAX_KEY];
    float v = 0;

    if (keys->status == GG_OK)
        keys->status = gguf_opt_f32(keys->gguf, graph_key_name(keys, name, key),
                                    &v, keys->err);
    return v != 0 ? graph_key_float(keys, name, min, max, other) : other;
}

int32_t
graph_key_int_or_zero(struct model_keys *keys, const char *name, int32_t max,
                      int32_t other)
{
    int32_t v = graph_key_int(keys, name, 0, max, 0);

    return v != 0 ? v : other;
}

bool
graph_key_exists(const struct model_keys *keys, const char *name)
{
    char key[MODEL_MAX_KEY];

    return have(keys, graph_key_name(keys, name, key));
}

bool
graph_key_bool(struct model_keys *keys, const char *name, bool other)
{
    char key[MODEL_MAX_KEY];
    bool v = other;

    if (keys->status == GG_OK)
        keys->status = gguf_opt_bool(
            keys->gguf, graph_key_name(keys, name, key), &v, keys->err);
    return v;
}

void
graph_key_str(struct model_keys *keys, const char *name, struct gguf_str *out)
{
    char key[MODEL_MAX_KEY];

    if (keys->status == GG_OK)
        keys->status = gguf_opt_str(keys->gguf, graph_key_name(keys, name, key),
                                    out, keys->err);
}

bool
graph_key_is(struct model_keys *keys, const char *name, const char *text)
{
    struct gguf_str s = { NULL, 0 };

    graph_key_str(keys, name, &s);
    return s.n == strlen(text) && !memcmp(s.s, text, s.n);
}

void
graph_key_refuse(struct model_keys *keys, enum gg_status status,
                 const char *name, const char *fmt, ...)
{
    char key[MODEL_MAX_KEY], text[200];
    va_list ap;

    if (keys->status != GG_OK)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    gguf_bad_value(keys->gguf, graph_key_name(keys, name, key), keys->err, "%s",
                   text);
    keys->status = status;
}

void
graph_key_mismatch(struct model_keys *keys, const char *name, const char *what,
                   int32_t a, int32_t b)
{
    graph_key_refuse(keys, GG_ERR_FORMAT, name, "%d %s %d", (int)a, what,
                     (int)b);
}

void
graph_keys_layers(struct model_keys *keys, const char *name, int32_t max,
                  int32_t other, int32_t *out, size_t stride)
{
    struct gguf_array array;
    char key[MODEL_MAX_KEY], *to = (char *)out;
    bool listed = keys->status == GG_OK &&
                  get_array(keys, graph_key_name(keys, name, key), &array);
    int32_t v = listed ? 0 : graph_key_int(keys, name, 0, max, other);

    for (int32_t i = 0; i < keys->n_layer && keys->status == GG_OK; i++) {
        int64_t x = listed ? element(&array, (size_t)i) : v;

        if (x < 0 || x > max)
            keys->status = gguf_bad_value(keys->gguf, key, keys->err,
                                          "%lld of layer %d is not in 0..%d",
                                          (long long)x, (int)i, (int)max);
        *(int32_t *)(to + (size_t)i * stride) = (int32_t)x;
    }
}

void
graph_keys_layer_floats(struct model_keys *keys, const char *name, float min,
                        float max, float *out, size_t stride)
{
    struct gguf_array array = { 0 };
    char key[MODEL_MAX_KEY], *to = (char *)out;
    int64_t at = gguf_find_key(keys->gguf, graph_key_name(keys, name, key));
    bool listed = keys->status == GG_OK && at >= 0 &&
                  gguf_get_kv_type(keys->gguf, at) == GGUF_TYPE_ARRAY;
    float v = listed ? 0 : graph_key_float(keys, name, min, max, 0);

    if (listed)
        keys->status =
            gguf_get_array_n(keys->gguf, key, GGUF_TYPE_FLOAT32,
                             (size_t)keys->n_layer, &array, keys->err);
    for (int32_t i = 0; i < keys->n_layer && keys->status == GG_OK; i++) {
        float x = listed ? gguf_array_f32(&array, (size_t)i) : v;

        if (!(x >= min && x <= max))
            keys->status = gguf_bad_value(
                keys->gguf, key, keys->err, "%g of layer %d is not in %g..%g",
                (double)x, (int)i, (double)min, (double)max);
        *(float *)(to + (size_t)i * stride) = x;
    }
}

bool
graph_keys_layer_flags(struct model_keys *keys, const char *name, bool *out,
                       size_t stride)
{
    struct gguf_array array;
    char key[MODEL_MAX_KEY], *to = (char *)out;
    int32_t n = keys->n_layer;

    graph_key_name(keys, name, key);
    if (leaves_out_mtp(keys, key))
        n -= keys->n_after;
    if (!get_array_of(keys, key, n, &array))
        return false;
    for (int32_t i = 0; i < n && keys->status == GG_OK; i++)
        *(bool *)(to + (size_t)i * stride) = element(&array, (size_t)i) != 0;
    return true;
}

enum gg_status
graph_key_architecture(const struct gguf_context *gguf, char *buf, size_t size,
                       struct gg_error *err)
{
    struct gguf_str arch;
    enum gg_status st = gguf_get_str(gguf, "general.architecture", &arch, err);

    if (st == GG_OK)
        escape_bytes(buf, size, arch.s, arch.n);
    return st;
}
