/* vector_groups.h - products with weights in groups, for any vectors
 *
 * As many rows at a time as vectors have lanes, a lane each. Blocks of each
 * row are opened: their codes as bytes, four of each row after the other, so
 * that sums come up in their lanes, and their scales and minima as vectors of
 * floats. One column meets the codes in the registers where they were opened;
 * for more, some hundred values of some times as many rows are opened and then
 * met by all columns. Either way an element is computed as column.h says.
 *
 * Besides the words of vector.h, an instruction set gives
 *
 *     load_words(rows, at)      four bytes at `at` of each row, a lane each
 *     load_f16(rows, at)        F16s at `at`, of which 16 bytes may be read
 *     load_16(rows, at, w)      16 bytes of each row: the first four in w[0],
 *                               ... w[3]
 *     look_up(table, offset, w) each byte of w, 0 to 15, by that of the table,
 *                               and the offset added
 *     spread_bits(w, i, to)     of each lane's 32 bits the four from 4 * i on,
 *                               the lowest first, each as bit `to` of a byte
 *     as_floats(w)              lanes are int32_t
 *     SIGNED_OFFSET             what makes signed bytes codes; 0: nothing
 *     RUN(most)                 how many words of codes up to `most` (0: they
 *                               are signed) run_begin() and run_end() enclose
 *     run_begin(total), run_step(s, w, x, most), run_end(total, s, most)
 *                               total + sums of four products each, of codes
 *                               w with bytes x, a lane each
 *     bytes_as_pairs(w, i, j)   of each lane's four bytes two, as uint16_t
 *     multiply_pairs(a, b)      the sum of two products of int16_t, a lane each
 *     SCALED_PAIRS(f)           defined where scales that are integers are
 *                               multiplied with sums in pairs of 16 bits, if a
 *                               group's fit in such a format; then there is
 *     subtract_pairs(w, n)      n from each of the int16_t
 *     IN_PAIRS(f)               defined where sums of a group, less the offset,
 *                               fit in pairs of 16 bits in such a format: they
 *                               begin with the offset's share; then there are
 *     sum_pairs(w)              the sum of the two int16_t of each lane
 *     add_pairs(a, b), times_pairs(w, n)
 *                               with each of the int16_t
 *     IN_TWOS(f)                defined where at least sums of two words do, of
 *                               codes that meet many columns; then there is
 *     shares_of(offset, n, q)   what these begin with, of n values of a column:
 *                               word i of the vector is that of words i, i ^ 1
 *     BY_EIGHT                  defined where columns are multiplied in pairs
 *                               and eight bytes at once; then there are
 *     join_words(w)             two words, as add_eights() wants them
 *     add_eights(s, w, x, y)    adds the sums of eight products each with x,
 *                               and with y, which part_sums(s) makes s[0] and
 *                               s[1], a lane each
 *     BY_SIGNS                  defined where signed codes that meet many
 *                               columns do so as magnitudes; then there are
 *     split_signs(w, n, signs)  makes n words magnitudes, and all ones of each
 *                               byte where it was less than 0; returns what is
 *                               missing in their sums with add_signed()
 *     add_signed(s, w, sign, x) s + the sums of four products each, a lane
 *                               each, of w with x or, where sign, -x - 1
 *     CHAINS                    1, or 2 where the sum of a group of 32 that
 *                               meets one column is that of two chains
 *     FEW                       as many columns at the most meet codes where
 *                               these are opened: 1 to 8; see FEW_OF()
 *     VECS(most), COLS(most)    vectors of rows and columns of a tile of codes
 *                               up to `most`
 *     MOST_VECS, TILE           the most vectors, and the largest product
 *     UNITS                     of 32 values, at least 8, that are opened at a
 *                               time for many columns
 */
#ifndef CPU_VECTOR_GROUPS_H
#define CPU_VECTOR_GROUPS_H

#include "cpu/vector_group_sums.h"

#ifndef IN_TWOS
#define IN_TWOS(f)              false
#define shares_of(offset, n, q) ((vec_bits){ 0 })
#endif

/* Part `part` of `parts` of the bytes from `next` on, as many as a block of VEC
 * rows has. Many at once would have to wait for each other. */
INLINE void
fetch_part(struct format f, const char *next, int part, int parts, bool soon)
{
    const int lines = (int)((VEC * f.size + LINE - 1) / LINE);
    const int first = lines * part / parts, end = lines * (part + 1) / parts;

    UNROLL for (int i = 0; i < (lines + parts - 1) / parts; i++)
    {
        if (first + i >= end)
            break;
        if (soon)
            fetch_line(next + (first + i) * LINE);
        else
            fetch_far(next + (first + i) * LINE);
    }
}

/* Where the word-th word of half of run n of such a block is used. */
INLINE void
fetch_word(struct format f, const char *next, int n, int half, int word,
           bool soon)
{
    const int at =
        n * f.together * WORDS + half * units_in(f, n) * WORDS / 2 + word;

    fetch_part(f, next, at, (int)(f.block / COLUMN_BLOCK * WORDS), soon);
}

/* Units of a block that are opened together, times C columns. */
INLINE void
add_opened(const int C, struct format f, const struct rows *r, const char *next,
           int n, const vec *scales, const struct columns *x, vec *acc)
{
    const int groups = COLUMN_BLOCK / f.group;
    const int chains = C > 1 || groups > CHAINS ? groups : CHAINS;
    const int units = units_in(f, n);
    vec_bits s[MOST_TOGETHER * 2 * FEW], part[MOST_TOGETHER * FEW];

    UNROLL for (int half = 0; half < 2; half++)
    {
        vec_bits loaded[MOST_LOADED];

        f.load(r, n, half, loaded);
        UNROLL for (int i = 0; i < 4; i++)
            UNROLL for (int u = 0; u < units; u++)
        {
            vec_bits code = f.code(loaded, n, half, u, i);

            fetch_word(f, next, n, half, i * units + u, true);
            add_word(1, C, given(f, u), WORDS / chains, &code, 0,
                     scales + u * scales_of(f), 0, x,
                     x->first + n * f.together + u, 4 * half + i,
                     &s[(u * chains + half * (chains - 1)) * C], &part[u * C]);
            AFTER(next, part[u * C]);
        }
    }
    UNROLL for (int i = 0; i < units * groups; i += groups_at_once(f))
    {
        int u = n * f.together + i / groups;
        vec_bits *sum = &s[i * chains / groups * C];

        if (chains > groups)
            *sum += s[i * 2 + 1];
        add_groups(1, C, given(f, i / groups), sum, scales, 0, x, x->first + u,
                   acc);
        scales += scales_at_once(f);
    }
}

/* VEC rows times C columns, up to FEW. Meanwhile as many bytes are fetched from
 * `next` on as the rows have. */
INLINE void
few_columns(const int C, const struct cpu_product *p, struct format f,
            int64_t row, const char *next)
{
    struct columns x = { .at = p->cols, .stride = p->col_stride, .k = p->k };
    struct rows r = rows_at(p, row);
    struct coded integers;
    vec acc[FEW], part[FEW];

    UNROLL for (int j = 0; j < C; j++) acc[j] = (vec){ 0 };
    for (; x.first < p->k / COLUMN_BLOCK; x.first += f.block / COLUMN_BLOCK) {
        vec scales[MOST_UNITS * MOST_SCALES];

        load_scales(f, true, &r, &integers, scales);
        UNROLL for (int j = 0; j < C; j++) part[j] = block_begin(f, acc[j]);
        UNROLL for (int n = 0; n < runs_of(f); n++)
            add_opened(C, f, &r, next, n,
                       scales + n * f.together * scales_of(f), &x, part);
        UNROLL for (int j = 0; j < C; j++) acc[j] =
            block_end(f, acc[j], part[j], scales);
        next += VEC * f.size;
        rows_advance(&r, f.size);
    }
    UNROLL for (int j = 0; j < C; j++)
        store_f32(p->out + (size_t)j * p->out_stride + row, acc[j]);
}

/* Room for what sums begin with, of each group. */
#define STARTS (UNITS * 2)

/* Opened units of VEC rows, up to UNITS; those of the next rows follow after
 * room for that. Signed codes that meet columns as magnitudes have signs, and
 * `starts` are what sums begin with. */
struct opened {
    vec_bits *codes;
    vec *scales;
    vec_bits *signs, *starts;
};

/* Those of vector v of rows. */
INLINE struct opened
opened_rows(struct opened o, int v)
{
    return (struct opened){ o.codes + v * UNITS * WORDS,
                            o.scales + v * UNITS * MOST_SCALES,
                            o.signs + v * UNITS * WORDS,
                            o.starts + v * STARTS };
}

/* Those from unit `unit` on. */
INLINE struct opened
opened_units(struct format f, struct opened o, int64_t unit)
{
    return (struct opened){ o.codes + unit * WORDS,
                            o.scales + unit * scales_of(f),
                            o.signs + unit * WORDS,
                            o.starts + unit * COLUMN_BLOCK / f.group };
}

/* A block of VEC rows, opened. As many bytes are fetched from `next` on. */
INLINE void
open_block(struct format f, const struct rows *r, const char *next,
           vec_bits *all, vec *scales)
{
    struct coded integers;

    if (f.apart) {
        for (size_t i = 0; i < VEC * f.size; i += LINE)
            fetch_far(next + i);
        f.whole(r, all, scales);
        return;
    }
    load_scales(f, false, r, &integers, scales);
    UNROLL for (int n = 0; n < runs_of(f); n++)
        UNROLL for (int half = 0; half < 2; half++)
    {
        vec_bits loaded[MOST_LOADED];
        struct weight weight;

        f.load(r, n, half, loaded);
        UNROLL for (int i = 0; i < 4 * units_in(f, n); i++)
        {
            vec_bits code = f.code(loaded, n, half, i / 4, i % 4);
            int unit = n * f.together + i / 4;

            if (f.quads && i / 4 % 2)
                code >>= 2;
            if (is_weighed(f)) {
                if (i % 4 == 0)
                    weight = weight_of(f, &integers, unit, half);
                code = weigh(code, &weight);
            }
            fetch_word(f, next, n, half, i, false);
            all[unit * WORDS + 4 * half + i % 4] = code;
            AFTER(next, code);
        }
    }
}

/* A block's codes, as many columns want them. */
INLINE void
arrange(struct format f, struct opened o)
{
    (void)f, (void)o;
#ifdef BY_SIGNS
    if (f.most == 0)
        for (int64_t i = 0; i < f.block / f.group; i++)
            o.starts[i] = split_signs(o.codes + i * f.group / 4, f.group / 4,
                                      o.signs + i * f.group / 4);
#endif
#ifdef BY_EIGHT
    for (int64_t i = 0; i < f.block / COLUMN_BLOCK * WORDS; i += 2)
        join_words(o.codes + i);
#endif
}

/* The integer sums of group g of a unit: V vectors of rows times C columns, in
 * the order of add_word(). */
#ifdef BY_EIGHT
/* A column without another is taken twice. */
INLINE void
sum_group(const int V, const int C, struct format f, struct opened o,
          const struct columns *x, int64_t unit, int g, vec_bits *s)
{
    const int n = f.group / 4;

    UNROLL for (int j = 0; j < C; j += 2)
    {
        const char *a = column_of(x, j),
                   *b = column_of(x, j + 1 < C ? j + 1 : j);

        UNROLL for (int v = 0; v < V; v++)
        {
            const vec_bits *w = opened_rows(o, v).codes;
            vec_bits two[2] = { { 0 }, { 0 } };

            UNROLL for (int word = g * n; word < (g + 1) * n; word += 2)
                add_eights(two, w + word, a + unit * COLUMN_BLOCK + 4 * word,
                           b + unit * COLUMN_BLOCK + 4 * word);
            part_sums(two);
            s[v * C + j] = two[0] + start_of(f, a, x->k, unit, g);
            if (j + 1 < C)
                s[v * C + j + 1] = two[1] + start_of(f, b, x->k, unit, g);
        }
    }
}
#else
INLINE void
sum_words(const int V, const int C, struct format f, struct opened o,
          const struct columns *x, int64_t unit, int g, vec_bits *s)
{
    const int n = f.group / 4;
    vec_bits part[TILE];

    UNROLL for (int word = g * n; word < (g + 1) * n; word++)
        add_word(V, C, f, n, o.codes + word, UNITS * WORDS, o.scales,
                 UNITS * MOST_SCALES, x, unit, word, s, part);
}

#ifdef BY_SIGNS
INLINE void
sum_magnitudes(const int V, const int C, struct format f, struct opened o,
               const struct columns *x, int64_t unit, int g, vec_bits *s)
{
    const int n = f.group / 4;

    UNROLL for (int i = 0; i < V * C; i++) s[i] =
        opened_rows(o, i / C).starts[g];
    UNROLL for (int word = g * n; word < (g + 1) * n; word++)
        UNROLL for (int j = 0; j < C; j++)
    {
        const char *col = column_of(x, j) + unit * COLUMN_BLOCK;

        UNROLL for (int v = 0; v < V; v++) s[v * C + j] =
            add_signed(s[v * C + j], opened_rows(o, v).codes[word],
                       opened_rows(o, v).signs[word], AS(int32_t, col)[word]);
    }
}
#endif

/* As sums of two words in pairs of 16 bits. */
INLINE void
sum_twos(const int V, const int C, struct format f, struct opened o,
         const struct columns *x, int64_t unit, int g, vec_bits *s)
{
    const int n = f.group / 4;
    vec_bits shares[TILE], part[TILE];

    UNROLL for (int j = 0; j < C; j++) shares[j] = shares_of(
        f.offset, f.group, column_of(x, j) + unit * COLUMN_BLOCK + g * f.group);
    UNROLL for (int word = 0; word < n; word++)
        UNROLL for (int j = 0; j < C; j++)
    {
        const char *q = column_of(x, j) + unit * COLUMN_BLOCK + g * f.group;

        UNROLL for (int v = 0; v < V; v++)
        {
            struct opened r = opened_rows(o, v);
            int i = v * C + j;
            vec_bits sum;

            if (word % 2 == 0)
                part[i] = splat_bits(AS(int32_t, &shares[j])[word]);
            part[i] = run_step(part[i], r.codes[g * n + word],
                               AS(int32_t, q)[word], f.most);
            if (word % 2 == 0)
                continue;
            sum = f.coded ? multiply_pairs(part[i], (vec_bits)r.scales[g])
                          : sum_pairs(part[i]);
            s[i] = word > 1 ? s[i] + sum : sum;
        }
    }
}

INLINE void
sum_group(const int V, const int C, struct format f, struct opened o,
          const struct columns *x, int64_t unit, int g, vec_bits *s)
{
#ifdef BY_SIGNS
    if (f.most == 0) {
        sum_magnitudes(V, C, f, o, x, unit, g, s);
        return;
    }
#endif
    if (IN_TWOS(f)) {
        sum_twos(V, C, f, o, x, unit, g, s);
        return;
    }
    sum_words(V, C, f, o, x, unit, g, s);
}
#endif

/* n opened units of V vectors of rows times C columns, added to acc. */
INLINE void
add_units(const int V, const int C, struct format f, int64_t n, struct opened o,
          const struct columns *x, vec *acc)
{
    const int groups = COLUMN_BLOCK / f.group, at_once = groups_at_once(f);

    for (int64_t u = 0; u < n; u++) {
        UNROLL for (int g = 0; g < groups; g += at_once)
        {
            vec_bits s[2 * TILE];

            UNROLL for (int i = 0; i < at_once; i++)
                sum_group(V, C, f, o, x, x->first + u, g + i, s + i * V * C);
            add_groups(V, C, f, s, o.scales, UNITS * MOST_SCALES, x,
                       x->first + u, acc);
            o.scales += scales_at_once(f);
        }
        o.codes += WORDS;
        o.signs += WORDS;
        o.starts += groups;
    }
}

/* `rest` floats, or a whole vector of them, which is faster without a mask. */
INLINE vec
take(int64_t rest, const float *p)
{
    return rest >= VEC ? load_f32(p) : load_f32_first(rest, p);
}

INLINE void
put(int64_t rest, float *p, vec v)
{
    if (rest >= VEC)
        store_f32(p, v);
    else
        store_f32_first(rest, p, v);
}

/* What units before `unit` have made of elements. */
INLINE vec
begun(int64_t unit, int64_t rest, const float *out)
{
    return unit ? take(rest, out) : (vec){ 0 };
}

/* The elements of V vectors of rows and C columns from c on, from what units
 * before `unit` have made of them, and n opened units. Those whose scales are
 * integers are one block. */
INLINE void
tile_of(const int V, const int C, struct format f, const struct cpu_product *p,
        int64_t row, int64_t c, int64_t unit, int64_t n, struct opened o)
{
    int64_t rest = p->n_rows - row;
    struct columns x = { .at = p->cols + (size_t)c * p->col_stride,
                         .stride = p->col_stride,
                         .k = p->k,
                         .first = unit };
    size_t stride = p->out_stride;
    float *out = p->out + (size_t)c * stride + row;
    vec acc[TILE];

    UNROLL for (int i = 0; i < V * C; i++) acc[i] =
        block_begin(f, begun(unit, rest - i / C * VEC,
                             out + (size_t)(i % C) * stride + i / C * VEC));
    add_units(V, C, f, n, o, &x, acc);
    UNROLL for (int i = 0; i < V * C; i++)
    {
        int v = i / C, j = i % C;
        int64_t left = rest - v * VEC;
        float *to = out + (size_t)j * stride + v * VEC;

        put(left, to,
            block_end(f, begun(unit, left, to), acc[i],
                      opened_rows(o, v).scales));
    }
}

/* Those of all units that are opened, from `unit` on. */
INLINE void
tile(const int V, const int C, struct format f, const struct cpu_product *p,
     int64_t row, int64_t c, int64_t unit, struct opened o)
{
    const int step = (int)(f.block / COLUMN_BLOCK);
    int64_t rest = p->k / COLUMN_BLOCK - unit;
    int64_t n = rest < UNITS ? rest : UNITS;

    if (!f.coded) {
        tile_of(V, C, f, p, row, c, unit, n, o);
        return;
    }
    for (int64_t i = 0; i < n; i += step)
        tile_of(V, C, f, p, row, c, unit + i, step, opened_units(f, o, i));
}

/* Copies of `size` bytes at `at` of fewer than VEC rows, the last repeated. */
INLINE struct rows
copy_rows(const struct cpu_product *p, size_t at, size_t size, char *copy)
{
    for (int64_t i = 0; i < VEC; i++) {
        int64_t r = i < p->n_rows ? i : p->n_rows - 1;

        memcpy(copy + (size_t)i * size,
               p->rows + (size_t)r * p->row_stride + at, size);
    }
    return rows_from(copy, size);
}

/* The next n blocks of VEC rows, one at least, opened. */
INLINE void
open_blocks(struct format f, int64_t n, struct rows *r, const char **next,
            struct opened o)
{
    do {
        open_block(f, r, *next, o.codes, o.scales);
        arrange(f, o);
        *next += VEC * f.size;
        rows_advance(r, f.size);
        o = opened_units(f, o, f.block / COLUMN_BLOCK);
    } while (--n > 0);
}

/* Columns of the tile at c, from unit `unit` on, which the next tile will read:
 * they lie too far apart for the processor to foresee them. */
INLINE void
fetch_columns(struct format f, const struct cpu_product *p, int64_t row,
              int64_t c, int64_t unit)
{
    const int cols = COLS(f.most), vecs = VECS(f.most);
    const bool less = f.offset && !IN_TWOS(f);
    int64_t k = p->k;

    for (int64_t end = c + cols < p->n_cols ? c + cols : p->n_cols; c < end;
         c++) {
        const char *col = p->cols + (size_t)c * p->col_stride;
        const char *out =
            (const char *)(p->out + (size_t)c * p->out_stride + row);

        UNROLL for (int i = 0; i < UNITS * COLUMN_BLOCK; i += LINE)
            __builtin_prefetch(col + unit * COLUMN_BLOCK + i, 0, 3);
        __builtin_prefetch(column_scales(col, k) + unit, 0, 3);
        if (less && f.group == COLUMN_BLOCK && !IN_PAIRS(f))
            __builtin_prefetch(column_minus(col, k) + unit, 0, 3);
        else if (less && IN_PAIRS(f))
            __builtin_prefetch(column_minus_pairs(col, k) + 4 * unit, 0, 3);
        else if (less || f.coded)
            __builtin_prefetch(column_minus_halves(col, k) + 2 * unit, 0, 3);
        if (f.min && !f.coded)
            __builtin_prefetch(column_minus_weighed(col, k) + unit, 0, 3);
        UNROLL for (int i = 0; i < vecs * VEC * 4; i += LINE)
            __builtin_prefetch(out + i, 1, 3);
    }
}

/* All columns: UNITS units of V vectors of rows at a time, so that they
 * stay in the first cache. */
INLINE void
many_columns(const int V, const struct cpu_product *p, struct format f,
             int64_t row)
{
    const struct format opened = weighed(f);
    const int cols = COLS(f.most);
    vec_bits codes[MOST_VECS * UNITS * WORDS];
    vec scales[MOST_VECS * UNITS * MOST_SCALES];
    vec_bits signs[MOST_VECS * UNITS * WORDS], starts[MOST_VECS * STARTS];
    char copy[VEC * UNITS * COLUMN_BLOCK * 9 / 8];
    const int64_t step = f.block / COLUMN_BLOCK, n = p->k / COLUMN_BLOCK;
    struct opened all = { codes, scales, signs, starts };
    const char *next = ahead_of(p, row);
    struct rows rows[MOST_VECS];

    for (int v = 0; v < V; v++)
        rows[v] = rows_at(p, row + v * VEC);
    for (int64_t unit = 0; unit < n; unit += UNITS) {
        int64_t blocks = (n - unit < UNITS ? n - unit : UNITS) / step, c = 0;
        size_t size = (size_t)blocks * f.size;

        for (int v = 0; v < V; v++) {
            if (p->n_rows < VEC)
                rows[v] =
                    copy_rows(p, (size_t)(unit / step) * f.size, size, copy);
            open_blocks(f, blocks, &rows[v], &next, opened_rows(all, v));
        }
        for (; c + cols <= p->n_cols; c += cols) {
            fetch_columns(opened, p, row, c + cols, unit);
            tile(V, cols, opened, p, row, c, unit, all);
        }
        for (; c < p->n_cols; c++)
            tile(V, 1, opened, p, row, c, unit, all);
    }
}

/* Where the last vector of rows begins: it may hold some of those before once
 * more, which are computed as they were. */
INLINE int64_t
last_rows(const struct cpu_product *p, int64_t row)
{
    return row + VEC <= p->n_rows || p->n_rows < VEC ? row : p->n_rows - VEC;
}

INLINE void
multiply_columns(const struct cpu_product *p, struct format f)
{
    const int vecs = VECS(f.most);
    int64_t r = 0;

    for (; r + vecs * VEC <= p->n_rows; r += vecs * VEC)
        many_columns(vecs, p, f, r);
    for (; r < p->n_rows; r += VEC)
        many_columns(1, p, f, last_rows(p, r));
}

INLINE void
multiply_few(const int C, const struct cpu_product *p, struct format f)
{
    for (int64_t r = 0; r < p->n_rows; r += VEC)
        few_columns(C, p, f, last_rows(p, r), ahead_of(p, r));
}

/* Whether the only column was multiplied by a function of its own. */
INLINE bool
multiply_alone(const struct cpu_product *p, struct format f)
{
    if (!f.alone || p->n_cols > 1 || p->n_rows < VEC)
        return false;
    if (f.order)
        f.order(p);
    for (int64_t r = 0; r < p->n_rows; r += VEC)
        f.alone(p, last_rows(p, r), ahead_of(p, r));
    return true;
}

INLINE void
multiply(const struct cpu_product *p, struct format f)
{
    if (multiply_alone(p, f))
        return;
    if (p->n_cols > f.few || p->n_rows < VEC) {
        multiply_columns(p, f);
        return;
    }
#define COLUMNS(C)                                                             \
    if (C <= f.few && p->n_cols == C)                                          \
    multiply_few(C <= FEW ? C : 1, p, f)
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
