/* ggml-alloc.h - tensor and graph allocators */
#ifndef GGML_ALLOC_H
#define GGML_ALLOC_H

#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ggml_backend_buffer_type *ggml_backend_buffer_type_t;
typedef struct ggml_backend_buffer *ggml_backend_buffer_t;
typedef struct ggml_backend *ggml_backend_t;

/* Copied freely; owns nothing. */
struct ggml_tallocr {
    ggml_backend_buffer_t buffer;
    void *base;
    size_t alignment;
    size_t offset; /* of the free rest */
};

/* The graph allocator: memory is used again after the last node that needs
 * it. What is flagged as output, and what no node reads, keeps its memory;
 * inputs and leafs have theirs before anything is computed. Ops that work
 * element by element may write over a source. */
typedef struct ggml_gallocr *ggml_gallocr_t;

/* Puts tensors into a buffer one after another, from its start on. */
GGML_API struct ggml_tallocr
ggml_tallocr_new(ggml_backend_buffer_t buffer);

/* The tensor has no data and is no view. Aborts when the buffer is full;
 * fails where the buffer cannot take the tensor. */
GGML_API enum ggml_status
ggml_tallocr_alloc(struct ggml_tallocr *talloc, struct ggml_tensor *tensor);

/* Memory of one type, or of n_bufs types that are told apart by their index
 * (a type may be there twice). NULL: no memory. */
GGML_API ggml_gallocr_t
ggml_gallocr_new(ggml_backend_buffer_type_t buft);
GGML_API ggml_gallocr_t
ggml_gallocr_new_n(ggml_backend_buffer_type_t *bufts, int n_bufs);

/* Takes NULL. Frees the buffers that the graphs lie in. */
GGML_API void
ggml_gallocr_free(ggml_gallocr_t galloc);

/* Makes the memory large enough for a graph, whose tensors stay without
 * data: graphs of the same structure whose tensors are not larger are then
 * allocated without another call for memory. False: there is none. */
GGML_API bool
ggml_gallocr_reserve(ggml_gallocr_t galloc, struct ggml_cgraph *graph);

/* The sizes that ggml_gallocr_reserve_n() would lead to, one for each of the
 * n_bufs types; the first of equal types has it all. Gets no memory. */
GGML_API void
ggml_gallocr_reserve_n_size(ggml_gallocr_t galloc, struct ggml_cgraph *graph,
                            const int *node_buffer_ids,
                            const int *leaf_buffer_ids, size_t *sizes);

/* As ggml_gallocr_reserve(); the ids say which type each node and leaf goes
 * to. NULL: all to the first. */
GGML_API bool
ggml_gallocr_reserve_n(ggml_gallocr_t galloc, struct ggml_cgraph *graph,
                       const int *node_buffer_ids, const int *leaf_buffer_ids);

/* Gives every tensor of the graph that has no data its place. A graph that
 * the reservation does not serve makes the allocator reserve again, which
 * ends the life of graphs before; with several types it fails instead. */
GGML_API bool
ggml_gallocr_alloc_graph(ggml_gallocr_t galloc, struct ggml_cgraph *graph);

/* Bytes of memory that it holds of a type; 0 for one that was there before. */
GGML_API size_t
ggml_gallocr_get_buffer_size(ggml_gallocr_t galloc, int buffer_id);

/* Bytes that the next one needs. */
GGML_API size_t
ggml_backend_alloc_ctx_tensors_from_buft_size(struct ggml_context *ctx,
                                              ggml_backend_buffer_type_t buft);

/* A buffer, or several as one, for all tensors of a context with no_alloc
 * that have no data yet, which lie there then. The caller's to free. NULL:
 * nothing to allocate, or no memory. */
GGML_API struct ggml_backend_buffer *
ggml_backend_alloc_ctx_tensors_from_buft(struct ggml_context *ctx,
                                         ggml_backend_buffer_type_t buft);

/* In the back end's own type of memory. */
GGML_API struct ggml_backend_buffer *
ggml_backend_alloc_ctx_tensors(struct ggml_context *ctx,
                               ggml_backend_t backend);

#ifdef __cplusplus
}
#endif

#endif
