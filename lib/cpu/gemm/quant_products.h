/* quant_products.h - products with weights of block formats, for any vectors
 *
 * As many rows at a time as vectors have lanes, a lane each. Blocks of each
 * row are unpacked: their codes as bytes, four of each row after the other, so
 * that sums come up in their lanes, and their scales and minima as vectors of
 * floats. GEMV and small batches multiply codes in the registers where they
 * were unpacked; for GEMM some hundred values of some times as many rows are
 * unpacked to memory first. Either way an element is computed as column.h says.
 *
 * Besides the functions of vector.h, an instruction set gives
 *
 *     v_load_words(rows, at)    four bytes at `at` of each row, a lane each
 *     v_load_f16(rows, at)      F16s at `at`, of which 16 bytes may be read
 *     v_load_16(rows, at, w)    16 bytes of each row: the first four in w[0],
 *                               ... w[3]
 *     v_look_up(table, offset, w)
 *                               each byte of w, 0 to 15, by that of the table,
 *                               and the offset added
 *     v_spread_bits(w, i, to)   of each lane's 32 bits the four from 4 * i on,
 *                               the lowest first, each as bit `to` of a byte
 *     v_as_floats(w)            lanes are int32_t
 *     v_dot_begin(total), v_dot_step(s, w, x, most), v_dot_end(total, s, most)
 *                               total + sums of four products each, of codes
 *                               w with bytes x, a lane each; or v_dot4() alone,
 *                               with quant_dot4.h
 *     v_bytes_as_int16_pairs(w, i, j)
 *                               of each lane's four bytes two, as uint16_t
 *     v_dot2_int16(a, b)        the sum of two products of int16_t, a lane each
 *     v_quantize_column(x, column, k)
 *                               what column.h says, of k floats
 *
 * and, where the switches of switches.h ask for them,
 *
 *     v_subtract_int16_pairs(w, n)
 *                               n from each of the int16_t
 *     v_sum_int16_pairs(w)      the sum of the two int16_t of each lane
 *     v_add_int16_pairs(a, b), v_scale_int16_pairs(w, n)
 *                               with each of the int16_t
 *     v_two_word_offsets(offset, n, q)
 *                               what sums of two words begin with, of n values
 *                               of a column: word i of the vector is that of
 *                               words i, i ^ 1
 *     v_join_words(w)           two words, as v_dot8() wants them
 *     v_dot8(s, w, x, y)        adds the sums of eight products each with x,
 *                               and with y, which v_split_dot8(s) makes s[0]
 *                               and s[1], a lane each
 *     v_split_signs(w, n, signs)
 *                               makes n words magnitudes, and all ones of each
 *                               byte where it was less than 0; returns what is
 *                               missing in their sums with v_add_signed()
 *     v_add_signed(s, w, sign, x)
 *                               s + the sums of four products each, a lane
 *                               each, of w with x or, where sign, -x - 1 */
#ifndef CPU_GEMM_QUANT_PRODUCTS_H
#define CPU_GEMM_QUANT_PRODUCTS_H

#include "cpu/gemm/quant_gemm.h"

/* Units of a block that are unpacked together, times C columns. */
INLINE void
add_unpacked(const int C, struct format f, const struct rows *r,
             const char *next, int n, const vec *scales,
             const struct columns *x, vec *acc)
{
    const int groups = COLUMN_BLOCK / f.group;
    const int chains = C > 1 || groups > CHAINS ? groups : CHAINS;
    const int units = cpu_units_in_chunk(f, n);
    vec_bits s[MAX_CHUNK_UNITS * 2 * SMALL_BATCH],
        part[MAX_CHUNK_UNITS * SMALL_BATCH];

    UNROLL for (int half = 0; half < 2; half++)
    {
        vec_bits loaded[MAX_LOADED];

        f.load(r, n, half, loaded);
        UNROLL for (int i = 0; i < 4; i++)
            UNROLL for (int u = 0; u < units; u++)
        {
            vec_bits code = f.code(loaded, n, half, u, i);

            cpu_prefetch_word(f, next, n, half, i * units + u, true);
            cpu_add_word(1, C, cpu_unit_format(f, u), WORDS / chains, &code, 0,
                         scales + u * cpu_unit_scales(f), 0, x,
                         x->first + n * f.chunk_units + u, 4 * half + i,
                         &s[(u * chains + half * (chains - 1)) * C],
                         &part[u * C]);
            AFTER(next, part[u * C]);
        }
    }
    UNROLL for (int i = 0; i < units * groups; i += cpu_groups_at_once(f))
    {
        int u = n * f.chunk_units + i / groups;
        vec_bits *sum = &s[i * chains / groups * C];

        if (chains > groups)
            *sum += s[i * 2 + 1];
        cpu_add_groups(1, C, cpu_unit_format(f, i / groups), sum, scales, 0, x,
                       x->first + u, acc);
        scales += cpu_scales_at_once(f);
    }
}

/* VEC rows times C columns, up to SMALL_BATCH. Meanwhile as many bytes are
 * prefetched from `next` on as the rows have. */
INLINE void
small_batch_rows(const int C, const struct cpu_product *p, struct format f,
                 int64_t row, const char *next)
{
    struct columns x = { .at = p->cols, .stride = p->col_stride, .k = p->k };
    struct rows r = cpu_weight_rows(p, row);
    struct int_scales integers;
    vec acc[SMALL_BATCH], part[SMALL_BATCH];

    UNROLL for (int j = 0; j < C; j++) acc[j] = (vec){ 0 };
    for (; x.first < p->k / COLUMN_BLOCK; x.first += f.block / COLUMN_BLOCK) {
        vec scales[MAX_UNITS * MAX_SCALES];

        cpu_load_scales(f, true, &r, &integers, scales);
        UNROLL for (int j = 0; j < C; j++) part[j] = cpu_block_begin(f, acc[j]);
        if (f.chunk_loop)
            ROLLED for (int n = 0; n < cpu_chunks(f); n++) add_unpacked(
                C, f, &r, next, n,
                scales + n * f.chunk_units * cpu_unit_scales(f), &x, part);
        else
            UNROLL for (int n = 0; n < cpu_chunks(f); n++) add_unpacked(
                C, f, &r, next, n,
                scales + n * f.chunk_units * cpu_unit_scales(f), &x, part);
        UNROLL for (int j = 0; j < C; j++) acc[j] =
            cpu_block_end(f, acc[j], part[j], scales);
        next += VEC * f.size;
        cpu_rows_advance(&r, f.size);
    }
    UNROLL for (int j = 0; j < C; j++)
        v_store_f32(p->out + (size_t)j * p->out_stride + row, acc[j]);
}

/* Where the last vector of rows begins: it may hold some of those before once
 * more, which are computed as they were. */
INLINE int64_t
last_rows(const struct cpu_product *p, int64_t row)
{
    return row + VEC <= p->n_rows || p->n_rows < VEC ? row : p->n_rows - VEC;
}

INLINE void
cpu_gemm_rows(const struct cpu_product *p, struct format f)
{
    const int vecs = VECS(f.max_code);
    int64_t r = 0;

#if TILED
    v_begin_tiles(cpu_scaled_codes_format(f).group);
    for (int v; r < p->n_rows; r += v * VEC) {
        v = r + vecs * VEC <= p->n_rows ? vecs : 1;
        cpu_gemm_vectors_of_rows(v, p, f, v == 1 ? last_rows(p, r) : r);
    }
    v_end_tiles();
#else
    for (; r + vecs * VEC <= p->n_rows; r += vecs * VEC)
        cpu_gemm_vectors_of_rows(vecs, p, f, r);
    for (; r < p->n_rows; r += VEC)
        cpu_gemm_vectors_of_rows(1, p, f, last_rows(p, r));
#endif
}

INLINE void
multiply_small_batch(const int C, const struct cpu_product *p, struct format f)
{
    for (int64_t r = 0; r < p->n_rows; r += VEC)
        small_batch_rows(C, p, f, last_rows(p, r), cpu_prefetch_source(p, r));
}

/* Whether a single column was multiplied by a function of its own. */
INLINE bool
cpu_multiply_gemv(const struct cpu_product *p, struct format f)
{
    if (!f.gemv || p->n_cols > 1 || p->n_rows < VEC)
        return false;
    if (f.order)
        f.order(p);
    for (int64_t r = 0; r < p->n_rows; r += VEC)
        f.gemv(p, last_rows(p, r), cpu_prefetch_source(p, r));
    return true;
}

INLINE void
cpu_multiply_quant(const struct cpu_product *p, struct format f)
{
    if (!TILED && cpu_multiply_gemv(p, f))
        return;
    if (TILED || p->n_cols > f.small_batch || p->n_rows < VEC) {
        const struct format unpacked = { .block = f.block,
                                         .size = f.size,
                                         .unpack = f.unpack };

        f.gemm(p, &unpacked);
        return;
    }
#define COLUMNS(C)                                                             \
    if (C <= f.small_batch && p->n_cols == C)                                  \
    multiply_small_batch(C <= SMALL_BATCH ? C : 1, p, f)
    COLUMNS(1);
    COLUMNS(2);
    COLUMNS(3);
    COLUMNS(4);
    COLUMNS(5);
    COLUMNS(6);
    COLUMNS(7);
    COLUMNS(8);
#undef COLUMNS
}

#endif
