/* float_gemm.h - GEMM with weights of F32, F16, BF16: tiles of rows and columns
 *
 * float_sums.h says how an element is summed up; float_gemv.h has GEMV,
 * float_packing.h how rows are packed for many columns. */
#ifndef CPU_GEMM_FLOAT_GEMM_H
#define CPU_GEMM_FLOAT_GEMM_H

#include "cpu/gemm/float_packing.h"
#include "cpu/gemm/float_gemv.h"

/* Rows of a tile of C columns. */
INLINE int
rows_of(int C)
{
    return C > COLS ? WIDE_ROWS : ROWS;
}

/* All values of rows. Of the next rows each tile of columns prefetches its
 * part.
 */
INLINE struct block
all_values(const struct cpu_product *p, int C)
{
    int64_t groups = C > COLS ? 1 : (p->n_cols + COLS - 1) / COLS;
    int64_t turns = p->k / TURN;
    size_t part = (size_t)rows_of(C) * p->row_stride / (size_t)groups;
    struct block k = {
        .end = p->k, .rows = p->rows, .stride = p->row_stride, .part = part
    };

    if (p->prefetch && turns)
        k.each = (part + (size_t)turns - 1) / (size_t)turns;
    return k;
}

/* While the first tiles of columns from c on are multiplied, the columns after
 * those are prefetched, one a tile: all come from memory, and would be waited
 * for at once. NULL: none. */
INLINE const char *
prefetched_column(const struct cpu_product *p, int R, int C, int64_t r,
                  int64_t c)
{
    int64_t next = c + C + r / ROWS;

    if (C != COLS || R != ROWS || r / ROWS >= C || next >= p->n_cols)
        return NULL;
    return p->cols + (size_t)next * p->col_stride;
}

/* Bytes to prefetch, turn by turn: many lines at once would keep those waiting
 * that the tile itself reads. */
struct prefetch {
    const char *at;
    size_t due;
};

INLINE void
prefetch_some(struct prefetch *f, size_t more)
{
    for (f->due += more; f->due >= LINE; f->due -= LINE) {
        cpu_prefetch_for_tile(more < LINE, f->at);
        f->at += LINE;
    }
}

INLINE void
keep_sums(int R, int C, vec kept[][COLS], vec sum[][WIDE])
{
    UNROLL for (int a = 0; a < R; a++) UNROLL for (int b = 0; b < C; b++)
        kept[a][b] = sum[a][b];
}

INLINE void
take_sums(int R, int C, vec sum[][WIDE], vec kept[][COLS])
{
    UNROLL for (int a = 0; a < R; a++) UNROLL for (int b = 0; b < C; b++)
        sum[a][b] = kept[a][b];
}

/* A tile of R x C elements from row r and column c on: values of a block. Rows
 * of GEMV are prefetched to L1, or to L2. */
INLINE void
prefetching_tile(bool to_l1, enum ggml_type type, int R, int C,
                 const struct cpu_product *p, int64_t r, int64_t c,
                 struct block k)
{
    const int64_t size = (int64_t)cpu_value_size(type);
    const int64_t col_size = (int64_t)cpu_value_size(COLUMN_TYPE);
    const int64_t step = STEP * size * R; /* bytes of rows */
    const bool chains = cpu_chain_values(type) > 0;
    const char *rows = k.rows + (size_t)(r - k.row) * k.stride;
    const char *cols = p->cols + (size_t)c * p->col_stride;
    /* several columns have what comes next prefetched part by part */
    const bool prefetched =
        C == 1 && p->n_cols == 1 && type != HARDWARE_PREFETCHED;
    const char *source =
        prefetched && p->prefetch ? cpu_prefetch_source(p, r) : NULL;
    const char *next = prefetched_column(p, R, C, r, c);
    struct prefetch after = { .at = cpu_prefetch_source(p, r) +
                                    (size_t)(c / COLS) * k.part };
    const size_t each = C > 1 && R == rows_of(C) ? k.each : 0;
    vec sum[2 * ROWS][WIDE], total[2 * ROWS][WIDE];
    int64_t i = k.first;

    after.at += (size_t)(i / TURN) * each / LINE * LINE;
    UNROLL for (int a = 0; a < R; a++) UNROLL for (int b = 0; b < C; b++)
        sum[a][b] = total[a][b] = v_splat(0);
    if (k.kept && i > 0)
        take_sums(R, C, chains ? total : sum, k.kept);
    for (; i + TURN <= k.end; i += TURN) {
        cpu_end_chain(type, R, C, i - k.first, sum, total);
        if (C == COLS && next)
            UNROLL for (int64_t j = 0; j < TURN * col_size; j += LINE)
                PREFETCH_L2(next + i * col_size + j);
        if (each)
            prefetch_some(&after, each);
        ROLLED for (int64_t j = i; j < i + TURN; j += STEP)
        {
            if (C == 1 && source && (step >= LINE || j * size * R % LINE == 0))
                cpu_prefetch_step(to_l1, step, source + j * size * R);
            cpu_add_products(type, R, C, STEP, sum, rows + (j - k.first) * size,
                             k.stride, cols + j * col_size, p->col_stride);
        }
    }
    for (; i < k.end; i += STEP) {
        cpu_end_chain(type, R, C, i - k.first, sum, total);
        cpu_add_products(type, R, C, k.end - i < STEP ? k.end - i : STEP, sum,
                         rows + (i - k.first) * size, k.stride,
                         cols + i * col_size, p->col_stride);
    }
    if (chains)
        cpu_end_chains(R, C, sum, total);
    if (k.kept && k.end < p->k) {
        keep_sums(R, C, k.kept, chains ? total : sum);
        return;
    }
    if (C > COLS) {
        UNROLL for (int a = 0; a < R; a++) cpu_store_sums_row(
            C, chains ? total[a] : sum[a],
            p->out + (size_t)c * p->out_stride + r + a, p->out_stride);
        return;
    }
    UNROLL for (int b = 0; b < C; b++)
        cpu_store_sums_column(R, b, chains ? total : sum,
                              p->out + (size_t)(c + b) * p->out_stride + r);
}

INLINE void
float_tile(enum ggml_type type, int R, int C, const struct cpu_product *p,
           int64_t r, int64_t c, struct block k)
{
    if (C > 1 || PREFETCH_TO_L1)
        prefetching_tile(true, type, R, C, p, r, c, k);
    else
        prefetching_tile(false, type, R, C, p, r, c, k);
}

/* Rows [r, end). */
INLINE void
float_tiles(enum ggml_type type, int C, const struct cpu_product *p, int64_t r,
            int64_t end, int64_t c, struct block k)
{
    for (; r + rows_of(C) <= end; r += rows_of(C)) {
        float_tile(type, rows_of(C), C, p, r, c, k);
        k.kept = k.kept ? k.kept + rows_of(C) : NULL;
    }
    for (; r < end; r++) {
        float_tile(type, 1, C, p, r, c, k);
        k.kept = k.kept ? k.kept + 1 : NULL;
    }
}

/* Tiles of as many columns as there may be, which take most of the time: one
 * loop that has all registers to itself. */
#define PANEL_OF_COLUMNS(NAME, TYPE)                                           \
    NOINLINE void NAME(const struct cpu_product *p, int64_t r, int64_t end,    \
                       int64_t c, struct block k)                              \
    {                                                                          \
        float_tiles(TYPE, COLS, p, r, end, c, k);                              \
    }
PANEL_OF_COLUMNS(float_tiles_bf16, GGML_TYPE_BF16)
#ifndef DOT_BF16
PANEL_OF_COLUMNS(float_tiles_f32, GGML_TYPE_F32)
PANEL_OF_COLUMNS(float_tiles_f16, GGML_TYPE_F16)
#endif

INLINE void
panel_of_columns(enum ggml_type type, const struct cpu_product *p, int64_t r,
                 int64_t end, int64_t c, struct block k)
{
    if (type == GGML_TYPE_BF16)
        float_tiles_bf16(p, r, end, c, k);
#ifndef DOT_BF16
    else if (type == GGML_TYPE_F32)
        float_tiles_f32(p, r, end, c, k);
    else if (type == GGML_TYPE_F16)
        float_tiles_f16(p, r, end, c, k);
#endif
    else
        float_tiles(type, COLS, p, r, end, c, k);
}

/* Panels [g, end), of COLS columns each. */
INLINE void
panels_in_blocks(enum ggml_type type, bool copied, const struct cpu_product *p,
                 int64_t g, int64_t end)
{
    struct block k = all_values(p, COLS);
    vec(*kept)[COLS] = p->scratch;
    int64_t values = cpu_block_values(type, p->k);

    for (int64_t r = 0; r < p->n_rows; r += BLOCK_ROWS) {
        int64_t rest = p->n_rows - r, n = rest < BLOCK_ROWS ? rest : BLOCK_ROWS;

        for (int64_t i = 0; i < p->k; i += values) {
            k.first = i;
            k.end = i + values < p->k ? i + values : p->k;
            k.rows = p->rows + (size_t)i * cpu_value_size(type);
            if (copied)
                cpu_pack_rows(type, p, r, n, &k);
            for (int64_t j = g; j < end; j++) {
                k.kept = kept + (j - g) * BLOCK_ROWS;
                panel_of_columns(copied ? cpu_packed_type(type) : type, p, r,
                                 r + n, j * COLS, k);
            }
        }
    }
}

/* All columns that are in whole panels; returns how many. */
INLINE int64_t
whole_panels(enum ggml_type type, const struct cpu_product *p)
{
    struct block all = all_values(p, COLS);
    int64_t values = cpu_block_values(type, p->k), n = p->n_cols / COLS;
    bool copied = n > 0 && cpu_is_packed(type, p);
    /* sums of two blocks had better stay in the L1 cache, unless rows would
     * be copied again and again */
    int64_t some = copied || 2 * values < p->k ? BLOCK_PANELS : 1;

    if (values < p->k) {
        for (int64_t g = 0; g < n; g += some)
            panels_in_blocks(type, copied, p, g, n - g < some ? n : g + some);
        return n * COLS;
    }
    if (copied)
        cpu_pack_rows(type, p, 0, p->n_rows, &all);
    for (int64_t g = 0; g < n; g++)
        panel_of_columns(copied ? cpu_packed_type(type) : type, p, 0, p->n_rows,
                         g * COLS, all);
    return n * COLS;
}

/* Fewer columns than a panel. */
INLINE void
fewer_columns(enum ggml_type type, int C, const struct cpu_product *p,
              int64_t c)
{
    const struct block all = all_values(p, C);
    /* without gaps, what comes next is prefetched by smaller tiles */
    bool gaps = p->row_stride != (size_t)p->k * cpu_value_size(type);
    int64_t r = 0;

    for (; C == 1 && gaps && r + 2 * ROWS <= p->n_rows; r += 2 * ROWS)
        float_tile(type, 2 * ROWS, C, p, r, c, all);
    if (C == 1 && p->n_cols == 1 && IN_STRIPS) {
        if (PREFETCH_TO_L1)
            cpu_rows_in_strips(type, true, p, r);
        else
            cpu_rows_in_strips(type, false, p, r);
        return;
    }
    for (; C == 1 && p->n_cols == 1 && cpu_gemv_float_row_by_row(type) &&
           r < p->n_rows;
         r++)
        cpu_gemv_float_row(type, p, r);
    float_tiles(type, C, p, r, p->n_rows, c, all);
}

/* Whether a wide tile takes all columns: if the L1 cache has room for them,
 * as fewer rows share them. */
#define WIDE_BYTES (32 * 1024)
INLINE bool
fits_wide_tile(const struct cpu_product *p)
{
    return p->n_cols > COLS && p->n_cols <= WIDE &&
           WIDE * p->k * (int64_t)cpu_value_size(COLUMN_TYPE) <= WIDE_BYTES;
}

INLINE void
multiply_rows(enum ggml_type type, const struct cpu_product *p)
{
    int64_t c = fits_wide_tile(p) ? 0 : whole_panels(type, p);

#define LEFT(C)                                                                \
    if (C <= WIDE && C != COLS && p->n_cols - c == C)                          \
    fewer_columns(type, C <= WIDE ? C : 1, p, c)
    LEFT(8);
    LEFT(7);
    LEFT(5);
    LEFT(4);
    LEFT(3);
    LEFT(2);
    LEFT(1);
#undef LEFT
}

/* GEMM of one block takes as many rows at a time as a cache holds next to the
 * columns that come by. */
INLINE void
gemm_float(enum ggml_type type, const struct cpu_product *p)
{
    const int64_t step = cpu_rows_in_l2(type, p->k);
    struct cpu_product part = *p;

    if (p->n_cols <= COLS || p->n_rows <= step || fits_wide_tile(p) ||
        cpu_block_values(type, p->k) < p->k) {
        multiply_rows(type, p);
        return;
    }
    for (int64_t r = 0; r < p->n_rows; r += part.n_rows) {
        size_t at = (size_t)r * p->row_stride;

        part.n_rows = p->n_rows - r < step ? p->n_rows - r : step;
        part.rows = p->rows + at;
        part.prefetch = p->prefetch ? p->prefetch + at : NULL;
        part.out = p->out + r;
        multiply_rows(type, &part);
    }
}

#ifdef DOT_BF16
static size_t
bf16_column_size(int64_t k)
{
    return (size_t)(k * 2 + LINE - 1) / LINE * LINE;
}

static void
round_column_to_bf16(const float *x, void *column, int64_t k)
{
    v_put_bf16(k, column, x);
}

/* Weights of F16, rounded: for few columns in the registers, otherwise first.
 * Either way, an element is computed from the same numbers in the same order.
 */
static void
multiply_rounded(const struct cpu_product *p)
{
    gemm_float(GGML_TYPE_F16, p);
}

static size_t
rounded_size(int64_t k, int64_t n_rows, int64_t n_cols)
{
    return cpu_packed_size(GGML_TYPE_F16, k, n_rows, n_cols);
}
#else
static void
multiply_f32(const struct cpu_product *p)
{
    gemm_float(GGML_TYPE_F32, p);
}

static size_t
f32_size(int64_t k, int64_t n_rows, int64_t n_cols)
{
    return cpu_packed_size(GGML_TYPE_F32, k, n_rows, n_cols);
}

static size_t
f16_size(int64_t k, int64_t n_rows, int64_t n_cols)
{
    return cpu_packed_size(GGML_TYPE_F16, k, n_rows, n_cols);
}

static void
multiply_f16(const struct cpu_product *p)
{
    gemm_float(GGML_TYPE_F16, p);
}
#endif

static void
multiply_bf16(const struct cpu_product *p)
{
    gemm_float(GGML_TYPE_BF16, p);
}

static size_t
bf16_size(int64_t k, int64_t n_rows, int64_t n_cols)
{
    return cpu_packed_size(GGML_TYPE_BF16, k, n_rows, n_cols);
}

static void
cpu_fill_float_products(struct cpu_kernels *k)
{
#ifdef DOT_BF16
    k->mul_mat[GGML_TYPE_BF16] = (struct cpu_mul_mat){
        .multiply = multiply_bf16,
        .prepare = round_column_to_bf16,
        .column_size = bf16_column_size,
        .rows_at_once = ROWS,
        .prefetch_distance = PREFETCH_DISTANCE,
        .scratch_size = bf16_size,
    };
    k->mul_mat_rounded = (struct cpu_mul_mat){
        .multiply = multiply_rounded,
        .prepare = round_column_to_bf16,
        .column_size = bf16_column_size,
        .rows_at_once = ROWS,
        .prefetch_distance = PREFETCH_DISTANCE,
        .scratch_size = rounded_size,
    };
#else
#define FILL(type, name)                                                       \
    k->mul_mat[type].multiply = multiply_##name;                               \
    k->mul_mat[type].rows_at_once = ROWS;                                      \
    k->mul_mat[type].prefetch_distance =                                       \
        cpu_gemv_float_row_by_row(type) ? 0 : PREFETCH_DISTANCE;               \
    k->mul_mat[type].scratch_size = name##_size;
    FILL(GGML_TYPE_F32, f32)
    FILL(GGML_TYPE_F16, f16)
    FILL(GGML_TYPE_BF16, bf16)
#undef FILL
#endif
}

#endif
