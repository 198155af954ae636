/* work.c - quantises a tensor with several threads */
#include <config.h>

#include "common/quantize/work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <gguf.h>

#include "common/cli.h"
#include "common/gguf.h"
#include "common/jobs.h"

enum {
    PIECE = 1 << 16, /* values that a thread takes at a time, or a row */
    LANES = 8,       /* sums at once */
};

/* Memory that one thread needs. */
struct scratch {
    float *values, *back;
    uint8_t *copy; /* of rows, aligned */
};

struct shared {
    const struct work *w;
    int64_t rows_each;
    struct scratch *scratch; /* one for each thread */
    struct work_sums *sums;  /* one for each piece, added up in order */
    struct work_sums *all;
};

static void
to_floats(enum ggml_type type, const void *data, float *out, int64_t n)
{
    if (type == GGML_TYPE_F32)
        memcpy(out, data, (size_t)n * sizeof(*out));
    else
        ggml_get_type_traits(type)->to_float(data, out, n);
}

/* Values that are no numbers are told apart. */
static void
add_odd(const float *x, const float *y, int64_t n, struct work_sums *sums)
{
    for (int64_t i = 0; i < n; i++) {
        double d = (double)x[i] - (double)y[i];

        if (!isfinite(x[i]) || !isfinite(y[i])) {
            sums->odd++;
            continue;
        }
        sums->error += d * d;
        sums->values += (double)x[i] * (double)x[i];
    }
}

static void
add_error(const float *x, const float *y, int64_t n, struct work_sums *sums)
{
    double error[LANES] = { 0 }, values[LANES] = { 0 }, all = 0;
    int64_t whole = n - n % LANES;

    for (int64_t i = 0; i < whole; i += LANES)
        for (int k = 0; k < LANES; k++) {
            double v = (double)x[i + k], d = v - (double)y[i + k];

            error[k] += d * d;
            values[k] += v * v;
        }
    for (int k = 0; k < LANES; k++)
        all += error[k] + values[k];
    if (!isfinite(all))
        whole = 0;
    for (int k = 0; k < LANES && whole; k++) {
        sums->error += error[k];
        sums->values += values[k];
    }
    add_odd(x + whole, y + whole, n - whole, sums);
}

/* Rows [first, first + n) of the tensor, which may be of several matrices. */
static void
quantize_rows(const struct work *w, const float *x, uint8_t *to, int64_t first,
              int64_t n)
{
    size_t out = ggml_row_size(w->to, w->row);

    if (!w->weights) {
        ggml_quantize_chunk(w->to, x, to, 0, n, w->row, NULL);
        return;
    }
    while (n > 0) {
        int64_t left = w->matrix - first % w->matrix,
                take = n < left ? n : left;
        const float *weights = w->weights + first / w->matrix * w->row;

        ggml_quantize_chunk(w->to, x, to, 0, take, w->row, weights);
        x += take * w->row;
        to += (size_t)take * out;
        first += take;
        n -= take;
    }
}

static void
do_piece(struct shared *s, struct scratch *h, int64_t piece)
{
    const struct work *w = s->w;
    int64_t first = piece * s->rows_each;
    int64_t n =
        w->n_rows - first < s->rows_each ? w->n_rows - first : s->rows_each;
    size_t in = ggml_row_size(w->from, w->row);
    size_t out = ggml_row_size(w->to, w->row);
    uint8_t *to = w->out + (size_t)first * out;

    memcpy(h->copy, w->data + (size_t)first * in, (size_t)n * in);
    to_floats(w->from, h->copy, h->values, n * w->row);
    if (w->change)
        w->change->rows(w->change->data, h->values, first, n);
    if (w->to == GGML_TYPE_F32)
        memcpy(to, h->values, (size_t)n * out);
    else
        quantize_rows(w, h->values, to, first, n);
    to_floats(w->to, to, h->back, n * w->row);
    add_error(h->values, h->back, n * w->row, &s->sums[piece]);
}

static void
do_job(void *data, size_t piece, int thread)
{
    struct shared *s = data;

    do_piece(s, &s->scratch[thread], (int64_t)piece);
}

/* In order, so that the sums are the same however they come. */
static void
add_sums(void *data, size_t piece)
{
    const struct shared *s = data;

    s->all->error += s->sums[piece].error;
    s->all->values += s->sums[piece].values;
    s->all->odd += s->sums[piece].odd;
}

/* Memory that is there before any thread runs. */
static void
make_scratch(struct shared *s, int n)
{
    size_t values = (size_t)(s->rows_each * s->w->row);

    s->scratch = cli_alloc(NULL, (size_t)n, sizeof(*s->scratch));
    for (int i = 0; i < n; i++)
        s->scratch[i] = (struct scratch){
            cli_alloc(NULL, values, sizeof(float)),
            cli_alloc(NULL, values, sizeof(float)),
            cli_alloc(NULL, (size_t)s->rows_each,
                      ggml_row_size(s->w->from, s->w->row)),
        };
}

static void
free_scratch(struct shared *s, int n)
{
    for (int i = 0; i < n; i++) {
        free(s->scratch[i].values);
        free(s->scratch[i].back);
        free(s->scratch[i].copy);
    }
    free(s->scratch);
}

void
work_run(const struct work *w, int n_threads, struct work_sums *sums)
{
    struct shared s = { .w = w, .all = sums };
    struct jobs_calls calls = { do_job, add_sums, &s };
    struct jobs *jobs;
    int64_t n_pieces;

    s.rows_each = w->row < PIECE ? PIECE / w->row : 1;
    n_pieces = (w->n_rows + s.rows_each - 1) / s.rows_each;
    s.sums = cli_alloc(NULL, (size_t)n_pieces, sizeof(*s.sums));
    memset(s.sums, 0, (size_t)n_pieces * sizeof(*s.sums));
    make_scratch(&s, n_threads);
    jobs = jobs_new(n_threads, (size_t)n_pieces, &calls);
    for (int64_t i = 0; i < n_pieces; i++) {
        (void)jobs_next(jobs);
        jobs_submit(jobs, false);
    }
    jobs_wait(jobs);
    jobs_free(jobs);
    free(s.sums);
    free_scratch(&s, n_threads);
}

void
work_write(const struct gg_file *file, int64_t tensor,
           const struct gguf_context *into, const float *weights,
           const struct work_change *change, int n_threads,
           struct work_sums *sums)
{
    const struct gguf_context *from = gg_file_gguf(file);
    const int64_t *ne = gguf_get_tensor_ne(from, tensor);
    size_t size = gguf_get_tensor_size(from, tensor);
    enum ggml_type to = gguf_get_tensor_type(into, tensor);
    struct work w = {
        .from = gguf_get_tensor_type(from, tensor),
        .to = to,
        .data = gg_file_data(file, tensor),
        .row = ne[0],
        .n_rows = ne[1] * ne[2] * ne[3],
        .weights = weights,
        .matrix = ne[1],
        .change = change,
    };
    void *made = NULL;

    if (!w.data) { /* of a folder */
        made = cli_alloc(NULL, size, 1);
        gg_file_read(file, tensor, made);
        w.data = made;
    }
    if ((w.from == to && !change) || size == 0) {
        gguf_write_blocks(into, to, w.data, size);
    } else {
        size = ggml_row_size(to, w.row) * (size_t)w.n_rows;
        w.out = cli_alloc(NULL, size, 1);
        work_run(&w, n_threads, sums);
        gguf_write_blocks(into, to, w.out, size);
        free(w.out);
    }
    free(made);
    gg_file_forget(file, tensor);
}
