/* npy.h - arrays as NumPy writes them
 *
 * Format 1.0 to 3.0: magic, length and text of a header, a Python dictionary
 * with type, order and shape, then the elements. Taken are elements of f2, f4
 * and f8, little-endian, in C's order, and up to four dimensions.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#ifndef COMMON_NPY_H
#define COMMON_NPY_H

#include <gg.h>
#include <ggml.h>

enum {
    NPY_HEADER = 192, /* bytes of those that are written, at most */
    NPY_DIMENSIONS = 4,
};

/* Gives the next n bytes, or complains. */
typedef enum gg_status (*npy_read)(void *from, void *out, size_t n,
                                   struct gg_error *err);

struct npy {
    npy_read read;
    void *from;
    const char *name; /* for messages: the file */
    unsigned size;    /* bytes of an element */
    int n_dims;
    uint64_t shape[NPY_DIMENSIONS]; /* 1 where there is no such dimension */
    uint64_t left;                  /* elements not read */
};

/* Reads the header. `read`, `from` and `name` are set. */
enum gg_status
npy_open(struct npy *a, struct gg_error *err);

/* The next n elements; GG_ERR_FORMAT where there are fewer, or one is no float.
 */
enum gg_status
npy_floats(struct npy *a, float *out, size_t n, struct gg_error *err);

/* "<f2": what NumPy calls the type; NULL: it has none such. */
const char *
npy_type(enum ggml_type type);

/* All before the data, of elements of that type, "<f4"; the last dimension is
 * the one whose neighbours lie side by side; n_dims 0 is a single element.
 * Returns its length, a multiple of 64. */
size_t
npy_header(char out[NPY_HEADER], const char *type, const uint64_t *shape,
           int n_dims);

/* Writes npy_header() to a stream, from dimensions in ggml's order. */
void
npy_head(FILE *f, const char *type, const int64_t *ne, int n_dims);

#endif
