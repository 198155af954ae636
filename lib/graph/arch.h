/* arch.h - the families of models: a file each, a row for each architecture
 *
 * A family is declared by its line in graph/Makefile.inc alone, from which
 * graph/families.list is made: families/NAME.c defines graph_family_NAME. */
#ifndef GRAPH_ARCH_H
#define GRAPH_ARCH_H

#include "graph/drafter.h"
#include "graph/graph.h"
#include "graph/keys.h"
#include "graph/loader.h"
#include "graph/mtp.h"
#include "graph/recurrence.h"

/* An architecture. Members that are not set are as most families have them. */
struct model_arch {
    const char *name; /* general.architecture */
    /* Fills in the hyper-parameters. */
    void (*hparams)(struct model_keys *keys, struct model_hparams *hp);
    /* Finds the tensors of a layer, l->layer; their shapes follow from the
     * hyper-parameters. NULL: graph_find_usual_block. */
    void (*layer)(struct model_loader *l, struct model_layer *layer);
    /* Records a layer, n_embd x ids, or streams of these, in and out, as
     * graph_decoder() and graph_streams_decoder() want it. NULL: graph_block.
     */
    struct ggml_tensor *(*block)(struct graph *g, int32_t layer,
                                 struct ggml_tensor *x);
    /* Stands for attention in graph_streams_block(), from cur, n_embd x
     * n_tokens, to the wanted rows. NULL: the family does not use it. */
    struct ggml_tensor *(*attend)(struct graph *g, int32_t layer,
                                  struct ggml_tensor *cur);
    /* Records the computation; returns what graph_logits() does. NULL:
     * graph_decoder. */
    struct ggml_tensor *(*graph)(struct graph *g, const struct model *m);
    /* Stands in attention's place in layers with a recurrence: from cur, n_embd
     * x n_tokens, to what the layer adds, of the wanted rows. NULL: no layer
     * has one. */
    struct ggml_tensor *(*recur)(struct graph *g, int32_t layer,
                                 struct ggml_tensor *cur);
    /* RWKV's, from the normed x to what is added, n_embd x n_tokens; *v_first
     * is what the first layer leaves for those after it. NULL: it is none. */
    struct ggml_tensor *(*time_mix)(struct graph *g, int32_t layer,
                                    struct ggml_tensor *x,
                                    struct ggml_tensor **v_first);
    /* Finds what follows the layers. NULL: graph_find_head. */
    void (*head)(struct model_loader *l);
    /* Finds what stands before them, other than token_embd and position_embd;
     * NULL: nothing does. */
    void (*embedding)(struct model_loader *l);
    const char *stack;   /* prefix of layers' names: "enc."; NULL: none */
    const char *decoder; /* and of those after hp.n_encoder, counted anew */
    bool norm_bias; /* norms must have one: graph_norm_bias(); else they may */
    bool output_embeds;  /* a file without token_embd has it as the output */
    bool partial_layers; /* some have no attention or no feed-forward block */
    const struct model_mtp_kind *mtp;    /* NULL: it has no MTP layers, or of a
                                            kind that is not known */
    const struct model_drafter *drafter; /* NULL: it is a model */
};

/* NULL where there is none of that name. */
const struct model_arch *
graph_arch_find(const char *name);

/* Fails with what is known of an architecture that is none of these:
 * refused.c. */
enum gg_status
graph_arch_refuse(const struct gguf_context *gguf, const char *arch,
                  struct gg_error *err);

/* Name i of those that are refused by their name; NULL after the last. */
const char *
graph_arch_refused(size_t i);

/* Name of model number i in alphabetical order; NULL after the last. */
const char *
graph_arch_name(size_t i);

#endif
