/* statistics.c - what the values of a tensor are like, in bounded memory */
#include <config.h>

#include "common/cli.h"
#include "gg-inspect/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PIECE = 8192, /* values at a time; a multiple of every block */
};

/* Types of plain numbers have no conversion in the library. */
static bool
is_plain(enum ggml_type type)
{
    return type == GGML_TYPE_I8 || type == GGML_TYPE_I16 ||
           type == GGML_TYPE_I32 || type == GGML_TYPE_I64 ||
           type == GGML_TYPE_F64 || type == GGML_TYPE_F32;
}

bool
statistics_known(enum ggml_type type)
{
    return is_plain(type) || ggml_get_type_traits(type)->to_float;
}

#define WIDEN(ctype)                                                           \
    for (size_t i = 0; i < n; i++)                                             \
    out[i] = (double)((const ctype *)data)[i]

static void
widen(enum ggml_type type, const void *data, double *out, size_t n)
{
    static float values[PIECE];

    switch (type) {
    case GGML_TYPE_I8:
        WIDEN(int8_t);
        break;
    case GGML_TYPE_I16:
        WIDEN(int16_t);
        break;
    case GGML_TYPE_I32:
        WIDEN(int32_t);
        break;
    case GGML_TYPE_I64:
        WIDEN(int64_t);
        break;
    case GGML_TYPE_F64:
        WIDEN(double);
        break;
    case GGML_TYPE_F32:
        WIDEN(float);
        break;
    default:
        ggml_get_type_traits(type)->to_float(data, values, (int64_t)n);
        for (size_t i = 0; i < n; i++)
            out[i] = values[i];
    }
}

static void
read_exactly(int fd, const char *path, void *data, size_t size, uint64_t offset)
{
    char *p = data;

    while (size) {
        ssize_t n = pread(fd, p, size, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            cli_die("%s: %s", path,
                    n ? strerror(errno) : "data ends past end of file");
        p += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
}

/* Where the values of a tensor come from. */
struct source {
    const struct inspected *f;
    int64_t tensor;
    const char *path; /* of the file, or shard */
    int fd;           /* -1: the data is in memory */
    char *data;       /* that; NULL: in the file's mapping */
};

static struct source
open_source(const struct inspected *f, int64_t tensor)
{
    const char *shard = gguf_get_shard_name(
        f->gguf, gguf_get_tensor_shard(f->gguf, tensor));
    struct source s = { f, tensor, shard ? shard : f->path, -1, NULL };

    if (f->file && !gg_file_data(f->file, tensor)) { /* made of others */
        s.data = cli_alloc(NULL, gguf_get_tensor_size(f->gguf, tensor), 1);
        gg_file_read(f->file, tensor, s.data);
    }
    if (f->file)
        return s;
    s.fd = open(s.path, O_RDONLY | O_CLOEXEC);
    if (s.fd < 0)
        cli_die("%s: %s", s.path, strerror(errno));
    return s;
}

static void
read_piece(const struct source *s, void *data, size_t size, uint64_t offset)
{
    if (s->data)
        memcpy(data, s->data + offset, size);
    else if (s->fd < 0)
        memcpy(data, (const char *)gg_file_data(s->f->file, s->tensor) + offset,
               size);
    else
        read_exactly(s->fd, s->path, data, size,
                     gguf_get_tensor_place(s->f->gguf, s->tensor) + offset);
}

typedef void (*visit_fn)(struct statistics *s, const double *x, size_t n);

/* Calls back with all values in order, a piece at a time. */
static void
each_piece(const struct source *from, visit_fn visit, struct statistics *s)
{
    static _Alignas(64) char data[PIECE * 8];
    static double values[PIECE];
    enum ggml_type type = gguf_get_tensor_type(from->f->gguf, from->tensor);
    uint64_t left = totals_values(from->f->gguf, from->tensor), at = 0;

    while (left) {
        size_t n = left < PIECE ? (size_t)left : PIECE;
        size_t size = n / (size_t)ggml_blck_size(type) * ggml_type_size(type);

        read_piece(from, data, size, at);
        widen(type, data, values, n);
        visit(s, values, n);
        at += size;
        left -= n;
    }
}

/* Sums in `mean` and `rms` what is divided later. */
static void
count(struct statistics *s, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i])) {
            s->nan++;
        } else if (isinf(x[i])) {
            s->inf++;
        } else {
            if (s->finite == 0 || x[i] < s->min)
                s->min = x[i];
            if (s->finite == 0 || x[i] > s->max)
                s->max = x[i];
            s->finite++;
            s->zeros += x[i] == 0;
            s->mean += x[i];
            s->rms += x[i] * x[i];
        }
    }
    s->n += n;
}

static void
sort_into_bins(struct statistics *s, const double *x, size_t n)
{
    double scale = s->max > s->min ? HISTOGRAM_BINS / (s->max - s->min) : 0;

    for (size_t i = 0; i < n; i++) {
        double at = (x[i] - s->min) * scale;

        if (!isfinite(x[i]))
            continue;
        if (!(at < HISTOGRAM_BINS)) /* the maximum itself */
            at = HISTOGRAM_BINS - 1;
        s->bins[(int)at]++;
    }
}

void
statistics_compute(const struct inspected *f, int64_t tensor,
                   struct statistics *out)
{
    struct source from = open_source(f, tensor);

    *out = (struct statistics){ 0 };
    each_piece(&from, count, out);
    if (out->finite) {
        out->mean /= (double)out->finite;
        out->rms = sqrt(out->rms / (double)out->finite);
        each_piece(&from, sort_into_bins, out);
    }
    if (from.fd >= 0)
        close(from.fd);
    free(from.data);
}
