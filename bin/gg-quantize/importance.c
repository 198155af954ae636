/* importance.c - an importance matrix: how much columns of weights matter */
#include <config.h>

#include "gg-quantize/importance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

void
importance_open(struct importance *m, const char *path)
{
    static const char type[] = "imatrix";
    const struct gguf_context *gguf;
    struct gg_error err;
    int64_t id;

    m->path = path;
    cli_check(gg_file_open(path, &m->file, &err), &err);
    gguf = gg_file_gguf(m->file);
    id = gguf_find_key(gguf, "general.type");
    if (id < 0 || gguf_get_kv_type(gguf, id) != GGUF_TYPE_STRING ||
        gguf_get_val_str_len(gguf, id) != strlen(type) ||
        memcmp(gguf_get_val_str(gguf, id), type, strlen(type)) != 0)
        cli_die("%s: not an importance matrix: general.type is not \"%s\"",
                path, type);
}

void
importance_close(struct importance *m)
{
    if (m->file)
        gg_file_close(m->file);
}

/* -1: it is not there. */
static int64_t
find(const struct importance *m, const char *name, const char *what)
{
    char all[2 * GGML_MAX_NAME];

    snprintf(all, sizeof(all), "%s%s", name, what);
    return gguf_find_tensor(gg_file_gguf(m->file), all);
}

static void
check_shape(const struct importance *m, const char *name, int64_t id,
            int64_t columns, int64_t matrices)
{
    const struct gguf_context *gguf = gg_file_gguf(m->file);
    const int64_t *ne = gguf_get_tensor_ne(gguf, id);

    if (gguf_get_tensor_type(gguf, id) != GGML_TYPE_F32)
        cli_die("%s: %s: not of type f32", m->path,
                gguf_get_tensor_name(gguf, id));
    if (ne[0] != columns || ne[1] != matrices || ne[2] != 1 || ne[3] != 1)
        cli_die("%s: %s is %lld x %lld, but %s wants %lld x %lld", m->path,
                gguf_get_tensor_name(gguf, id), (long long)ne[0],
                (long long)(ne[1] * ne[2] * ne[3]), name, (long long)columns,
                (long long)matrices);
}

bool
importance_has(const struct importance *m, const struct gguf_context *gguf,
               int64_t tensor)
{
    const char *name = gguf_get_tensor_name(gguf, tensor);
    const int64_t *ne = gguf_get_tensor_ne(gguf, tensor);
    int64_t sums, counts;

    if (!m->file)
        return false;
    sums = find(m, name, ".in_sum2");
    if (sums < 0)
        return false;
    counts = find(m, name, ".counts");
    if (counts < 0)
        cli_die("%s: %s.counts is missing", m->path, name);
    check_shape(m, name, sums, ne[0], ne[2] * ne[3]);
    check_shape(m, name, counts, 1, ne[2] * ne[3]);
    return true;
}

static float *
copy_of(const struct importance *m, int64_t id)
{
    size_t size = gguf_get_tensor_size(gg_file_gguf(m->file), id);
    float *p = cli_alloc(NULL, size, 1);

    gg_file_read(m->file, id, p);
    return p;
}

static void
check_number(const struct importance *m, int64_t id, float v)
{
    if (!(v >= 0) || isinf(v))
        cli_die("%s: %s: %g is no sum of squares, and no count", m->path,
                gguf_get_tensor_name(gg_file_gguf(m->file), id), (double)v);
}

float *
importance_weights(const struct importance *m, const struct gguf_context *gguf,
                   int64_t tensor)
{
    const char *name = gguf_get_tensor_name(gguf, tensor);
    const int64_t *ne = gguf_get_tensor_ne(gguf, tensor);
    int64_t at_sums = find(m, name, ".in_sum2");
    int64_t at_counts = find(m, name, ".counts");
    float *sums = copy_of(m, at_sums), *counts = copy_of(m, at_counts);

    for (int64_t i = 0; i < ne[2] * ne[3]; i++) {
        float *w = sums + i * ne[0];

        check_number(m, at_counts, counts[i]);
        for (int64_t j = 0; j < ne[0]; j++) {
            check_number(m, at_sums, w[j]);
            w[j] = counts[i] > 0 ? w[j] / counts[i] : 1;
        }
    }
    free(counts);
    return sums;
}

int32_t
importance_count(const struct importance *m, const struct gguf_context *gguf)
{
    int32_t n = 0;

    for (int64_t i = 0; i < gguf_get_n_tensors(gguf); i++)
        n += importance_has(m, gguf, i);
    if (n == 0)
        cli_die("%s: no tensor of the model is in it", m->path);
    return n;
}

/* The keys that llama.cpp's quantize writes. */
void
importance_describe(const struct importance *m, struct gguf_context *to,
                    int32_t count)
{
    const struct gguf_context *gguf = gg_file_gguf(m->file);
    int64_t id = gguf_find_key(gguf, "imatrix.chunk_count");

    gguf_set_val_str(to, "quantize.imatrix.file", m->path);
    gguf_set_val_u32(to, "quantize.imatrix.entries_count", (uint32_t)count);
    if (id >= 0 && gguf_get_kv_type(gguf, id) == GGUF_TYPE_UINT32)
        gguf_set_val_u32(to, "quantize.imatrix.chunks_count",
                         gguf_get_val_u32(gguf, id));
}
