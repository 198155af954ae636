/* model.h - weights of one model, wherever a device wants them */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <ggml-backend.h>

#include "gguf/reader.h"
#include "model/hparams.h"

/* y = weight x + bias; `bias` may be NULL. weight: n_in x n_out. */
struct model_linear {
    struct ggml_tensor *weight, *bias;
};

/* weight * norm(x) + bias; `bias` may be NULL. */
struct model_norm {
    struct ggml_tensor *weight, *bias;
};

/* One transformer block. A family uses what it has, and leaves the rest NULL.
 */
struct model_layer {
    bool windowed; /* attention sees the last hp.window keys only */
    struct model_norm attn_norm;
    struct model_linear attn_qkv; /* queries, keys, values in one; or */
    struct model_linear attn_q, attn_k, attn_v;
    struct model_linear attn_output;
    struct model_norm ffn_norm;
    struct model_linear ffn_gate, ffn_up, ffn_down;
};

struct model_arch;

/* Immutable once loaded; any number of sessions may use it. */
struct model {
    const struct model_arch *arch;
    struct model_hparams hp;
    struct ggml_tensor *token_embd;    /* n_embd x n_vocab */
    struct ggml_tensor *position_embd; /* n_embd x n_ctx_train; or NULL */
    struct ggml_tensor *rope_freqs;    /* divisors of frequencies; or NULL */
    struct model_layer *layers;        /* hp.n_layer */
    struct model_norm output_norm;
    struct model_linear output; /* may share token_embd */

    ggml_backend_dev_t device;      /* that holds the weights and computes */
    ggml_backend_buffer_t *buffers; /* n_buffers of weights; some are NULL */
    size_t n_buffers;
    struct ggml_context *ctx; /* of the tensors above */
};

/* Takes the weights out of the parsed file, with all its shards: they stay in
 * its mappings where the device can compute there, and are copied to it
 * otherwise. The file must outlive the model. */
enum gg_status
model_load(const struct gguf_file *file, ggml_backend_dev_t device,
           struct model **out, struct gg_error *err);

/* Takes NULL. */
void
model_free(struct model *model);

#endif
