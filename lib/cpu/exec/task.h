/* task.h - what an op's compute function works with: its share, and rows */
#ifndef CPU_EXEC_TASK_H
#define CPU_EXEC_TASK_H

#include <stdint.h>
#include <ggml.h>

#include "cpu/kernels.h"

#define CPU_LINE 64 /* bytes of a cache line: no two threads share one */

/* The shape of a piece of a product: rows of weights by columns. */
struct cpu_piece_shape {
    int64_t rows, cols;
};

/* One piece of a node, and who does it. */
struct cpu_task {
    int ith, nth; /* piece and number of pieces */
    int count;    /* pieces from that on: of weights in a stream; or 1 */
    int thread, n_threads;
    bool more; /* the thread goes on with the next one, if nobody else does */
    struct cpu_piece_shape tile; /* of a product, if it is known; or 0 rows */
    /* (or NULL) Bytes that the thread prefetches: the piece's weights, and then
     * others.
     */
    struct cpu_weight_prefetch *prefetch;
    /* (or NULL) Where a recurrence leaves the last state, instead of in dst. */
    float *state;
    char *work; /* for all threads; as much as the op requested, on a line */
    struct cpu_angles *angles; /* of the run, as ROPE made them */
    const struct cpu_kernels *k;
    const struct cpu_stream *stream; /* that weights come in; or NULL */
};

struct cpu_range {
    int64_t first, end;
};

/* An op of the back end. What a piece computes must not depend on how many
 * there are. */
struct cpu_op {
    /* Piece t->ith of t->nth. */
    void (*compute)(const struct cpu_task *t, struct ggml_tensor *dst);
    bool (*supports)(const struct ggml_tensor *dst); /* NULL: always */
    /* About how many nanoseconds one thread takes; NULL: never shared. */
    int64_t (*cost)(const struct ggml_tensor *dst);
    /* Into how many pieces it is cut, however many threads there are; NULL:
     * as many as suit the threads, or one if it is not shared. */
    int (*pieces)(const struct ggml_tensor *dst, int n_threads);
    /* NULL: none */
    size_t (*work_size)(const struct ggml_tensor *dst, int n_threads,
                        const struct cpu_kernels *k);
    /* (or NULL) Work that one thread does before all others. */
    void (*begin)(const struct cpu_task *t, struct ggml_tensor *dst);
    /* (or NULL) Work before compute(), in prepare_pieces() pieces. */
    void (*prepare)(const struct cpu_task *t, struct ggml_tensor *dst);
    int (*prepare_pieces)(const struct ggml_tensor *dst, int n_threads);
    /* (or NULL) Some elements of some rows of dst, each from those in its place
     * alone. Result and sources are contiguous F32 of the same shape; those
     * but the first may be a row, which repeats. */
    void (*compute_part)(const struct cpu_task *t, struct ggml_tensor *dst,
                         struct cpu_range elements, struct cpu_range rows);
    /* (or NULL) The *n bytes that t->count pieces from t->ith on read, which
     * are likely to be in memory, and were there before; or as many pieces as
     * lie in a row, which t->count becomes. */
    const char *(*reads)(struct cpu_task *t, const struct ggml_tensor *dst,
                         size_t *n);
    /* (or NULL) Prefetches other such things that the piece reads first. */
    void (*prefetch)(const struct cpu_task *t, const struct ggml_tensor *dst);
};

/* NULL: views and such, with nothing to compute, or no such op here. */
const struct cpu_op *
cpu_op(const struct ggml_tensor *dst);

/* True also for nodes with nothing to compute. */
bool
cpu_supports(const struct ggml_tensor *dst);

static inline size_t
cpu_pad(size_t n)
{
    return (n + CPU_LINE - 1) & ~(size_t)(CPU_LINE - 1);
}

/* The piece's share of n, evenly. */
static inline struct cpu_range
cpu_share(const struct cpu_task *t, int64_t n)
{
    int64_t each = (n + t->nth - 1) / t->nth;
    int64_t first = each * t->ith < n ? each * t->ith : n;

    return (struct cpu_range){ first, first + each < n ? first + each : n };
}

/* The thread's own part of the work memory, `each` bytes (padded) a thread. */
static inline void *
cpu_scratch(const struct cpu_task *t, size_t each)
{
    return t->work + cpu_pad(each) * (size_t)t->thread;
}

/* A row of a tensor: its indices in dimensions 1 to 3. */
struct cpu_row {
    int64_t i1, i2, i3;
};

static inline struct cpu_row
cpu_row_at(const struct ggml_tensor *t, int64_t row)
{
    int64_t n1 = t->ne[1], n2 = t->ne[2];

    return (struct cpu_row){ row % n1, row / n1 % n2, row / (n1 * n2) };
}

/* The row after that, as cpu_row_at() counts. */
static inline void
cpu_row_next(const struct ggml_tensor *t, struct cpu_row *r)
{
    if (++r->i1 < t->ne[1])
        return;
    r->i1 = 0;
    if (++r->i2 < t->ne[2])
        return;
    r->i2 = 0;
    r->i3++;
}

static inline char *
cpu_row_data(const struct ggml_tensor *t, struct cpu_row r)
{
    return (char *)t->data + (size_t)r.i1 * t->nb[1] + (size_t)r.i2 * t->nb[2] +
           (size_t)r.i3 * t->nb[3];
}

/* i % n, without a division where that is i. */
static inline int64_t
cpu_wrap(int64_t i, int64_t n)
{
    return i < n ? i : i % n;
}

/* The row of a smaller tensor that is broadcast to r. */
static inline struct cpu_row
cpu_row_wrap(const struct ggml_tensor *t, struct cpu_row r)
{
    return (struct cpu_row){ cpu_wrap(r.i1, t->ne[1]), cpu_wrap(r.i2, t->ne[2]),
                             cpu_wrap(r.i3, t->ne[3]) };
}

/* True if rows can be used as float arrays where they lie. */
static inline bool
cpu_is_plain(const struct ggml_tensor *t)
{
    return t->type == GGML_TYPE_F32 && t->nb[0] == sizeof(float);
}

/* True for the types that load and store elements: F32, F16, BF16, I32, ... */
bool
cpu_has_elements(enum ggml_type type);

/* True if rows can be had as floats, or be made of floats. */
bool
cpu_can_load(const struct ggml_tensor *x);
bool
cpu_can_store(const struct ggml_tensor *x);

/* n elements, `stride` bytes apart, as floats. */
void
cpu_gather(enum ggml_type type, const char *p, size_t stride, int64_t n,
           float *y);

/* The row as floats: where it lies, or converted into buf. */
const float *
cpu_load_row(const struct cpu_task *t, const struct ggml_tensor *x,
             struct cpu_row r, float *buf);

/* Prefetches a row that will be read, or written. */
void
cpu_prefetch_row(const struct ggml_tensor *x, struct cpu_row r, bool written);

/* Where to write a row of floats before cpu_store_row(): in place or buf. */
static inline float *
cpu_target_row(const struct ggml_tensor *dst, struct cpu_row r, float *buf)
{
    return cpu_is_plain(dst) ? (float *)(void *)cpu_row_data(dst, r) : buf;
}

/* Puts a row of floats into dst, converted; nothing if it is there. */
void
cpu_store_row(const struct cpu_task *t, struct ggml_tensor *dst,
              struct cpu_row r, const float *row);

/* Scratch bytes of ops on rows that load sources and store a result that are
 * not plain: a row each. */
size_t
cpu_rows_work_size(const struct ggml_tensor *dst, int n_threads,
                   const struct cpu_kernels *k);
/* Buffer i of those. */
float *
cpu_row_buffer(const struct cpu_task *t, const struct ggml_tensor *dst, int i);

/* dst and its sources have elements: what most ops need to be supported. */
bool
cpu_rows_supported(const struct ggml_tensor *dst);

/* Costs: a pass over the result's elements; one that computes exponentials. */
int64_t
cpu_cost_pass(const struct ggml_tensor *dst);
int64_t
cpu_cost_exp(const struct ggml_tensor *dst);

#endif
