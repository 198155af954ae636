/* kernel_products.h - check_kernels: products of weights of every type, against
 * plain C, and the operands of those that are timed
 *
 * Included after the random numbers. */
#ifndef KERNEL_PRODUCTS_H
#define KERNEL_PRODUCTS_H

struct operands {
    float *x, *out_a, *out_b;
    char *rows, *cols_a, *cols_b;
    struct cpu_product a, b;
    const struct cpu_mul_mat *ma, *mb;
    enum ggml_type type;
};

static char *
columns(const struct cpu_mul_mat *m, int64_t k, int64_t n, const float *x,
        size_t *stride)
{
    size_t row = (size_t)k * sizeof(float);
    char *cols;

    *stride = m->column_size ? m->column_size(k) : (row + 63) / 64 * 64;
    cols = room(*stride * (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        if (m->prepare)
            m->prepare(x + i * k, cols + (size_t)i * *stride, k);
        else
            memcpy(cols + (size_t)i * *stride, x + i * k, row);
    }
    return cols;
}

/* Columns in eight bits: every kernel makes the same bytes. */
static bool
check_column(const struct cpu_kernels *c, const struct cpu_kernels *k)
{
    const struct cpu_mul_mat *mc = &c->mul_mat[GGML_TYPE_Q4_0];
    const struct cpu_mul_mat *mk = &k->mul_mat[GGML_TYPE_Q4_0];
    bool good = true;

    for (int64_t n = 32; n <= 2400 && good; n += 32) {
        size_t size = mc->column_size(n);
        float *x = room((size_t)n * sizeof(*x));
        char *a = room(size), *b = room(size);

        for (int64_t i = 0; i < n; i++)
            x[i] = i / 32 % 5 == 1 ? 0
                                   : ldexpf((float)(i * 7919 % 2003) - 1001,
                                            (int)(i / 32 % 60) - 30);
        memset(a, 0, size);
        memset(b, 0, size);
        mc->prepare(x, a, n);
        mk->prepare(x, b, n);
        good = mk->column_size(n) == size && !memcmp(a, b, size);
        free(x);
        free(a);
        free(b);
    }
    return good;
}

/* Non-finite and tiny numbers give some bytes, and the negated sums of pairs
 * are those of these bytes. */
static bool
check_bad_column(const struct cpu_kernels *k)
{
    static const float bad[] = { INFINITY, -INFINITY, NAN, 1e-40f, -1e-44f };
    const struct cpu_mul_mat *m = &k->mul_mat[GGML_TYPE_Q4_0];
    const int64_t n = 32 * 37;
    float *x = room((size_t)n * sizeof(*x));
    char *column = room(m->column_size(n));
    const int16_t *pairs;
    bool good = true;

    for (int64_t i = 0; i < n; i++)
        x[i] = i / 32 % 6 == 5 || i % 3 ? bad[i / 32 % 6 % 5] : 1;
    m->prepare(x, column, n);
    pairs = cpu_column_neg_int16_pairs(column, n);
    for (int64_t i = 0; i < n / 8; i++) {
        const int8_t *q = (const int8_t *)column + i / 2 * 16 + i % 2 * 2;
        int sum = 0;

        for (int j = 0; j < 16; j += 4)
            sum += q[j] + q[j + 1];
        good = good && pairs[i] == -sum;
    }
    free(x);
    free(column);
    return good;
}

/* Any bytes, but for the F16s among the scales of the first blocks, which are
 * sound; now and then one is 0. */
static void
fill_blocks(enum ggml_type type, char *rows, size_t size, size_t sound)
{
    const struct quant_type *t = quant_type(type);

    for (size_t i = 0; i < size; i++)
        rows[i] = (char)(int8_t)(draw() * 128);
    for (size_t b = 0; b < sound; b += t->traits.type_size)
        for (int i = 0; i < t->n_scales; i++) {
            bool none = b / t->traits.type_size % 5 == (size_t)i;
            uint16_t d = ggml_fp32_to_fp16(none ? 0 : draw());

            memcpy(rows + b + t->scale_at[i], &d, sizeof(d));
        }
}

/* Weights: quantised, or any bytes as blocks; half of each where both can be
 * had soon. In the last row, scales are any bytes as well. */
static void
fill_rows(enum ggml_type type, const float *w, char *rows, int64_t n,
          int64_t n_rows)
{
    int64_t quantised = n_rows;
    size_t stride = ggml_row_size(type, n);

    if (ggml_blck_size(type) > 1) {
        fill_blocks(type, rows, stride * (size_t)n_rows,
                    stride * (size_t)(n_rows - 1));
        quantised = ggml_blck_size(type) == 32 ? n_rows / 2 : 0;
    }
    if (quantised)
        ggml_quantize_chunk(type, w, rows, 0, quantised, n, NULL);
}

/* Some kernels take activations as BF16: these are. */
static void
round_to_bf16(const struct cpu_kernels *c, float *x, int64_t n)
{
    uint16_t *halves = room((size_t)n * sizeof(*halves));

    c->from_float[GGML_TYPE_BF16](x, halves, n);
    c->to_float[GGML_TYPE_BF16](halves, x, n);
    mem_free(halves);
}

static void
make_operands(struct operands *o, const struct cpu_kernels *c,
              const struct cpu_kernels *k, enum ggml_type type, int64_t n,
              int64_t n_rows, int64_t n_cols)
{
    float *w = room((size_t)(n * n_rows) * sizeof(float));
    size_t stride = ggml_row_size(type, n);

    o->type = type;
    o->ma = &c->mul_mat[type];
    o->mb = &k->mul_mat[type];
    o->x = room((size_t)(n * n_cols) * sizeof(float));
    o->out_a = room((size_t)(n_rows * n_cols) * sizeof(float));
    o->out_b = room((size_t)(n_rows * n_cols) * sizeof(float));
    o->rows = room(stride * (size_t)n_rows);
    fill(w, n * n_rows, 1);
    fill(o->x, n * n_cols, 2);
    if (type == GGML_TYPE_BF16)
        round_to_bf16(c, o->x, n * n_cols);
    fill_rows(type, w, o->rows, n, n_rows);
    o->a = (struct cpu_product){ .k = n,
                                 .n_rows = n_rows,
                                 .n_cols = n_cols,
                                 .rows = o->rows,
                                 .row_stride = stride,
                                 .out_stride = (size_t)n_rows };
    o->b = o->a;
    o->cols_a = columns(o->ma, n, n_cols, o->x, &o->a.col_stride);
    o->cols_b = columns(o->mb, n, n_cols, o->x, &o->b.col_stride);
    o->a.cols = o->cols_a;
    o->b.cols = o->cols_b;
    o->a.out = o->out_a;
    o->b.out = o->out_b;
    if (o->mb->scratch_size)
        o->b.scratch = room(o->mb->scratch_size(n, n_rows, n_cols));
    mem_free(w);
}

static void
free_operands(struct operands *o)
{
    mem_free(o->x);
    mem_free(o->out_a);
    mem_free(o->out_b);
    mem_free(o->rows);
    mem_free(o->cols_a);
    mem_free(o->cols_b);
    mem_free(o->b.scratch);
}

/* Multiplies; true if both find the same n elements. */
static bool
same_product(struct operands *o, int64_t n)
{
    bool good = true;

    o->ma->multiply(&o->a);
    o->mb->multiply(&o->b);
    for (int64_t i = 0; i < n && good; i++)
        good = o->out_a[i] == o->out_b[i] ||
               (isnan(o->out_a[i]) && isnan(o->out_b[i]));
    return good;
}

static bool
check_product(const struct cpu_kernels *c, const struct cpu_kernels *k,
              enum ggml_type type, int64_t n, int64_t n_rows, int64_t n_cols)
{
    bool exact = ggml_is_quantized(type), good;
    struct operands o = { 0 };

    make_operands(&o, c, k, type, n, n_rows, n_cols);
    good = same_product(&o, n_rows * n_cols) || !exact;
    for (int64_t i = 0; i < n_rows * n_cols && good && !exact; i++)
        good = near(o.out_a[i], o.out_b[i], 16, sqrtf((float)n));
    if (exact)
        good =
            good && memcmp(o.cols_a, o.cols_b, (size_t)(n + n / 32 * 20)) == 0;
    if (!good)
        printf("# %s: k %d, %d x %d\n", ggml_type_name(type), (int)n,
               (int)n_rows, (int)n_cols);
    free_operands(&o);
    return good;
}

/* One column of some types meets other rows at a time where the first cache is
 * large: here, and there, the same numbers. */
static bool
check_either(const struct cpu_kernels *c, const struct cpu_kernels *k,
             enum ggml_type type, int64_t n, int64_t n_rows, int64_t n_cols)
{
    bool here = cpu_large_l1, good;
    uint64_t before = state;

    good = check_product(c, k, type, n, n_rows, n_cols);
    if (good && n_cols == 1) {
        cpu_large_l1 = !here;
        state = before;
        good = check_product(c, k, type, n, n_rows, n_cols);
        cpu_large_l1 = here;
    }
    return good;
}

/* All shapes of tiles; each of the two greatest lengths has half of them. What
 * a set takes from plain C is not compared with itself. */
static bool
check_products(const struct cpu_kernels *c, const struct cpu_kernels *k,
               enum ggml_type type)
{
    static const int64_t lengths[] = { 1,  3,  8,   15,  16, 17,
                                       40, 96, 130, 512, 768 };
    static const int64_t rows[] = { 1, 3, 4, 5, 8, 15, 16, 17, 33, 53 };
    static const int64_t cols[] = { 1, 2, 3,  4,  5,  6,  7,
                                    8, 9, 13, 16, 23, 29, 38 };
    int64_t last = 0;
    bool good = true;

    if (k->mul_mat[type].multiply == c->mul_mat[type].multiply)
        return true;

    for (int i = 0; i < 11 && good; i++) {
        int64_t n = whole_blocks(type, lengths[i]);

        for (int r = 0; r < 10 && good && n > last; r++)
            for (int j = 0; j < 14 && good; j++)
                if (i < 9 || (r + j + i) % 2)
                    good = check_either(c, k, type, n, rows[r], cols[j]);
        last = n;
    }
    return good;
}

/* An element is the same alone as in any tile, with gaps between the rows or
 * without, and wherever they lie, `at` bytes after a multiple of 64; `o` has
 * rows without gaps. */
static bool
check_each_element(const struct operands *o, size_t gap, size_t at)
{
    struct cpu_product p = o->b, one;
    char *rows = room(at + (p.row_stride + gap) * (size_t)p.n_rows);
    bool good = true;
    float v;

    for (int64_t r = 0; r < p.n_rows; r++)
        memcpy(rows + at + (p.row_stride + gap) * (size_t)r,
               p.rows + p.row_stride * (size_t)r, p.row_stride);
    p.rows = rows + at;
    p.row_stride += gap;
    o->mb->multiply(&p);
    for (int64_t i = 0; i < p.n_rows * p.n_cols && good; i++) {
        one = o->b;
        one.rows += one.row_stride * (size_t)(i % p.n_rows);
        one.cols += one.col_stride * (size_t)(i / p.n_rows);
        one.n_rows = one.n_cols = 1;
        one.out = &v;
        o->mb->multiply(&one);
        good = memcmp(&v, &p.out[i], sizeof(v)) == 0 ||
               (isnan(v) && isnan(p.out[i]));
    }
    mem_free(rows);
    return good;
}

static bool
check_alone(const struct cpu_kernels *c, const struct cpu_kernels *k,
            enum ggml_type type)
{
    static const int64_t lengths[] = { 3, 16, 40, 80, 128 };
    int64_t last = 0;
    bool good = true, here = cpu_only_l2_large;

    for (int i = 0; i < 5; i++) {
        int64_t length = whole_blocks(type, lengths[i]);

        for (int64_t r = 1; r <= 53 && length > last; r += 1 + r / 12)
            for (int64_t n = 1; n <= 8 && good; n++) {
                struct operands o = { 0 };

                cpu_only_l2_large = r % 2;
                make_operands(&o, c, k, type, length, r, n);
                good = check_each_element(&o, 0, 0) &&
                       check_each_element(&o, 96, 0);
                free_operands(&o);
            }
        last = length;
    }
    cpu_only_l2_large = here;
    return good;
}

/* Enough columns, rows and values that they come in blocks, of the first cache
 * or of the second; or the only column in strips. */
static bool
check_alone_of_many(const struct cpu_kernels *c, const struct cpu_kernels *k,
                    enum ggml_type type)
{
    static const int64_t shapes[][3] = {
        { 3, 150, 24 },   { 40, 21, 29 }, { 520, 9, 31 },  { 2200, 53, 13 },
        { 9001, 19, 25 }, { 2048, 7, 1 }, { 2049, 13, 1 }, { 9001, 18, 1 },
    };
    bool good = true, here = cpu_large_l1;

    for (int i = 0; i < 16 && good; i++) {
        const int64_t *shape = shapes[i / 2];
        struct operands o = { 0 };

        cpu_large_l1 = i % 2;
        make_operands(&o, c, k, type, shape[0], shape[1], shape[2]);
        good = check_each_element(&o, 0, 0) && check_each_element(&o, 0, 32);
        free_operands(&o);
    }
    cpu_large_l1 = here;
    return good;
}

/* Where the codes of a block are, without its scales. */
struct codes {
    enum ggml_type type;
    size_t at, size;
};

/* Bytes that make codes the least and the largest there are: a row of each, and
 * one of all of them. What kernels add up in 16 bits just fits. */
static void
fill_extremes(struct operands *o, struct codes codes, int64_t n, int64_t n_rows)
{
    static const unsigned char bytes[] = { 0, 0xff, 0x77, 0x80, 0x7f, 0x81 };
    const size_t each = sizeof(bytes);
    size_t size = ggml_type_size(codes.type), blocks;

    blocks = ggml_row_size(codes.type, n) / size;
    for (size_t i = 0; i < (size_t)n_rows * blocks; i++) {
        char *q = o->rows + i * size + codes.at;
        size_t kind = i / blocks % (each + 1);

        for (size_t j = 0; j < codes.size; j++)
            q[j] = (char)
                bytes[kind < each ? kind
                                  : (size_t)((draw() + 1) / 2 * each) % each];
    }
}

static bool
check_extremes_of(const struct cpu_kernels *c, const struct cpu_kernels *k,
                  struct codes codes)
{
    const int64_t n = 512, n_rows = 33;
    bool good = true, here = cpu_large_l1;
    uint64_t before = state;

    for (int64_t turn = 0; turn <= 9 && good; turn++) {
        int64_t n_cols = turn ? turn : 1;
        struct operands o = { 0 };

        cpu_large_l1 = here != (turn == 0);
        if (turn == 1)
            state = before;

        make_operands(&o, c, k, codes.type, n, n_rows, n_cols);
        fill_extremes(&o, codes, n, n_rows);
        for (int64_t j = 0; j < n_cols; j++) {
            float *x = o.x + j * n;

            for (int64_t i = 0; i < n; i++)
                x[i] = j % 3 ? copysignf(1, j % 3 == 1 ? -1 : draw()) : 1;
            o.ma->prepare(x, o.cols_a + (size_t)j * o.a.col_stride, n);
            o.mb->prepare(x, o.cols_b + (size_t)j * o.b.col_stride, n);
        }
        good = same_product(&o, n_rows * n_cols);
        free_operands(&o);
    }
    cpu_large_l1 = here;
    return good;
}

static bool
check_extremes(const struct cpu_kernels *c, const struct cpu_kernels *k)
{
#define CODES(TYPE, type, first, n)                                            \
    {                                                                          \
        GGML_TYPE_##TYPE, offsetof(struct block_##type, first), n              \
    }
    static const struct codes all[] = {
        CODES(Q8_0, q8_0, qs, 32),     CODES(Q4_0, q4_0, qs, 16),
        CODES(Q4_1, q4_1, qs, 16),     CODES(Q5_0, q5_0, qh, 20),
        CODES(Q5_1, q5_1, qh, 20),     CODES(Q2_K, q2_k, qs, 64),
        CODES(Q3_K, q3_k, qh, 96),     CODES(Q4_K, q4_k, qs, 128),
        CODES(Q5_K, q5_k, qh, 160),    CODES(Q6_K, q6_k, ql, 192),
        CODES(IQ4_NL, iq4_nl, qs, 16), CODES(IQ4_XS, iq4_xs, qs, 128),
        CODES(MXFP4, mxfp4, qs, 16),   CODES(NVFP4, nvfp4, qs, 32),
    };
#undef CODES
    bool good = true;

    for (size_t i = 0; i < sizeof(all) / sizeof(*all) && good; i++)
        good = check_extremes_of(c, k, all[i]);
    return good;
}

/* Weights of F16 that are rounded: the bytes of a product with weights that
 * were stored as BF16. */
static bool
check_rounded_product(const struct cpu_kernels *c, const struct cpu_kernels *k,
                      int64_t n, int64_t n_rows, int64_t n_cols)
{
    struct operands o = { 0 };
    char *halves = room((size_t)(n * n_rows) * 2);
    float *w = room((size_t)(n * n_rows) * sizeof(*w));
    struct cpu_product p;
    bool good;

    make_operands(&o, c, k, GGML_TYPE_BF16, n, n_rows, n_cols);
    fill(w, n * n_rows, 1);
    c->from_float[GGML_TYPE_F16](w, halves, n * n_rows);
    c->to_float[GGML_TYPE_F16](halves, w, n * n_rows);
    c->from_float[GGML_TYPE_BF16](w, o.rows, n * n_rows);
    o.mb->multiply(&o.b);
    p = o.b;
    p.rows = halves;
    p.out = o.out_a;
    p.scratch = room(k->mul_mat_rounded.scratch_size(n, n_rows, n_cols));
    k->mul_mat_rounded.multiply(&p);
    good = memcmp(o.out_a, o.out_b,
                  (size_t)(n_rows * n_cols) * sizeof(*o.out_a)) == 0;
    if (!good)
        printf("# rounded: k %d, %d x %d\n", (int)n, (int)n_rows, (int)n_cols);
    mem_free(p.scratch);
    mem_free(w);
    mem_free(halves);
    free_operands(&o);
    return good;
}

static bool
check_rounded(const struct cpu_kernels *c, const struct cpu_kernels *k)
{
    static const int64_t lengths[] = { 1, 15, 16, 17, 31, 32, 33, 130, 768 };
    static const int64_t rows[] = { 1, 3, 4, 9, 48, 53 };
    static const int64_t cols[] = { 1, 2, 5, 6, 7, 12, 29 };
    bool good = true;

    for (int i = 0; i < 9; i++)
        for (int r = 0; r < 6; r++)
            for (int j = 0; j < 7 && good; j++)
                good =
                    check_rounded_product(c, k, lengths[i], rows[r], cols[j]);
    return good && check_rounded_product(c, k, 9001, 21, 13);
}

#endif
