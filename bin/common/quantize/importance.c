/* importance.c - an importance matrix: how much columns of weights matter */
#include <config.h>

#include "common/quantize/importance.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of a mean square: quantisers' sums of weighted squares stay finite. */
static const float most = 1e20f;

static const char sums_end[] = ".in_sum2", counts_end[] = ".counts";

/* "path: sentence"; of a long path the end. */
__attribute__((format(printf, 3, 4))) static enum gg_status
bad_importance(const struct importance *m, struct gg_error *err,
               const char *fmt, ...)
{
    enum {
        MOST = 200
    };
    size_t n = strlen(m->path), cut = n > MOST ? n - MOST : 0;
    size_t room = sizeof(err->message);
    int head;
    va_list ap;

    if (!err)
        return GG_ERR_FORMAT;
    head =
        snprintf(err->message, room, "%s%s: ", cut ? "..." : "", m->path + cut);
    va_start(ap, fmt);
    vsnprintf(err->message + head, room - (size_t)head, fmt, ap);
    va_end(ap);
    return GG_ERR_FORMAT;
}

/* The name as it is shown. */
static const char *
tensor_name(const struct gguf_context *gguf, int64_t id,
            char buf[4 * GGML_MAX_NAME])
{
    const char *name = gguf_get_tensor_name(gguf, id);

    return gg_escape(buf, 4 * GGML_MAX_NAME, name, strlen(name));
}

/* ---- the file ------------------------------------------------------------ */

static bool
is_importance(const struct gg_file *file)
{
    static const char type[] = "imatrix";
    const struct gguf_context *gguf = gg_file_gguf(file);
    int64_t id = gguf_find_key(gguf, "general.type");

    return strcmp(gg_file_format(file), "GGUF") == 0 && id >= 0 &&
           gguf_get_kv_type(gguf, id) == GGUF_TYPE_STRING &&
           gguf_get_val_str_len(gguf, id) == strlen(type) &&
           memcmp(gguf_get_val_str(gguf, id), type, strlen(type)) == 0;
}

static float
float_at(const struct importance *m, int64_t id, int64_t i)
{
    float v;

    memcpy(&v, (const char *)gg_file_data(m->file, id) + i * (int64_t)sizeof(v),
           sizeof(v));
    return v;
}

static bool
ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);

    return n >= k && strcmp(name + n - k, end) == 0;
}

/* The tensor of the same name with the other end, or -1. */
static int64_t
other_of(const struct gguf_context *gguf, const char *name, const char *end,
         const char *other)
{
    char all[GGML_MAX_NAME + sizeof(sums_end)];

    snprintf(all, sizeof(all), "%.*s%s", (int)(strlen(name) - strlen(end)),
             name, other);
    return gguf_find_tensor(gguf, all);
}

static enum gg_status
check_shapes(const struct importance *m, int64_t sums, int64_t counts,
             struct gg_error *err)
{
    const struct gguf_context *gguf = gg_file_gguf(m->file);
    const int64_t ids[] = { sums, counts };
    const int64_t *ne = gguf_get_tensor_ne(gguf, sums);
    const int64_t *nc = gguf_get_tensor_ne(gguf, counts);
    char name[4 * GGML_MAX_NAME];

    for (int i = 0; i < 2; i++)
        if (gguf_get_tensor_type(gguf, ids[i]) != GGML_TYPE_F32)
            return bad_importance(m, err, "%s: not of type f32",
                                  tensor_name(gguf, ids[i], name));
    if (ne[2] != 1 || ne[3] != 1)
        return bad_importance(m, err, "%s: more than two dimensions",
                              tensor_name(gguf, sums, name));
    if (nc[0] != 1 || nc[1] != ne[1] || nc[2] != 1 || nc[3] != 1)
        return bad_importance(m, err, "%s is not 1 x %lld, as its sums want",
                              tensor_name(gguf, counts, name),
                              (long long)ne[1]);
    return GG_OK;
}

static enum gg_status
check_number(const struct importance *m, int64_t id, float v,
             struct gg_error *err)
{
    char name[4 * GGML_MAX_NAME];

    if (v >= 0 && !isinf(v))
        return GG_OK;
    return bad_importance(m, err, "%s: %g is no sum of squares, and no count",
                          tensor_name(gg_file_gguf(m->file), id, name),
                          (double)v);
}

static enum gg_status
check_numbers(const struct importance *m, int64_t sums, int64_t counts,
              struct gg_error *err)
{
    const struct gguf_context *gguf = gg_file_gguf(m->file);
    const int64_t *ne = gguf_get_tensor_ne(gguf, sums);
    enum gg_status st = GG_OK;
    char name[4 * GGML_MAX_NAME];

    for (int64_t i = 0; i < ne[1] && st == GG_OK; i++) {
        float n = float_at(m, counts, i);

        st = check_number(m, counts, n, err);
        for (int64_t j = 0; j < ne[0] && st == GG_OK; j++) {
            float v = float_at(m, sums, i * ne[0] + j);

            st = check_number(m, sums, v, err);
            if (st == GG_OK && n > 0 && v / n > most)
                st = bad_importance(m, err, "%s: %g / %g is too much",
                                    tensor_name(gguf, sums, name), (double)v,
                                    (double)n);
        }
    }
    return st;
}

/* Sums and their counts go together; what else is in the file is not asked. */
static enum gg_status
check_tensor(const struct importance *m, int64_t id, struct gg_error *err)
{
    const struct gguf_context *gguf = gg_file_gguf(m->file);
    const char *name = gguf_get_tensor_name(gguf, id);
    char shown[4 * GGML_MAX_NAME];
    enum gg_status st;
    int64_t other;

    if (ends_with(name, counts_end)) {
        if (other_of(gguf, name, counts_end, sums_end) < 0)
            return bad_importance(m, err, "%s: its %s are missing",
                                  tensor_name(gguf, id, shown), sums_end);
        return GG_OK;
    }
    if (!ends_with(name, sums_end))
        return GG_OK;
    other = other_of(gguf, name, sums_end, counts_end);
    if (other < 0)
        return bad_importance(m, err, "%s: its %s are missing",
                              tensor_name(gguf, id, shown), counts_end);
    st = check_shapes(m, id, other, err);
    return st == GG_OK ? check_numbers(m, id, other, err) : st;
}

enum gg_status
importance_open(struct importance *m, const char *path, struct gg_error *err)
{
    enum gg_status st;

    *m = (struct importance){ .path = path };
    st = gg_file_open(path, &m->file, err);
    if (st != GG_OK)
        return st;
    if (!is_importance(m->file))
        st = bad_importance(m, err,
                            "not an importance matrix: general.type is not "
                            "\"imatrix\"");
    for (int64_t i = 0;
         st == GG_OK && i < gguf_get_n_tensors(gg_file_gguf(m->file)); i++)
        st = check_tensor(m, i, err);
    if (st != GG_OK)
        importance_close(m);
    return st;
}

void
importance_close(struct importance *m)
{
    gg_file_close(m->file);
    m->file = NULL;
}

/* ---- tensors of a model -------------------------------------------------- */

/* -1: it is not there. */
static int64_t
find_entry(const struct importance *m, const char *name, const char *end)
{
    char all[2 * GGML_MAX_NAME];

    snprintf(all, sizeof(all), "%s%s", name, end);
    return gguf_find_tensor(gg_file_gguf(m->file), all);
}

enum gg_status
importance_find(const struct importance *m, const struct gguf_context *gguf,
                int64_t tensor, bool *has, struct gg_error *err)
{
    const char *name = gguf_get_tensor_name(gguf, tensor);
    const int64_t *want = gguf_get_tensor_ne(gguf, tensor), *ne;
    int64_t id = m->file ? find_entry(m, name, sums_end) : -1;
    char shown[4 * GGML_MAX_NAME], wants[4 * GGML_MAX_NAME];

    *has = id >= 0;
    if (!*has)
        return GG_OK;
    ne = gguf_get_tensor_ne(gg_file_gguf(m->file), id);
    if (ne[0] == want[0] && ne[1] == want[2] * want[3])
        return GG_OK;
    return bad_importance(m, err, "%s is %lld x %lld, but %s wants %lld x %lld",
                          tensor_name(gg_file_gguf(m->file), id, shown),
                          (long long)ne[0], (long long)ne[1],
                          tensor_name(gguf, tensor, wants), (long long)want[0],
                          (long long)(want[2] * want[3]));
}

enum gg_status
importance_weights(const struct importance *m, const struct gguf_context *gguf,
                   int64_t tensor, float **out, struct gg_error *err)
{
    const char *name = gguf_get_tensor_name(gguf, tensor);
    const int64_t *ne = gguf_get_tensor_ne(gguf, tensor);
    int64_t n = ne[2] * ne[3], sums, counts;
    bool has;
    enum gg_status st = importance_find(m, gguf, tensor, &has, err);

    *out = NULL;
    if (st != GG_OK || !has)
        return st;
    sums = find_entry(m, name, sums_end);
    counts = find_entry(m, name, counts_end);
    *out = malloc(gguf_get_tensor_size(gg_file_gguf(m->file), sums));
    if (!*out) {
        (void)bad_importance(m, err, "out of memory");
        return GG_ERR_NOMEM;
    }
    for (int64_t i = 0; i < n; i++) {
        float count = float_at(m, counts, i), *w = *out + i * ne[0];

        for (int64_t j = 0; j < ne[0]; j++)
            w[j] = count > 0 ? float_at(m, sums, i * ne[0] + j) / count : 1;
    }
    return GG_OK;
}

enum gg_status
importance_count(const struct importance *m, const struct gguf_context *gguf,
                 int32_t *n, struct gg_error *err)
{
    *n = 0;
    for (int64_t i = 0; i < gguf_get_n_tensors(gguf); i++) {
        bool has;
        enum gg_status st = importance_find(m, gguf, i, &has, err);

        if (st != GG_OK)
            return st;
        *n += has;
    }
    return *n ? GG_OK
              : bad_importance(m, err, "no tensor of the model is in it");
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
