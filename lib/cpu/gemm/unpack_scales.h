/* unpack_scales.h - struct format, a type whose weights are in groups, and how
 * the scales of these are unpacked */
#ifndef CPU_GEMM_UNPACK_SCALES_H
#define CPU_GEMM_UNPACK_SCALES_H

#include "cpu/gemm/column.h"
#include "cpu/gemm/lane_rows.h"
#include "cpu/gemm/switches.h"

/* Words and vectors of scales of a unit of 32 values. */
#define WORDS      8
#define MAX_SCALES 5
/* Units of a block; units and words that are unpacked together. */
#define MAX_UNITS       8
#define MAX_CHUNK_UNITS 5
#define MAX_LOADED      12

/* Integers of a block, bytes: scales of its sixteen groups, each in excess of
 * what they are, and minima; what scales are multiplied by, and minima over
 * that. */
struct int_scales {
    vec_bits scale[4], min[4];
    vec d, ratio;
};

struct unpacked;

/* A type. A weight is scale * (code - offset) - min. */
struct format {
    int64_t block; /* values in it */
    size_t size;   /* its bytes */
    int group;     /* values that share a scale: 16 or 32 */
    bool min;
    int offset;
    int max_code; /* the largest code; 0: bytes are signed, as v_from_signed()
                   */
    int chunk_units; /* units that share bytes; the last ones may be fewer */
    bool quads;      /* code() gives those of odd units times four */
    bool quarter;    /* so these are to be divided: see cpu_unit_format() */
    bool even; /* codes are, the offset is not: see cpu_has_scaled_codes() */
    /* Unpacks the scale of each group of the block that begins at the rows, and
     * the minimum if there are any. */
    void (*scales)(const struct rows *r, vec *scales);
    /* Or, where they are integers, this, and the scales' excess. */
    bool has_int_scales;
    void (*integers)(const struct rows *r, struct int_scales *c);
    int excess;
    /* The bytes of half `half` of units n * together and on, in up to
     * MAX_LOADED words; and of those codes of unit u of these, word i of that
     * half, 0 to 3. */
    void (*load)(const struct rows *r, int n, int half, vec_bits *w);
    vec_bits (*code)(const vec_bits *w, int n, int half, int u, int i);
    /* Whether load() and code() take any n: runs are a loop, and code() of
     * those that are not scaled (cpu_has_scaled_codes()). */
    bool chunk_loop;
    int small_batch; /* as GEMM multiplies codes where these are unpacked */
    /* Or GEMV of VEC rows from `row` on; as many
     * bytes are prefetched from `next` on. The column may be put in order for
     * it before, in the scratch. */
    void (*order)(const struct cpu_product *p);
    void (*gemv)(const struct cpu_product *p, int64_t row, const char *next);
    /* Or a function for all of that, of a block. */
    void (*unpack_whole)(const struct rows *r, vec_bits *codes, vec *scales);
    /* For GEMM, functions that are not inlined: of the type, unpack n
     * blocks, one at least, and of all types with such codes, multiply them. */
    void (*unpack)(int64_t n, struct rows *r, const char **next,
                   struct unpacked o);
    void (*gemm)(const struct cpu_product *p, const struct format *f);
};

/* Unpacked units of VEC rows, up to UNITS; those of the next rows follow after
 * room for that. Signed codes that are multiplied as magnitudes have signs, and
 * `starts` are what sums begin with. Where there are tiles, `signs` are the
 * codes of which is_less() holds, less their offset. */
struct unpacked {
    vec_bits *codes;
    vec *scales;
    vec_bits *signs, *starts;
};

/* Vectors of a unit whose scales are integers: two of these, in the first unit
 * the block's d, two minima in pairs of 16 bits, and the block's ratio. */
enum {
    UNIT_D = 2,
    UNIT_MINIMA,
    UNIT_RATIO
};

/* The codes of unit u, as code() gives them. */
INLINE struct format
cpu_unit_format(struct format f, int u)
{
    if (f.quads && u % 2) {
        f.offset *= 4;
        f.max_code *= 4;
        f.quarter = true;
    }
    return f;
}

/* How often units are unpacked together, and how many the n-th time. */
INLINE int
cpu_chunks(struct format f)
{
    int units = (int)(f.block / COLUMN_BLOCK);

    return (units + f.chunk_units - 1) / f.chunk_units;
}

INLINE int
cpu_units_in_chunk(struct format f, int n)
{
    int left = (int)(f.block / COLUMN_BLOCK) - n * f.chunk_units;

    return f.chunk_loop || left > f.chunk_units ? f.chunk_units : left;
}

/* Whether codes for GEMM are scaled: multiplied by their scales, which makes
 * bytes of those of three bits, and one sum of both groups of a unit. Where
 * pairs are added in 16 bits it would not fit.
 *
 * So are codes that stand for odd numbers from -9 to 9, whose scales are odd up
 * to 15: products with an odd offset are even, and half of them are bytes. */
INLINE bool
cpu_has_scaled_codes(struct format f)
{
    return f.has_int_scales && !SCALES_IN_INT16(f) &&
           (f.max_code <= 7 || f.even);
}

#define EVEN_OFFSET (9 * 15)

/* A type whose codes are scaled. One of its scales, which are up to 15, or with
 * an offset from -32 to 31, times the least code less the offset makes 128:
 * bytes are in excess of 127, or one less than signed ones. */
INLINE struct format
cpu_scaled_codes_format(struct format f)
{
    if (!cpu_has_scaled_codes(f))
        return f;
    f.group = COLUMN_BLOCK;
    f.max_code = UINT8_MAX;
    f.offset = f.even ? EVEN_OFFSET : f.offset ? SIGNED_OFFSET - 1 : 0;
    return f;
}

/* How many vectors a unit's scales are. */
INLINE int
cpu_unit_scales(struct format f)
{
    if (f.has_int_scales)
        return f.min ? UNIT_RATIO + 1 : UNIT_D + 1;
    return COLUMN_BLOCK / f.group * (f.min ? 2 : 1);
}

/* Byte i of a word. */
INLINE vec
v_byte_to_float(vec_bits w, int i)
{
    return v_as_floats(w >> 8 * i & 0xff);
}

/* Byte i of words of scales, as sums are multiplied by it. */
INLINE vec
scale_of(struct format f, vec_bits w, int i)
{
    if (SCALES_IN_INT16(f))
        return (vec)v_subtract_int16_pairs(v_bytes_as_int16_pairs(w, i, i),
                                           f.excess);
    return v_byte_to_float(w, i) - v_splat((float)f.excess);
}

/* A block's integers, unit by unit, for codes as they are or as code() gives
 * them. */
INLINE void
unpack_int_scales(struct format f, bool as_unpacked, const struct int_scales *c,
                  vec *scales)
{
    UNROLL for (int u = 0; u < MAX_UNITS; u++)
    {
        int w = u / 2, i = u % 2 * 2;

        if (as_unpacked || !cpu_has_scaled_codes(f)) {
            scales[0] = scale_of(f, c->scale[w], i);
            scales[1] = scale_of(f, c->scale[w], i + 1);
        }
        if (u == 0)
            scales[UNIT_D] = c->d;
        if (f.min) {
            scales[UNIT_MINIMA] =
                (vec)v_bytes_as_int16_pairs(c->min[w], i, i + 1);
            scales[UNIT_RATIO] = c->ratio;
        }
        scales += cpu_unit_scales(f);
    }
}

/* And *c, if they are integers. */
INLINE void
cpu_load_scales(struct format f, bool as_unpacked, const struct rows *r,
                struct int_scales *c, vec *scales)
{
    if (!f.has_int_scales) {
        f.scales(r, scales);
        return;
    }
    f.integers(r, c);
    unpack_int_scales(f, as_unpacked, c, scales);
}

typedef uint16_t vec_halves __attribute__((vector_size(sizeof(vec))));
typedef uint8_t vec_bytes __attribute__((vector_size(sizeof(vec))));

/* A scale as codes are multiplied by it: a negative one by its magnitude, and
 * codes by what they lack of the largest. What is added makes all of them have
 * the same offset. */
struct code_scale {
    vec_halves flip, magnitude;
    vec_bytes base;
};

/* That of group g of a unit. */
INLINE struct code_scale
cpu_code_scale(struct format f, const struct int_scales *c, int unit, int g)
{
    const int i = unit % 2 * 2 + g;
    const uint16_t least = (uint16_t)f.offset;
    const uint16_t flipped = (uint16_t)(f.max_code - f.offset);
    vec_halves scale =
        (vec_halves)v_bytes_as_int16_pairs(c->scale[unit / 2], i, i);
    vec_halves minus, base;

    if (!f.offset)
        return (struct code_scale){ .magnitude = scale };
    if (f.even) {
        base = (EVEN_OFFSET - scale * least) >> 1;
        return (struct code_scale){
            .magnitude = scale,
            .base = (vec_bytes)((base & 0xff) * 0x101),
        };
    }
    scale -= (uint16_t)f.excess;
    minus = -(scale >> 15);
    scale = (scale ^ minus) - minus;
    base = (uint16_t)(cpu_scaled_codes_format(f).offset) -
           scale * (least + (minus & (uint16_t)(flipped - least)));
    return (struct code_scale){
        .flip = minus & (uint16_t)(f.max_code * 0x101),
        .magnitude = scale,
        .base = (vec_bytes)((base & 0xff) * 0x101),
    };
}

/* A product with a code is less than 256. */
INLINE vec_bits
cpu_scale_codes(vec_bits code, const struct code_scale *w)
{
    vec_halves product = ((vec_halves)code ^ w->flip) * w->magnitude;

    return (vec_bits)((vec_bytes)product + w->base);
}

#endif
