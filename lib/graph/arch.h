/* arch.h - the families of models: a line in the table, a file each */
#ifndef GRAPH_ARCH_H
#define GRAPH_ARCH_H

#include "graph/graph.h"
#include "graph/loader.h"
#include "graph/mtp.h"

struct model_arch {
    const char *name;          /* general.architecture */
    enum model_need norm_bias; /* of output_norm */
    /* Fills in the hyper-parameters. */
    void (*hparams)(struct model_keys *keys, struct model_hparams *hp);
    /* Finds the tensors of a layer, l->layer; their shapes follow from the
     * hyper-parameters. */
    void (*layer)(struct model_loader *l, struct model_layer *layer);
    /* Records the computation; returns what graph_logits()
     * does. */
    struct ggml_tensor *(*graph)(struct graph *g, const struct model *m);
    /* (or NULL) What stands in attention's place in layers with a recurrence:
     * from cur, n_embd x n_tokens, to what the layer adds, of the wanted rows.
     */
    struct ggml_tensor *(*recur)(struct graph *g, int32_t layer,
                                 struct ggml_tensor *cur);
    /* (or NULL) RWKV's, from the normed x to what is added, n_embd x n_tokens;
     * *v_first is what the first layer leaves for those after it. */
    struct ggml_tensor *(*time_mix)(struct graph *g, int32_t layer,
                                    struct ggml_tensor *x,
                                    struct ggml_tensor **v_first);
    /* Finds what is behind the layers: graph_find_head; NULL: nothing is. */
    void (*head)(struct model_loader *l);
    /* Finds what stands before them, beside token_embd and position_embd; NULL:
     * nothing does. */
    void (*embedding)(struct model_loader *l);
    bool output_embeds; /* a file without token_embd has it as the output */
    const char
        *stack; /* what layers' names begin with: "enc."; NULL: nothing */
    bool partial_layers; /* some have no attention or no feed-forward block */
    const struct model_mtp_kind *mtp; /* NULL: it has no MTP layers, or of a
                                         kind that is not known */
};

/* All of them, in the order of their names. */
#define MODEL_ARCHS(X)                                                         \
    X(afmoe)                                                                   \
    X(apertus)                                                                 \
    X(arcee)                                                                   \
    X(arwkv7)                                                                  \
    X(baichuan)                                                                \
    X(bailingmoe)                                                              \
    X(bailingmoe2)                                                             \
    X(bert)                                                                    \
    X(bitnet)                                                                  \
    X(bloom)                                                                   \
    X(chatglm)                                                                 \
    X(codeshell)                                                               \
    X(cohere2)                                                                 \
    X(cohere2moe)                                                              \
    X(command_r)                                                               \
    X(dbrx)                                                                    \
    X(deci)                                                                    \
    X(deepseek)                                                                \
    X(deepseek2)                                                               \
    X(dots1)                                                                   \
    X(ernie4_5)                                                                \
    X(ernie4_5_moe)                                                            \
    X(eurobert)                                                                \
    X(exaone)                                                                  \
    X(exaone4)                                                                 \
    X(exaone_moe)                                                              \
    X(falcon)                                                                  \
    X(falcon_h1)                                                               \
    X(gemma)                                                                   \
    X(gemma2)                                                                  \
    X(gemma3)                                                                  \
    X(gemma3n)                                                                 \
    X(gemma4)                                                                  \
    X(gemma_embedding)                                                         \
    X(glm4)                                                                    \
    X(glm4moe)                                                                 \
    X(gpt2)                                                                    \
    X(gpt_oss)                                                                 \
    X(gptj)                                                                    \
    X(gptneox)                                                                 \
    X(granite)                                                                 \
    X(granite_swa)                                                             \
    X(granitehybrid)                                                           \
    X(granitemoe)                                                              \
    X(grovemoe)                                                                \
    X(hunyuan_dense)                                                           \
    X(hunyuan_moe)                                                             \
    X(internlm2)                                                               \
    X(jais2)                                                                   \
    X(jamba)                                                                   \
    X(jina_bert_v2)                                                            \
    X(jina_bert_v3)                                                            \
    X(kimi_linear)                                                             \
    X(laguna)                                                                  \
    X(lfm2)                                                                    \
    X(lfm2moe)                                                                 \
    X(llama)                                                                   \
    X(llama4)                                                                  \
    X(llama_embed)                                                             \
    X(mamba)                                                                   \
    X(mamba2)                                                                  \
    X(maincoder)                                                               \
    X(mellum)                                                                  \
    X(mimo2)                                                                   \
    X(minicpm)                                                                 \
    X(minicpm3)                                                                \
    X(minimax_m2)                                                              \
    X(mistral3)                                                                \
    X(mistral4)                                                                \
    X(modern_bert)                                                             \
    X(muse_glimmer)                                                            \
    X(nanbeige)                                                                \
    X(nemotron)                                                                \
    X(nemotron_h)                                                              \
    X(nemotron_h_moe)                                                          \
    X(neo_bert)                                                                \
    X(nomic_bert)                                                              \
    X(nomic_bert_moe)                                                          \
    X(olmo)                                                                    \
    X(olmo2)                                                                   \
    X(olmoe)                                                                   \
    X(orion)                                                                   \
    X(paddleocr)                                                               \
    X(phi2)                                                                    \
    X(phi3)                                                                    \
    X(phimoe)                                                                  \
    X(plm)                                                                     \
    X(qwen2)                                                                   \
    X(qwen2moe)                                                                \
    X(qwen2vl)                                                                 \
    X(qwen3)                                                                   \
    X(qwen35)                                                                  \
    X(qwen35moe)                                                               \
    X(qwen3moe)                                                                \
    X(qwen3next)                                                               \
    X(qwen3vl)                                                                 \
    X(qwen3vlmoe)                                                              \
    X(rwkv6)                                                                   \
    X(rwkv7)                                                                   \
    X(seed_oss)                                                                \
    X(smallthinker)                                                            \
    X(smollm3)                                                                 \
    X(stablelm)                                                                \
    X(starcoder)                                                               \
    X(starcoder2)                                                              \
    X(step35)                                                                  \
    X(t5encoder)                                                               \
    X(xverse)                                                                  \
    /* the end */

#define MODEL_ARCH_DECLARE(name)                                               \
    extern const struct model_arch graph_arch_##name;
MODEL_ARCHS(MODEL_ARCH_DECLARE)
#undef MODEL_ARCH_DECLARE

/* NULL where there is none of that name. */
const struct model_arch *
graph_arch_find(const char *name);

/* That of number i in the order of the table; NULL behind the last. */
const char *
graph_arch_name(size_t i);

#endif
