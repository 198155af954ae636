/* quant_gemm.h - GEMM with weights of block formats: some units of rows are
 * unpacked, and all columns are multiplied with them, tile after tile */
#ifndef CPU_GEMM_QUANT_GEMM_H
#define CPU_GEMM_QUANT_GEMM_H

#include "cpu/gemm/quant_prefetch.h"
#include "cpu/gemm/quant_sums.h"

/* Room for what sums begin with, of each group. */
#define STARTS (UNITS * 2)

/* The units of vector v of rows. */
INLINE struct unpacked
unpacked_rows(struct unpacked o, int v)
{
    return (struct unpacked){ o.codes + v * UNITS * WORDS,
                              o.scales + v * UNITS * MAX_SCALES,
                              o.signs + v * UNITS * WORDS,
                              o.starts + v * STARTS };
}

/* The units from unit `unit` on. */
INLINE struct unpacked
unpacked_units(struct format f, struct unpacked o, int64_t unit)
{
    const int64_t groups = unit * COLUMN_BLOCK / f.group;

    return (struct unpacked){ o.codes + unit * WORDS,
                              o.scales + unit * cpu_unit_scales(f),
                              o.signs + unit * WORDS, o.starts + groups };
}

/* The codes of run n of a block of VEC rows. */
INLINE void
unpack_chunk(struct format f, const struct rows *r, const char *next, int n,
             const struct int_scales *integers, vec_bits *all)
{
    UNROLL for (int half = 0; half < 2; half++)
    {
        vec_bits loaded[MAX_LOADED];
        struct code_scale scale;

        f.load(r, n, half, loaded);
        UNROLL for (int i = 0; i < 4 * cpu_units_in_chunk(f, n); i++)
        {
            vec_bits code = f.code(loaded, n, half, i / 4, i % 4);
            int unit = n * f.chunk_units + i / 4;

            if (f.quads && i / 4 % 2)
                code >>= 2;
            if (cpu_has_scaled_codes(f)) {
                if (i % 4 == 0)
                    scale = cpu_code_scale(f, integers, unit, half);
                code = cpu_scale_codes(code, &scale);
            }
            cpu_prefetch_word(f, next, n, half, i, false);
            all[unit * WORDS + 4 * half + i % 4] = code;
            AFTER(next, code);
        }
    }
}

/* A block of VEC rows, unpacked. As many bytes are prefetched from `next` on.
 */
INLINE void
unpack_block(struct format f, const struct rows *r, const char *next,
             vec_bits *all, vec *scales)
{
    struct int_scales integers;

    if (f.unpack_whole) {
        for (size_t i = 0; i < VEC * f.size; i += LINE)
            cpu_prefetch_to_l2(next + i);
        f.unpack_whole(r, all, scales);
        return;
    }
    cpu_load_scales(f, false, r, &integers, scales);
    if (f.chunk_loop && !cpu_has_scaled_codes(f))
        ROLLED for (int n = 0; n < cpu_chunks(f); n++)
            unpack_chunk(f, r, next, n, &integers, all);
    else
        UNROLL for (int n = 0; n < cpu_chunks(f); n++)
            unpack_chunk(f, r, next, n, &integers, all);
}

/* Whether codes less their offset are signed bytes, so that no sum has to make
 * up for it: it holds of all that are TILED and have an offset, but for
 * those that are `even`. */
INLINE bool
is_less(struct format f)
{
    return f.offset && !f.even && f.max_code - f.offset <= INT8_MAX;
}

/* A block's codes, for GEMM. */
INLINE void
arrange_codes(struct format f, struct unpacked o)
{
    (void)f, (void)o;
#if TILED
    if (is_less(cpu_scaled_codes_format(f)))
        for (int64_t i = 0; i < f.block / COLUMN_BLOCK * WORDS; i++)
            o.signs[i] =
                v_less_offset(o.codes[i], cpu_scaled_codes_format(f).offset);
#endif
#ifdef HAS_SIGNED_MAGNITUDES
    if (f.max_code == 0)
        for (int64_t i = 0; i < f.block / f.group; i++)
            o.starts[i] = v_split_signs(o.codes + i * f.group / 4, f.group / 4,
                                        o.signs + i * f.group / 4);
#endif
#ifdef HAS_DOT8
    for (int64_t i = 0; i < f.block / COLUMN_BLOCK * WORDS; i += 2)
        v_join_words(o.codes + i);
#endif
}

/* The integer sums of group g of a unit: V vectors of rows times C columns, in
 * the order of cpu_add_word(). */
#ifdef HAS_DOT8
/* A column without another is taken twice. */
INLINE void
sum_group(const int V, const int C, struct format f, struct unpacked o,
          const struct columns *x, int64_t unit, int g, vec_bits *s)
{
    const int n = f.group / 4;

    UNROLL for (int j = 0; j < C; j += 2)
    {
        const char *a = cpu_column_at(x, j),
                   *b = cpu_column_at(x, j + 1 < C ? j + 1 : j);

        UNROLL for (int v = 0; v < V; v++)
        {
            const vec_bits *w = unpacked_rows(o, v).codes;
            vec_bits two[2] = { { 0 }, { 0 } };

            UNROLL for (int word = g * n; word < (g + 1) * n; word += 2)
                v_dot8(two, w + word, a + unit * COLUMN_BLOCK + 4 * word,
                       b + unit * COLUMN_BLOCK + 4 * word);
            v_split_dot8(two);
            s[v * C + j] = two[0] + cpu_group_start(f, a, x->k, unit, g);
            if (j + 1 < C)
                s[v * C + j + 1] =
                    two[1] + cpu_group_start(f, b, x->k, unit, g);
        }
    }
}
#else
INLINE void
sum_words(const int V, const int C, struct format f, struct unpacked o,
          const struct columns *x, int64_t unit, int g, vec_bits *s)
{
    const int n = f.group / 4;
    vec_bits part[TILE];

    UNROLL for (int word = g * n; word < (g + 1) * n; word++)
        cpu_add_word(V, C, f, n, o.codes + word, UNITS * WORDS, o.scales,
                     UNITS * MAX_SCALES, x, unit, word, s, part);
}

#ifdef HAS_SIGNED_MAGNITUDES
INLINE void
sum_magnitudes(const int V, const int C, struct format f, struct unpacked o,
               const struct columns *x, int64_t unit, int g, vec_bits *s)
{
    const int n = f.group / 4;

    UNROLL for (int i = 0; i < V * C; i++) s[i] =
        unpacked_rows(o, i / C).starts[g];
    UNROLL for (int word = g * n; word < (g + 1) * n; word++)
        UNROLL for (int j = 0; j < C; j++)
    {
        const char *col = cpu_column_at(x, j) + unit * COLUMN_BLOCK;

        UNROLL for (int v = 0; v < V; v++) s[v * C + j] = v_add_signed(
            s[v * C + j], unpacked_rows(o, v).codes[word],
            unpacked_rows(o, v).signs[word], AS(int32_t, col)[word]);
    }
}
#endif

/* As sums of two words in pairs of 16 bits. */
INLINE void
sum_two_words(const int V, const int C, struct format f, struct unpacked o,
              const struct columns *x, int64_t unit, int g, vec_bits *s)
{
    const int n = f.group / 4;
    vec_bits shares[TILE], part[TILE];

    UNROLL for (int j = 0; j < C; j++) shares[j] = v_two_word_offsets(
        f.offset, f.group,
        cpu_column_at(x, j) + unit * COLUMN_BLOCK + g * f.group);
    UNROLL for (int word = 0; word < n; word++)
        UNROLL for (int j = 0; j < C; j++)
    {
        const char *q = cpu_column_at(x, j) + unit * COLUMN_BLOCK + g * f.group;

        UNROLL for (int v = 0; v < V; v++)
        {
            struct unpacked r = unpacked_rows(o, v);
            int i = v * C + j;
            vec_bits sum;

            if (word % 2 == 0)
                part[i] = v_splat_bits(AS(int32_t, &shares[j])[word]);
            part[i] = v_dot_step(part[i], r.codes[g * n + word],
                                 AS(int32_t, q)[word], f.max_code);
            if (word % 2 == 0)
                continue;
            sum = f.has_int_scales
                      ? v_dot2_int16(part[i], (vec_bits)r.scales[g])
                      : v_sum_int16_pairs(part[i]);
            s[i] = word > 1 ? s[i] + sum : sum;
        }
    }
}

INLINE void
sum_group(const int V, const int C, struct format f, struct unpacked o,
          const struct columns *x, int64_t unit, int g, vec_bits *s)
{
#ifdef HAS_SIGNED_MAGNITUDES
    if (f.max_code == 0) {
        sum_magnitudes(V, C, f, o, x, unit, g, s);
        return;
    }
#endif
    if (SUMS_OF_TWO_WORDS(f)) {
        sum_two_words(V, C, f, o, x, unit, g, s);
        return;
    }
    sum_words(V, C, f, o, x, unit, g, s);
}
#endif

/* n unpacked units of V vectors of rows times C columns, added to acc. */
INLINE void
add_units(const int V, const int C, struct format f, int64_t n,
          struct unpacked o, const struct columns *x, vec *acc)
{
    const int groups = COLUMN_BLOCK / f.group, at_once = cpu_groups_at_once(f);

    for (int64_t u = 0; u < n; u++) {
        UNROLL for (int g = 0; g < groups; g += at_once)
        {
            vec_bits s[2 * TILE];

            UNROLL for (int i = 0; i < at_once; i++)
                sum_group(V, C, f, o, x, x->first + u, g + i, s + i * V * C);
            cpu_add_groups(V, C, f, s, o.scales, UNITS * MAX_SCALES, x,
                           x->first + u, acc);
            o.scales += cpu_scales_at_once(f);
        }
        o.codes += WORDS;
        o.signs += WORDS;
        o.starts += groups;
    }
}

/* State with which add_tiles() goes on: scratch for sums, two times those of
 * two groups; whether none are there yet; and the units that are left, one
 * after the other, whose sums may be computed. */
struct tile_progress {
    vec_bits *sums;
    bool begins;
    int64_t left;
};

#if TILED
/* The sums of groups i and on, as many as are added at once, of unpacked units
 * and TILED columns; `odd` says which tiles, so that they are under way while
 * others are added. */
INLINE void
sum_tiles(struct format f, const bool odd, struct unpacked o,
          const struct columns *x, int64_t i, vec_bits *s)
{
    const int n = cpu_groups_at_once(f);
    const vec_bits *codes = is_less(f) ? o.signs : o.codes;

    i *= n;
    UNROLL for (int j = 0; j < n; j++, i++)
        v_sum_tile(2 * odd + j, is_less(f), codes + i * f.group / 4,
                   x->at + x->first * COLUMN_BLOCK + i * f.group, x->stride,
                   s + j * TILED);
}

/* n unpacked units of VEC rows times TILED columns, added to acc. The sums,
 * which tiles leave in memory, stay in the L1 cache: those of a group are added
 * while the next one's are computed. */
INLINE void
add_tiles(struct format f, int64_t n, struct unpacked o,
          const struct columns *x, const struct tile_progress *run, vec *acc)
{
    const int each = COLUMN_BLOCK / f.group / cpu_groups_at_once(f);
    vec_bits *const s[2] = { run->sums, run->sums + 2 * TILED };
    struct format g = f;

    if (is_less(f))
        g.offset = 0;
    v_let_tiles_read(o.codes);
    if (run->begins)
        sum_tiles(f, false, o, x, 0, s[0]);
    for (int64_t i = 0; i < n * each; i += 2)
        UNROLL for (int odd = 0; odd < 2; odd++)
        {
            int64_t at = i + odd;

            if (at + 1 < run->left * each)
                sum_tiles(f, !odd, o, x, at + 1, s[!odd]);
            if (at >= n * each)
                break;
            cpu_add_groups(1, TILED, g, s[odd],
                           o.scales + at * cpu_scales_at_once(f), 0, x,
                           x->first + at / each, acc);
        }
}
#else
#define add_tiles(f, n, o, x, run, acc) ((void)0)
#endif

/* `rest` floats, or a whole vector of them, which is faster without a mask. */
INLINE vec
load_rest(int64_t rest, const float *p)
{
    return rest >= VEC ? v_load_f32(p) : v_load_f32_first(rest, p);
}

INLINE void
store_rest(int64_t rest, float *p, vec v)
{
    if (rest >= VEC)
        v_store_f32(p, v);
    else
        v_store_f32_first(rest, p, v);
}

/* Elements as the units before `unit` have left them. */
INLINE vec
partial_elements(int64_t unit, int64_t rest, const float *out)
{
    return unit ? load_rest(rest, out) : (vec){ 0 };
}

/* The elements of V vectors of rows and C columns from c on, from what units
 * before `unit` have made of them, and n unpacked units. Those whose scales are
 * integers are one block. */
INLINE void
quant_tile_of(const int V, const int C, struct format f,
              const struct cpu_product *p, int64_t row, int64_t c, int64_t unit,
              int64_t n, struct unpacked o, const struct tile_progress *run)
{
    int64_t rest = p->n_rows - row;
    struct columns x = { .at = p->cols + (size_t)c * p->col_stride,
                         .stride = p->col_stride,
                         .k = p->k,
                         .first = unit };
    size_t stride = p->out_stride;
    float *out = p->out + (size_t)c * stride + row;
    vec acc[TILE];

    UNROLL for (int i = 0; i < V * C; i++) acc[i] = cpu_block_begin(
        f, partial_elements(unit, rest - i / C * VEC,
                            out + (size_t)(i % C) * stride + i / C * VEC));
    if (run)
        add_tiles(f, n, o, &x, run, acc);
    else
        add_units(V, C, f, n, o, &x, acc);
    UNROLL for (int i = 0; i < V * C; i++)
    {
        int v = i / C, j = i % C;
        int64_t left = rest - v * VEC;
        float *to = out + (size_t)j * stride + v * VEC;

        store_rest(left, to,
                   cpu_block_end(f, partial_elements(unit, left, to), acc[i],
                                 unpacked_rows(o, v).scales));
    }
}

/* How many units are unpacked, from `unit` on. */
INLINE int64_t
units_from(const struct cpu_product *p, int64_t unit)
{
    int64_t rest = p->k / COLUMN_BLOCK - unit;

    return rest < UNITS ? rest : UNITS;
}

/* The elements of these; `tiled`: VEC rows and TILED columns, with tiles. */
INLINE void
quant_tile(const bool tiled, const int V, const int C, struct format f,
           const struct cpu_product *p, int64_t row, int64_t c, int64_t unit,
           struct unpacked o)
{
    const int step = (int)(f.block / COLUMN_BLOCK);
    int64_t n = units_from(p, unit);
    vec_bits sums[4 * TILED + 1];
    struct tile_progress run = { sums, true, n };

    if (!f.has_int_scales) {
        quant_tile_of(V, C, f, p, row, c, unit, n, o, tiled ? &run : NULL);
        return;
    }
    for (int64_t i = 0; i < n; i += step) {
        quant_tile_of(V, C, f, p, row, c, unit + i, step,
                      unpacked_units(f, o, i), tiled ? &run : NULL);
        run.begins = false;
        run.left -= step;
    }
}

/* Copies of `size` bytes at `at` of fewer than VEC rows, the last repeated. */
INLINE struct rows
copy_last_rows(const struct cpu_product *p, size_t at, size_t size, char *copy)
{
    for (int64_t i = 0; i < VEC; i++) {
        int64_t r = i < p->n_rows ? i : p->n_rows - 1;

        memcpy(copy + (size_t)i * size,
               p->rows + (size_t)r * p->row_stride + at, size);
    }
    return cpu_rows_from(copy, size);
}

/* The next n blocks of VEC rows, one at least, unpacked. */
INLINE void
cpu_unpack_blocks(struct format f, int64_t n, struct rows *r, const char **next,
                  struct unpacked o)
{
    do {
        unpack_block(f, r, *next, o.codes, o.scales);
        arrange_codes(f, o);
        *next += VEC * f.size;
        cpu_rows_advance(r, f.size);
        o = unpacked_units(f, o, f.block / COLUMN_BLOCK);
    } while (--n > 0);
}

/* Columns of the tile at c, from unit `unit` on, which the next tile will read:
 * they lie too far apart for the hardware prefetcher. */
INLINE void
prefetch_columns(struct format f, const struct cpu_product *p, int64_t row,
                 int64_t c, int64_t unit)
{
    const int cols = COLS(f.max_code), vecs = VECS(f.max_code);
    const bool less = f.offset && !SUMS_OF_TWO_WORDS(f);
    int64_t k = p->k;

    for (int64_t end = c + cols < p->n_cols ? c + cols : p->n_cols; c < end;
         c++) {
        const char *col = p->cols + (size_t)c * p->col_stride;
        const char *out =
            (const char *)(p->out + (size_t)c * p->out_stride + row);

        UNROLL for (int i = 0; i < UNITS * COLUMN_BLOCK; i += LINE)
            PREFETCH_L1(col + unit * COLUMN_BLOCK + i);
        PREFETCH_L1(cpu_column_scales(col, k) + unit);
        if (less && f.group == COLUMN_BLOCK && !SUMS_IN_INT16(f))
            PREFETCH_L1(cpu_column_neg_sums(col, k) + unit);
        else if (less && SUMS_IN_INT16(f))
            PREFETCH_L1(cpu_column_neg_int16_pairs(col, k) + 4 * unit);
        else if (less || f.has_int_scales)
            PREFETCH_L1(cpu_column_neg_sums_16(col, k) + 2 * unit);
        if (f.min && !f.has_int_scales)
            PREFETCH_L1(cpu_column_scaled_neg_sums(col, k) + unit);
        UNROLL for (int i = 0; i < vecs * VEC * 4; i += LINE)
            PREFETCH_WRITE(out + i);
    }
}

/* All columns, of V vectors of rows and unpacked units. Of tiles there are
 * TILED columns each. */
#if TILED
INLINE void
gemm_columns(int V, struct format f, const struct cpu_product *p, int64_t row,
             int64_t unit, struct unpacked o)
{
    for (int64_t c = 0; c < p->n_cols; c += TILED)
        for (int v = 0; v < V; v++)
            quant_tile(true, 1, TILED, f, p, row + v * VEC, c, unit,
                       unpacked_rows(o, v));
}
#else
INLINE void
gemm_columns(const int V, struct format f, const struct cpu_product *p,
             int64_t row, int64_t unit, struct unpacked o)
{
    const int cols = COLS(f.max_code);
    int64_t c = 0;

    for (; c + cols <= p->n_cols; c += cols) {
        prefetch_columns(f, p, row, c + cols, unit);
        quant_tile(false, V, cols, f, p, row, c, unit, o);
    }
    for (; c < p->n_cols; c++)
        quant_tile(false, V, 1, f, p, row, c, unit, o);
}
#endif

/* UNITS units of V vectors of rows at a time, so that they stay in the first
 * cache. */
INLINE void
cpu_gemm_vectors_of_rows(const int V, const struct cpu_product *p,
                         struct format f, int64_t row)
{
    vec_bits codes[MAX_VECS * UNITS * WORDS];
    vec scales[MAX_VECS * UNITS * MAX_SCALES];
    vec_bits signs[MAX_VECS * UNITS * WORDS], starts[MAX_VECS * STARTS];
    char copy[VEC * UNITS * COLUMN_BLOCK * 9 / 8];
    const int64_t step = f.block / COLUMN_BLOCK, n = p->k / COLUMN_BLOCK;
    struct unpacked all = { codes, scales, signs, starts };
    const char *next = cpu_prefetch_source(p, row);
    struct rows rows[MAX_VECS];

    for (int v = 0; v < V; v++)
        rows[v] = cpu_weight_rows(p, row + v * VEC);
    for (int64_t unit = 0; unit < n; unit += UNITS) {
        int64_t blocks = units_from(p, unit) / step;
        size_t size = (size_t)blocks * f.size;

        for (int v = 0; v < V; v++) {
            if (p->n_rows < VEC)
                rows[v] = copy_last_rows(p, (size_t)(unit / step) * f.size,
                                         size, copy);
            f.unpack(blocks, &rows[v], &next, unpacked_rows(all, v));
        }
        gemm_columns(V, cpu_scaled_codes_format(f), p, row, unit, all);
    }
}

#endif
