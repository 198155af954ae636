/* npy.h - arrays as numpy writes them
 *
 * Format 1.0 to 3.0: magic, length and text of a header, a Python dictionary
 * with type, order and shape, then the elements. Taken are elements of f2, f4,
 * f8, i1 to i8, u1 to u8 and b1, little-endian, in C's order, and up to four
 * dimensions.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#ifndef LOGITS_NPY_H
#define LOGITS_NPY_H

#include "gg-logits/input.h"

enum {
    NPY_HEADER = 128, /* bytes of those that are written */
    NPY_DIMENSIONS = 4,
};

/* Gives the next n bytes, or complains. */
typedef enum gg_status (*npy_read)(void *from, void *out, size_t n,
                                   struct gg_error *err);

struct npy {
    npy_read read;
    void *from;
    const char *name; /* for messages: the file, or what is in it */
    char kind;        /* 'f', 'i', 'u', 'b' */
    unsigned size;    /* bytes of an element */
    int n_dims;
    uint64_t shape[NPY_DIMENSIONS]; /* 1 where there is no such dimension */
    uint64_t left;                  /* elements not read */
};

/* Reads the header. `read`, `from` and `name` are set. */
enum gg_status
npy_open(struct npy *a, struct gg_error *err);

/* The next n elements; GG_ERR_FORMAT where there are not so many, or one is
 * negative or above max, or is no float. */
enum gg_status
npy_floats(struct npy *a, float *out, size_t n, struct gg_error *err);
enum gg_status
npy_doubles(struct npy *a, double *out, size_t n, struct gg_error *err);
enum gg_status
npy_numbers(struct npy *a, uint64_t *out, size_t n, uint64_t max,
            struct gg_error *err);

/* A header for elements of that type, "<f4"; n_dims 0 is a single one. */
void
npy_header(char out[NPY_HEADER], const char *type, const uint64_t *shape,
           int n_dims);

#endif
