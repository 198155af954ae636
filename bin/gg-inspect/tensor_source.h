/* tensor_source.h - the data of a tensor, wherever it lies, in bounded memory
 *
 * Several threads may read tensors of one file. Where a tensor has to be made
 * of others (a folder of Hugging Face), they wait for each other so that what
 * is in memory is no more than the largest one. All end the tool where the data
 * cannot be read. */
#ifndef INSPECT_TENSOR_SOURCE_H
#define INSPECT_TENSOR_SOURCE_H

#include "gg-inspect/inspect.h"

struct tensor_source {
    struct inspected *f;
    int64_t tensor;
    const char *path; /* of the file, or shard */
    int fd;           /* -1: the data is in memory */
    char *made;       /* that; NULL: in the file's mapping */
    size_t size;      /* bytes of the data */
};

void
tensor_source_open(struct tensor_source *s, struct inspected *f,
                   int64_t tensor);
/* Whole blocks, from the beginning of one. */
void
tensor_source_read(const struct tensor_source *s, void *data, size_t size,
                   uint64_t offset);
/* Bytes of the whole blocks that fit in `size` bytes. */
size_t
tensor_source_whole(const struct tensor_source *s, size_t size);
void
tensor_source_close(struct tensor_source *s);

enum {
    VALUES_PIECE = 1 << 14, /* values at a time; a multiple of every block */
};

/* A tensor's values as numbers, one piece after the other. */
struct values {
    struct tensor_source from;
    enum ggml_type type;
    uint64_t n, at; /* all, and how many are after us */
    char *data;     /* scratch */
    float *floats;  /* scratch */
    double *x;      /* the piece */
};

/* True if values of this type can be turned into numbers. */
bool
values_known(enum ggml_type type);

/* Its type must be known. */
void
values_open(struct values *v, struct inspected *f, int64_t tensor);
/* The next piece lies in v->x; returns how many there are, 0 at the end. */
size_t
values_next(struct values *v);
/* From the first one again. */
void
values_rewind(struct values *v);
void
values_close(struct values *v);

#endif
