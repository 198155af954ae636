/* packed_fit.c - shapes of weights that are quantised already: those of the
 * parts must agree */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/hf/packed.h"
#include "core/order.h"

enum {
    WORD = 32,
    MX_GROUP = 32,
    BLOCK = 128, /* of FP8, where nothing says another */
};

static void
misfit(struct hf_packed *p, const struct safetensors_tensor *part,
       const struct safetensors_tensor *t)
{
    core_json_bad(&p->how->h->here, GG_ERR_FORMAT,
                  "%s: its shape is not that of %s", part->name, t->name);
}

static size_t
parts_of(size_t n, size_t size)
{
    return n / size + (n % size != 0);
}

/* ---- blocks -------------------------------------------------------------- */

/* Scales as matrices x rows x columns. */
static bool
scale_dims(const struct hf_packed *p, const struct safetensors_tensor *t,
           size_t dims[3])
{
    const struct safetensors_tensor *s = p->scales;
    size_t d[SAFETENSORS_MAX_DIMS];
    int n = 0, skip;

    dims[0] = dims[1] = dims[2] = 1;
    if (s->n == 1)
        return true;
    /* rows x 1 x columns x 1 is a way to write rows x columns. */
    for (int i = 0; i < s->n_dims; i++)
        if (s->n_dims < 4 || s->shape[i] != 1)
            d[n++] = (size_t)s->shape[i];
    if (n < 1 || n > t->n_dims)
        return false;
    skip = 3 - t->n_dims;
    for (int i = 0; i < n; i++)
        dims[skip + i] = d[i];
    return true;
}

static bool
fits_blocks(struct hf_packed *p, const size_t dims[3], size_t rows,
            size_t columns)
{
    if (rows < 1 || columns < 1 || dims[1] != parts_of(p->rows, rows) ||
        dims[2] != parts_of(p->columns, columns))
        return false;
    p->block_rows = rows;
    p->group = columns;
    return true;
}

/* One for all, one a row or a column, or one for each block. */
static bool
find_blocks(struct hf_packed *p, const size_t dims[3])
{
    const struct hf_packing *how = p->how;
    size_t r = p->rows, c = p->columns;

    for (int i = 0; i < how->n_sizes; i++)
        if (fits_blocks(p, dims, how->sizes[i][0], how->sizes[i][1]))
            return true;
    return fits_blocks(p, dims, r, c) || fits_blocks(p, dims, 1, c) ||
           fits_blocks(p, dims, r, 1) || fits_blocks(p, dims, 1, MX_GROUP) ||
           (!how->n_sizes && fits_blocks(p, dims, BLOCK, BLOCK));
}

static void
set_steps(struct hf_packed *p, const size_t dims[3])
{
    p->n_groups = dims[2];
    p->scale_group = dims[2] > 1 ? 1 : 0;
    p->scale_row = dims[1] > 1 ? dims[2] : 0;
    p->scale_matrix = dims[0] > 1 ? dims[1] * dims[2] : 0;
}

static void
set_matrices(struct hf_packed *p, const struct safetensors_tensor *t,
             size_t each) /* values of what the last dimension counts */
{
    p->n_matrices = t->n_dims > 2 ? (size_t)t->shape[0] : 1;
    p->rows = (size_t)t->shape[t->n_dims > 2 ? 1 : 0];
    p->columns = t->n / p->n_matrices / p->rows * each;
}

void
convert_hf_fit_bytes(struct hf_packed *p, const struct safetensors_tensor *t)
{
    const struct safetensors_tensor *z = p->zeros;
    size_t dims[3];

    p->bits = 8;
    p->open = convert_hf_open_code(t->dtype);
    p->is_signed = !p->open;
    set_matrices(p, t, 1);
    if (!scale_dims(p, t, dims) || (dims[0] != 1 && dims[0] != p->n_matrices) ||
        !find_blocks(p, dims)) {
        misfit(p, p->scales, t);
        return;
    }
    set_steps(p, dims);
    if (z && (p->open || z->type != GGML_TYPE_I8 || p->n_matrices != 1 ||
              p->block_rows != 1 || z->n != p->rows * p->n_groups))
        misfit(p, z, t);
}

/* ---- four-bit floats ----------------------------------------------------- */

void
convert_hf_fit_fp4(struct hf_packed *p, const struct safetensors_tensor *t)
{
    const struct safetensors_tensor *s = p->scales, *w = p->whole;
    int last = s->n_dims - 1, before = t->n_dims == 4 ? 3 : t->n_dims - 1;

    set_matrices(p, t, 2);
    p->bits = 4;
    p->open = convert_hf_open_code("U8");
    p->block_rows = 1;
    p->n_groups = last > 0 ? (size_t)s->shape[last] : 0;
    if (s->n_dims != before + (t->n_dims != 4) || p->n_groups < 1 ||
        p->columns % p->n_groups ||
        s->n != p->n_matrices * p->rows * p->n_groups) {
        misfit(p, s, t);
        return;
    }
    for (int i = 0; i < last; i++)
        if (s->shape[i] != t->shape[i])
            misfit(p, s, t);
    p->group = p->columns / p->n_groups;
    p->scale_group = 1;
    p->scale_row = p->n_groups;
    p->scale_matrix = p->rows * p->n_groups;
    if (w && (w->type != GGML_TYPE_F32 || (w->n != 1 && w->n != p->n_matrices)))
        misfit(p, w, t);
}

/* ---- integers ------------------------------------------------------------ */

/* Columns with one scale: as the configuration says, or as many as there are
 * scales for. */
static bool
find_group(struct hf_packed *p)
{
    const struct hf_packing *how = p->how;

    p->group = 0;
    if (p->n_groups < 1 || p->n_groups > p->columns)
        return false;
    if (p->n_groups == 1)
        p->group = p->columns;
    for (int i = 0; i < how->n_sizes && !p->group; i++)
        if (parts_of(p->columns, how->sizes[i][1]) == p->n_groups)
            p->group = how->sizes[i][1];
    if (!p->group && p->columns % p->n_groups == 0)
        p->group = p->columns / p->n_groups;
    return p->group > 0;
}

/* Whether groups just follow each other; else each must be one of those that
 * there are. */
static void
find_order(struct hf_packed *p, const struct safetensors_tensor *t)
{
    const struct safetensors_tensor *o = p->order;
    bool plain = p->group > 0;
    size_t none = 0, bad = 0;

    if (!o)
        return;
    if (o->type != GGML_TYPE_I32 || o->n != p->columns || o->n_dims != 1) {
        misfit(p, o, t);
        return;
    }
    for (size_t i = 0; i < o->n; i++) {
        uint32_t g = core_load_le32(o->data + 4 * i);

        none += g == UINT32_MAX;
        bad += g >= p->n_groups;
        plain = plain && g == i / p->group;
    }
    if (plain || none == o->n)
        p->order = NULL; /* -1 throughout: compressed-tensors has set none */
    else if (bad)
        core_json_bad(&p->how->h->here, GG_ERR_FORMAT,
                      "%s: %zu columns are of no group", o->name, bad);
    else
        p->group = p->columns;
}

/* After rows, columns and n_groups. */
static void
fit_groups(struct hf_packed *p, const struct safetensors_tensor *t)
{
    bool found = find_group(p);

    p->n_matrices = p->block_rows = 1;
    if (!found && !p->order)
        misfit(p, p->scales, t);
    else
        find_order(p, t);
    if (!p->order && !found)
        misfit(p, p->scales, t);
}

/* Words for n codes; 0: their number is beyond all bounds. */
static size_t
words_of(size_t n, int bits)
{
    return n > SIZE_MAX / WORD ? 0 : parts_of(n * (size_t)bits, WORD);
}

/* The first of the configuration's widths with which n codes take `words`
 * words; 0: none. */
static int
bits_that_fit(const struct hf_packing *how, size_t n, size_t words)
{
    for (int i = 0; i < how->n_bits; i++)
        if (words_of(n, how->bits[i]) == words)
            return how->bits[i];
    return 0;
}

static int64_t
integer_at(const struct safetensors_tensor *t, size_t i)
{
    return t->type == GGML_TYPE_I64 ? (int64_t)core_load_le64(t->data + 8 * i)
                                    : (int32_t)core_load_le32(t->data + 4 * i);
}

static bool
fits_zeros(const struct hf_packed *p, size_t rows, size_t columns)
{
    const struct safetensors_tensor *z = p->zeros;

    return !z ||
           (z->type == GGML_TYPE_I32 && z->n_dims == 2 &&
            (size_t)z->shape[0] == rows && (size_t)z->shape[1] == columns);
}

/* compressed-tensors: a row is a stream; zeros are streams down the rows. */
void
convert_hf_fit_rows(struct hf_packed *p, const struct safetensors_tensor *t)
{
    const struct safetensors_tensor *s = p->scales, *shape = p->shape;
    size_t words = (size_t)t->shape[1];

    if (!shape || shape->n != 2 ||
        (shape->type != GGML_TYPE_I64 && shape->type != GGML_TYPE_I32)) {
        core_json_bad(&p->how->h->here, GG_ERR_FORMAT,
                      "%s: there is no shape of its values", t->name);
        return;
    }
    if (integer_at(shape, 0) != t->shape[0] || integer_at(shape, 1) < 1 ||
        integer_at(shape, 1) > t->shape[1] * WORD) {
        misfit(p, shape, t);
        return;
    }
    p->rows = (size_t)t->shape[0];
    p->columns = (size_t)integer_at(shape, 1);
    p->bits = bits_that_fit(p->how, p->columns, words);
    if (!p->bits) {
        misfit(p, shape, t);
        return;
    }
    p->n_groups = s->n / p->rows;
    if (s->n == 1)
        p->n_groups = 1;
    else if (s->n_dims > 2 || (size_t)s->shape[0] != p->rows)
        misfit(p, s, t);
    p->scale_row = s->n == 1 ? 0 : p->n_groups;
    p->scale_group = 1;
    fit_groups(p, t);
    if (p->zeros && p->zeros->type == GGML_TYPE_I8
            ? p->zeros->n != p->rows * p->n_groups
            : !fits_zeros(p, words_of(p->rows, p->bits), p->n_groups))
        misfit(p, p->zeros, t);
}

/* A scale for each group and row, in this order. */
static void
fit_scales_by_group(struct hf_packed *p, const struct safetensors_tensor *t)
{
    const struct safetensors_tensor *s = p->scales;

    if (s->n_dims != 2 || (size_t)s->shape[1] != p->rows) {
        misfit(p, s, t);
        return;
    }
    p->n_groups = (size_t)s->shape[0];
    p->scale_row = 1;
    p->scale_group = p->rows;
    fit_groups(p, t);
}

/* Columns are streams down the words' rows. Modules may have widths of their
 * own, which the order of columns tells. */
void
convert_hf_fit_gptq(struct hf_packed *p, const struct safetensors_tensor *t)
{
    const struct hf_packing *how = p->how;
    size_t words = (size_t)t->shape[0];

    p->rows = (size_t)t->shape[1];
    p->bits = p->order      ? bits_that_fit(how, p->order->n, words)
              : how->n_bits ? how->bits[0]
                            : 0;
    p->columns = p->order  ? p->order->n
                 : p->bits ? words * WORD / (size_t)p->bits
                           : 0;
    if (!p->bits || p->columns < 1 || words > SIZE_MAX / WORD ||
        words_of(p->columns, p->bits) != words) {
        core_json_bad(&how->h->here, GG_ERR_FORMAT,
                      "%s: has no codes of the width that is said", t->name);
        return;
    }
    p->less_one = how->less_one;
    fit_scales_by_group(p, t);
    if (!fits_zeros(p, p->n_groups, words_of(p->rows, p->bits)))
        misfit(p, p->zeros, t);
}

/* Words are of eight rows' codes of a column. */
void
convert_hf_fit_awq(struct hf_packed *p, const struct safetensors_tensor *t)
{
    p->bits = 4;
    p->columns = (size_t)t->shape[0];
    p->rows = (size_t)t->shape[1] * (WORD / 4);
    fit_scales_by_group(p, t);
    if (!fits_zeros(p, p->n_groups, (size_t)t->shape[1]))
        misfit(p, p->zeros, t);
}

#endif
