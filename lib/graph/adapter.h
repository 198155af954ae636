/* adapter.h - what changes a model without being part of it: LoRA adapters (Hu
 * et al. 2021), control vectors
 *
 * Adapters lie next to the model's weights, on the device of each tensor that
 * they change. Whether one counts, and how much, is said for each sequence: a
 * number for each adapter, its scale; 0: it does not. Ids that were evaluated
 * with other scales have other keys and values. */
#ifndef GRAPH_ADAPTER_H
#define GRAPH_ADAPTER_H

#include "graph/loader.h"

/* A change to a tensor of the model: y = W x + scale * b (a x). Without b, a is
 * in W's place. */
struct model_change {
    const struct ggml_tensor *of;
    struct ggml_tensor *a, *b;
    float scale;
};

struct model_adapter {
    const struct model_adapter_file *file;
    struct model_change *changes; /* in the order of `of` */
    size_t n_changes;
    struct model_change embedding;   /* of rows that are looked up; or empty */
    struct ggml_tensor **directions; /* n_layer, of which some are NULL; NULL:
                                        of LoRA */
    struct ggml_context *ctx[MODEL_MAX_HOMES];
    struct ggml_context *elsewhere; /* of what changes tensors that other
                                       processes have */
    struct model_buffers buffers;
};

/* Finds what the files of l->model change of it, after all its own tensors. */
enum gg_status
graph_adapters_find(struct model_loader *l);

/* Takes a model without any. Their buffers are the caller's to free. */
void
graph_adapters_free(struct model *m);

/* Bytes of all of them. */
uint64_t
graph_adapters_size(const struct model *m);
uint64_t
graph_adapters_size_at(const struct model *m, int home);

/* Nodes that a graph has for them at most. */
size_t
graph_adapters_max_nodes(const struct model *m);

/* A number that tells adapters apart. */
uint64_t
graph_adapter_fingerprint(const struct model_adapter *adapter);

/* A number that tells apart files other than the model's own, and their
 * scales. */
uint64_t
graph_files_fingerprint(const struct model_files *files);

/* Whether the scales, one an adapter, are the same. */
bool
graph_adapters_same(const struct model *m, const float *a, const float *b);

#endif
