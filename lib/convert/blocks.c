/* blocks.c - rewrites quantised blocks of older layouts */
#include "convert/blocks.h"

#include <math.h>
#include <string.h>

#include "core/half.h"
#include "core/order.h"
#include "quant/types.h"

enum {
    N = 32, /* values in a block of all these types */
};

/* Byte i of `from` has the values 2i and 2i + 1; of `to`, i and i + 16. */
static void
pairs_to_halves(const uint8_t *from, uint8_t *to)
{
    uint8_t q[N];

    for (int i = 0; i < N / 2; i++) {
        q[2 * i] = from[i] & 15;
        q[2 * i + 1] = from[i] >> 4;
    }
    for (int i = 0; i < N / 2; i++)
        to[i] = (uint8_t)(q[i] | q[i + N / 2] << 4);
}

/* `n` scales of 32 bits become 16. */
static bool
narrow(const uint8_t *from, uint8_t *to, int n)
{
    bool fits = true;

    for (int i = 0; i < n; i++) {
        float f = core_bits_float(core_load_le32(from + 4 * i));
        uint16_t h = half_from_float(f);

        fits = fits && isfinite(half_to_float(h));
        memcpy(to + 2 * i, &h, sizeof(h));
    }
    return fits;
}

static bool
q4_0_pairs(const uint8_t *from, uint8_t *to)
{
    pairs_to_halves(from + 4, to + 2);
    return narrow(from, to, 1);
}

static bool
q4_0_halves(const uint8_t *from, uint8_t *to)
{
    memcpy(to + 2, from + 4, N / 2);
    return narrow(from, to, 1);
}

static bool
q4_1_pairs(const uint8_t *from, uint8_t *to)
{
    pairs_to_halves(from + 8, to + 4);
    return narrow(from, to, 2);
}

static bool
q4_1_halves(const uint8_t *from, uint8_t *to)
{
    memcpy(to + 4, from + 8, N / 2);
    return narrow(from, to, 2);
}

/* Scales and fifth bits, which lie in the order of the values, stay. */
static bool
q5_0_pairs(const uint8_t *from, uint8_t *to)
{
    memcpy(to, from, 6);
    core_le_array(to, 1, 2);
    pairs_to_halves(from + 6, to + 6);
    return true;
}

static bool
q5_1_pairs(const uint8_t *from, uint8_t *to)
{
    memcpy(to, from, 8);
    core_le_array(to, 2, 2);
    pairs_to_halves(from + 8, to + 8);
    return true;
}

static bool
q8_0_wide(const uint8_t *from, uint8_t *to)
{
    memcpy(to + 2, from + 4, N);
    return narrow(from, to, 1);
}

static const struct {
    enum ggml_type type; /* numbers that lived on mean what they meant */
    struct {
        size_t size;
        bool (*convert)(const uint8_t *from, uint8_t *to);
    } old[BLOCKS_TODAY];
} changed[] = {
    { GGML_TYPE_Q4_0, { { 20, q4_0_pairs }, { 20, q4_0_halves } } },
    { GGML_TYPE_Q4_1, { { 24, q4_1_pairs }, { 24, q4_1_halves } } },
    { GGML_TYPE_Q5_0, { { 22, q5_0_pairs }, { 22, NULL } } },
    { GGML_TYPE_Q5_1, { { 24, q5_1_pairs }, { 24, NULL } } },
    { GGML_TYPE_Q8_0, { { 36, q8_0_wide }, { 36, q8_0_wide } } },
};

bool
convert_blocks_find(enum blocks_layout layout, uint32_t number,
                    struct blocks *out)
{
    const struct ggml_type_traits *traits =
        number < GGML_TYPE_COUNT ? quant_traits((enum ggml_type)number) : NULL;

    if (!traits || traits->blck_size == 0)
        return false;
    *out = (struct blocks){ (enum ggml_type)number, traits->type_size, NULL };
    if (layout == BLOCKS_TODAY || number == GGML_TYPE_F32 ||
        number == GGML_TYPE_F16)
        return true;
    for (size_t i = 0; i < sizeof(changed) / sizeof(changed[0]); i++)
        if (changed[i].type == out->type) {
            out->size = changed[i].old[layout].size;
            out->convert = changed[i].old[layout].convert;
            return true;
        }
    return false; /* a type that came later */
}

bool
convert_blocks_from_group(const int8_t *values, float scale, uint8_t *to)
{
    uint8_t wide[sizeof(scale)];

    core_store_le32(wide, core_float_bits(scale));
    memcpy(to + 2, values, N);
    return narrow(wide, to, 1);
}
