/* arch.h - the families of models: a line in the table, a file each */
#ifndef MODEL_ARCH_H
#define MODEL_ARCH_H

#include "model/graph.h"
#include "model/loader.h"

struct model_arch {
    const char *name; /* general.architecture */
    /* Fills in the hyper-parameters. */
    void (*hparams)(struct model_keys *keys, struct model_hparams *hp);
    /* Finds the tensors; their shapes follow from the hyper-parameters. */
    void (*weights)(struct model_loader *l, struct model *m);
    /* Records the computation; returns the logits. */
    struct ggml_tensor *(*graph)(struct graph *g, const struct model *m);
};

extern const struct model_arch model_arch_gpt2;
extern const struct model_arch model_arch_llama;

/* NULL where there is none of that name. */
const struct model_arch *
model_arch_find(const char *name);

/* "gpt2, llama" */
void
model_arch_list(char *buf, size_t size);

#endif
