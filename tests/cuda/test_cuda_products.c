/* test_cuda_products.c - CUDA's kernels of matrix products and dequantisation,
 * of every type, by emulation or a device: see cuda/kernel_test.h */
#include <string.h>

#include "cuda/formats_list.h"
#include "cuda/kernel_test.h"
#include "cuda/launch_config.h"

struct type {
    const char *name;
    enum ggml_type type;
};
#define LINE(name, type) { #name, type },
static const struct type formats[] = { CUDA_FORMATS(LINE) };
#undef LINE
#define N_FORMATS ((int)(sizeof(formats) / sizeof(*formats)))
static const struct type floats[] = { { "f32", GGML_TYPE_F32 },
                                      { "f16", GGML_TYPE_F16 },
                                      { "bf16", GGML_TYPE_BF16 } };

/* Sums are taken in another order; products are the same. */
#define EXACT 1e-11

static void
multiply(const struct type *t, int k, int rows, int columns, int matrices,
         double bound)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *w = kt_tensor(ctx, t->type, k, rows, matrices, 1);
    struct ggml_tensor *x =
        kt_tensor(ctx, GGML_TYPE_F32, k, columns, 2 * matrices, 1);

    kt_check(ctx, ggml_mul_mat(ctx, w, x), bound, "%s %d x %d, %d columns",
             t->name, k, rows, columns);
    kt_end(ctx);
}

static void
multiply_by_id(const struct type *t, int k, int used, int own, int tokens)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *w = kt_tensor(ctx, t->type, k, 9, 5, 1);
    struct ggml_tensor *x = kt_tensor(ctx, GGML_TYPE_F32, k, own, tokens, 1);
    struct ggml_tensor *ids =
        kt_numbers(ctx, GGML_TYPE_I32, 5, used, tokens, 1);

    kt_check(ctx, ggml_mul_mat_id(ctx, w, x, ids), EXACT,
             "%s by number, %d of a token, %d tokens", t->name, used, tokens);
    kt_end(ctx);
}

static void
look_up(const struct type *t, int k)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *w = kt_tensor(ctx, t->type, k, 7, 2, 1);
    struct ggml_tensor *ids = kt_numbers(ctx, GGML_TYPE_I32, 7, 5, 2, 1);

    kt_check(ctx, ggml_get_rows(ctx, w, ids), 0, "rows of %s", t->name);
    kt_end(ctx);
}

static void
convert(const struct type *t, enum ggml_type to, int k)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *x = kt_tensor(ctx, t->type, k, 3, 2, 1);

    kt_check(ctx, ggml_cast(ctx, x, to), 0, "%s to %s", t->name,
             ggml_type_name(to));
    kt_end(ctx);
}

static void
test_format(const struct type *t)
{
    int n = (int)ggml_blck_size(t->type);

    multiply(t, 256 > n ? 256 : n, 5, 1, 1, EXACT);
    multiply(t, 5 * n, 3, 3, 2, EXACT);
    multiply(t, 3 * 1024 + n, 17, 1, 1, EXACT);
    multiply(t, 2 * n, 6, 8, 1, EXACT);
    multiply(t, 2 * n, 5, 11, 2, EXACT);
    multiply(t, 1024 + n, 37, 32, 1, EXACT);
    multiply(t, 2 * n, 19, 47, 1, EXACT);
    multiply(t, 256, 67, 65, 2,
             3e-4); /* dequantised to BF16; reference: int8 */
    multiply_by_id(t, 2 * n, 3, 1, 2);
    multiply_by_id(t, 2 * n, 3, 3, 11);
    look_up(t, 3 * n);
    convert(t, GGML_TYPE_F32, 5 * n);
    convert(t, GGML_TYPE_F16, 2 * n);
    convert(t, GGML_TYPE_BF16, 2 * n);
}

static void
test_floats(const struct type *t)
{
    multiply(t, 64, 5, 1, 1, EXACT);
    multiply(t, 1064, 9, 1, 1, EXACT);
    multiply(t, 1064, 3, 5, 2, EXACT);
    multiply(t, 45, 6, 1, 1, EXACT);
    multiply(t, 45, 6, 8, 1, EXACT);
    multiply(t, 96, 70, 12, 2, 1e-4); /* BF16 columns */
    multiply_by_id(t, 64, 4, 1, 1);
    multiply_by_id(t, 40, 2, 2, 12);
    look_up(t, 33);
}

/* Enough rows that a block of many columns has 32. */
static void
test_rows(const struct type *t, int columns)
{
    multiply(t, 256, 203, columns, 1, EXACT);
    multiply(t, 1280, 299, columns, 1, EXACT);
    if (kt_large_device())
        multiply(t, 256, 9001, columns, 1, EXACT);
}

/* Many columns where blocks have less shared memory than tiles may want. */
static void
test_little_memory(void)
{
    kt_shared(99 << 10);
    multiply(&formats[4], 512, 37, 20, 1, EXACT);
    multiply(&formats[9], 512, 37, 20, 1, EXACT);
    multiply(&formats[9], 256, 203, 40, 1, EXACT);
    kt_shared(227 << 10);
}

static void
test_strides(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *k = kt_tensor(ctx, GGML_TYPE_F16, 32, 4, 21, 1);
    struct ggml_tensor *q = kt_tensor(ctx, GGML_TYPE_F32, 32, 8, 6, 1);
    struct ggml_tensor *tq = kt_tensor(ctx, GGML_TYPE_F32, 6, 32, 4, 1);
    struct ggml_tensor *kp = ggml_permute(ctx, k, 0, 2, 1, 3);

    kt_check(ctx, ggml_mul_mat(ctx, kp, ggml_permute(ctx, q, 0, 2, 1, 3)),
             EXACT, "permuted keys and queries, heads in groups");
    kt_check(ctx, ggml_mul_mat(ctx, kp, ggml_transpose(ctx, tq)), EXACT,
             "columns that are not contiguous");
    kt_end(ctx);
}

/* A column by itself gives the bytes that it gives among others. */
static void
test_alone(const struct type *t)
{
    struct ggml_context *ctx = kt_begin();
    int k = 1024 + (int)ggml_blck_size(t->type);
    struct ggml_tensor *w = kt_tensor(ctx, t->type, k, 19, 1, 1);
    struct ggml_tensor *x = kt_tensor(ctx, GGML_TYPE_F32, k, 6, 1, 1);
    struct ggml_tensor *all = ggml_mul_mat(ctx, w, x);
    bool same = true;
    char text[100];

    kt_check(ctx, all, EXACT, "%s, six columns", t->name);
    for (int i = 0; i < 6; i++) {
        struct ggml_tensor *one = ggml_mul_mat(
            ctx, w, ggml_view_2d(ctx, x, k, 1, x->nb[1], (size_t)i * x->nb[1]));

        kt_check(ctx, one, EXACT, "%s, column %d", t->name, i);
        same = same &&
               memcmp(one->data, (char *)all->data + i * 19 * 4, 19 * 4) == 0;
    }
    snprintf(text, sizeof(text), "%s: a column alone gives the same bytes",
             t->name);
    kt_ok(same, text);
    kt_end(ctx);
}

static void
test_shapes(void)
{
    kt_ok(cuda_small_batch_columns(true) == 64 &&
              cuda_small_batch_columns(false) == 8,
          "which products cuBLAS computes");
    kt_ok(cuda_blocks(0) == 1 && cuda_blocks(7) == 7 &&
              cuda_blocks((int64_t)1 << 40) == CUDA_MAX_BLOCKS,
          "grids stay below their limits");
    kt_ok(cuda_ceil_div(0, 5) == 0 && cuda_ceil_div(11, 5) == 3 &&
              cuda_ceil_div(((int64_t)1 << 40) + 1, 2) ==
                  ((int64_t)1 << 39) + 1,
          "rounded division, beyond 32 bits too");
    kt_ok(cuda_norm_threads(1) == 32 && cuda_norm_threads(96) == 64 &&
              cuda_norm_threads(2046) == 1024 &&
              cuda_norm_threads(9000) == 1024,
          "two values of a row for each thread of a norm");
    kt_ok(cuda_rope_splits(1, 48, 8, 132) == 6 &&
              cuda_rope_splits(2048, 48, 8, 132) == 1,
          "heads of many tokens share their angles");
    kt_ok(cuda_dequantized_rows(4096, 128256, 128 << 20) == 8192 &&
              cuda_dequantized_rows((int64_t)1 << 31, 1000, 128 << 20) == 64 &&
              cuda_dequantized_rows(64, 10, 128 << 20) == 10,
          "rows that are dequantised together");
    kt_ok(cuda_max_expert_tiles(100, 3, 8) == 15 &&
              cuda_max_expert_tiles(2, 60, 8) == 2,
          "tiles that hold all pairs, whatever their experts");
}

int
main(void)
{
    kt_start();
    for (int i = 0; i < N_FORMATS; i++)
        test_format(&formats[i]);
    for (int i = 0; i < 3; i++)
        test_floats(&floats[i]);
    test_alone(&formats[4]);
    test_alone(&formats[7]);
    test_alone(&floats[2]);
    test_rows(&formats[4], 1);
    test_rows(&formats[7], 1);
    test_rows(&floats[2], 1);
    test_rows(&formats[4], 20);
    test_rows(&formats[9], 9);
    test_little_memory();
    test_strides();
    test_shapes();
    return kt_done();
}
