/* scaled.c - weights that are quantised already: bytes with scales */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "convert/hf/scaled.h"
#include "core/half.h"
#include "core/order.h"

enum {
    NAME = 600,
    MX_BLOCK = 32, /* values with a scale; two in a byte */
};

/* ---- bytes --------------------------------------------------------------- */

/* OCP 8-bit Floating Point Specification (OFP8), 1.0: E4M3 has no infinities,
 * E5M2 is the upper half of a binary16. */
static float
from_e4m3(uint8_t u)
{
    uint32_t sign = (uint32_t)(u & 0x80) << 24, rest = u & 0x7f;

    if (rest == 0x7f)
        return NAN;
    if (rest < 8)
        return core_bits_float(sign | core_float_bits((float)rest * 0x1p-9f));
    return core_bits_float(sign | (rest + (120 << 3)) << 20);
}

static float
from_e5m2(uint8_t u)
{
    return half_to_float((uint16_t)(u << 8));
}

static float
from_i8(uint8_t u)
{
    return (float)(int8_t)u;
}

static const struct {
    const char *dtype;
    float (*open)(uint8_t byte);
} bytes[] = {
    { "F8_E4M3", from_e4m3 },
    { "F8_E5M2", from_e5m2 },
    { "I8", from_i8 },
};

float
convert_hf_scale_at(const struct safetensors_tensor *t, size_t at)
{
    const struct safetensors_tensor *s = t->scales;
    size_t columns = (size_t)t->shape[1], across;
    uint16_t half;

    across = (columns + t->block_columns - 1) / t->block_columns;
    at =
        at / columns / t->block_rows * across + at % columns / t->block_columns;
    if (s->type == GGML_TYPE_F32) {
        return core_bits_float(core_load_le32(s->data + 4 * at));
    }
    half = core_load_le16(s->data + at * sizeof(half));
    return s->type == GGML_TYPE_F16 ? half_to_float(half)
                                    : core_bf16_to_float(half);
}

/* ---- which scales are whose ---------------------------------------------- */

static struct safetensors_tensor *
named(struct hf *h, const char *base, size_t len, const char *suffix)
{
    char name[NAME];

    snprintf(name, sizeof(name), "%.*s%s", (int)len, base, suffix);
    return convert_hf_weights_exact(&h->weights, name);
}

/* The sizes of blocks that the configuration gives; 0: none. */
static void
block_size(struct hf *h, const json_t *how, size_t size[2])
{
    const json_t *list = json_object_get(how, "weight_block_size"), *group;
    const char *name;

    json_object_foreach(json_object_get(how, "config_groups"), name, group)
    {
        if (!list)
            list = json_object_get(json_object_get(group, "weights"),
                                   "block_structure");
    }
    size[0] = size[1] = 0;
    if (!json_is_array(list))
        return;
    for (size_t i = 0; i < 2; i++) {
        json_int_t n = json_integer_value(json_array_get(list, i));

        if (n < 1 || n > INT32_MAX || json_array_size(list) != 2) {
            core_json_bad(&h->config, GG_ERR_FORMAT,
                          "weight_block_size: is not two numbers");
            return;
        }
        size[i] = (size_t)n;
    }
}

/* One for all, one a row, or one for each block. */
static void
link_one(struct hf *h, struct safetensors_tensor *t,
         const struct safetensors_tensor *s, const size_t size[2])
{
    size_t rows = (size_t)t->shape[0], columns = (size_t)t->shape[1];

    if (s->n == 1) {
        t->block_rows = rows;
        t->block_columns = columns;
    } else if (s->n == rows && s->n_dims == 2 && s->shape[1] == 1 && !size[0]) {
        t->block_rows = 1;
        t->block_columns = columns;
    } else if (s->n_dims == 2 && size[0] &&
               (size_t)s->shape[0] == (rows + size[0] - 1) / size[0] &&
               (size_t)s->shape[1] == (columns + size[1] - 1) / size[1]) {
        t->block_rows = size[0];
        t->block_columns = size[1];
    } else {
        core_json_bad(&h->here, GG_ERR_FORMAT,
                      "%s: its shape is not that of %s", s->name, t->name);
        return;
    }
    t->scales = s;
}

static void
find_scales(struct hf *h, struct safetensors_tensor *t, const size_t size[2])
{
    static const char *const suffixes[] = { "_scale_inv", "_scale" };
    const struct safetensors_tensor *s = NULL;
    float (*open)(uint8_t) = NULL;

    for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
        if (!strcmp(t->dtype, bytes[i].dtype))
            open = bytes[i].open;
    if (!open || t->n_dims != 2 || t->n == 0)
        return;
    for (size_t i = 0; !s && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        s = named(h, t->name, strlen(t->name), suffixes[i]);
    if (!s)
        return; /* who wants it says that it cannot be read */
    if (s->type != GGML_TYPE_F32 && s->type != GGML_TYPE_F16 &&
        s->type != GGML_TYPE_BF16)
        core_json_bad(&h->here, GG_ERR_UNSUPPORTED,
                      "%s: scales of type %s are not read", s->name, s->dtype);
    else
        link_one(h, t, s, size);
    if (t->scales)
        t->open = open;
}

/* What a program would round activations by is of no use here. */
static void
leave_out(struct hf *h)
{
    static const char *const ends[] = { ".input_scale", ".activation_scale" };

    for (size_t i = 0; i < h->weights.n; i++) {
        const char *name = h->weights.tensors[i]->name;
        size_t n = strlen(name);

        for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++)
            if (n > strlen(ends[k]) &&
                !strcmp(name + n - strlen(ends[k]), ends[k]))
                h->weights.used[i] = true;
    }
}

static void
link_bytes(struct hf *h, const json_t *how)
{
    size_t size[2];

    block_size(h, how, size);
    for (size_t i = 0; i < h->weights.n && convert_hf_good(h); i++)
        find_scales(h, h->weights.tensors[i], size);
    leave_out(h);
}

/* ---- MXFP4 --------------------------------------------------------------- */

/* Blocks are 16 bytes, each with a scale of its own: NAME_blocks of E x rows x
 * blocks x 16, NAME_scales of E x rows x blocks. */
static void
link_mxfp4(struct hf *h, const json_t *how)
{
    static const char suffix[] = "_blocks";

    (void)how;
    for (size_t i = 0; i < h->weights.n && convert_hf_good(h); i++) {
        struct safetensors_tensor *t = h->weights.tensors[i];
        const struct safetensors_tensor *s;
        size_t n = strlen(t->name), end = strlen(suffix);

        if (n <= end || strcmp(t->name + n - end, suffix) != 0)
            continue;
        s = named(h, t->name, n - end, "_scales");
        if (!s || strcmp(t->dtype, "U8") != 0 || strcmp(s->dtype, "U8") != 0 ||
            t->n_dims != 4 || s->n_dims != 3 || t->n == 0 ||
            t->shape[3] != MX_BLOCK / 2 ||
            memcmp(t->shape, s->shape, 3 * sizeof(*s->shape)) != 0)
            core_json_bad(&h->here, GG_ERR_FORMAT,
                          "%s: is no tensor of MXFP4 with its scales", t->name);
        else
            t->scales = s;
    }
}

void
convert_hf_pack_mxfp4(const struct safetensors_tensor *t, size_t at, size_t n,
                      uint8_t *out)
{
    const uint8_t *p = t->data + at / 2, *scale = t->scales->data;
    uint8_t x[MX_BLOCK];

    /* There, two neighbours share a byte; here, a value and the 16th after. */
    for (size_t i = 0; i < n / MX_BLOCK; i++, p += MX_BLOCK / 2) {
        for (int k = 0; k < MX_BLOCK; k++)
            x[k] = k % 2 ? p[k / 2] >> 4 : p[k / 2] & 15;
        *out++ = scale[at / MX_BLOCK + i];
        for (int k = 0; k < MX_BLOCK / 2; k++)
            *out++ = (uint8_t)(x[k] | x[k + MX_BLOCK / 2] << 4);
    }
}

/* ---- the configuration --------------------------------------------------- */

static const struct {
    const char *method;
    void (*link)(struct hf *h, const json_t *how);
} methods[] = {
    { "mxfp4", link_mxfp4 },
    { "fp8", link_bytes },
    { "fbgemm_fp8", link_bytes },
    { "compressed-tensors", link_bytes },
};

void
convert_hf_link_scales(struct hf *h, const json_t *how)
{
    const char *name = json_string_value(json_object_get(how, "quant_method"));

    for (size_t i = 0; name && i < sizeof(methods) / sizeof(methods[0]); i++)
        if (!strcmp(name, methods[i].method)) {
            methods[i].link(h, how);
            return;
        }
    if (!name)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "quantization_config: names no quant_method");
    else
        core_json_bad(
            &h->config, GG_ERR_UNSUPPORTED,
            "quantization_config: weights quantised by '%.40s' are not "
            "read; by fp8 and mxfp4 they are",
            name);
}

#endif
