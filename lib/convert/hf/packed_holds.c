/* packed_holds.c - which types hold the values of a packed weight exactly */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>
#include <string.h>

#include "convert/hf/packed.h"
#include "core/half.h"
#include "core/order.h"

enum {
    BLOCK = 32,
    NV_BLOCK = 64,
    NV_GROUP = 16,
};

/* Facts about scales and zeros. */
struct facts {
    int least, most;  /* of all zeros */
    int digits;       /* most binary digits of a scale */
    int lowest;       /* least exponent of a scale's last digit */
    float largest;    /* of all scales' magnitudes */
    bool finite;      /* all scales are */
    bool half;        /* F16 holds each scale */
    bool half_offset; /* and each product with its zero */
};

static uint64_t
bit_of(enum ggml_type type)
{
    return UINT64_C(1) << type;
}

static bool
is_half(float x)
{
    return half_to_float(half_from_float(x)) == x && isfinite(x);
}

/* Binary digits of x, not 0, from the first 1 to the last, and the exponent of
 * the last. */
static int
digits_of(float x, int *last)
{
    int exponent, n = 0;
    float m = frexpf(fabsf(x), &exponent);

    while (m != floorf(m)) {
        m *= 2;
        n++;
    }
    *last = exponent - n;
    return n;
}

static void
note_scale(struct facts *f, float scale)
{
    int last, n;

    if (!isfinite(scale)) {
        f->finite = f->half = false;
        return;
    }
    f->half = f->half && is_half(scale);
    if (scale == 0)
        return;
    n = digits_of(scale, &last);
    if (n > f->digits)
        f->digits = n;
    if (last < f->lowest)
        f->lowest = last;
    if (fabsf(scale) > f->largest)
        f->largest = fabsf(scale);
}

static void
note_zero(struct facts *f, int zero, float scale)
{
    if (zero < f->least)
        f->least = zero;
    if (zero > f->most)
        f->most = zero;
    f->half_offset = f->half_offset && is_half((float)zero * scale);
}

/* Ints of 8 bits at most: each row and group has a zero. */
static void
look_at_ints(const struct hf_packed *p, struct facts *f)
{
    for (size_t row = 0; row < p->n_matrices * p->rows; row++)
        for (size_t g = 0; g < p->n_groups; g++) {
            float scale = convert_hf_packed_scale(p, row, g);

            note_scale(f, scale);
            note_zero(f, convert_hf_packed_zero(p, row, g), scale);
        }
}

/* Whether each block of `block` columns has one scale. */
static bool
is_in_blocks(const struct hf_packed *p, size_t block)
{
    if (p->columns % block)
        return false;
    if (!p->order)
        return p->group % block == 0 || p->group == p->columns;
    for (size_t i = 0; i < p->columns; i++)
        if (convert_hf_packed_group(p, i) !=
            convert_hf_packed_group(p, i / block * block))
            return false;
    return true;
}

/* Blocks of 32 ints from `least` to `most`. */
static uint64_t
int_blocks(const struct hf_packed *p, const struct facts *f, int least,
           int most)
{
    uint64_t holds = 0;

    if (!f->half || !is_in_blocks(p, BLOCK))
        return 0;
    if (least >= -8 && most <= 7)
        holds |= bit_of(GGML_TYPE_Q4_0);
    if (f->half_offset && p->bits <= 4)
        holds |= bit_of(GGML_TYPE_Q4_1);
    if (least >= -16 && most <= 15)
        holds |= bit_of(GGML_TYPE_Q5_0);
    if (least >= INT8_MIN && most <= INT8_MAX)
        holds |= bit_of(GGML_TYPE_Q8_0);
    return holds;
}

/* Products of scales with codes of `digits` digits, the last of which counts
 * 2^last, and of which none is larger than `most`. */
static uint64_t
floats_that_hold(const struct facts *f, int digits, int last, double most)
{
    int n = f->digits > 1 ? f->digits + digits : digits;
    uint64_t holds = 0;

    if (!f->finite)
        return 0;
    if (n <= 8 && f->lowest + last >= -133)
        holds |= bit_of(GGML_TYPE_BF16);
    if (n <= 11 && f->lowest + last >= -24 &&
        (double)f->largest * most <= 65504)
        holds |= bit_of(GGML_TYPE_F16);
    return holds;
}

static void
judge_ints(struct hf_packed *p, struct facts *f)
{
    int least, most, digits = 0;

    look_at_ints(p, f);
    least = (p->is_signed ? INT8_MIN : 0) - f->most;
    most = (p->is_signed ? INT8_MAX : (1 << p->bits) - 1) - f->least;
    while (1 << digits <= (-least > most ? -least - 1 : most))
        digits++;
    p->holds = int_blocks(p, f, least, most) |
               floats_that_hold(f, digits, 0, (double)(1 << digits));
}

/* Their scales are not looked at: bits are copied. Products with them have six
 * digits. */
static void
judge_fp4(struct hf_packed *p)
{
    bool bytes = strcmp(p->scales->dtype, "F8_E4M3") == 0;
    if (bytes) {
        if (p->group % NV_GROUP == 0 && p->columns % NV_BLOCK == 0)
            p->holds = bit_of(GGML_TYPE_NVFP4);
    } else if ((!strcmp(p->scales->dtype, "U8") ||
                !strcmp(p->scales->dtype, "F8_E8M0")) &&
               !p->whole && is_in_blocks(p, BLOCK)) {
        p->holds = bit_of(GGML_TYPE_MXFP4);
    }
    if (!p->whole && (bytes || p->scales->type == GGML_TYPE_COUNT))
        p->holds |= bit_of(GGML_TYPE_BF16);
}

/* E4M3 has four digits, E5M2 three. */
static void
judge_bytes(struct hf_packed *p, struct facts *f)
{
    for (size_t i = 0; i < p->scales->n; i++)
        note_scale(f, p->scale_at(p->scales->data, i));
    p->holds = floats_that_hold(f, 4, -16, 57344);
}

void
convert_hf_packed_judge(struct hf_packed *p)
{
    struct facts f = { .least = INT16_MAX,
                       .most = INT16_MIN,
                       .lowest = INT8_MAX,
                       .finite = true,
                       .half = true,
                       .half_offset = true };

    p->floats =
        !strcmp(p->scales->dtype, "F16") ? GGML_TYPE_F16 : GGML_TYPE_BF16;
    if (!p->open)
        judge_ints(p, &f);
    else if (p->bits == 4)
        judge_fp4(p);
    else
        judge_bytes(p, &f);
    if (!convert_hf_packed_holds(p, p->floats))
        for (int i = 0; i < 2; i++) {
            enum ggml_type type = i ? GGML_TYPE_F16 : GGML_TYPE_BF16;

            if (convert_hf_packed_holds(p, type))
                p->floats = type;
        }
}

#endif
