/* blocks_avx2.c - products with weights in blocks, with AVX2
 *
 * Eight rows at a time, a lane each: the integer sums of a block are exact in
 * any order, and then every element is the chain of column.h.
 *
 * One column: weights are used as they come, eight partial sums a row being
 * added up by shuffles. More: the rows are interleaved first, four bytes of
 * each row after the other, so that the sums come up in their lanes. */
#include <assert.h>

#include "cpu/column.h"
#include "cpu/x86/vector_avx2.h"
#include "quant/blocks.h"

#define ROWS 8 /* lanes */
#define COLS 4 /* of a tile: 4 integer and 4 float sums, 5 for products */

/* An interleaved block: 8 x (8 rows x 4 bytes), and the 8 scales. */
struct packed {
    int8_t q[COLUMN_BLOCK / 4][32];
    float d[ROWS];
};
static_assert(sizeof(struct packed) == 288, "whole vectors");

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

/* The F16 at `at` of every row. */
INLINE __m256
load_scales(const char *const *rows, size_t at)
{
    __m128i v = _mm_setzero_si128();

#define ONE(i) v = _mm_insert_epi16(v, *AS(int16_t, rows[i] + at), i)
    ONE(0), ONE(1), ONE(2), ONE(3), ONE(4), ONE(5), ONE(6), ONE(7);
#undef ONE
    return _mm256_cvtph_ps(v);
}

/* The 32 values of a block: signed; or, with an offset of 8, unsigned. */
INLINE __m256i
row_q8_0(const char *block)
{
    return _mm256_loadu_si256(AS(__m256i, block + 2));
}

INLINE __m256i
row_q4_0(const char *block)
{
    __m128i v = _mm_loadu_si128(AS(__m128i, block + 2));
    __m256i w = _mm256_inserti128_si256(_mm256_castsi128_si256(v),
                                        _mm_srli_epi16(v, 4), 1);

    return _mm256_and_si256(w, _mm256_set1_epi8(15));
}

/* Products of four and four bytes, in 32 bits. vpmaddubsw wants one side
 * unsigned: |w|, and x with the sign of w. */
INLINE __m256i
dot_signed(__m256i w, __m256i x)
{
    __m256i pairs =
        _mm256_maddubs_epi16(_mm256_sign_epi8(w, w), _mm256_sign_epi8(x, w));

    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

INLINE __m256i
dot_unsigned(__m256i w, __m256i x)
{
    return _mm256_madd_epi16(_mm256_maddubs_epi16(w, x), _mm256_set1_epi16(1));
}

INLINE __m256i
fold_two(__m256i a, __m256i b)
{
    return _mm256_add_epi32(_mm256_unpacklo_epi32(a, b),
                            _mm256_unpackhi_epi32(a, b));
}

INLINE __m256i
fold_four(__m256i a, __m256i b)
{
    return _mm256_add_epi32(_mm256_unpacklo_epi64(a, b),
                            _mm256_unpackhi_epi64(a, b));
}

/* s[j] holds eight parts of the sum of row j: adds them up, in lane j. */
INLINE __m256i
fold_rows(const __m256i *s)
{
    __m256i a = fold_four(fold_two(s[0], s[1]), fold_two(s[2], s[3]));
    __m256i b = fold_four(fold_two(s[4], s[5]), fold_two(s[6], s[7]));

    return _mm256_add_epi32(_mm256_permute2x128_si256(a, b, 0x20),
                            _mm256_permute2x128_si256(a, b, 0x31));
}

/* The chain of column.h. */
INLINE __m256
chain(__m256 acc, __m256i sum, __m256 dw, float d)
{
    __m256 scale = _mm256_mul_ps(dw, _mm256_set1_ps(d));

    return _mm256_add_ps(acc, _mm256_mul_ps(_mm256_cvtepi32_ps(sum), scale));
}

/* A type: how its blocks are read, and what is to be taken from values. */
struct format {
    __m256i (*row)(const char *block);
    size_t block_size;
    int offset; /* 0: signed */
};

/* Eight rows, one column; of the tile at `ahead`, what comes next is fetched
 * with each block. */
INLINE __m256
one_column(const struct cpu_product *p, const char *const *rows,
           struct format f, const char *ahead)
{
    const float *d = column_scales(p->cols, p->k);
    const int32_t *sums = column_sums(p->cols, p->k);
    __m256 acc = _mm256_setzero_ps();

    for (int64_t b = 0; b < p->k / COLUMN_BLOCK; b++) {
        size_t at = (size_t)b * f.block_size;
        __m256i x = _mm256_loadu_si256(AS(__m256i, p->cols + b * COLUMN_BLOCK));
        __m256i s[ROWS], sum;

        UNROLL for (int j = 0; j < ROWS; j++)
        {
            __m256i w = f.row(rows[j] + at);

            s[j] = f.offset ? dot_unsigned(w, x) : dot_signed(w, x);
        }
        if (ahead)
            UNROLL for (size_t j = 0; j < ROWS * f.block_size; j += 64)
                _mm_prefetch(ahead + ROWS * at + j, _MM_HINT_T1);
        sum = _mm256_sub_epi32(fold_rows(s),
                               _mm256_set1_epi32(f.offset * sums[b]));
        acc = chain(acc, sum, load_scales(rows, at), d[b]);
    }
    return acc;
}

/* Transposes eight rows of eight dwords; out[i] is dword i of each row. */
INLINE void
interleave(const __m256i *v, int8_t (*out)[32])
{
    UNROLL for (int half = 0; half < 2; half++)
    {
        __m256i r[4], a, b, c, d;

        UNROLL for (int j = 0; j < 4; j++)
        {
            /* rows j and j + 4, dwords 4 * half ... + 3 */
            r[j] = half ? _mm256_permute2x128_si256(v[j], v[j + 4], 0x31)
                        : _mm256_permute2x128_si256(v[j], v[j + 4], 0x20);
        }
        a = _mm256_unpacklo_epi32(r[0], r[1]);
        b = _mm256_unpackhi_epi32(r[0], r[1]);
        c = _mm256_unpacklo_epi32(r[2], r[3]);
        d = _mm256_unpackhi_epi32(r[2], r[3]);
        _mm256_store_si256(AS_OUT(__m256i, out[4 * half]),
                           _mm256_unpacklo_epi64(a, c));
        _mm256_store_si256(AS_OUT(__m256i, out[4 * half + 1]),
                           _mm256_unpackhi_epi64(a, c));
        _mm256_store_si256(AS_OUT(__m256i, out[4 * half + 2]),
                           _mm256_unpacklo_epi64(b, d));
        _mm256_store_si256(AS_OUT(__m256i, out[4 * half + 3]),
                           _mm256_unpackhi_epi64(b, d));
    }
}

INLINE void
pack_rows(int64_t n_blocks, const char *const *rows, struct packed *out,
          struct format f)
{
    for (int64_t b = 0; b < n_blocks; b++) {
        size_t at = (size_t)b * f.block_size;
        __m256i v[ROWS];

        UNROLL for (int j = 0; j < ROWS; j++) v[j] = f.row(rows[j] + at);
        interleave(v, out[b].q);
        _mm256_store_ps(out[b].d, load_scales(rows, at));
    }
}

/* The integer sums of a block. Unsigned values are small: eight products of
 * pairs, of at most 2 * 15 * 127, fit in 16 bits. */
INLINE void
block_sums(const int C, __m256i *s, const struct packed *packed,
           const char *cols, size_t stride, bool is_signed)
{
    UNROLL for (int j = 0; j < C; j++) s[j] = _mm256_setzero_si256();
    UNROLL for (int g = 0; g < COLUMN_BLOCK / 4; g++)
    {
        __m256i w = _mm256_load_si256(AS(__m256i, packed->q[g]));

        UNROLL for (int j = 0; j < C; j++)
        {
            __m256i x = _mm256_set1_epi32(
                *AS(int32_t, cols + (size_t)j * stride + 4 * g));

            s[j] = is_signed
                       ? _mm256_add_epi32(s[j], dot_signed(w, x))
                       : _mm256_add_epi16(s[j], _mm256_maddubs_epi16(w, x));
        }
    }
    if (!is_signed)
        UNROLL for (int j = 0; j < C; j++) s[j] =
            _mm256_madd_epi16(s[j], _mm256_set1_epi16(1));
}

/* Eight interleaved rows, C columns from c on. */
INLINE void
packed_tile(const int C, const struct cpu_product *p,
            const struct packed *packed, int64_t c, int offset, float *out,
            __m256i lanes)
{
    const char *cols = p->cols + (size_t)c * p->col_stride;
    __m256 acc[COLS];

    UNROLL for (int j = 0; j < C; j++) acc[j] = _mm256_setzero_ps();
    for (int64_t b = 0; b < p->k / COLUMN_BLOCK; b++) {
        __m256 dw = _mm256_load_ps(packed[b].d);
        __m256i s[COLS];

        block_sums(C, s, &packed[b], cols + b * COLUMN_BLOCK, p->col_stride,
                   offset == 0);
        UNROLL for (int j = 0; j < C; j++)
        {
            const char *col = cols + (size_t)j * p->col_stride;

            if (offset)
                s[j] = _mm256_sub_epi32(
                    s[j],
                    _mm256_set1_epi32(offset * column_sums(col, p->k)[b]));
            acc[j] = chain(acc[j], s[j], dw, column_scales(col, p->k)[b]);
        }
    }
    UNROLL for (int j = 0; j < C; j++) _mm256_maskstore_ps(
        out + (size_t)(c + j) * p->out_stride, lanes, acc[j]);
}

INLINE void
packed_columns(const struct cpu_product *p, const struct packed *packed,
               int offset, float *out, __m256i lanes)
{
    int64_t c = 0;

    for (; c + COLS <= p->n_cols; c += COLS)
        packed_tile(COLS, p, packed, c, offset, out, lanes);
    for (; c < p->n_cols; c++)
        packed_tile(1, p, packed, c, offset, out, lanes);
}

INLINE void
multiply(const struct cpu_product *p, struct format f)
{
    size_t row_size = (size_t)(p->k / COLUMN_BLOCK) * f.block_size;

    if (p->n_cols == 1)
        fetch_first(p, ROWS, row_size);
    for (int64_t r = 0; r < p->n_rows; r += ROWS) {
        __m256i lanes = first_lanes(p->n_rows - r);
        const char *rows[ROWS];

        find_rows(p, r, rows);
        if (p->n_cols == 1) {
            _mm256_maskstore_ps(
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
    multiply(p, (struct format){ row_q8_0, sizeof(struct block_q8_0), 0 });
}

static void
multiply_q4_0(const struct cpu_product *p)
{
    multiply(p, (struct format){ row_q4_0, sizeof(struct block_q4_0), 8 });
}

/* The largest magnitude of 32 floats. */
INLINE float
largest(const __m256 *v)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    __m256 a = _mm256_max_ps(_mm256_andnot_ps(sign, v[0]),
                             _mm256_andnot_ps(sign, v[1]));
    __m256 b = _mm256_max_ps(_mm256_andnot_ps(sign, v[2]),
                             _mm256_andnot_ps(sign, v[3]));
    __m128 q;

    a = _mm256_max_ps(a, b);
    q = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    q = _mm_max_ps(q, _mm_movehl_ps(q, q));
    q = _mm_max_ss(q, _mm_movehdup_ps(q));
    return _mm_cvtss_f32(q);
}

INLINE int32_t
add_integers(__m256i v)
{
    __m128i q = _mm_add_epi32(_mm256_castsi256_si128(v),
                              _mm256_extracti128_si256(v, 1));

    q = _mm_add_epi32(q, _mm_shuffle_epi32(q, 0x4e));
    q = _mm_add_epi32(q, _mm_shuffle_epi32(q, 0xb1));
    return _mm_cvtsi128_si32(q);
}

/* Four times eight integers as bytes, in order. */
INLINE __m256i
to_bytes(const __m256i *q)
{
    __m256i v = _mm256_packs_epi16(_mm256_packs_epi32(q[0], q[1]),
                                   _mm256_packs_epi32(q[2], q[3]));

    return _mm256_permutevar8x32_epi32(
        v, _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0));
}

/* See cpu_prepare_column(): the same bytes. */
static void
prepare(const float *x, void *column, int64_t k)
{
    struct column_runs runs = column_runs(column, k);
    char *q = column;

    for (int64_t b = 0; b < k / COLUMN_BLOCK; b++, x += COLUMN_BLOCK) {
        __m256 v[4], inverse;
        __m256i i[4];
        float amax;

        UNROLL for (int j = 0; j < 4; j++) v[j] = _mm256_loadu_ps(x + 8 * j);
        amax = largest(v);
        inverse = _mm256_set1_ps(amax > 0 ? 127 / amax : 0);
        UNROLL for (int j = 0; j < 4; j++) i[j] =
            _mm256_cvtps_epi32(_mm256_mul_ps(v[j], inverse));
        _mm256_storeu_si256(AS_OUT(__m256i, q + b * COLUMN_BLOCK), to_bytes(i));
        column_put(&runs, b, amax / 127,
                   add_integers(_mm256_add_epi32(i[0], i[1])),
                   add_integers(_mm256_add_epi32(i[2], i[3])));
    }
}

void
cpu_avx2_block_products(struct cpu_kernels *k)
{
    k->mul_mat[GGML_TYPE_Q8_0].multiply = multiply_q8_0;
    k->mul_mat[GGML_TYPE_Q8_0].prepare = prepare;
    k->mul_mat[GGML_TYPE_Q8_0].scratch_size = scratch_size;
    k->mul_mat[GGML_TYPE_Q4_0].multiply = multiply_q4_0;
    k->mul_mat[GGML_TYPE_Q4_0].prepare = prepare;
    k->mul_mat[GGML_TYPE_Q4_0].scratch_size = scratch_size;
}
