/* context.h - a context is a pool in which objects lie one after another
 *
 * An object is a header and its bytes, both multiples of GGML_MEM_ALIGN, so
 * that n tensors without data need exactly n * ggml_tensor_overhead(). */
#ifndef TENSOR_CONTEXT_H
#define TENSOR_CONTEXT_H

#include <ggml.h>

struct ggml_object {
    size_t offs, size; /* of the bytes, in the pool */
    struct ggml_object *next;
    enum ggml_object_type type;
    char padding[4];
};

struct ggml_context {
    char *mem;
    size_t mem_size;
    bool owned, no_alloc;
    struct ggml_object *first, *last;
};

/* Adds an object to the end of the pool and returns its bytes, which hold
 * whatever was there before. Aborts when the pool is full: its size is the
 * caller's arithmetic. */
void *
tensor_context_new_object(struct ggml_context *ctx, enum ggml_object_type type,
                          size_t size);

#endif
