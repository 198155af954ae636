/* rows.c - rows of a tensor in GGUF's order */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>

#include "convert/hf/packed.h"
#include "core/half.h"
#include "core/order.h"

enum {
    PIECE = 256, /* values that are turned into floats at a time */
};

static int64_t
tiled_row(const struct hf_rows *r, int64_t i)
{
    int64_t d = (r->n_rows - r->kept) / ((int64_t)r->n_head * r->n_head_kv);
    int64_t head = (i - r->kept) / d, in = (i - r->kept) % d;

    if (i < r->kept)
        return i;
    head = head % r->n_head * r->n_head_kv + head / r->n_head;
    return r->kept + head * d + in;
}

/* A group has n rows: those of a query, of a key, v of values, v of gates. */
static int64_t
flat_row(const struct hf_rows *r, int64_t i)
{
    int64_t d = r->kept, groups = r->n_head, v = r->n_rows / groups - 2 * d;
    int64_t n = 2 * d + 2 * v;

    if (i < 2 * d * groups)
        return i / d % groups * n + i / (d * groups) * d + i % d;
    i -= 2 * d * groups;
    return i / v * n + 2 * d + i % v;
}

static int64_t
swapped(int64_t i)
{
    return i == 0 ? 3 : i == 3 ? 0 : i;
}

static int64_t
source_block(const struct hf_rows *r, int64_t block)
{
    return r->order == HF_SWAPPED && r->n_blocks > 1 ? swapped(block) : block;
}

static int64_t
swapped_row(const struct hf_rows *r, int64_t i)
{
    int64_t n = r->n_rows / HF_MIXED;

    return r->n_blocks > 1 ? i : swapped(i / n) * n + i % n;
}

/* The row of the source that row i of a block is. */
static int64_t
source_row(const struct hf_rows *r, int64_t i)
{
    int64_t d, head, in, group, n;

    switch (r->order) {
    case HF_PAIRS:
        if (r->kept > 0 && i >= r->kept)
            return i;
        d = r->n_rows / r->n_head;
        head = i / d;
        in = i % d;
        return head * d + in % 2 * (d / 2) + in / 2;
    case HF_FILLED:
        return i < r->n_head ? i : 0;
    case HF_PARTS:
        n = r->n_head / r->n_head_kv;
        d = r->n_rows / (r->n_head + 2 * r->n_head_kv);
        head = i / d;
        in = i % d;
        if (head < r->n_head)
            return (head / n * (n + 2) + head % n) * d + in;
        head -= r->n_head;
        group = head % r->n_head_kv;
        return (group * (n + 2) + n + head / r->n_head_kv) * d + in;
    case HF_TILED:
        return tiled_row(r, i);
    case HF_FLAT:
        return flat_row(r, i);
    case HF_SWAPPED:
        return swapped_row(r, i);
    default:
        return i;
    }
}

/* n values of a tensor that is not packed, from `at` on; ints are read as 0. */
static void
read_floats(const struct safetensors_tensor *t, size_t at, size_t step,
            size_t n, float *out)
{
    size_t size = t->size / t->n;
    const uint8_t *p = t->data + at * size;
    uint64_t bits;
    double wide;

    for (size_t i = 0; i < n; i++, p += step * size)
        switch (t->type) {
        case GGML_TYPE_F16:
            out[i] = half_to_float(core_load_le16(p));
            break;
        case GGML_TYPE_BF16:
            out[i] = core_bf16_to_float(core_load_le16(p));
            break;
        case GGML_TYPE_F64:
            bits = core_load_le64(p);
            memcpy(&wide, &bits, sizeof(wide));
            out[i] = (float)wide;
            break;
        case GGML_TYPE_F32:
            out[i] = core_bits_float(core_load_le32(p));
            break;
        default:
            out[i] = 0;
        }
}

/* n values of the source from `at` on, as floats. */
static void
to_floats(const struct safetensors_tensor *t, size_t at, size_t step, size_t n,
          float *out)
{
    if (t->packed)
        convert_hf_packed_values(t, at, step, n, out);
    else
        read_floats(t, at, step, n, out);
}

static void
copy_elements(const struct safetensors_tensor *t, size_t at, size_t step,
              size_t n, uint8_t *out)
{
    size_t size = t->size / t->n;
    const uint8_t *p = t->data + at * size;

    if (step == 1)
        memcpy(out, p, n * size);
    else
        for (size_t i = 0; i < n; i++, p += step * size)
            memcpy(out + i * size, p, size);
    core_le_array(out, n, size);
}

static void
put_floats(const float *x, size_t n, enum ggml_type type, uint8_t *out)
{
    uint16_t half;

    if (type == GGML_TYPE_F32) {
        memcpy(out, x, n * sizeof(*x));
        return;
    }
    for (size_t i = 0; i < n; i++, out += sizeof(half)) {
        half = type == GGML_TYPE_F16 ? ggml_fp32_to_fp16(x[i])
                                     : core_bf16_from_float(x[i]);
        memcpy(out, &half, sizeof(half));
    }
}

/* The multiplier of row i of a block. */
static float
multiplier(const struct hf_rows *r, int64_t i)
{
    float times = convert_hf_is_scaled(r) ? r->times : 1;

    for (int k = 0; k < r->n_bands; k++)
        if (i < r->bands[k].end)
            return r->bands[k].by * times;
    return times;
}

static float
softplus(float x)
{
    return x > 20 ? x : log1pf(expf(x));
}

/* As copy_elements(), where values change or become those of another type. */
static void
convert(const struct hf_rows *r, float by, const struct safetensors_tensor *t,
        size_t at, size_t length, enum ggml_type type, uint8_t *out)
{
    size_t size = ggml_type_size(type), n;
    float x[PIECE];

    for (size_t i = 0; i < length; i += n) {
        n = length - i < PIECE ? length - i : PIECE;
        to_floats(t, at + i * r->step, r->step, n, x);
        for (size_t k = 0; r->add != 0 && k < n; k++)
            x[k] += r->add;
        for (size_t k = 0; r->decays && k < n; k++)
            x[k] = -expf(x[k]);
        for (size_t k = 0; r->softplus && k < n; k++)
            x[k] = softplus(x[k]);
        for (size_t k = 0; by != 1 && k < n; k++)
            x[k] *= by;
        put_floats(x, n, type, out + i * size);
    }
}

/* Whole numbers; -1 for those that are too large. */
static void
put_numbers(const struct safetensors_tensor *t, size_t at, size_t n,
            uint8_t *out)
{
    const uint8_t *p = t->data + at * sizeof(uint64_t);

    for (size_t i = 0; i < n; i++) {
        uint64_t wide = core_load_le64(p + i * sizeof(wide));
        int32_t x = wide <= INT32_MAX ? (int32_t)wide : -1;

        memcpy(out + i * sizeof(x), &x, sizeof(x));
    }
}

/* n values of a row, from `at` on. */
static void
make_values(const struct hf_rows *r, float by,
            const struct safetensors_tensor *t, size_t at, size_t n,
            enum ggml_type type, uint8_t *out)
{
    if (ggml_is_quantized(type))
        convert_hf_packed_blocks(t, at, n, type, out);
    else if (type == GGML_TYPE_I32 && t->type == GGML_TYPE_I64)
        put_numbers(t, at, n, out);
    else if (!t->packed && t->type == type && r->add == 0 && !r->decays &&
             !r->softplus && by == 1)
        copy_elements(t, at, r->step, n, out);
    else
        convert(r, by, t, at, n, type, out);
}

/* Heads of columns that change places. */
static void
make_tiled(const struct hf_rows *r, float by,
           const struct safetensors_tensor *t, size_t at, enum ggml_type type,
           uint8_t *out)
{
    size_t groups = (size_t)r->n_groups, each = (size_t)r->n_each;
    size_t d = (size_t)r->length / (groups * each), head;

    for (size_t i = 0; i < groups * each; i++) {
        head = i % groups * each + i / groups;
        make_values(r, by, t, at + head * d * r->step, d, type,
                    out + i * ggml_row_size(type, (int64_t)d));
    }
}

void
convert_hf_rows_make(const struct hf_rows *r, int64_t first, int64_t n,
                     enum ggml_type type, void *out)
{
    uint8_t *to = out;
    size_t size = ggml_row_size(type, r->length);

    if (r->made) {
        memcpy(out, (const uint8_t *)r->made + (size_t)first * size,
               (size_t)n * size);
        return;
    }
    for (int64_t i = first; i < first + n; i++, to += size) {
        int64_t block = source_block(r, i / r->n_rows) - r->blank;
        const struct safetensors_tensor *t;
        size_t at;
        float by = multiplier(r, i % r->n_rows);

        if (block < 0) {
            memset(to, 0, size);
            continue;
        }
        t = r->from[r->n_from > 1 ? block : 0];
        at = r->first + (size_t)block * r->block +
             (size_t)source_row(r, i % r->n_rows) * r->row;
        if (r->n_groups > 0)
            make_tiled(r, by, t, at, type, to);
        else
            make_values(r, by, t, at, (size_t)r->length, type, to);
    }
}

#endif
