/* merge.c - LoRA adapters become part of a model's weights: W + s B A
 *
 * Where products have a scale of the format's own, y = c W x + s B A x, it is
 * W + s / c B A. */
#include <config.h>

#include "gg-convert/merge.h"

#include <gguf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cli.h"

enum {
    COLUMNS = 256, /* that are added up at a time */
};

struct source {
    const char *path;
    struct gg_file *file;
    double scale, alpha;
    bool *used; /* each of its tensors: some of the model's takes it */
};

/* The change that an adapter makes to the tensor that is written now. */
struct delta {
    float *a, *b; /* b NULL: a in its place */
    int64_t rank;
    double scale;
};

struct merge {
    const struct gg_file *model;
    struct source *sources;
    size_t n;
    struct delta *deltas; /* n, of which n_deltas count */
    size_t n_deltas;
    const int64_t *ne; /* of the tensor */
    bool looked_up;    /* it embeds: a has a column a row, b a row a column */
    float *scales;     /* its products': one, or one a matrix; or NULL */
    int64_t n_scales;
};

/* ---- files --------------------------------------------------------------- */

static const char *
text_of(const struct gguf_context *g, const char *key)
{
    int64_t id = gguf_find_key(g, key);

    return id >= 0 && gguf_get_kv_type(g, id) == GGUF_TYPE_STRING
               ? gguf_get_val_str(g, id)
               : "";
}

static double
read_alpha(const struct source *s, const struct gguf_context *g)
{
    int64_t id = gguf_find_key(g, "adapter.lora.alpha");
    double alpha = 0;

    if (id < 0)
        return 0;
    if (gguf_get_kv_type(g, id) == GGUF_TYPE_FLOAT32)
        alpha = (double)gguf_get_val_f32(g, id);
    else
        alpha = NAN;
    if (!isfinite(alpha))
        cli_die("%s: adapter.lora.alpha: no number", s->path);
    return alpha;
}

static bool
is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void
open_source(struct source *s, const struct gg_adapter *a, const char *base,
            const struct gguf_context *model)
{
    const struct gguf_context *g;
    struct gg_error err;

    *s = (struct source){ .path = a->path, .scale = (double)a->scale };
    cli_check(is_folder(a->path) && base
                  ? gg_file_open_adapter(a->path, base, &s->file, &err)
                  : gg_file_open(a->path, &s->file, &err),
              &err);
    g = gg_file_gguf(s->file);
    if (strcmp(text_of(g, "general.type"), "adapter") != 0 ||
        strcmp(text_of(g, "adapter.type"), "lora") != 0)
        cli_die("%s: general.type: no LoRA adapter", s->path);
    if (strcmp(text_of(g, "general.architecture"),
               text_of(model, "general.architecture")) != 0)
        cli_die("%s: general.architecture: the adapter is not of the model's "
                "family",
                s->path);
    s->alpha = read_alpha(s, g);
    s->used =
        cli_alloc(NULL, (size_t)gguf_get_n_tensors(g) + 1, sizeof(*s->used));
    memset(s->used, 0, (size_t)gguf_get_n_tensors(g) + 1);
}

/* ---- tensors ------------------------------------------------------------- */

static int64_t
find_part(const struct gguf_context *g, const char *name, const char *suffix)
{
    char full[2 * GGML_MAX_NAME];

    snprintf(full, sizeof(full), "%s%s", name, suffix);
    return gguf_find_tensor(g, full);
}

static bool
has_shape(const struct gguf_context *g, int64_t tensor, int64_t n0, int64_t n1,
          int64_t n2)
{
    const int64_t *ne = gguf_get_tensor_ne(g, tensor);

    return ne[0] == n0 && ne[1] == n1 && ne[2] == n2 && ne[3] == 1;
}

static _Noreturn void
does_not_fit(const struct source *s, int64_t tensor, const char *why)
{
    char shown[4 * GGML_MAX_NAME];
    const char *name = gguf_get_tensor_name(gg_file_gguf(s->file), tensor);

    cli_die("%s: %s: %s", s->path,
            gg_escape(shown, sizeof(shown), name, strlen(name)), why);
}

/* The adapter's tensors for one of the model's, whose shapes fit: a (or what is
 * in its place) and b, -1 where there is none. */
static bool
find_parts(struct source *s, const struct gguf_context *model, int64_t tensor,
           int64_t *a, int64_t *b)
{
    static const char odd[] = "its shape does not fit the model's";
    const struct gguf_context *g = gg_file_gguf(s->file);
    const char *name = gguf_get_tensor_name(model, tensor);
    const int64_t *ne = gguf_get_tensor_ne(model, tensor);
    bool rows = strcmp(name, "token_embd.weight") == 0;
    int64_t whole = find_part(g, name, ""), rank;

    *a = find_part(g, name, ".lora_a");
    *b = find_part(g, name, ".lora_b");
    if (whole >= 0 && (*a >= 0 || *b >= 0))
        does_not_fit(s, whole, "is changed twice");
    if (whole >= 0 && !has_shape(g, whole, ne[0], ne[1], ne[2]))
        does_not_fit(s, whole, odd);
    *a = whole >= 0 ? whole : *a;
    if (*a >= 0)
        s->used[*a] = true;
    if (*b < 0 || *a < 0)
        return whole >= 0;
    rank = gguf_get_tensor_ne(g, *b)[0];
    s->used[*b] = true;
    if (rank < 1 ||
        !has_shape(g, *b, rank, rows ? ne[0] : ne[1], rows ? 1 : ne[2]) ||
        !has_shape(g, *a, rows ? rank : ne[0], rows ? ne[1] : rank,
                   rows ? 1 : ne[2]))
        does_not_fit(s, *a, odd);
    return true;
}

/* All of the adapter has its place. */
static void
check_source(struct source *s, const struct gguf_context *model)
{
    const struct gguf_context *g = gg_file_gguf(s->file);
    bool tied = gguf_find_tensor(model, "output.weight") < 0;
    int64_t a, b;

    for (int64_t i = 0; i < gguf_get_n_tensors(model); i++)
        if (find_parts(s, model, i, &a, &b) && tied &&
            strcmp(gguf_get_tensor_name(model, i), "token_embd.weight") == 0)
            does_not_fit(s, a,
                         "the model's output is the same matrix, which would "
                         "change, too: --lora of gg-eval and gg-generate "
                         "applies it");
    for (int64_t i = 0; i < gguf_get_n_tensors(g); i++)
        if (!s->used[i])
            does_not_fit(s, i,
                         "the model has no such matrix, or one of a pair is "
                         "missing");
}

struct merge *
merge_open(const struct adapter_options *o, const char *base,
           const struct gg_file *model)
{
    struct merge *m;

    if (o->n == 0)
        return NULL;
    m = cli_alloc(NULL, 1, sizeof(*m));
    *m = (struct merge){ .model = model, .n = o->n };
    m->sources = cli_alloc(NULL, m->n, sizeof(*m->sources));
    m->deltas = cli_alloc(NULL, m->n, sizeof(*m->deltas));
    for (size_t i = 0; i < m->n; i++) {
        open_source(&m->sources[i], &o->list[i], base, gg_file_gguf(model));
        check_source(&m->sources[i], gg_file_gguf(model));
    }
    return m;
}

static void
drop_deltas(struct merge *m)
{
    for (size_t i = 0; i < m->n_deltas; i++) {
        free(m->deltas[i].a);
        free(m->deltas[i].b);
    }
    free(m->scales);
    m->scales = NULL;
    m->n_deltas = 0;
}

void
merge_close(struct merge *m)
{
    if (!m)
        return;
    drop_deltas(m);
    for (size_t i = 0; i < m->n; i++) {
        gg_file_close(m->sources[i].file);
        free(m->sources[i].used);
    }
    free(m->sources);
    free(m->deltas);
    free(m);
}

/* ---- one tensor ---------------------------------------------------------- */

static float *
read_floats(const struct gg_file *file, int64_t tensor, int64_t *n)
{
    const struct gguf_context *g = gg_file_gguf(file);
    enum ggml_type type = gguf_get_tensor_type(g, tensor);
    const struct ggml_type_traits *traits = ggml_get_type_traits(type);
    size_t size = gguf_get_tensor_size(g, tensor);
    const int64_t *ne = gguf_get_tensor_ne(g, tensor);
    void *data = cli_alloc(NULL, size + 1, 1);
    float *out;

    *n = ne[0] * ne[1] * ne[2] * ne[3];
    out = cli_alloc(NULL, (size_t)*n + 1, sizeof(*out));
    gg_file_read(file, tensor, data);
    if (type == GGML_TYPE_F32)
        memcpy(out, data, size);
    else if (traits->to_float)
        traits->to_float(data, out, *n);
    else
        cli_die("%s: values of type %s are not read",
                gguf_get_tensor_name(g, tensor), ggml_type_name(type));
    free(data);
    return out;
}

static void
add_delta(struct merge *m, const struct source *s, int64_t a, int64_t b)
{
    struct delta *d = &m->deltas[m->n_deltas++];
    int64_t n;

    *d = (struct delta){ .a = read_floats(s->file, a, &n), .scale = s->scale };
    if (b < 0)
        return;
    d->b = read_floats(s->file, b, &n);
    d->rank = gguf_get_tensor_ne(gg_file_gguf(s->file), b)[0];
    if (s->alpha != 0)
        d->scale *= s->alpha / (double)d->rank;
}

/* Reads the factors that the format multiplies the tensor's products by. */
static void
read_scales(struct merge *m, const char *name)
{
    static const char *const endings[] = { ".scale", ".weight.scale" };
    const struct gguf_context *g = gg_file_gguf(m->model);
    const char *end = strstr(name, ".weight");
    char base[GGML_MAX_NAME];
    int64_t id = -1;

    snprintf(base, sizeof(base), "%.*s", (int)(end ? end - name : 0), name);
    for (int i = 0; i < 2 && end && id < 0; i++)
        id = find_part(g, base, endings[i]);
    if (id < 0 || gguf_get_tensor_type(g, id) != GGML_TYPE_F32)
        return;
    m->scales = read_floats(m->model, id, &m->n_scales);
    if (m->n_scales == 1 || m->n_scales == m->ne[2])
        return;
    free(m->scales); /* something else */
    m->scales = NULL;
}

bool
merge_begin(struct merge *m, int64_t tensor)
{
    const struct gguf_context *model = gg_file_gguf(m->model);
    const char *name = gguf_get_tensor_name(model, tensor);
    int64_t a, b;

    drop_deltas(m);
    for (size_t i = 0; i < m->n; i++)
        if (m->sources[i].scale != 0 &&
            find_parts(&m->sources[i], model, tensor, &a, &b))
            add_delta(m, &m->sources[i], a, b);
    if (m->n_deltas == 0)
        return false;
    m->ne = gguf_get_tensor_ne(model, tensor);
    m->looked_up = strcmp(name, "token_embd.weight") == 0;
    read_scales(m, name);
    return true;
}

/* The factor that products with row y are multiplied by. */
static double
scale_of(const struct merge *m, int64_t y)
{
    if (!m->scales)
        return 1;
    return (double)m->scales[m->n_scales > 1 ? y / m->ne[1] : 0];
}

/* Columns [at, at + n) of row y get their part of the pair. */
static void
add_pair(const struct merge *m, const struct delta *d, int64_t y, int64_t at,
         int64_t n, double *sum)
{
    int64_t rank = d->rank, matrix = y / m->ne[1];
    double scale = d->scale / scale_of(m, y);

    for (int64_t k = 0; k < rank; k++) {
        /* of rows that are looked up, a has the rows, b the columns */
        const float *by = m->looked_up ? d->a : d->b;
        const float *of = m->looked_up
                              ? d->b + at * rank + k
                              : d->a + (matrix * rank + k) * m->ne[0] + at;
        int64_t step = m->looked_up ? rank : 1;
        double factor = scale * (double)by[y * rank + k];

        for (int64_t j = 0; j < n; j++)
            sum[j] += factor * (double)of[j * step];
    }
}

static void
merge_row(const struct merge *m, float *x, int64_t y)
{
    double sum[COLUMNS];

    for (size_t i = 0; i < m->n_deltas; i++)
        for (int64_t j = 0; !m->deltas[i].b && j < m->ne[0]; j++)
            x[j] = m->deltas[i].a[y * m->ne[0] + j] / (float)scale_of(m, y);
    for (int64_t at = 0; at < m->ne[0]; at += COLUMNS) {
        int64_t left = m->ne[0] - at, n = left < COLUMNS ? left : COLUMNS;

        for (int64_t j = 0; j < n; j++)
            sum[j] = (double)x[at + j];
        for (size_t i = 0; i < m->n_deltas; i++)
            if (m->deltas[i].b)
                add_pair(m, &m->deltas[i], y, at, n, sum);
        for (int64_t j = 0; j < n; j++)
            x[at + j] = (float)sum[j];
    }
}

void
merge_rows(void *merge, float *x, int64_t first, int64_t n)
{
    const struct merge *m = merge;

    for (int64_t i = 0; i < n; i++)
        merge_row(m, x + i * m->ne[0], first + i);
}
