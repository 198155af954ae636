/* watch.c - what a model computes on its way */
#include <config.h>

#include "gg-eval/watch.h"

#include <errno.h>
#include <fnmatch.h>
#include <ggml-backend.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "common/npy.h"
#include "common/numbers.h"
#include "common/outside.h"

struct watch {
    const struct watch_options *o;
    char first[GGML_MAX_NAME]; /* node of each graph; "": none was seen */
    uint64_t n_graphs, n_shown;
    char *bytes, *packed; /* scratch: of a tensor; side by side */
    float *floats;        /* scratch: a row */
    double *x;            /* the same */
    struct dot dot;
};

struct watch *
watch_new(const struct watch_options *o)
{
    struct watch *w = cli_alloc(NULL, 1, sizeof(*w));

    *w = (struct watch){ .o = o };
    if (o->folder && outside_do(OUTSIDE_MAKE_FOLDER, o->folder, 0) < 0)
        cli_die("%s: %s", o->folder, strerror(errno));
    return w;
}

void
watch_free(struct watch *w)
{
    if (!w)
        return;
    free(w->dot.seen);
    free(w->bytes);
    free(w->packed);
    free(w->floats);
    free(w->x);
    free(w);
}

/* ---- values -------------------------------------------------------------- */

static bool
is_view(const struct ggml_tensor *t)
{
    return t->op == GGML_OP_NONE || t->op == GGML_OP_VIEW ||
           t->op == GGML_OP_RESHAPE || t->op == GGML_OP_PERMUTE ||
           t->op == GGML_OP_TRANSPOSE;
}

/* Nothing is computed by a view; and SET_ROWS results in the whole cache. */
static bool
is_wanted(const struct watch *w, const struct ggml_tensor *t)
{
    return !is_view(t) && t->op != GGML_OP_SET_ROWS && numbers_known(t->type) &&
           fnmatch(w->o->pattern, t->name, 0) == 0;
}

static size_t
row_bytes(const struct ggml_tensor *t)
{
    return ggml_row_size(t->type, t->ne[0]);
}

static int64_t
n_rows(const struct ggml_tensor *t)
{
    return t->ne[1] * t->ne[2] * t->ne[3];
}

/* All values, row after row. */
static void
pack(struct watch *w, const struct ggml_tensor *t)
{
    size_t size = row_bytes(t), element = ggml_type_size(t->type);
    char *to;

    w->bytes = cli_alloc(w->bytes, ggml_nbytes(t), 1);
    w->packed = cli_alloc(w->packed, (size_t)n_rows(t), size);
    w->floats = cli_alloc(w->floats, (size_t)t->ne[0], sizeof(*w->floats));
    w->x = cli_alloc(w->x, (size_t)t->ne[0], sizeof(*w->x));
    ggml_backend_tensor_get(t, w->bytes, 0, ggml_nbytes(t));
    to = w->packed;
    for (int64_t i = 0; i < n_rows(t); i++) {
        int64_t i1 = i % t->ne[1], i2 = i / t->ne[1] % t->ne[2],
                i3 = i / t->ne[1] / t->ne[2];
        const char *from = w->bytes + (size_t)i1 * t->nb[1] +
                           (size_t)i2 * t->nb[2] + (size_t)i3 * t->nb[3];

        for (size_t k = 0; k < size / element; k++)
            memcpy(to + k * element, from + k * t->nb[0], element);
        to += size;
    }
}

static void
read_row(struct watch *w, const struct ggml_tensor *t, int64_t i)
{
    numbers_widen(t->type, w->packed + (size_t)i * row_bytes(t), w->floats,
                  w->x, (size_t)t->ne[0]);
}

/* ---- --watch ------------------------------------------------------------- */

struct figures {
    uint64_t finite, nan, inf;
    double min, max, squares;
};

static void
add_figure(struct figures *f, double x)
{
    if (isnan(x)) {
        f->nan++;
    } else if (isinf(x)) {
        f->inf++;
    } else {
        f->min = f->finite == 0 || x < f->min ? x : f->min;
        f->max = f->finite == 0 || x > f->max ? x : f->max;
        f->squares += x * x;
        f->finite++;
    }
}

static void
put_dims(const struct ggml_tensor *t)
{
    for (int i = 0; i < ggml_n_dims(t); i++)
        printf("%s%" PRId64, i ? "x" : "", t->ne[i]);
}

static void
put_figures(struct watch *w, const struct ggml_tensor *t,
            const struct figures *f)
{
    char shown[4 * GGML_MAX_NAME + 4];

    if (w->n_shown++ == 0)
        puts("run\tname\top\ttype\tshape\tmin\tmax\trms\tnan\tinf");
    printf("%" PRIu64 "\t%s\t%s\t%s\t", w->n_graphs,
           gg_escape(shown, sizeof(shown), t->name, strlen(t->name)),
           ggml_op_desc(t), ggml_type_name(t->type));
    put_dims(t);
    if (f->finite)
        printf("\t%.9g\t%.9g\t%.9g", f->min, f->max,
               sqrt(f->squares / (double)f->finite));
    else
        fputs("\t-\t-\t-", stdout);
    printf("\t%" PRIu64 "\t%" PRIu64 "\n", f->nan, f->inf);
}

static void
write_values(struct watch *w, const struct ggml_tensor *t, FILE *f)
{
    const char *raw = npy_type(t->type);

    npy_head(f, raw ? raw : "<f4", t->ne, ggml_n_dims(t));
    if (raw)
        fwrite(w->packed, row_bytes(t), (size_t)n_rows(t), f);
    for (int64_t i = 0; i < n_rows(t) && !raw; i++) {
        read_row(w, t, i);
        fwrite(w->floats, sizeof(*w->floats), (size_t)t->ne[0], f);
    }
}

/* FOLDER/RUN-NAME.npy, which appears whole. A name cannot lead elsewhere. */
static void
save(struct watch *w, const struct ggml_tensor *t)
{
    char path[PATH_MAX], name[GGML_MAX_NAME];
    FILE *f;

    for (size_t i = 0; i < sizeof(name); i++)
        name[i] = t->name[i] == '/' || (unsigned char)t->name[i] < ' ' ||
                          t->name[i] == 127
                      ? '_'
                      : t->name[i];
    name[strlen(t->name)] = '\0';
    if (snprintf(path, sizeof(path), "%s/%" PRIu64 "-%s.npy", w->o->folder,
                 w->n_graphs, name) >= (int)sizeof(path))
        cli_die("%s: %s", w->o->folder, strerror(ENAMETOOLONG));
    files_keep(path);
    f = cli_open_aside(path);
    write_values(w, t, f);
    cli_close_aside(path, f);
}

static void
show_tensor(struct watch *w, const struct ggml_tensor *t)
{
    struct figures f = { 0 };

    pack(w, t);
    for (int64_t i = 0; i < n_rows(t); i++) {
        read_row(w, t, i);
        for (int64_t k = 0; k < t->ne[0]; k++)
            add_figure(&f, w->x[k]);
    }
    put_figures(w, t, &f);
    if (w->o->folder)
        save(w, t);
}

/* ---- what the session asks ---------------------------------------------- */

/* No two nodes of a graph have the same name. */
static void
count_graphs(struct watch *w, const struct ggml_tensor *t)
{
    if (w->n_graphs == 0)
        memcpy(w->first, t->name, sizeof(w->first));
    if (strcmp(w->first, t->name) == 0)
        w->n_graphs++;
}

bool
watch_see(struct ggml_tensor *t, bool ask, void *data)
{
    struct watch *w = data;

    if (!ask) {
        show_tensor(w, t);
        return true;
    }
    count_graphs(w, t);
    if (w->o->graph && w->n_graphs == 1) {
        if (w->dot.n == 0)
            dot_begin();
        dot_node(&w->dot, t);
    }
    return w->o->pattern && is_wanted(w, t);
}

void
watch_end(struct watch *w)
{
    if (w->o->graph && w->dot.n)
        dot_end(&w->dot);
    if (w->o->pattern && w->n_graphs && w->n_shown == 0)
        cli_die("--watch: nothing that was computed has a name like '%s'",
                w->o->pattern);
}
