/* blocks_avx512.c - products with weights in blocks, with AVX-512 VNNI
 *
 * Sixteen rows at a time, a lane each: the integer sums of a block are exact
 * in any order, and then every element is the chain of column.h. Weights are
 * made unsigned, as vpdpbusd wants one side, by an offset that the column's
 * sums take back.
 *
 * One column: weights are used as they come, eight partial sums a row being
 * added up by shuffles. More: the rows are interleaved first, four bytes of
 * each row after the other, so that the sums come up in their lanes. */
#include <assert.h>

#include "cpu/column.h"
#include "cpu/x86/vector_avx512.h"
#include "quant/blocks.h"

#define ROWS 16 /* lanes */
#define COLS 8  /* of a tile: 8 integer and 8 float sums, 8 of weights */

/* An interleaved block: 8 x (16 rows x 4 bytes), and the 16 scales. */
struct packed {
    uint8_t q[COLUMN_BLOCK / 4][64];
    float d[ROWS];
};
static_assert(sizeof(struct packed) == 576, "whole cache lines");

static size_t
scratch_size(int64_t k)
{
    return (size_t)(k / COLUMN_BLOCK) * sizeof(struct packed);
}

/* Where each lane's row begins; lanes past the last row see that again. */
static void
find_rows(const struct cpu_product *p, int64_t first, const char **rows)
{
    for (int64_t i = 0; i < ROWS; i++) {
        int64_t r = first + i < p->n_rows ? first + i : p->n_rows - 1;

        rows[i] = p->rows + (size_t)r * p->row_stride;
    }
}

/* The F16 at `at` of every row. What follows it comes along and is cut off:
 * loads of four bytes need no shuffles. */
INLINE __m512
load_scales(const char *const *rows, size_t at)
{
    __m512i v[4], low, high;

    UNROLL for (int i = 0; i < 4; i++)
    {
        v[i] = _mm512_set1_epi32(four_bytes(rows[4 * i] + at));
        UNROLL for (int j = 1; j < 4; j++) v[i] =
            _mm512_mask_set1_epi32(v[i], (__mmask16)(1 << (4 * i + j)),
                                   four_bytes(rows[4 * i + j] + at));
    }
    low = _mm512_mask_mov_epi32(v[0], 0x00f0, v[1]);
    high = _mm512_mask_mov_epi32(v[2], 0xf000, v[3]);
    low = _mm512_mask_mov_epi32(low, 0xff00, high);
    return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(low));
}

/* Blocks of two rows, as unsigned bytes: 32 of `a`, then 32 of `b`. */
INLINE __m512i
two_q8_0(const char *a, const char *b)
{
    __m512i v = _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm256_loadu_si256(AS(__m256i, a + 2))),
        _mm256_loadu_si256(AS(__m256i, b + 2)), 1);

    return _mm512_xor_si512(v, _mm512_set1_epi8((char)0x80));
}

INLINE __m512i
two_q4_0(const char *a, const char *b)
{
    const __m512i shift = _mm512_set_epi64(4, 4, 0, 0, 4, 4, 0, 0);
    __m256i v = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(AS(__m128i, a + 2))),
        _mm_loadu_si128(AS(__m128i, b + 2)), 1);
    __m512i w = _mm512_castsi256_si512(v);

    w = _mm512_shuffle_i64x2(w, w, 0x50); /* a a b b */
    return _mm512_and_si512(_mm512_srlv_epi64(w, shift), _mm512_set1_epi8(15));
}

INLINE __m512i
fold_two(__m512i a, __m512i b)
{
    return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b),
                            _mm512_unpackhi_epi32(a, b));
}

INLINE __m512i
fold_four(__m512i a, __m512i b)
{
    return _mm512_add_epi32(_mm512_unpacklo_epi64(a, b),
                            _mm512_unpackhi_epi64(a, b));
}

/* s[j] holds eight parts of the sum of row j (j < 4) or j + 4, then eight of
 * the row four below: adds them up, rows in their lanes. */
INLINE __m512i
fold_rows(const __m512i *s)
{
    __m512i a = fold_four(fold_two(s[0], s[1]), fold_two(s[2], s[3]));
    __m512i b = fold_four(fold_two(s[4], s[5]), fold_two(s[6], s[7]));

    return _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x88),
                            _mm512_shuffle_i32x4(a, b, 0xdd));
}

/* The chain of column.h. */
INLINE __m512
chain(__m512 acc, __m512i sum, __m512 dw, float d)
{
    __m512 scale = _mm512_mul_ps(dw, _mm512_set1_ps(d));

    return _mm512_add_ps(acc, _mm512_mul_ps(_mm512_cvtepi32_ps(sum), scale));
}

/* Integer sums of the block at `at` of sixteen rows, offset and all, with the
 * 32 bytes of x. */
INLINE __m512i
sums_q8_0(const char *const *rows, size_t at, const char *x)
{
    __m512i v = _mm512_broadcast_i64x4(_mm256_loadu_si256(AS(__m256i, x)));
    __m512i s[8];

    UNROLL for (int j = 0; j < 8; j++)
    {
        int r = j < 4 ? j : j + 4;

        s[j] = _mm512_dpbusd_epi32(_mm512_setzero_si512(),
                                   two_q8_0(rows[r] + at, rows[r + 4] + at), v);
    }
    return fold_rows(s);
}

/* The nibbles of four rows fill a register; the low ones meet the first half
 * of x, the high ones the second. */
INLINE __m512i
sums_q4_0(const char *const *rows, size_t at, const char *x)
{
    const __m512i mask = _mm512_set1_epi8(15);
    __m512i x0 = _mm512_broadcast_i32x4(_mm_loadu_si128(AS(__m128i, x)));
    __m512i x1 = _mm512_broadcast_i32x4(_mm_loadu_si128(AS(__m128i, x + 16)));
    __m512i s[4];

#define QS(r) _mm_loadu_si128(AS(__m128i, rows[r] + at + 2))
    UNROLL for (int j = 0; j < 4; j++)
    {
        __m512i v = _mm512_castsi128_si512(QS(j));

        v = _mm512_mask_broadcast_i32x4(v, 0x00f0, QS(j + 4));
        v = _mm512_mask_broadcast_i32x4(v, 0x0f00, QS(j + 8));
        v = _mm512_mask_broadcast_i32x4(v, 0xf000, QS(j + 12));
        s[j] = _mm512_dpbusd_epi32(_mm512_setzero_si512(),
                                   _mm512_and_si512(v, mask), x0);
        s[j] = _mm512_dpbusd_epi32(
            s[j], _mm512_and_si512(_mm512_srli_epi16(v, 4), mask), x1);
    }
#undef QS
    return fold_four(fold_two(s[0], s[1]), fold_two(s[2], s[3]));
}

/* A type: how its blocks are read. */
struct format {
    __m512i (*sums)(const char *const *rows, size_t at, const char *x);
    __m512i (*two_rows)(const char *a, const char *b);
    size_t block_size;
    int offset;
};

/* Sixteen rows, one column; of the tile at `ahead`, what comes next is fetched
 * with each block. */
INLINE __m512
one_column(const struct cpu_product *p, const char *const *rows,
           struct format f, const char *ahead)
{
    const float *d = column_scales(p->cols, p->k);
    const int32_t *sums = column_sums(p->cols, p->k);
    __m512 acc = _mm512_setzero_ps();

    for (int64_t b = 0; b < p->k / COLUMN_BLOCK; b++) {
        size_t at = (size_t)b * f.block_size;
        __m512i sum = f.sums(rows, at, p->cols + b * COLUMN_BLOCK);

        if (ahead)
            UNROLL for (size_t j = 0; j < ROWS * f.block_size; j += 64)
                _mm_prefetch(ahead + ROWS * at + j, _MM_HINT_T1);
        sum = _mm512_sub_epi32(sum, _mm512_set1_epi32(f.offset * sums[b]));
        acc = chain(acc, sum, load_scales(rows, at), d[b]);
    }
    return acc;
}

/* Transposes sixteen rows of eight dwords: v[j] holds rows f and g of
 * fold_rows()'s order; out[i] dword i of each row. */
INLINE void
interleave(const __m512i *v, uint8_t (*out)[64])
{
    UNROLL for (int half = 0; half < 2; half++)
    {
        /* low or high 128 bits of each row: dwords 4 * half ... + 3 */
        __m512i lo[4], a, b, c, d;

        UNROLL for (int j = 0; j < 4; j++)
        {
            /* rows j, j + 4, j + 8, j + 12 */
            lo[j] = half ? _mm512_shuffle_i32x4(v[j], v[j + 4], 0xdd)
                         : _mm512_shuffle_i32x4(v[j], v[j + 4], 0x88);
        }
        a = _mm512_unpacklo_epi32(lo[0], lo[1]);
        b = _mm512_unpackhi_epi32(lo[0], lo[1]);
        c = _mm512_unpacklo_epi32(lo[2], lo[3]);
        d = _mm512_unpackhi_epi32(lo[2], lo[3]);
        _mm512_store_si512(out[4 * half], _mm512_unpacklo_epi64(a, c));
        _mm512_store_si512(out[4 * half + 1], _mm512_unpackhi_epi64(a, c));
        _mm512_store_si512(out[4 * half + 2], _mm512_unpacklo_epi64(b, d));
        _mm512_store_si512(out[4 * half + 3], _mm512_unpackhi_epi64(b, d));
    }
}

INLINE void
pack_rows(int64_t n_blocks, const char *const *rows, struct packed *out,
          struct format f)
{
    for (int64_t b = 0; b < n_blocks; b++) {
        size_t at = (size_t)b * f.block_size;
        __m512i v[8];

        UNROLL for (int j = 0; j < 8; j++)
        {
            int r = j < 4 ? j : j + 4;

            v[j] = f.two_rows(rows[r] + at, rows[r + 4] + at);
        }
        interleave(v, out[b].q);
        _mm512_store_ps(out[b].d, load_scales(rows, at));
    }
}

/* Sixteen interleaved rows, C columns from c on. */
INLINE void
packed_tile(const int C, const struct cpu_product *p,
            const struct packed *packed, int64_t c, int offset, float *out,
            __mmask16 lanes)
{
    const char *cols = p->cols + (size_t)c * p->col_stride;
    __m512 acc[COLS];

    UNROLL for (int j = 0; j < C; j++) acc[j] = _mm512_setzero_ps();
    for (int64_t b = 0; b < p->k / COLUMN_BLOCK; b++) {
        __m512i s[COLS];
        __m512 dw = _mm512_load_ps(packed[b].d);

        UNROLL for (int j = 0; j < C; j++)
        {
            const char *col = cols + (size_t)j * p->col_stride;

            s[j] = _mm512_set1_epi32(-offset * column_sums(col, p->k)[b]);
        }
        UNROLL for (int g = 0; g < COLUMN_BLOCK / 4; g++)
        {
            __m512i w = _mm512_load_si512(packed[b].q[g]);

            UNROLL for (int j = 0; j < C; j++)
            {
                const char *col =
                    cols + (size_t)j * p->col_stride + b * COLUMN_BLOCK + 4 * g;

                s[j] = _mm512_dpbusd_epi32(
                    s[j], w, _mm512_set1_epi32(*AS(int32_t, col)));
            }
        }
        UNROLL for (int j = 0; j < C; j++)
        {
            const char *col = cols + (size_t)j * p->col_stride;

            acc[j] = chain(acc[j], s[j], dw, column_scales(col, p->k)[b]);
        }
    }
    UNROLL for (int j = 0; j < C; j++) _mm512_mask_storeu_ps(
        out + (size_t)(c + j) * p->out_stride, lanes, acc[j]);
}

INLINE void
packed_columns(const struct cpu_product *p, const struct packed *packed,
               int offset, float *out, __mmask16 lanes)
{
    int64_t c = 0;

    for (; c + COLS <= p->n_cols; c += COLS)
        packed_tile(COLS, p, packed, c, offset, out, lanes);
    for (; c + 4 <= p->n_cols; c += 4)
        packed_tile(4, p, packed, c, offset, out, lanes);
    for (; c + 2 <= p->n_cols; c += 2)
        packed_tile(2, p, packed, c, offset, out, lanes);
    if (c < p->n_cols)
        packed_tile(1, p, packed, c, offset, out, lanes);
}

INLINE void
multiply(const struct cpu_product *p, struct format f)
{
    size_t row_size = (size_t)(p->k / COLUMN_BLOCK) * f.block_size;

    if (p->n_cols == 1)
        fetch_first(p, ROWS, row_size);
    for (int64_t r = 0; r < p->n_rows; r += ROWS) {
        __mmask16 lanes = first_lanes(p->n_rows - r);
        const char *rows[ROWS];

        find_rows(p, r, rows);
        if (p->n_cols == 1) {
            _mm512_mask_storeu_ps(
                p->out + r, lanes,
                one_column(p, rows, f, tile_ahead(p, r, ROWS, row_size)));
            continue;
        }
        pack_rows(p->k / COLUMN_BLOCK, rows, p->scratch, f);
        packed_columns(p, p->scratch, f.offset, p->out + r, lanes);
    }
}

static void
multiply_q8_0(const struct cpu_product *p)
{
    multiply(p, (struct format){ sums_q8_0, two_q8_0, sizeof(struct block_q8_0),
                                 128 });
}

static void
multiply_q4_0(const struct cpu_product *p)
{
    multiply(p, (struct format){ sums_q4_0, two_q4_0, sizeof(struct block_q4_0),
                                 8 });
}

/* See cpu_prepare_column(): the same bytes. */
static void
prepare(const float *x, void *column, int64_t k)
{
    struct column_runs runs = column_runs(column, k);
    char *q = column;

    for (int64_t b = 0; b < k / COLUMN_BLOCK; b++, x += COLUMN_BLOCK) {
        __m512 v0 = _mm512_loadu_ps(x), v1 = _mm512_loadu_ps(x + 16);
        float amax = _mm512_reduce_max_ps(
            _mm512_max_ps(_mm512_abs_ps(v0), _mm512_abs_ps(v1)));
        __m512 inverse = _mm512_set1_ps(amax > 0 ? 127 / amax : 0);
        __m128i q0 = _mm512_cvtepi32_epi8(
            _mm512_cvtps_epi32(_mm512_mul_ps(v0, inverse)));
        __m128i q1 = _mm512_cvtepi32_epi8(
            _mm512_cvtps_epi32(_mm512_mul_ps(v1, inverse)));

        _mm_storeu_si128(AS_OUT(__m128i, q + b * COLUMN_BLOCK), q0);
        _mm_storeu_si128(AS_OUT(__m128i, q + b * COLUMN_BLOCK + 16), q1);
        /* of what is stored: NaN and infinity make integers that overflow */
        column_put(&runs, b, amax / 127,
                   _mm512_reduce_add_epi32(_mm512_cvtepi8_epi32(q0)),
                   _mm512_reduce_add_epi32(_mm512_cvtepi8_epi32(q1)));
    }
}

void
cpu_avx512_block_products(struct cpu_kernels *k)
{
    k->mul_mat[GGML_TYPE_Q8_0].multiply = multiply_q8_0;
    k->mul_mat[GGML_TYPE_Q8_0].prepare = prepare;
    k->mul_mat[GGML_TYPE_Q8_0].scratch_size = scratch_size;
    k->mul_mat[GGML_TYPE_Q4_0].multiply = multiply_q4_0;
    k->mul_mat[GGML_TYPE_Q4_0].prepare = prepare;
    k->mul_mat[GGML_TYPE_Q4_0].scratch_size = scratch_size;
}
