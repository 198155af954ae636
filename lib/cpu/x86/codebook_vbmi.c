/* codebook_vbmi.c - products with weights of the IQ types that refer to entries
 * of codebooks, with AVX-512 VBMI and GFNI
 *
 * Entries are found as codebook_gemm_vbmi.h says; GEMV multiplies the same
 * coordinate of all of them at once, and is put in that order before. */
#include "cpu/x86/quant_avx512.h"

#include "cpu/gemm/quant_products.h"
#include "cpu/gemm/unpack_codebook.h"
#include "cpu/x86/codebook_gemm_vbmi.h"

/* The bytes of two units, of 64, in eight lanes: eight fields of both. */
#define COLUMN_BY_LANE(a, b, c, d) a, b, c, d, a + 32, b + 32, c + 32, d + 32
#define COLUMN_BY_FIELDS(a, b, c, d)                                           \
    COLUMN_BY_LANE(a, b, c, d), COLUMN_BY_LANE(a + 1, b + 1, c + 1, d + 1),    \
        COLUMN_BY_LANE(a + 2, b + 2, c + 2, d + 2),                            \
        COLUMN_BY_LANE(a + 3, b + 3, c + 3, d + 3)
static alignas(LINE) const uint8_t order_by_fours[] = {
    COLUMN_BY_FIELDS(0, 4, 8, 12), COLUMN_BY_FIELDS(16, 20, 24, 28)
};
static alignas(LINE) const uint8_t order_by_eights[] = {
    COLUMN_BY_FIELDS(0, 8, 16, 24), COLUMN_BY_FIELDS(4, 12, 20, 28)
};
static alignas(LINE) const uint8_t order_by_halves[] = {
    COLUMN_BY_FIELDS(0, 8, 4, 12), COLUMN_BY_FIELDS(16, 24, 20, 28)
};

/* Four sums of 16 bits. */
#define CODEBOOK_SUMS 8

/* Twice the sum, negated, of each eight values of a block of the column. */
INLINE __m512i
twice_sums(const char *x)
{
    __m512i v[4];

    UNROLL for (int i = 0; i < 4; i++) v[i] = _mm512_sad_epu8(
        v_load_64(x + 64 * i) ^ _mm512_set1_epi8(-128), _mm512_setzero_si512());
    v[0] = v_join_quarters(
        _mm512_cvtepi64_epi16(v[0]), _mm512_cvtepi64_epi16(v[1]),
        _mm512_cvtepi64_epi16(v[2]), _mm512_cvtepi64_epi16(v[3]));
    return _mm512_slli_epi16(_mm512_sub_epi16(_mm512_set1_epi16(8 * 128), v[0]),
                             1);
}

/* The column in the scratch, in the order of planes: of each block eight times
 * 32 bytes, for a row's lanes, the same coordinates as cpu_unpack_fields() has.
 * After that what entries that are moved add. */
INLINE void
order_column(struct plane_codebook g, const struct cpu_product *p)
{
    const __m512i order = v_load_64(g.size == 4              ? order_by_fours
                                    : cpu_has_half_scales(g) ? order_by_halves
                                                             : order_by_eights);
    char *to = p->scratch, *sums = to + p->k;

    for (int64_t k = 0; k < p->k; k += QUANT_SUPER, to += QUANT_SUPER) {
        __m512i v[4], w[4];

        UNROLL for (int i = 0; i < 4; i++) v[i] =
            _mm512_permutexvar_epi8(order, v_load_64(p->cols + k + 64 * i));
        w[0] = _mm512_unpacklo_epi64(v[0], v[1]);
        w[1] = _mm512_unpacklo_epi64(v[2], v[3]);
        w[2] = _mm512_unpackhi_epi64(v[0], v[1]);
        w[3] = _mm512_unpackhi_epi64(v[2], v[3]);
        v[0] = _mm512_shuffle_i64x2(w[0], w[1], 0x44);
        v[1] = _mm512_shuffle_i64x2(w[2], w[3], 0x44);
        v[2] = _mm512_shuffle_i64x2(w[0], w[1], 0xee);
        v[3] = _mm512_shuffle_i64x2(w[2], w[3], 0xee);
        UNROLL for (int i = 0; i < 2; i++)
        {
            char *half = to + 128 * i;
            __m512i a = v[2 * i], b = v[2 * i + 1];

            _mm512_storeu_si512(half, _mm512_shuffle_i64x2(a, b, 0x88));
            _mm512_storeu_si512(half + 64, _mm512_shuffle_i64x2(a, b, 0xdd));
        }
        if (g.moved)
            _mm512_storeu_si512(sums + k / COLUMN_BLOCK * CODEBOOK_SUMS,
                                twice_sums(p->cols + k));
    }
}

/* 32 bytes, for both rows. */
INLINE __m512i
for_both(const void *p)
{
    return _mm512_broadcast_i64x4(_mm256_loadu_si256(p));
}

/* A block of the column. */
struct ordered_column {
    const char *codes; /* as order_column() left them */
    __m512i start[2];  /* of two sums */
    __m512i twice[2];  /* two entries' sums, twice negative, 16 bits each */
    vec d;
};

INLINE struct ordered_column
ordered_column_at(struct plane_codebook g, const struct cpu_product *p,
                  int64_t unit)
{
    /* codes that are moved up are eight times what they stand for, and one */
    const __m512i by = _mm512_set1_epi32(g.moved ? 8 - 1 : g.offset);
    const vec_bits even = {
        0, 2, 4, 6, 8, 10, 12, 14, 0, 2, 4, 6, 8, 10, 12, 14
    };
    const char *ordered = p->scratch;
    struct ordered_column x = { .codes = ordered + unit * COLUMN_BLOCK };
    __m512i w;

    x.d = (vec)for_both(cpu_column_scales(p->cols, p->k) + unit);
    if (cpu_has_half_scales(g)) {
        w = for_both(cpu_column_neg_sums_16(p->cols, p->k) + 2 * unit);
        x.start[0] = _mm512_srai_epi32(_mm512_slli_epi32(w, 16), 16);
        x.start[1] = _mm512_srai_epi32(w, 16);
    } else {
        x.start[0] = for_both(cpu_column_neg_sums(p->cols, p->k) + unit);
        x.start[1] = _mm512_setzero_si512();
    }
    UNROLL for (int i = 0; i < 2; i++)
    {
        x.start[i] = _mm512_mullo_epi32(x.start[i], by);
        if (g.moved)
            x.twice[i] = _mm512_permutexvar_epi32(
                (__m512i)(even + (uint32_t)i),
                v_load_64(ordered + p->k + unit * CODEBOOK_SUMS));
    }
    return x;
}

/* The sums of both halves, of entries that may be moved: codes are multiplied
 * with the column as they are, or sixteen times as large, and stand for -8, 0
 * and 8, all of them moved up, or down. */
INLINE void
sum_moved(const struct row_pair *t, const struct code_fields *c,
          const struct ordered_column *x, __m512i *sum)
{
    UNROLL for (int half = 0; half < 2; half++)
    {
        __m512i s[2] = { _mm512_setzero_si512(), _mm512_setzero_si512() };

        UNROLL for (int i = 0; i < 4; i++)
        {
            const __m512i bits = _mm512_set1_epi8(i < 2 ? 0x30 : 3);

            s[i / 2] =
                _mm512_dpbusd_epi32(s[i / 2], c->planes[half][i % 2] & bits,
                                    for_both(x->codes + 32 * (4 * half + i)));
        }
        sum[half] =
            _mm512_dpwssd_epi32(x->start[half], t->down[half], x->twice[half]);
        sum[half] = _mm512_add_epi32(sum[half], _mm512_slli_epi32(s[1], 3));
        sum[half] = _mm512_add_epi32(sum[half], _mm512_srai_epi32(s[0], 1));
    }
}

/* The sums of both halves, of entries that are not moved. */
INLINE void
sum_levels(struct plane_codebook g, const struct code_fields *c,
           const struct ordered_column *x, __m512i *sum)
{
    __m512i codes[8];

    cpu_unpack_fields(g, c, codes);
    UNROLL for (int i = 0; i < 2; i++) sum[i] = x->start[i];
    UNROLL for (int i = 0; i < 8; i++) sum[i / 4] =
        _mm512_dpbusd_epi32(sum[i / 4], codes[i], for_both(x->codes + 32 * i));
}

/* Sums of products of units, times their scales and those of the column; d are
 * those of the rows, where scales are not coded. */
INLINE vec
multiply_fields(struct plane_codebook g, const struct row_pair *t,
                const struct code_fields *c, const struct ordered_column *x,
                vec d)
{
    __m512i sum[2];

    if (g.moved)
        sum_moved(t, c, x, sum);
    else
        sum_levels(g, c, x, sum);
    if (!cpu_has_half_scales(g))
        return v_as_floats((vec_bits)sum[0] + (vec_bits)sum[1]) *
               (d * v_as_floats((vec_bits)t->scales[0]) * x->d);
    UNROLL for (int i = 0; i < 2; i++) sum[i] =
        _mm512_mullo_epi32(sum[i], t->scales[i]);
    return v_as_floats((vec_bits)sum[0] + (vec_bits)sum[1]) * x->d;
}

/* Transposes what units of pairs of rows add: unit by unit, a lane a row. */
INLINE void
transpose_pairs(const vec *pairs, vec *units)
{
    vec_bits a[4], b[4];

    v_transpose_quarters(AS(__m512i, pairs), a);
    v_transpose_quarters(AS(__m512i, pairs + 4), b);
    UNROLL for (int i = 0; i < 4; i++)
    {
        units[i] = _mm512_shuffle_f32x4((vec)a[i], (vec)b[i], 0x88);
        units[4 + i] = _mm512_shuffle_f32x4((vec)a[i], (vec)b[i], 0xdd);
    }
}

/* GEMV of VEC rows: see column.h. */
INLINE void
gemv_two_rows(struct plane_codebook g, struct format f,
              const struct cpu_product *p, int64_t row, const char *next)
{
    struct rows r = cpu_weight_rows(p, row);
    vec scales[UNIT_D + 1], acc = { 0 };

    for (int64_t unit = 0; unit < p->k / COLUMN_BLOCK; unit += MAX_UNITS) {
        const struct ordered_column x = ordered_column_at(g, p, unit);
        const float *d = AS(float, &scales[UNIT_D]);
        vec pairs[PAIRS_OF_ROWS], units[MAX_UNITS],
            part = cpu_block_begin(f, acc);
        struct int_scales integers;

        if (f.has_int_scales) {
            f.integers(&r, &integers);
            scales[UNIT_D] = integers.d;
        } else {
            scales[UNIT_D] = v_load_f16(&r, 0) * v_splat(g.by);
        }
        ROLLED for (int i = 0; i < PAIRS_OF_ROWS; i += TOGETHER)
        {
            struct row_pair found[TOGETHER];
            struct code_fields fields[TOGETHER];

            cpu_find_row_pairs(g, cpu_has_half_scales(g), &r, i, found, fields);
            UNROLL for (int j = 0; j < TOGETHER; j++)
            {
                const float *first = d + cpu_pair_first_row(i + j);

                pairs[i + j] = multiply_fields(
                    g, &found[j], &fields[j], &x,
                    _mm512_mask_mov_ps(v_splat(first[0]), SECOND_ROW,
                                       v_splat(first[4])));
            }
            cpu_prefetch_unit(f, next, i / TOGETHER, PAIRS_OF_ROWS / TOGETHER,
                              g.size == 4 ? 2 : 1);
        }
        next += VEC * f.size;
        cpu_rows_advance(&r, f.size);
        transpose_pairs(pairs, units);
        UNROLL for (int u = 0; u < MAX_UNITS; u++) part = part + units[u];
        acc = cpu_block_end(f, acc, part, scales);
    }
    v_store_f32(p->out + row, acc);
}

#define UNPACK_CODEBOOK(name, offset, r, codes)                                \
    cpu_unpack_two_rows(plane_codebook_##name, r, codes)
#define ORDER(name)   order_##name
#define GEMV_OF(name) gemv_##name
#define DEFINE_GEMV(name, in_group, ...)                                       \
    static void order_##name(const struct cpu_product *p)                      \
    {                                                                          \
        order_column(plane_codebook_##name, p);                                \
    }                                                                          \
    static void gemv_##name(const struct cpu_product *p, int64_t row,          \
                            const char *next)                                  \
    {                                                                          \
        const struct format f = { .size = sizeof(struct block_##name),         \
                                  __VA_ARGS__ };                               \
                                                                               \
        gemv_two_rows(plane_codebook_##name, f, p, row, next);                 \
    }
#include "cpu/gemm/codebook_types.h"

static size_t
ordered_size(int64_t k, int64_t n_rows, int64_t n_cols)
{
    (void)n_rows, (void)n_cols;
    return (size_t)(k + k / COLUMN_BLOCK * CODEBOOK_SUMS);
}

/* Columns are those of AVX-512. */
void
cpu_fill_avx512vbmi(struct cpu_kernels *k)
{
#define FILL(name, type, kind)                                                 \
    k->mul_mat[type].multiply = multiply_##name;                               \
    k->mul_mat[type].scratch_size = ordered_size;
    CPU_CODEBOOK_TYPES(FILL)
#undef FILL
}
