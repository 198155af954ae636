/* packed_codes.c - codes of weights that are quantised already, and values */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>
#include <string.h>

#include "convert/hf/packed.h"
#include "core/half.h"
#include "core/order.h"
#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/format.h"

enum {
    PIECE = 256, /* codes at a time */
    WORD = 32,
    NIBBLES = WORD / 4,
    NV_BLOCK = 64,
    NV_GROUP = 16,
};

/* ---- numbers ------------------------------------------------------------- */

/* OCP 8-bit Floating Point Specification (OFP8), 1.0: E4M3 has no infinities,
 * E5M2 is the upper half of a binary16. */
static float
from_e4m3(int code)
{
    uint32_t sign = (uint32_t)(code & 0x80) << 24, rest = code & 0x7f;

    if (rest == 0x7f)
        return NAN;
    if (rest < 8)
        return core_bits_float(sign | core_float_bits((float)rest * 0x1p-9f));
    return core_bits_float(sign | (rest + (120 << 3)) << 20);
}

static float
from_e5m2(int code)
{
    return half_to_float((uint16_t)(code << 8));
}

/* OCP Microscaling Formats specification, 1.0 */
static float
from_e8m0(uint8_t e)
{
    if (e == 0xff)
        return NAN;
    return core_bits_float(e ? (uint32_t)e << 23 : 0x400000);
}

static float
from_e2m1(int code)
{
    return (float)quant_fp4_doubled[code & 15] * 0.5f;
}

static float
f32_at(const uint8_t *data, size_t i)
{
    return core_bits_float(core_load_le32(data + 4 * i));
}

static float
f16_at(const uint8_t *data, size_t i)
{
    return half_to_float(core_load_le16(data + 2 * i));
}

static float
bf16_at(const uint8_t *data, size_t i)
{
    return core_bf16_to_float(core_load_le16(data + 2 * i));
}

static float
e4m3_at(const uint8_t *data, size_t i)
{
    return from_e4m3(data[i]);
}

static float
e8m0_at(const uint8_t *data, size_t i)
{
    return from_e8m0(data[i]);
}

hf_number_at
convert_hf_number_at(const struct safetensors_tensor *t)
{
    static const struct {
        const char *dtype;
        hf_number_at at;
    } numbers[] = {
        { "F32", f32_at },      { "F16", f16_at },      { "BF16", bf16_at },
        { "F8_E4M3", e4m3_at }, { "F8_E8M0", e8m0_at }, { "U8", e8m0_at },
    };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (!strcmp(t->dtype, numbers[i].dtype))
            return numbers[i].at;
    return NULL;
}

hf_open_code
convert_hf_open_code(const char *dtype)
{
    return !strcmp(dtype, "F8_E4M3")   ? from_e4m3
           : !strcmp(dtype, "F8_E5M2") ? from_e5m2
           : !strcmp(dtype, "U8")      ? from_e2m1
                                       : NULL;
}

/* ---- codes --------------------------------------------------------------- */

static uint32_t
word_at(const uint8_t *data, size_t i)
{
    return core_load_le32(data + 4 * i);
}

static int
mask_of(int bits)
{
    return (1 << bits) - 1;
}

/* Code `at` of a stream of words, each `step` words after the one before. */
static int
stream_at(const uint8_t *data, size_t step, int bits, size_t at)
{
    size_t bit = at * (size_t)bits, word = bit / WORD;
    int in = (int)(bit % WORD);
    uint32_t x = word_at(data, word * step) >> in;

    if (in + bits > WORD)
        x |= word_at(data, (word + 1) * step) << (WORD - in);
    return (int)x & mask_of(bits);
}

void
convert_hf_codes_bytes(const struct hf_packed *p, size_t row, size_t column,
                       size_t n, int16_t *out)
{
    const uint8_t *from = p->data + row * p->columns + column;

    for (size_t i = 0; i < n; i++)
        out[i] = p->is_signed ? (int8_t)from[i] : from[i];
}

/* The first of two neighbours is the lower half of a byte. */
void
convert_hf_codes_fp4(const struct hf_packed *p, size_t row, size_t column,
                     size_t n, int16_t *out)
{
    const uint8_t *from = p->data + row * (p->columns / 2);

    for (size_t i = 0; i < n; i++, column++)
        out[i] = from[column / 2] >> (column % 2 ? 4 : 0) & 15;
}

/* A row is a stream of its own. */
void
convert_hf_codes_rows(const struct hf_packed *p, size_t row, size_t column,
                      size_t n, int16_t *out)
{
    size_t words = (p->columns * (size_t)p->bits + WORD - 1) / WORD;
    const uint8_t *from = p->data + 4 * row * words;

    for (size_t i = 0; i < n; i++)
        out[i] = (int16_t)stream_at(from, 1, p->bits, column + i);
}

/* The words of a row are a column of the tensor. */
void
convert_hf_codes_gptq(const struct hf_packed *p, size_t row, size_t column,
                      size_t n, int16_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] =
            (int16_t)stream_at(p->data + 4 * row, p->rows, p->bits, column + i);
}

/* Rows of even numbers come first among the eight of a word. */
static int
awq_at(const uint8_t *data, size_t words, size_t at, size_t row)
{
    size_t in = row % NIBBLES, place = in / 2 + in % 2 * (NIBBLES / 2);

    return (int)(word_at(data, at * words + row / NIBBLES) >> (4 * place) & 15);
}

void
convert_hf_codes_awq(const struct hf_packed *p, size_t row, size_t column,
                     size_t n, int16_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (int16_t)awq_at(p->data, p->rows / NIBBLES, column + i, row);
}

/* ---- zeros --------------------------------------------------------------- */

int
convert_hf_zero_bytes(const struct hf_packed *p, size_t row, size_t group)
{
    return (int8_t)p->zeros->data[row * p->n_groups + group];
}

/* Bytes have a sign; streams go down the rows. */
int
convert_hf_zero_rows(const struct hf_packed *p, size_t row, size_t group)
{
    if (p->zeros->type == GGML_TYPE_I8)
        return convert_hf_zero_bytes(p, row, group) + (1 << (p->bits - 1));
    return stream_at(p->zeros->data + 4 * group, p->n_groups, p->bits, row);
}

/* Where they are saved less 1, that was taken from all in a word at once, with
 * a borrow from the next one; from those of 3 bits one by one. */
int
convert_hf_zero_gptq(const struct hf_packed *p, size_t row, size_t group)
{
    size_t words = (p->rows * (size_t)p->bits + WORD - 1) / WORD;
    const uint8_t *from = p->zeros->data + 4 * group * words;
    size_t bit = row * (size_t)p->bits;
    int mask = mask_of(p->bits), zero = stream_at(from, 1, p->bits, row);

    if (!p->less_one)
        return zero;
    if (WORD % p->bits)
        return (zero + 1) & mask;
    return (int)((word_at(from, bit / WORD) + UINT32_MAX / (uint32_t)mask) >>
                 bit % WORD) &
           mask;
}

int
convert_hf_zero_awq(const struct hf_packed *p, size_t row, size_t group)
{
    return awq_at(p->zeros->data, p->rows / NIBBLES, group, row);
}

int
convert_hf_packed_zero(const struct hf_packed *p, size_t row, size_t group)
{
    if (p->zeros)
        return p->form->zero(p, row, group);
    return p->open || p->is_signed ? 0 : 1 << (p->bits - 1);
}

/* ---- scales -------------------------------------------------------------- */

size_t
convert_hf_packed_group(const struct hf_packed *p, size_t column)
{
    return p->order ? word_at(p->order->data, column) : column / p->group;
}

float
convert_hf_packed_scale(const struct hf_packed *p, size_t row, size_t group)
{
    size_t matrix = row / p->rows, in = row % p->rows;

    return p->scale_at(p->scales->data, matrix * p->scale_matrix +
                                            in / p->block_rows * p->scale_row +
                                            group * p->scale_group);
}

double
convert_hf_packed_whole(const struct hf_packed *p, size_t i)
{
    double by;

    if (!p->whole)
        return 1;
    by = (double)f32_at(p->whole->data, p->whole->n > 1 ? i : 0);
    return p->divides ? 1 / by : by;
}

/* ---- values -------------------------------------------------------------- */

/* Values of a row, by its number in all matrices. */
static void
row_values(const struct hf_packed *p, size_t row, size_t column, size_t n,
           float *out)
{
    double scale = 0, whole = convert_hf_packed_whole(p, row / p->rows);
    size_t last = SIZE_MAX, group;
    int16_t codes[PIECE];
    int zero = 0;

    p->form->codes(p, row, column, n, codes);
    for (size_t i = 0; i < n; i++) {
        group = convert_hf_packed_group(p, column + i);
        if (group != last) {
            scale = (double)convert_hf_packed_scale(p, row, group) * whole;
            zero = convert_hf_packed_zero(p, row, group);
            last = group;
        }
        out[i] = (float)(scale * (p->open ? (double)p->open(codes[i])
                                          : (double)(codes[i] - zero)));
    }
}

void
convert_hf_packed_values(const struct safetensors_tensor *t, size_t at,
                         size_t step, size_t n, float *out)
{
    const struct hf_packed *p = t->packed;
    size_t column, one;

    for (size_t i = 0; i < n; i += one, at += one * step) {
        column = at % p->columns;
        one = p->columns - column < n - i ? p->columns - column : n - i;
        one = step != 1 ? 1 : one < PIECE ? one : PIECE;
        row_values(p, at / p->columns, column, one, out + i);
    }
}

/* ---- blocks -------------------------------------------------------------- */

struct block_place {
    const struct hf_packed *p;
    size_t row, column;
};

/* Numbers of a block of 32, less the zero, its scale, and the zero. */
static float
block_numbers(const struct block_place *b, int8_t q[QUANT_BLOCK], int *zero)
{
    size_t group = convert_hf_packed_group(b->p, b->column);
    int16_t codes[QUANT_BLOCK];

    *zero = convert_hf_packed_zero(b->p, b->row, group);
    b->p->form->codes(b->p, b->row, b->column, QUANT_BLOCK, codes);
    for (int i = 0; i < QUANT_BLOCK; i++)
        q[i] = (int8_t)(codes[i] - *zero);
    return convert_hf_packed_scale(b->p, b->row, group);
}

static void
put_q4_0(const struct block_place *at, void *out)
{
    struct block_q4_0 *b = out;
    int8_t q[QUANT_BLOCK];
    int zero;

    b->d = half_from_float(block_numbers(at, q, &zero));
    for (int i = 0; i < QUANT_BLOCK; i++)
        q[i] = (int8_t)(q[i] + 8);
    quant_nibbles_pack(q, b->qs);
}

static void
put_q4_1(const struct block_place *at, void *out)
{
    struct block_q4_1 *b = out;
    int8_t q[QUANT_BLOCK];
    int zero;
    float scale = block_numbers(at, q, &zero);

    b->d = half_from_float(scale);
    b->m = half_from_float((float)-zero * scale);
    for (int i = 0; i < QUANT_BLOCK; i++)
        q[i] = (int8_t)(q[i] + zero);
    quant_nibbles_pack(q, b->qs);
}

static void
put_q5_0(const struct block_place *at, void *out)
{
    struct block_q5_0 *b = out;
    int8_t q[QUANT_BLOCK];
    int zero;

    b->d = half_from_float(block_numbers(at, q, &zero));
    memset(b->qh, 0, sizeof(b->qh));
    for (int i = 0; i < QUANT_BLOCK; i++) {
        q[i] = (int8_t)(q[i] + 16);
        b->qh[i / 8] |= (uint8_t)((q[i] >> 4 & 1) << i % 8);
    }
    quant_nibbles_pack(q, b->qs);
}

static void
put_q8_0(const struct block_place *at, void *out)
{
    struct block_q8_0 *b = out;
    int zero;

    b->d = half_from_float(block_numbers(at, b->qs, &zero));
}

static void
put_mxfp4(const struct block_place *at, void *out)
{
    const struct hf_packed *p = at->p;
    struct block_mxfp4 *b = out;
    int16_t codes[QUANT_BLOCK];
    int8_t q[QUANT_BLOCK];

    p->form->codes(p, at->row, at->column, QUANT_BLOCK, codes);
    for (int i = 0; i < QUANT_BLOCK; i++)
        q[i] = (int8_t)codes[i];
    b->e = p->scales->data[at->row * p->n_groups + at->column / p->group];
    quant_nibbles_pack(q, b->qs);
}

/* A scale has no sign there, which codes take over. */
static void
put_nvfp4(const struct block_place *at, void *out)
{
    const struct hf_packed *p = at->p;
    struct block_nvfp4 *b = out;
    int16_t codes[NV_BLOCK];

    memset(b, 0, sizeof(*b));
    p->form->codes(p, at->row, at->column, NV_BLOCK, codes);
    for (int i = 0; i < NV_BLOCK; i++) {
        size_t column = at->column + (size_t)i;
        uint8_t d = p->scales->data[at->row * p->n_groups + column / p->group];

        b->d[i / NV_GROUP] = d & 0x7f;
        quant_nibble_put(b->qs, i, NV_GROUP, codes[i] ^ (d & 0x80 ? 8 : 0));
    }
}

void
convert_hf_packed_blocks(const struct safetensors_tensor *t, size_t at,
                         size_t n, enum ggml_type type, uint8_t *out)
{
    static void (*const put[GGML_TYPE_COUNT])(const struct block_place *at,
                                              void *out) = {
        [GGML_TYPE_Q4_0] = put_q4_0,   [GGML_TYPE_Q4_1] = put_q4_1,
        [GGML_TYPE_Q5_0] = put_q5_0,   [GGML_TYPE_Q8_0] = put_q8_0,
        [GGML_TYPE_MXFP4] = put_mxfp4, [GGML_TYPE_NVFP4] = put_nvfp4,
    };
    size_t block = (size_t)ggml_blck_size(type);
    struct block_place b = { t->packed, at / t->packed->columns,
                             at % t->packed->columns };
    _Alignas(8) uint8_t whole[64];

    for (; n > 0; n -= block, b.column += block) {
        put[type](&b, whole);
        memcpy(out, whole, ggml_type_size(type));
        out += ggml_type_size(type);
    }
}

#endif
