/* copy_elements.c - DUP, CPY, CONT, REPEAT, CONCAT: elements to another place
 *
 * CPY and its kin take elements in order, whatever the two shapes are, and
 * convert them; REPEAT and CONCAT move elements of one type as bytes. */
#include <string.h>

#include "cpu/ops/op_table.h"
#include "cpu/prefetch.h"
#include "quant/types.h"
#include "tensor/tensor.h"

enum {
    FEW = 8,       /* elements that are copied sooner than memcpy() is called */
    AHEAD = 12,    /* columns that are prefetched: they lie far apart */
    LINE_ROWS = 16 /* rows of which a cache line of columns has elements */
};

/* The compiler knows `size` where this is called. */
static inline void
copy_sized(char *to, size_t to_stride, const char *from, size_t from_stride,
           int64_t n, size_t size)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(to + (size_t)i * to_stride, from + (size_t)i * from_stride,
               size);
}

static void
copy_elements(char *to, size_t to_stride, const char *from, size_t from_stride,
              int64_t n, size_t size)
{
    if (n > FEW && to_stride == size && from_stride == size)
        memcpy(to, from, (size_t)n * size);
    else if (size == sizeof(float))
        copy_sized(to, to_stride, from, from_stride, n, sizeof(float));
    else if (size == sizeof(uint16_t))
        copy_sized(to, to_stride, from, from_stride, n, sizeof(uint16_t));
    else
        copy_sized(to, to_stride, from, from_stride, n, size);
}

/* Elements `at` and on of x in order, as the piece of a row that follows
 * there: sets its address; returns how many up to the end of that row. */
static int64_t
piece_at(const struct ggml_tensor *x, int64_t at, const char **p)
{
    int64_t i0 = at % x->ne[0];

    *p = cpu_row_data(x, cpu_row_at(x, at / x->ne[0])) + (size_t)i0 * x->nb[0];
    return x->ne[0] - i0;
}

/* Rows that are columns in memory, and the other way round. */
static bool
is_turned(const struct ggml_tensor *x, const struct ggml_tensor *dst)
{
    return ggml_type_size(x->type) == sizeof(uint32_t) &&
           dst->nb[0] == sizeof(uint32_t) && x->nb[1] == sizeof(uint32_t) &&
           x->nb[0] > sizeof(uint32_t);
}

static void
copy_turned(char *to, size_t to_stride, const char *from, size_t from_stride,
            int64_t n_rows, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            PREFETCH_L1(from + (size_t)(i + AHEAD) * from_stride);
        for (int64_t row = 0; row < n_rows; row++)
            memcpy(to + (size_t)row * to_stride + (size_t)i * 4,
                   from + (size_t)i * from_stride + (size_t)row * 4, 4);
    }
}

/* Row i of `rows` of dst, and those after it whose elements share cache lines:
 * r is the first of them; returns how many they are. */
static int64_t
turned_rows(const struct ggml_tensor *dst, struct cpu_range rows, int64_t i,
            struct cpu_row *r)
{
    int64_t n = rows.end - i < LINE_ROWS ? rows.end - i : LINE_ROWS;

    *r = cpu_row_at(dst, i);
    return dst->ne[1] - r->i1 < n ? dst->ne[1] - r->i1 : n;
}

/* Rows of the same shape, turned. */
static void
copy_turned_rows(const struct ggml_tensor *x, struct ggml_tensor *dst,
                 struct cpu_range rows)
{
    struct cpu_row r;

    for (int64_t i = rows.first, n; i < rows.end; i += n) {
        n = turned_rows(dst, rows, i, &r);
        copy_turned(cpu_row_data(dst, r), dst->nb[1], cpu_row_data(x, r),
                    x->nb[0], n, x->ne[0]);
    }
}

/* Rows of the same shape. */
static void
copy_rows(const struct ggml_tensor *x, struct ggml_tensor *dst,
          struct cpu_range rows)
{
    struct cpu_row r = cpu_row_at(dst, rows.first);

    for (int64_t i = rows.first; i < rows.end; i++) {
        copy_elements(cpu_row_data(dst, r), dst->nb[0], cpu_row_data(x, r),
                      x->nb[0], x->ne[0], ggml_type_size(x->type));
        cpu_row_next(dst, &r);
    }
}

/* A row of dst, whatever the shape of x is. */
static void
copy_bytes_row(const struct ggml_tensor *x, struct ggml_tensor *dst,
               int64_t row)
{
    char *to = cpu_row_data(dst, cpu_row_at(dst, row));
    size_t size = ggml_type_size(x->type);

    for (int64_t done = 0, n; done < dst->ne[0]; done += n) {
        const char *from;

        n = piece_at(x, row * dst->ne[0] + done, &from);
        n = n < dst->ne[0] - done ? n : dst->ne[0] - done;
        copy_elements(to + (size_t)done * dst->nb[0], dst->nb[0], from,
                      x->nb[0], n, size);
    }
}

/* The elements that make a row of dst, as floats. */
static const float *
gather_row(const struct cpu_task *t, const struct ggml_tensor *x,
           const struct ggml_tensor *dst, int64_t row, float *buf, float *x_buf)
{
    if (x->ne[0] == dst->ne[0])
        return cpu_load_row(t, x, cpu_row_at(x, row), buf);
    for (int64_t done = 0, n; done < dst->ne[0]; done += n) {
        int64_t at = row * dst->ne[0] + done, i0 = at % x->ne[0];
        const float *from =
            cpu_load_row(t, x, cpu_row_at(x, at / x->ne[0]), x_buf);

        n = x->ne[0] - i0;
        n = n < dst->ne[0] - done ? n : dst->ne[0] - done;
        memcpy(buf + done, from + i0, (size_t)n * sizeof(*buf));
    }
    return buf;
}

/* Whole tensors in one piece, of one type: any cut will do. */
static void
copy_flat(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range lines =
        cpu_share(t, (int64_t)(cpu_pad(ggml_nbytes(dst)) / CPU_LINE));
    size_t first = (size_t)lines.first * CPU_LINE;
    size_t end = (size_t)lines.end * CPU_LINE;

    if (end > ggml_nbytes(dst))
        end = ggml_nbytes(dst);
    if (first < end)
        memcpy((char *)dst->data + first, (char *)dst->src[0]->data + first,
               end - first);
}

static void
compute_copy(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    bool same = x->type == dst->type && cpu_has_elements(x->type);

    if (x->data == dst->data && ggml_are_same_stride(x, dst) &&
        x->type == dst->type)
        return; /* in place */
    if (x->type == dst->type && ggml_is_contiguous(x) &&
        ggml_is_contiguous(dst)) {
        copy_flat(t, dst);
        return;
    }
    if (same && ggml_are_same_shape(x, dst)) {
        (is_turned(x, dst) ? copy_turned_rows : copy_rows)(x, dst, rows);
        return;
    }
    for (int64_t i = rows.first; i < rows.end; i++) {
        if (same)
            copy_bytes_row(x, dst, i);
        else
            cpu_store_row(t, dst, cpu_row_at(dst, i),
                          gather_row(t, x, dst, i, cpu_row_buffer(t, dst, 0),
                                     cpu_row_buffer(t, dst, 1)));
    }
}

/* CPY names its target as a second source; DUP and CONT do not: two rows of
 * the longer length serve all. */
static size_t
copy_work_size(const struct ggml_tensor *dst, int n_threads,
               const struct cpu_kernels *k)
{
    const struct ggml_tensor *x = dst->src[0];

    (void)k;
    if (x->type == dst->type && (cpu_has_elements(x->type)))
        return 0;
    return cpu_pad(sizeof(float) *
                   (size_t)(x->ne[0] > dst->ne[0] ? x->ne[0] : dst->ne[0])) *
           3 * (size_t)n_threads;
}

static bool
supports_copy(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];

    if (x->type == dst->type && ggml_is_contiguous(x) &&
        ggml_is_contiguous(dst))
        return true;
    return cpu_can_load(x) && cpu_can_store(dst);
}

static int64_t
cost_copy(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst) / (dst->type == dst->src[0]->type ? 8 : 2);
}

const struct cpu_op cpu_op_copy = { .compute = compute_copy,
                                    .supports = supports_copy,
                                    .cost = cost_copy,
                                    .work_size = copy_work_size };

static void
compute_repeat(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    size_t size = ggml_type_size(dst->type);

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        const char *from = cpu_row_data(x, cpu_row_wrap(x, r));
        char *to = cpu_row_data(dst, r);

        for (int64_t at = 0; at < dst->ne[0]; at += x->ne[0])
            copy_elements(to + (size_t)at * dst->nb[0], dst->nb[0], from,
                          x->nb[0], x->ne[0], size);
    }
}

static bool
supports_bytes(const struct ggml_tensor *dst)
{
    return cpu_has_elements(dst->type) && dst->src[0]->type == dst->type;
}

const struct cpu_op cpu_op_repeat = { .compute = compute_repeat,
                                      .supports = supports_bytes,
                                      .cost = cpu_cost_pass };

/* Rows of the second source begin where those of the first end; blocks of a
 * quantised type are elements. */
static void
concat_row(struct ggml_tensor *dst, struct cpu_row r, int dim)
{
    const struct ggml_tensor *a = dst->src[0], *b = dst->src[1];
    int64_t *index = dim == 1 ? &r.i1 : dim == 2 ? &r.i2 : &r.i3;
    size_t size = ggml_type_size(dst->type);
    int64_t block = ggml_blck_size(dst->type), n = a->ne[0] / block;
    char *to = cpu_row_data(dst, r);

    if (dim == 0) {
        copy_elements(to, dst->nb[0], cpu_row_data(a, r), a->nb[0], n, size);
        copy_elements(to + (size_t)n * dst->nb[0], dst->nb[0],
                      cpu_row_data(b, r), b->nb[0], b->ne[0] / block, size);
        return;
    }
    if (*index >= a->ne[dim]) {
        *index -= a->ne[dim];
        a = b;
    }
    copy_elements(to, dst->nb[0], cpu_row_data(a, r), a->nb[0], n, size);
}

/* Rows of two sources, the second of which is turned. */
static void
concat_turned_rows(struct ggml_tensor *dst, struct cpu_range rows)
{
    const struct ggml_tensor *a = dst->src[0], *b = dst->src[1];
    size_t before = (size_t)a->ne[0] * sizeof(uint32_t);
    struct cpu_row r;

    for (int64_t i = rows.first, n; i < rows.end; i += n) {
        n = turned_rows(dst, rows, i, &r);
        copy_turned(cpu_row_data(dst, r) + before, dst->nb[1],
                    cpu_row_data(b, r), b->nb[0], n, b->ne[0]);
        for (int64_t row = 0; row < n; row++, r.i1++)
            copy_elements(cpu_row_data(dst, r), dst->nb[0], cpu_row_data(a, r),
                          a->nb[0], a->ne[0], sizeof(uint32_t));
    }
}

static void
compute_concat(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    struct cpu_row r = cpu_row_at(dst, rows.first);
    int dim = tensor_get_i32(dst, 0);

    if (dim == 0 && is_turned(dst->src[1], dst)) {
        concat_turned_rows(dst, rows);
        return;
    }
    for (int64_t i = rows.first; i < rows.end; i++) {
        concat_row(dst, r, dim);
        cpu_row_next(dst, &r);
    }
}

static bool
supports_concat(const struct ggml_tensor *dst)
{
    return dst->src[0]->type == dst->type && dst->src[1]->type == dst->type;
}

const struct cpu_op cpu_op_concat = { .compute = compute_concat,
                                      .supports = supports_concat,
                                      .cost = cpu_cost_pass };
