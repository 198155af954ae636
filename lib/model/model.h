/* model.h - weights of one model, wherever a device wants them */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <ggml-backend.h>

#include "gguf/reader.h"
#include "model/hparams.h"

/* y = scale * weight x + bias; `bias` may be NULL, `scale` is 1 where the file
 * gives none. weight: n_in x n_out. */
struct model_linear {
    struct ggml_tensor *weight, *bias;
    float scale;
};

/* weight * norm(x) + bias; `bias` may be NULL. */
struct model_norm {
    struct ggml_tensor *weight, *bias;
};

/* Experts' matrices, one behind the other. weight: n_in x n_out x n_expert;
 * bias: n_out x n_expert, or NULL; scales, of each expert's product: n_expert,
 * or NULL. */
struct model_experts {
    struct ggml_tensor *weight, *bias, *scales;
};

/* Rotary positions as the layers apply them. */
struct model_rope {
    struct rope_params params;
    float scale;                       /* positions are multiplied by it */
    float magnitude;                   /* and the rotated by this */
    struct ggml_tensor *divisors;      /* of each pair's angle; or NULL */
    struct ggml_tensor *divisors_long; /* where the context is longer than
                                          n_ctx_orig; or NULL: the same */
};

/* One transformer block. A family uses what it has, and leaves the rest NULL.
 */
struct model_layer {
    bool windowed; /* attention sees the last hp.window keys only */
    const struct model_rope *rope; /* NULL: queries and keys do not turn */

    struct model_norm attn_norm, attn_norm_2;
    struct model_linear attn_qkv; /* queries, keys, values in one; or */
    struct model_linear attn_q, attn_k, attn_v;
    struct model_norm attn_q_norm, attn_k_norm; /* of a head, or of all */
    struct ggml_tensor *attn_sinks; /* a logit a head that no key stands for */
    struct model_linear attn_output;
    struct model_norm attn_post_norm;

    struct model_norm ffn_norm;
    struct model_linear ffn_gate, ffn_up, ffn_down;
    struct model_norm ffn_post_norm;

    struct model_linear router; /* n_embd x n_expert */
    struct model_experts experts_gate, experts_up, experts_down;
    struct model_linear shared_router; /* n_embd x 1 */
    struct model_linear shared_gate, shared_up, shared_down;
};

struct model_arch;

/* Immutable once loaded; any number of sessions may use it. */
struct model {
    const struct gguf_file *file;
    const struct model_arch *arch;
    struct model_hparams hp;
    struct ggml_tensor *token_embd;    /* n_embd x n_vocab */
    struct ggml_tensor *position_embd; /* n_embd x n_ctx_train; or NULL */
    struct ggml_tensor *token_types;   /* n_embd x kinds of text; or NULL */
    struct model_norm embd_norm;       /* of the embeddings' sum; or empty */
    struct model_rope rope;            /* of most layers */
    struct model_rope rope_local;      /* of windowed ones, where they differ */
    struct model_layer *layers;        /* hp.n_layer */
    struct model_norm output_norm;     /* encoders have none, */
    struct model_linear output; /* and none of these; may share token_embd */

    /* The device holds and computes the layers from first_layer on and the
     * output, the host (the CPU) what is before; they may be the same. What
     * the device cannot compute with is the host's, too. */
    ggml_backend_dev_t device, host;
    bool named; /* the device was asked for, by name */
    int32_t first_layer;
    char note[256];                 /* where the layers went; or empty */
    ggml_backend_buffer_t *buffers; /* n_buffers of weights; some are NULL */
    size_t n_buffers;
    struct ggml_context *ctx;      /* of the device's tensors above, */
    struct ggml_context *host_ctx; /* and of those that are the host's */
    struct ggml_context *made_ctx; /* of tensors that no file has */
    ggml_backend_buffer_t made;    /* and their buffer */
};

/* Takes the weights out of the parsed file, with all its shards: they stay in
 * its mappings where the device can compute there, and are copied to it
 * otherwise. A device that was not asked for by name and fails is done without,
 * and the note says so. The file must outlive the model. */
enum gg_status
model_load(const struct gguf_file *file, ggml_backend_dev_t device,
           const struct gg_model_params *params, struct model **out,
           struct gg_error *err);

/* The same weights, all of them on the CPU. */
enum gg_status
model_on_cpu(const struct model *model, struct model **out,
             struct gg_error *err);

/* Whether the CPU takes over where the device has failed with this status. */
static inline bool
model_can_move(const struct model *m, enum gg_status st)
{
    return (st == GG_ERR_IO || st == GG_ERR_NOMEM) && m->device != m->host &&
           !m->named;
}

static inline ggml_backend_dev_t
model_device_of(const struct model *m, int32_t layer)
{
    return layer >= m->first_layer ? m->device : m->host;
}

/* Takes NULL. */
void
model_free(struct model *model);

#endif
