/* context.h - a context is a pool in which objects lie one after another
 *
 * An object is a header and its bytes, both multiples of GGML_MEM_ALIGN, so
 * that n tensors without data need exactly n * ggml_tensor_overhead(). */
#ifndef TENSOR_CONTEXT_H
#define TENSOR_CONTEXT_H

#include <ggml.h>

/* A tensor of a pool, so long that its data follow it aligned. */
#define TENSOR_BYTES                                                           \
    GGML_PAD(sizeof(struct ggml_tensor), (size_t)GGML_MEM_ALIGN)

struct ggml_object {
    _Alignas(GGML_MEM_ALIGN) size_t offs; /* of the bytes, in the pool */
    size_t size;
    struct ggml_object *next;
    enum ggml_object_type type;
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
