/* adapter.h - what changes a model without being part of it: LoRA adapters (Hu
 * et al. 2021), control vectors
 *
 * Adapters lie beside the model's weights, on the device of each tensor that
 * they change. Whether one counts, and how much, is said for each sequence: a
 * number for each adapter, its scale; 0: it does not. Ids that were evaluated
 * with other scales have other keys and values. */
#ifndef MODEL_ADAPTER_H
#define MODEL_ADAPTER_H

#include "model/loader.h"

/* Of a tensor of the model: y = W x + scale * b (a x). Without b, a is in its
 * place. */
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
model_adapters_find(struct model_loader *l);

/* Gives their tensors data. */
enum gg_status
model_adapters_place(struct model *m, const struct gg_model_params *params,
                     model_home_set *failed, struct gg_error *err);

/* Fails where a graph of the model would not look at one of them. */
enum gg_status
model_adapters_check(const struct model *m, struct gg_error *err);

void
model_adapters_free(struct model *m); /* takes a model without any */

/* Bytes of all of them. */
uint64_t
model_adapters_size(const struct model *m);
uint64_t
model_adapters_size_at(const struct model *m, int home);

/* Nodes that a graph has for them at most. */
size_t
model_adapters_max_nodes(const struct model *m);

/* A number that tells adapters apart. */
uint64_t
model_adapter_fingerprint(const struct model_adapter *adapter);

/* The same of all files beside the model's own, and of their scales. */
uint64_t
model_files_fingerprint(const struct model_files *files);

/* Whether the scales, one an adapter, are the same. */
bool
model_adapters_same(const struct model *m, const float *a, const float *b);

#endif
