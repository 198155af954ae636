/* kernels.h - the inner loops, one slot each
 *
 * The table is filled with plain C; each set of instructions then overrides
 * the slots where it is faster. What a slot computes for an element never
 * depends on other elements: a value of a row depends on its row, an
 * element of a matrix product on its row and its column, always through the
 * same operations in the same order. */
#ifndef CPU_KERNELS_H
#define CPU_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ggml.h>

/* Products of rows of weights with columns of activations:
 * out[c * out_stride + r] = weights row r . column c, over k values. */
struct cpu_product {
    int64_t k, n_rows, n_cols;
    const char *rows; /* in the weights' type; row_stride bytes apart */
    size_t row_stride;
    /* From here on as many bytes as the rows have are prefetched from memory
     * meanwhile, as the caller will read them then. NULL: none. */
    const char *prefetch;
    const char *cols; /* as prepare() left them; col_stride bytes apart */
    size_t col_stride;
    float *out;
    size_t out_stride;
    void *scratch; /* scratch_size() bytes on a cache line, this call's */
};

struct cpu_mul_mat {
    /* NULL: the type has no kernel of its own. */
    void (*multiply)(const struct cpu_product *p);
    /* A column of k floats in the form that multiply() reads, and the bytes
     * of that, a multiple of 64. NULL: columns are floats. */
    void (*prepare)(const float *x, void *column, int64_t k);
    size_t (*column_size)(int64_t k);
    /* For products with no more rows and columns than these; NULL: none. */
    size_t (*scratch_size)(int64_t k, int64_t n_rows, int64_t n_cols);
    /* Rows that are read at once in GEMV and small batches; 0: one after
     * the other. And where there is one, if that is another number. */
    int64_t rows_at_once, gemv_rows_at_once;
    /* The prefetch distance of those, at least, in bytes. 0: none of GEMV's
     * are, as multiply() does so, but while a thread waits. */
    size_t prefetch_distance;
    /* The most columns of a small batch, which are multiplied as fast as
     * weights come from memory; 0: one. */
    int64_t small_batch;
};

/* Rows of floats times a matrix of floats: c[i][j] = sum over k of
 * a[i][k] * b[k][j], in the order of k, from 0 or what c has. n is a multiple
 * of 16; strides count floats. */
struct cpu_panel {
    int64_t m, n, k;
    const float *a, *b;
    float *c;
    size_t a_stride, b_stride, c_stride;
    bool add; /* to what c has */
};

/* Rows of floats, and rows where they lie, of F32, F16, BF16, Q8_0, Q5_0
 * or Q4_0:
 * attention's queries in small batches, or their weights, and its keys or
 * values. */
struct cpu_small_batch {
    int64_t m, n; /* rows of a, of b */
    int64_t k;    /* values of a row of b */
    const float *a;
    const char *b;
    float *c;
    size_t a_stride, c_stride; /* floats */
    size_t b_stride;           /* bytes */
    /* Meanwhile rows from here on, as far apart as b's, are prefetched from
     * memory. NULL: none. */
    const char *prefetch;
};

/* A token's step of a recurrence, for rows of n floats of a state, where row i
 * belongs to x[i] and out[i]:
 *
 *     e = a . row                            without a: 0
 *     row = w row + x k + e b                without b: beta (x - e) k for the
 *     out = scale (r . row)                  last two
 *
 * element by element but for e and x. The new rows may lie where the old do. */
struct cpu_recurrence {
    int64_t n, n_rows;
    const float *from;
    float *to;
    const float *w, *k, *r; /* n each */
    const float *a, *b;     /* n each, or NULL */
    const float *x;         /* n_rows */
    float beta, scale;
    float *out; /* n_rows */
};

/* A token's step of a recurrence where a row belongs to k[i], and its elements
 * to v and out:
 *
 *     out = out + q[i] (row + u[i] k[i] v)    with u; w[i] row + k[i] v without
 *     row = w[i] row + k[i] v
 *
 * in the order of rows. */
struct cpu_outer_recurrence {
    int64_t n, n_rows;
    const float *from;
    float *to;
    const float *w, *k, *q; /* n_rows each */
    const float *u;         /* n_rows, or NULL */
    const float *v;         /* n */
    float *out;             /* n */
};

typedef void (*cpu_map_fn)(int64_t n, float *y, const float *x);
typedef void (*cpu_zip_fn)(int64_t n, float *y, const float *a, const float *b);

/* Rows of n floats; y may be x, a or b. */
struct cpu_kernels {
    const char *name, *description;
    struct cpu_mul_mat mul_mat[GGML_TYPE_COUNT];
    /* Weights of F16, rounded to BF16 as columns are: for GGML_PREC_BF16. */
    struct cpu_mul_mat mul_mat_rounded;
    ggml_to_float_t to_float[GGML_TYPE_COUNT];
    ggml_from_float_t from_float[GGML_TYPE_COUNT];

    cpu_zip_fn add, sub, mul, div;
    void (*scale)(int64_t n, float *y, const float *x, float s, float b);

    float (*sum)(int64_t n, const float *x);
    float (*sum_squares)(int64_t n, const float *x, float mean);
    /* The greatest that is no NaN; -infinity if there is none. */
    float (*max)(int64_t n, const float *x);
    /* y = exp(x - max); returns their sum. exp(-infinity) is 0. */
    float (*exp_sum)(int64_t n, float *y, const float *x, float max);

    cpu_map_fn exp, silu, gelu, gelu_erf, gelu_quick, sigmoid, tanh;
    /* silu(a) * b, gelu(a) * b, gelu_erf(a) * b */
    cpu_zip_fn swiglu, geglu, geglu_erf;
    /* ggml_swiglu_oai() */
    void (*swiglu_oai)(int64_t n, float *y, const float *a, const float *b,
                       float alpha, float limit);

    /* c[i] += sum over j < n of a[i][j] * b[j], in the order of j; a row of b
     * whose weight is 0 may hold anything. By type of b, others NULL. */
    void (*add_weighted_rows[GGML_TYPE_COUNT])(const struct cpu_small_batch *p);
    /* c[i][j] = sum over k of a[i][k] * b[j][k], to the byte as
     * multiply_lanes() has it. */
    void (*dot_rows[GGML_TYPE_COUNT])(const struct cpu_small_batch *p);
    void (*multiply_panel)(const struct cpu_panel *p);
    /* The product of multiply_panel(), but each element as
     * mul_mat[F32].multiply() has it for a row of a and a column of b, to the
     * byte; `add` is false, and rows of b from k on to the next multiple of 16
     * are zero, as are a's values. */
    void (*multiply_lanes)(const struct cpu_panel *p);
    /* y[i][r] = x[r][i]: n_rows, a multiple of 16, of n, a multiple of 4;
     * strides count floats. */
    void (*transpose)(int64_t n_rows, int64_t n, const float *x,
                      size_t x_stride, float *y, size_t y_stride);
    /* s += slope * m, m F16; what m hides by -infinity becomes that. */
    void (*mask_scores)(int64_t n, float *s, const uint16_t *m, float slope);
    /* The two halves of a rotation by angles: c and s hold n values. */
    void (*rotate)(int64_t n, float *y0, float *y1, const float *x0,
                   const float *x1, const float *c, const float *s);
    /* Pairs of neighbours, rotated: y = x * c + x' * s, x' each one's
     * neighbour; n values each, n even. */
    void (*rotate_pairs)(int64_t n, float *y, const float *x, const float *c,
                         const float *s);
    void (*recur)(const struct cpu_recurrence *p);
    void (*recur_outer)(const struct cpu_outer_recurrence *p);
};

/* The best table for this machine, or what GG_CPU_ISA asks for: "c" (or
 * "ref"); "avx2", "avxvnni", "avx512", "avx512vbmi", "avx512bf16", "amx";
 * "neon", "dotprod", "i8mm", "bf16"; in any case. What the machine lacks gets
 * the next lower one; other words are ignored: cpu/isa.h. Asked once. */
const struct cpu_kernels *
cpu_kernels(void);

/* Plain C in every slot. */
const struct cpu_kernels *
cpu_kernels_reference(void);

/* The table of a name, for tests: NULL if it is not built, or this machine
 * cannot run it. */
const struct cpu_kernels *
cpu_kernels_named(const char *name);

/* The name of the i-th of the sets that are built, from "c" on; NULL after
 * the last. */
const char *
cpu_kernels_name(int i);

/* L1 of 48 KB and more, in 12 ways: rows and columns of a tile stay there side
 * by side, and what is prefetched ahead does not drive out what is about to be
 * used. Set before any kernel can be had. */
extern bool cpu_large_l1;
/* Not that, but an L2 cache of a megabyte and more: it may have more lines
 * on their way to it than to the first, which memory takes longer to send. */
extern bool cpu_only_l2_large;
/* Sets both. */
void
cpu_find_cache_sizes(void);

/* How the tables are filled, each over the one before. */
void
cpu_fill_reference(struct cpu_kernels *k);
void
cpu_fill_avx2(struct cpu_kernels *k);
void
cpu_fill_avxvnni(struct cpu_kernels *k);
void
cpu_fill_avx512(struct cpu_kernels *k);
void
cpu_fill_avx512vbmi(struct cpu_kernels *k);
void
cpu_fill_avx512bf16(struct cpu_kernels *k);
void
cpu_fill_amx(struct cpu_kernels *k);
void
cpu_fill_neon(struct cpu_kernels *k);
void
cpu_fill_dotprod(struct cpu_kernels *k);
void
cpu_fill_i8mm(struct cpu_kernels *k);
void
cpu_fill_armbf16(struct cpu_kernels *k);

/* Whether this machine runs a set. AMX is asked of the system, for all threads
 * of the process. */
bool
cpu_runs_avx2(void);
bool
cpu_runs_avxvnni(void);
bool
cpu_runs_avx512(void);
bool
cpu_runs_avx512vbmi(void);
bool
cpu_runs_avx512bf16(void);
bool
cpu_runs_amx(void);
bool
cpu_runs_neon(void);
bool
cpu_runs_dotprod(void);
bool
cpu_runs_i8mm(void);
bool
cpu_runs_armbf16(void);

#endif
