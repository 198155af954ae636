/* imatrix.c - how much each column of each matrix matters to a text */
#include <config.h>

#include "gg-eval/imatrix_entry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ggml-backend.h>
#include <gguf.h>

#include "common/gguf.h"
#include "common/ticker.h"
#include "gg-eval/windows.h"

struct imatrix *
imatrix_new(void)
{
    struct imatrix *m = cli_alloc(NULL, 1, sizeof(*m));

    *m = (struct imatrix){ 0 };
    return m;
}

void
imatrix_free(struct imatrix *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++) {
        free(m->entries[i].sums);
        free(m->entries[i].counts);
    }
    free(m->entries);
    free(m->values);
    free(m->ids);
    free(m->bytes);
    free(m);
}

/* ---- collecting ---------------------------------------------------------- */

static struct imatrix_entry *
entry_of(struct imatrix *m, const struct ggml_tensor *weight)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->entries[i].name, weight->name) == 0)
            return &m->entries[i];
    return imatrix_insert(m, m->n, weight->name, weight->ne[0], weight->ne[2]);
}

static void
add_row(struct imatrix_entry *e, int64_t matrix, const float *x)
{
    double *sums = e->sums + matrix * e->n_columns;

    for (int64_t j = 0; j < e->n_columns; j++)
        sums[j] += (double)x[j] * (double)x[j];
    e->counts[matrix]++;
}

/* The bytes that the tensor's rows are in, with what lies between them. */
static void *
fetch_bytes(void *scratch, const struct ggml_tensor *t)
{
    size_t n = ggml_nbytes(t);

    scratch = cli_alloc(scratch, n, 1);
    ggml_backend_tensor_get(t, scratch, 0, n);
    return scratch;
}

static const float *
row_at(const struct imatrix *m, const struct ggml_tensor *x, int64_t i1,
       int64_t i2)
{
    return m->values +
           ((size_t)i1 * x->nb[1] + (size_t)i2 * x->nb[2]) / sizeof(float);
}

static void
see_product(struct imatrix *m, struct imatrix_entry *e,
            const struct ggml_tensor *x)
{
    for (int64_t i = 0; i < x->ne[1]; i++)
        add_row(e, 0, row_at(m, x, i, 0));
}

/* x: columns x used x n, or columns x 1 x n; experts: used x n */
static void
see_experts(struct imatrix *m, struct imatrix_entry *e,
            const struct ggml_tensor *x, const struct ggml_tensor *experts)
{
    m->ids = fetch_bytes(m->ids, experts);
    for (int64_t i = 0; i < experts->ne[1]; i++)
        for (int64_t k = 0; k < experts->ne[0]; k++) {
            int64_t at = i * (int64_t)(experts->nb[1] / sizeof(int32_t)) + k;

            add_row(e, m->ids[at], row_at(m, x, k % x->ne[1], i));
        }
}

static bool
is_wanted(const struct ggml_tensor *t)
{
    const struct ggml_tensor *weight = t->src[0], *x = t->src[1];

    if (t->op != GGML_OP_MUL_MAT && t->op != GGML_OP_MUL_MAT_ID)
        return false;
    if (x->type != GGML_TYPE_F32 || x->nb[0] != sizeof(float) || x->ne[3] != 1)
        return false;
    if (strstr(weight->name, ".lora_"))
        return false; /* an adapter's, added to the weight's */
    return imatrix_of_layer(weight->name) ||
           strcmp(weight->name, "output.weight") == 0;
}

bool
imatrix_watch(struct ggml_tensor *t, bool ask, void *data)
{
    struct imatrix *m = data;
    struct imatrix_entry *e;

    if (ask)
        return is_wanted(t);
    e = entry_of(m, t->src[0]);
    m->values = fetch_bytes(m->values, t->src[1]);
    if (t->op == GGML_OP_MUL_MAT)
        see_product(m, e, t->src[1]);
    else
        see_experts(m, e, t->src[1], t->src[2]);
    return true;
}

/* ---- writing ------------------------------------------------------------- */

static void
check_sums(const struct imatrix_entry *e)
{
    for (int64_t i = 0; i < e->n_columns * e->n_matrices; i++)
        if (!isfinite(e->sums[i]))
            cli_die("%s: its activations are NaN or infinite", e->name);
}

/* Floats in a tensor of this name, n of them in each of n_rows. */
static void
add_tensor(struct ggml_context *ctx, struct gguf_context *gguf,
           const struct imatrix_entry *e, const char *what, const double *from,
           int64_t n)
{
    struct ggml_tensor *t =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F32, n, e->n_matrices);
    float *to = t->data;

    if (strlen(e->name) + strlen(what) >= GGML_MAX_NAME)
        cli_die("%s: its name is too long for an importance matrix", e->name);
    ggml_format_name(t, "%s%s", e->name, what);
    for (int64_t i = 0; i < n * e->n_matrices; i++)
        to[i] = (float)from[i];
    gguf_add_tensor(gguf, t);
}

static struct ggml_context *
new_context(const struct imatrix *m)
{
    size_t size = 0;
    struct ggml_context *ctx;

    for (size_t i = 0; i < m->n; i++) {
        const struct imatrix_entry *e = &m->entries[i];

        size += (size_t)((e->n_columns + 1) * e->n_matrices) * sizeof(float) +
                2 * (ggml_tensor_overhead() + GGML_MEM_ALIGN);
    }
    ctx = ggml_init((struct ggml_init_params){ .mem_size = size });
    if (!ctx)
        cli_die("out of memory");
    return ctx;
}

static void
write_matrix(const struct imatrix *m, const struct windows *w)
{
    struct ggml_context *ctx = new_context(m);
    struct gguf_context *gguf = gguf_init_empty();

    gguf_check_memory(gguf);
    gguf_set_val_str(gguf, "general.type", "imatrix");
    gguf_set_arr_str(gguf, "imatrix.datasets", (const char *[]){ w->name }, 1);
    gguf_set_val_u32(gguf, "imatrix.chunk_count", (uint32_t)w->count);
    gguf_set_val_u32(gguf, "imatrix.chunk_size", (uint32_t)w->n);
    for (size_t i = 0; i < m->n; i++) {
        const struct imatrix_entry *e = &m->entries[i];

        check_sums(e);
        add_tensor(ctx, gguf, e, ".in_sum2", e->sums, e->n_columns);
        add_tensor(ctx, gguf, e, ".counts", e->counts, 1);
    }
    if (!gguf_write_to_file_ptr(gguf, stdout, false) && !ferror(stdout))
        cli_die("out of memory"); /* errors of the file are told at the end */
    gguf_free(gguf);
    ggml_free(ctx);
}

/* ---- the text ------------------------------------------------------------ */

/* Experts that no id of the text was given to. */
static void
say_unused(const struct imatrix *m)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct imatrix_entry *e = &m->entries[i];
        int64_t n = 0;

        for (int64_t k = 0; k < e->n_matrices; k++)
            n += e->counts[k] == 0;
        if (n)
            cli_warn("%s: the text uses only %lld of %lld experts", e->name,
                     (long long)(e->n_matrices - n), (long long)e->n_matrices);
    }
}

static void
ask_others(struct imatrix *m, struct gg_pipeline *p)
{
    for (int32_t i = 1; i < gg_pipeline_size(p); i++) {
        struct gg_error err;
        const void *bytes;
        size_t n;

        cli_check(gg_pipeline_ask(p, i, &bytes, &n, &err), &err);
        if (!imatrix_add(m, bytes, n))
            cli_die("rank %d has seen something else", (int)i);
    }
}

void
imatrix_run(struct imatrix *m, const struct engine *engine,
            struct gg_pipeline *pipeline, int fd, const char *name, bool quiet)
{
    size_t n_vocab = (size_t)gg_model_n_vocab(engine->model);
    float *logits = cli_alloc(NULL, n_vocab, sizeof(*logits)), *logprobs;
    struct ticker ticker;
    struct windows w;

    windows_open(&w, engine, fd, name, "--imatrix");
    logprobs = cli_alloc(NULL, (size_t)w.n, sizeof(*logprobs));
    ticker_start(&ticker, quiet);
    while (windows_next(&w)) {
        /* all rows, so that the last layer sees all of them, too */
        windows_eval(&w, (struct gg_query){ .rows.logits = logits,
                                            .scores.logprobs = logprobs,
                                            .scores.first = 1 });
        ticker_show(&ticker, "%llu ids",
                    (unsigned long long)w.count * (unsigned long long)w.n);
    }
    ticker_end(&ticker);
    ask_others(m, pipeline);
    if (!quiet)
        say_unused(m);
    write_matrix(m, &w);
    free(logits);
    free(logprobs);
    windows_close(&w);
}
