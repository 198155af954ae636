/* mul_mat.cu - MUL_MAT, MUL_MAT_ID: the choice of GEMV or GEMM kernel
 *
 * Small batches: the GEMV and small-batch GEMM kernels, which read the weights
 * once, or once for some columns. Larger ones: cuBLAS, on weights that are
 * dequantised some rows at a time. */
#include "cuda/formats_list.h"
#include "cuda/fused_ops.h"
#include "cuda/dequantize.h"
#include "cuda/gemv.h"
#include "cuda/quantize.h"

static bool
is_weight(const struct ggml_tensor *w)
{
    return cuda_is_float_type(w->type)
               ? w->nb[0] == ggml_type_size(w->type)
               : cuda_is_format(w->type) && w->nb[0] == ggml_type_size(w->type);
}

static bool
is_block(const struct ggml_tensor *w)
{
    return cuda_is_format(w->type);
}

/* A contiguous tensor of x's shape. */
static struct view
contiguous_like(const struct ggml_tensor *x, void *data, enum ggml_type type)
{
    struct view v = {};
    int64_t size = (int64_t)ggml_type_size(type);

    v.data = (char *)data;
    v.type = type;
    for (int i = 0; i < 4; i++) {
        v.ne[i] = x->ne[i];
        v.nb[i] = size;
        size *= x->ne[i];
    }
    return v;
}

/* All rows of x as contiguous floats of a type: in place, or converted. */
static bool
convert_columns(struct cuda_ctx *c, const struct ggml_tensor *x,
                enum ggml_type type, struct view *out)
{
    struct view from = cuda_view_of(x);
    bool made;
    void *data;

    if (x->type == type && ggml_is_contiguous(x)) {
        *out = from;
        return true;
    }
    data = cuda_cached_activations(
        c, x, type, (size_t)ggml_nelements(x) * ggml_type_size(type), &made);
    if (!data)
        return false;
    *out = contiguous_like(x, data, type);
    if (!made)
        cuda_dequantize_rows(c, out, &from, NULL);
    return true;
}

/* Sets the columns of a product, quantised where the weights are; false: there
 * was no memory. */
static bool
set_columns(struct cuda_ctx *c, const struct ggml_tensor *w,
            const struct ggml_tensor *x, struct gemv *p)
{
    struct view v = cuda_view_of(x);

    if (is_block(w)) {
        int64_t size = cuda_q8_column_size(x->ne[0]);
        bool made;
        char *columns = (char *)cuda_cached_activations(
            c, x, GGML_TYPE_Q8_1, (size_t)(size * ggml_nrows(x)), &made);

        if (!columns)
            return false;
        if (!made)
            cuda_quantize_columns(c, &v, columns);
        p->columns = columns;
        p->column_stride = size;
        return true;
    }
    if (!convert_columns(c, x, GGML_TYPE_F32, &v))
        return false;
    p->columns = v.data;
    p->column_stride = v.nb[1];
    return true;
}

/* The type in which cuBLAS computes: F16 needs TF32, as BF16 has too few bits,
 * and activations may exceed the range of F16. */
static enum ggml_type
gemm_type(enum ggml_type type)
{
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 ? GGML_TYPE_F32
                                                          : GGML_TYPE_BF16;
}

static bool
is_small_batch(const struct ggml_tensor *dst)
{
    return dst->src[1]->ne[1] <=
           cuda_small_batch_columns(cuda_is_format(dst->src[0]->type));
}

/* Whether the columns of a product are the values of x, in this order. */
static bool
is_columns_of(const struct ggml_tensor *dst, const struct ggml_tensor *x)
{
    const struct ggml_tensor *y = dst->src[1];

    return y->data == x->data && x->type == GGML_TYPE_F32 &&
           y->type == GGML_TYPE_F32 && ggml_nelements(x) == ggml_nelements(y) &&
           ggml_is_contiguous(x) && ggml_is_contiguous(y);
}

struct cuda_fused_output
cuda_plan_fused_output(struct cuda_ctx *c, const struct ggml_tensor *x,
                       const struct ggml_tensor *next, bool bytes)
{
    struct cuda_fused_output a = {};
    int64_t size;

    if (!next || next->op != GGML_OP_MUL_MAT || ggml_is_empty(next) ||
        x->ne[0] % LANES != 0 || !cuda_supports_mul_mat(next) ||
        !is_columns_of(next, x))
        return a;
    a.k = next->src[1]->ne[0];
    if (is_small_batch(next)) {
        if (!bytes || !is_block(next->src[0]))
            return a;
        a.type = GGML_TYPE_Q8_1;
        a.stride = cuda_q8_column_size(a.k);
    } else {
        a.type = gemm_type(next->src[0]->type);
        if (a.type != GGML_TYPE_BF16)
            return a;
        a.stride = a.k * 2;
    }
    size = a.stride * ggml_nrows(next->src[1]);
    a.data = cuda_cache_next_activations(c, next->src[1], a.type, (size_t)size);
    return a;
}

static struct gemv
gemv_of(const struct ggml_tensor *w, const struct ggml_tensor *dst)
{
    struct gemv p = {};

    p.w = cuda_view_of(w);
    p.k = w->ne[0];
    p.rows = w->ne[1];
    p.out = (char *)dst->data;
    p.out_stride = (int64_t)dst->nb[1];
    p.end.glu = -1;
    return p;
}

static void
launch_gemv(struct cuda_ctx *c, const struct gemv *p)
{
    if (cuda_is_float_type((enum ggml_type)p->w.type))
        cuda_gemv_float(c, p);
    else if (!cuda_gemm_mma(c, p))
        cuda_gemv_quantized(c, p);
}

/* The tensor that `add` adds to a product, and the stride of its rows. */
static const char *
addend(const struct ggml_tensor *add, const struct ggml_tensor *mul_mat,
       int64_t *stride)
{
    const struct ggml_tensor *other =
        add->src[0] == mul_mat ? add->src[1] : add->src[0];

    *stride = ggml_nrows(other) == 1 ? 0 : (int64_t)other->nb[1];
    return (const char *)other->data;
}

static void
add_sibling(struct sibling *s, const struct ggml_tensor *mul_mat,
            const struct ggml_tensor *add)
{
    const struct ggml_tensor *dst = add ? add : mul_mat;

    s->w = (const char *)mul_mat->src[0]->data;
    s->rows = mul_mat->src[0]->ne[1];
    s->out = (char *)dst->data;
    s->out_stride = (int64_t)dst->nb[1];
    s->add = add ? addend(add, mul_mat, &s->add_stride) : NULL;
}

void
cuda_run_fused_matmul(struct cuda_ctx *c, const struct cuda_fused_matmul *f)
{
    const struct ggml_tensor *w = f->mul_mat->src[0], *x = f->mul_mat->src[1];
    const struct ggml_tensor *dst = f->glu   ? f->glu
                                    : f->add ? f->add
                                             : f->mul_mat;
    struct gemv p = gemv_of(w, dst);

    if (ggml_is_empty(dst))
        return;
    p.constant_weights =
        cuda_is_constant(w) && (!f->glu || cuda_is_constant(f->second->src[0]));
    for (int i = 0; i < CUDA_SIBLINGS && f->siblings[i].mul_mat; i++) {
        add_sibling(&p.siblings[i], f->siblings[i].mul_mat, f->siblings[i].add);
        p.constant_weights = p.constant_weights &&
                             cuda_is_constant(f->siblings[i].mul_mat->src[0]);
    }
    p.n = x->ne[1];
    p.x2 = x->ne[2];
    p.x3 = x->ne[3];
    if (f->add)
        p.end.add = addend(f->add, f->mul_mat, &p.end.add_stride);
    if (f->glu) {
        p.w2 = (const char *)f->second->src[0]->data;
        p.end.glu = tensor_get_i32(f->glu, 0);
        p.end.alpha = tensor_get_f32(f->glu, 2);
        p.end.limit = tensor_get_f32(f->glu, 3);
    }
    if (set_columns(c, w, x, &p))
        launch_gemv(c, &p);
}

/* Some rows of a matrix, times the columns of b. */
static void
gemm_rows(struct cuda_ctx *c, struct cuda_gemm *g, const struct view *w,
          void *scratch, int64_t first, int64_t n)
{
    struct view from = *w, to = *w;

    from.data += first * w->nb[1];
    from.ne[1] = to.ne[1] = n;
    from.ne[2] = from.ne[3] = to.ne[2] = to.ne[3] = 1;
    g->m = (int)n;
    if (scratch) {
        to.type = g->type;
        to.data = (char *)scratch;
        to.nb[0] = (int64_t)ggml_type_size(g->type);
        to.nb[1] = to.nb[0] * to.ne[0];
        cuda_dequantize_rows(c, &to, &from, NULL);
        from = to;
    }
    g->a = from.data;
    g->ld_a = from.nb[1] / (int64_t)ggml_type_size(g->type);
    cuda_gemm(c, g);
}

/* One matrix of weights, dequantised to `scratch` unless NULL. */
static void
gemm_matrix(struct cuda_ctx *c, struct cuda_gemm *g, const struct view *w,
            void *scratch, int64_t each)
{
    float *out = g->c;

    for (int64_t row = 0; row < w->ne[1]; row += each) {
        g->c = out + row;
        gemm_rows(c, g, w, scratch, row,
                  w->ne[1] - row < each ? w->ne[1] - row : each);
    }
}

static void
gemm_cublas(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    const struct ggml_tensor *w = dst->src[0], *x = dst->src[1];
    struct cuda_gemm g = {};
    int64_t r2 = x->ne[2] / w->ne[2], r3 = x->ne[3] / w->ne[3];
    int64_t each =
        cuda_dequantized_rows(w->ne[0], w->ne[1], c->dequantized_bytes);
    struct view columns;
    void *scratch = NULL;

    g.type = gemm_type(w->type);
    if (!convert_columns(c, x, g.type, &columns))
        return;
    if (w->type != g.type || w->nb[1] % 16 != 0) {
        scratch =
            cuda_scratch(c, (size_t)(each * w->ne[0]) * ggml_type_size(g.type));
        if (!scratch)
            return;
    } else {
        each = w->ne[1];
    }
    g.k = (int)w->ne[0];
    g.n = (int)(x->ne[1] * r2); /* the columns of r2 matrices are contiguous */
    g.n_batch = 1;
    g.ld_b = x->ne[0];
    g.ld_c = dst->ne[0];
    for (int64_t i3 = 0; i3 < x->ne[3]; i3++)
        for (int64_t i2 = 0; i2 < w->ne[2]; i2++) {
            struct view matrix = cuda_view_of(w);

            matrix.data += i2 * matrix.nb[2] + i3 / r3 * matrix.nb[3];
            g.b = columns.data + i2 * r2 * columns.nb[2] + i3 * columns.nb[3];
            g.c = (float *)(void *)((char *)dst->data +
                                    i2 * r2 * (int64_t)dst->nb[2] +
                                    i3 * (int64_t)dst->nb[3]);
            gemm_matrix(c, &g, &matrix, scratch, each);
        }
}

bool
cuda_supports_mul_mat(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *w = dst->src[0], *x = dst->src[1];

    return cuda_is_f32(dst) && ggml_is_contiguous(dst) && is_weight(w) &&
           cuda_is_float_type(x->type) && w->ne[0] < INT32_MAX &&
           w->ne[1] < INT32_MAX && x->ne[1] * x->ne[2] < INT32_MAX;
}

void
cuda_run_mul_mat(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct cuda_fused_matmul f = { dst, NULL, NULL, NULL, {} };

    if (ggml_is_empty(dst))
        return;
    if (is_small_batch(dst))
        cuda_run_fused_matmul(c, &f);
    else
        gemm_cublas(c, dst);
}

/* -- MUL_MAT_ID -- */

/* Sorts the (token, expert) pairs by expert, stably, and splits those of an
 * expert into tiles. One block; a thread an expert. */
KERNEL
sort_by_expert(struct view ids, int n_matrices, int n_pairs, int n_tiles,
               int *start, int *order, struct column_tile *tiles)
{
    SHARED(int, totals, 2);
    int used = (int)ids.ne[0];

    cuda_grid_dependency_sync();
    for (int m = (int)cuda_thread_id(); m < n_matrices;
         m += (int)cuda_block_size()) {
        int n = 0;

        for (int i = 0; i < n_pairs; i++)
            n += *(const int *)(const void *)(ids.data + i % used * ids.nb[0] +
                                              i / used * ids.nb[1]) == m;
        start[m] = n;
    }
    cuda_barrier();
    if (cuda_thread_id() == 0) {
        int at = 0, n_used = 0;

        for (int m = 0; m < n_matrices; m++) {
            int n = start[m];

            start[m] = at;
            for (int i = 0; i < n; i += GEMV_COLUMNS) {
                struct column_tile t = { m, at + i,
                                         n - i < GEMV_COLUMNS ? n - i
                                                              : GEMV_COLUMNS };

                tiles[n_used++] = t;
            }
            at += n;
        }
        totals[0] = n_used;
    }
    cuda_barrier();
    for (int i = totals[0] + (int)cuda_thread_id(); i < n_tiles;
         i += (int)cuda_block_size()) {
        struct column_tile none = { 0, 0, 0 };

        tiles[i] = none;
    }
    for (int m = (int)cuda_thread_id(); m < n_matrices;
         m += (int)cuda_block_size()) {
        int at = start[m];

        for (int i = 0; i < n_pairs; i++)
            if (*(const int *)(const void *)(ids.data + i % used * ids.nb[0] +
                                             i / used * ids.nb[1]) == m)
                order[at++] = i;
    }
}

/* Sorts many pairs into tiles; false: there was no memory. */
static bool
sort_columns(struct cuda_ctx *c, const struct ggml_tensor *dst, struct gemv *p)
{
    int n_matrices = (int)dst->src[0]->ne[2];
    int n_pairs = (int)(dst->ne[1] * dst->ne[2]);
    int n_tiles = cuda_max_expert_tiles(n_pairs, n_matrices, GEMV_COLUMNS);
    int *start = (int *)cuda_scratch(c, (size_t)n_matrices * sizeof(int));
    int *order = (int *)cuda_scratch(c, (size_t)n_pairs * sizeof(int));
    struct column_tile *tiles = (struct column_tile *)cuda_scratch(
        c, (size_t)n_tiles * sizeof(struct column_tile));
    struct cuda_launch_config config = { 1, 256, 0 };

    if (!start || !order || !tiles)
        return false;
    LAUNCH(sort_by_expert, config, c, p->ids, n_matrices, n_pairs, n_tiles,
           start, order, tiles);
    p->tiles = tiles;
    p->order = order;
    p->tile_total = n_tiles;
    return true;
}

bool
cuda_supports_mul_mat_id(const struct ggml_tensor *dst)
{
    return cuda_supports_mul_mat(dst) && dst->src[2]->type == GGML_TYPE_I32 &&
           dst->ne[1] * dst->ne[2] < INT32_MAX / 64;
}

void
cuda_run_mul_mat_id(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    const struct ggml_tensor *w = dst->src[0], *x = dst->src[1];
    struct gemv p = gemv_of(w, dst);

    if (ggml_is_empty(dst))
        return;
    p.by_id = true;
    p.ids = cuda_view_of(dst->src[2]);
    p.used = dst->ne[1];
    p.x1 = x->ne[1];
    p.tile_total = dst->ne[1] * dst->ne[2];
    if (dst->ne[2] > GEMV_COLUMNS && !sort_columns(c, dst, &p))
        return;
    if (set_columns(c, w, x, &p))
        launch_gemv(c, &p);
}
