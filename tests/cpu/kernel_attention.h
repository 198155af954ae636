/* kernel_attention.h - check_kernels: attention's products against plain C
 *
 * Included after the random numbers. */
#ifndef KERNEL_ATTENTION_H
#define KERNEL_ATTENTION_H

/* Values of rows that have no weight may be anything; nothing is written
 * outside the sums. */
static bool
check_add_weighted_rows(const struct cpu_kernels *c,
                        const struct cpu_kernels *k, enum ggml_type type)
{
    enum {
        ROWS = 37,
        MOST = 9
    };
    float *a = room(MOST * ROWS * sizeof(float));
    bool good = true;

    for (int s = 0; s < N_SIZES * MOST && good; s++) {
        int64_t n = whole_blocks(type, sizes[s / MOST]), m = s % MOST + 1;
        size_t stride = ggml_row_size(type, n), all = (size_t)((n + 1) * m);
        float *v = room((size_t)(n * ROWS) * sizeof(float));
        float *out[2] = { room(all * 4), room(all * 4) };
        char *rows = room(stride * ROWS);
        struct cpu_small_batch p = { .m = m,
                                     .n = ROWS,
                                     .k = n,
                                     .a = a,
                                     .b = rows,
                                     .c = out[0],
                                     .a_stride = ROWS,
                                     .c_stride = (size_t)n + 1,
                                     .b_stride = stride,
                                     .prefetch = s % 3 ? rows : NULL };

        fill(v, n * ROWS, 1);
        fill(a, MOST * ROWS, 1);
        fill(out[0], (int64_t)all, 1);
        for (int64_t i = 0; i < m && s % 2; i++) {
            a[i * ROWS + 5] = 0;
            a[i * ROWS + 5 + i] = 0;
        }
        memcpy(out[1], out[0], all * 4);
        ggml_quantize_chunk(type, v, rows, 0, ROWS, n, NULL);
        if (s % 2)
            memset(rows + 5 * stride, 0xff, stride); /* not a number */
        c->add_weighted_rows[type](&p);
        p.c = out[1];
        k->add_weighted_rows[type](&p);
        for (size_t i = 0; i < all && good; i++)
            good = (int64_t)i % (n + 1) < n ? near(out[0][i], out[1][i], 16, 4)
                                            : out[0][i] == out[1][i];
        mem_free(v);
        mem_free(out[0]);
        mem_free(out[1]);
        mem_free(rows);
    }
    mem_free(a);
    return good;
}

/* c = a b, or added to what is there; beyond n nothing is touched. */
static bool
check_panel(const struct cpu_kernels *c, const struct cpu_kernels *k)
{
    static const int64_t depths[] = { 1, 2, 7, 64, 130 };
    float *a = room(20 * 130 * sizeof(float)), *b = room(130 * 101 * 4);
    float *out[2] = { room(20 * 99 * 4), room(20 * 99 * 4) };
    bool good = true;

    fill(a, 20 * 130, 1);
    fill(b, 130 * 101, 1);
    for (int64_t m = 1; m <= 20; m++)
        for (int64_t n = 16; n <= 96; n += 16)
            for (int d = 0; d < 5 && good; d++) {
                struct cpu_panel p = { m, n,   depths[d], a,  b,
                                       0, 130, 101,       99, d % 2 };

                fill(out[0], 20 * 99, 1);
                memcpy(out[1], out[0], 20 * 99 * 4);
                p.c = out[0];
                c->multiply_panel(&p);
                p.c = out[1];
                k->multiply_panel(&p);
                for (int64_t i = 0; i < 20 * 99 && good; i++)
                    good = i / 99 < m && i % 99 < n
                               ? near(out[0][i], out[1][i], 16, 12)
                               : out[0][i] == out[1][i];
            }
    mem_free(a);
    mem_free(b);
    mem_free(out[0]);
    mem_free(out[1]);
    return good;
}

/* multiply_lanes() and dot_rows() have the bytes of a product of rows, and
 * write nothing else. */
static bool
check_dot_rows(const struct cpu_kernels *k, enum ggml_type type)
{
    static const int64_t depths[] = { 1, 16, 40, 64, 80, 128 };
    float *a = room(20 * 128 * 4), *b = room(128 * 64 * 4);
    float *bt = room(64 * 128 * 4), *rows = room(64 * 128 * 4);
    float *out[3] = { room(20 * 64 * 4), room(20 * 64 * 4), room(20 * 64 * 4) };
    bool good = true;

    for (int d = 0; d < 6; d++)
        for (int64_t m = 1; m <= 20; m++) {
            int64_t n = (m % 4 + 1) * 16, depth = whole_blocks(type, depths[d]);
            struct cpu_panel p = { .m = m,
                                   .n = n,
                                   .k = depth,
                                   .a = a,
                                   .b = b,
                                   .c = out[0],
                                   .a_stride = 128,
                                   .b_stride = 64,
                                   .c_stride = 64 };
            struct cpu_product q = { .k = depth,
                                     .n_rows = n,
                                     .n_cols = m,
                                     .rows = (const char *)bt,
                                     .row_stride = 512,
                                     .cols = (const char *)a,
                                     .col_stride = 512,
                                     .out = out[1],
                                     .out_stride = 64 };
            struct cpu_small_batch few = { .m = m,
                                           .n = n - m % 3,
                                           .k = depth,
                                           .a = a,
                                           .b = (const char *)rows,
                                           .prefetch = d % 2
                                                           ? (const char *)rows
                                                           : NULL,
                                           .c = out[2],
                                           .a_stride = 128,
                                           .b_stride = ggml_row_size(type, 128),
                                           .c_stride = 64 };

            memset(a, 0, 20 * 128 * 4);
            for (int64_t i = 0; i < 128 * 64; i++)
                bt[i] = i % 128 < depth ? draw() : 0;
            for (int64_t i = 0; i < m; i++)
                fill(a + i * 128, depth, 1);
            ggml_quantize_chunk(type, bt, rows, 0, 64, 128, NULL);
            k->to_float[type](rows, bt, 64 * 128);
            for (int64_t i = 0; i < 128 * 64; i++)
                b[i] = bt[i % 64 * 128 + i / 64];
            for (int i = 0; i < 20 * 64; i++)
                out[2][i] = 5;
            k->multiply_lanes(&p);
            k->mul_mat[GGML_TYPE_F32].multiply(&q);
            k->dot_rows[type](&few);
            for (int64_t i = 0; i < 20 * 64 && good; i++)
                good = i / 64 < m && i % 64 < few.n ? out[2][i] == out[1][i]
                                                    : out[2][i] == 5;
            for (int64_t i = 0; i < m && good; i++)
                good = memcmp(out[0] + i * 64, out[1] + i * 64,
                              (size_t)n * 4) == 0;
        }
    mem_free(a);
    mem_free(b);
    mem_free(bt);
    mem_free(rows);
    for (int i = 0; i < 3; i++)
        mem_free(out[i]);
    return good;
}

static bool
check_transpose(const struct cpu_kernels *k)
{
    float *x = room(64 * 45 * 4), *y = room(44 * 70 * 4);
    bool good = true;

    fill(x, 64 * 45, 1);
    for (int64_t rows = 16; rows <= 64; rows += 16)
        for (int64_t n = 4; n <= 44; n += 4) {
            for (int i = 0; i < 44 * 70; i++)
                y[i] = 5;
            k->transpose(rows, n, x, 45, y, 70);
            for (int64_t i = 0; i < 44; i++)
                for (int64_t r = 0; r < 70; r++)
                    good = good && y[i * 70 + r] ==
                                       (i < n && r < rows ? x[r * 45 + i] : 5);
        }
    mem_free(x);
    mem_free(y);
    return good;
}

static bool
check_mask(const struct cpu_kernels *c, const struct cpu_kernels *k)
{
    static uint16_t m[LONGEST];
    bool good = true;

    for (int s = 0; s < N_SIZES && good; s++) {
        fill(ya, sizes[s], 3);
        for (int64_t i = 0; i < sizes[s]; i++)
            m[i] = i % 3 ? ggml_fp32_to_fp16(draw()) : 0xfc00;
        if (sizes[s] > 6)
            ya[6] = NAN; /* hidden */
        memcpy(yb, ya, (size_t)sizes[s] * sizeof(*ya));
        yb[sizes[s]] = 12345;
        c->mask_scores(sizes[s], ya, m, 0.5f);
        k->mask_scores(sizes[s], yb, m, 0.5f);
        good = same_row(sizes[s], 2, 1e-6f);
    }
    return good;
}

#endif
