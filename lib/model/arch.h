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
};

extern const struct model_arch model_arch_bert;
extern const struct model_arch model_arch_falcon;
extern const struct model_arch model_arch_gemma;
extern const struct model_arch model_arch_gemma2;
extern const struct model_arch model_arch_gemma3;
extern const struct model_arch model_arch_gpt_oss;
extern const struct model_arch model_arch_gpt2;
extern const struct model_arch model_arch_gptj;
extern const struct model_arch model_arch_gptneox;
extern const struct model_arch model_arch_granite;
extern const struct model_arch model_arch_llama;
extern const struct model_arch model_arch_nomic_bert;
extern const struct model_arch model_arch_olmo2;
extern const struct model_arch model_arch_phi2;
extern const struct model_arch model_arch_phi3;
extern const struct model_arch model_arch_qwen2;
extern const struct model_arch model_arch_qwen2moe;
extern const struct model_arch model_arch_qwen3;
extern const struct model_arch model_arch_qwen3moe;
extern const struct model_arch model_arch_smollm3;
extern const struct model_arch model_arch_starcoder2;

/* NULL where there is none of that name. */
const struct model_arch *
model_arch_find(const char *name);

/* "gpt2, llama" */
void
model_arch_list(char *buf, size_t size);

#endif
