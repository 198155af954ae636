/* arch.h - the families of models: a line in the table, a file each */
#ifndef MODEL_ARCH_H
#define MODEL_ARCH_H

#include "model/graph.h"
#include "model/loader.h"

struct model_arch {
    const char *name;          /* general.architecture */
    enum model_need norm_bias; /* of output_norm */
    /* Fills in the hyper-parameters. */
    void (*hparams)(struct model_keys *keys, struct model_hparams *hp);
    /* Finds the tensors of a layer, l->layer; their shapes follow from the
     * hyper-parameters. */
    void (*layer)(struct model_loader *l, struct model_layer *layer);
    /* Records the computation; returns what model_graph_logits()
     * does. */
    struct ggml_tensor *(*graph)(struct graph *g, const struct model *m);
    /* Finds what is behind the layers: model_find_head; NULL: nothing is. */
    void (*head)(struct model_loader *l);
    /* Finds what stands before them, beside token_embd and position_embd; NULL:
     * nothing does. */
    void (*embedding)(struct model_loader *l);
    bool partial_layers; /* some have no attention or no feed-forward block */
};

/* All of them, in the order of their names. */
#define MODEL_ARCHS(X)                                                         \
    X(bailingmoe)                                                              \
    X(bailingmoe2)                                                             \
    X(bert)                                                                    \
    X(dbrx)                                                                    \
    X(deepseek)                                                                \
    X(dots1)                                                                   \
    X(ernie4_5_moe)                                                            \
    X(falcon)                                                                  \
    X(gemma)                                                                   \
    X(gemma2)                                                                  \
    X(gemma3)                                                                  \
    X(glm4moe)                                                                 \
    X(gemma3n)                                                                 \
    X(gemma4)                                                                  \
    X(gpt2)                                                                    \
    X(gpt_oss)                                                                 \
    X(gptj)                                                                    \
    X(gptneox)                                                                 \
    X(granite)                                                                 \
    X(hunyuan_moe)                                                             \
    X(llama)                                                                   \
    X(minimax_m2)                                                              \
    X(nomic_bert)                                                              \
    X(olmo2)                                                                   \
    X(olmoe)                                                                   \
    X(phi2)                                                                    \
    X(phi3)                                                                    \
    X(phimoe)                                                                  \
    X(qwen2)                                                                   \
    X(qwen2moe)                                                                \
    X(qwen3)                                                                   \
    X(qwen3moe)                                                                \
    X(smollm3)                                                                 \
    X(starcoder2)                                                              \
    /* the end */

#define MODEL_ARCH_DECLARE(name)                                               \
    extern const struct model_arch model_arch_##name;
MODEL_ARCHS(MODEL_ARCH_DECLARE)
#undef MODEL_ARCH_DECLARE

/* NULL where there is none of that name. */
const struct model_arch *
model_arch_find(const char *name);

/* "gpt2, llama" */
void
model_arch_list(char *buf, size_t size);

#endif
