/* folders.c - folders of Hugging Face's with small models */
#include <gguf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixtures/folder.h"
#include "fixtures/models.h"
#include "folders.h"
#include "harness/scratch.h"

/* Byte-level BPE of two kinds, SentencePiece's BPE, weights in F16, BF16 and
 * blocks, experts. */
static const struct {
    const char *family; /* fixtures/folder.h */
    const char *kind;   /* of weights that are quantised, or NULL */
    struct model_spec spec;
} models[N_FOLDERS] = {
    [FOLDERS_LLAMA3] = { "llama3",
                         NULL,
                         { "llama", .n_embd = 4, .n_layer = 1, .n_head = 2,
                           .n_head_kv = 1, .n_ff = 4, .llama3_n_ctx = 64 } },
    [FOLDERS_GPT2] = { "gpt2",
                       NULL,
                       { "gpt2", .n_embd = 4, .n_layer = 1, .n_head = 2,
                         .n_ctx = 4 } },
    [FOLDERS_MIXTRAL] = { "mixtral",
                          NULL,
                          { "llama", GGML_TYPE_BF16, .n_embd = 4, .n_layer = 1,
                            .n_head = 2, .n_ff = 4, .n_expert = 2 } },
    [FOLDERS_FALCON] = { "falcon40",
                         NULL,
                         { "falcon", GGML_TYPE_F16, .n_embd = 4, .n_layer = 1,
                           .n_head = 2, .n_head_kv = 2, .traits = 1 << 10 } },
    [FOLDERS_FP8] = { "mistral",
                      "fp8",
                      { "llama", GGML_TYPE_BF16, .n_embd = 20, .n_layer = 1,
                        .n_head = 2, .n_ff = 20 } },
    [FOLDERS_MXFP4] = { "gpt-oss",
                        "mxfp4",
                        { "gpt-oss", GGML_TYPE_BF16, .n_embd = 32, .n_layer = 1,
                          .n_head = 2, .n_head_kv = 1, .d_key = 16,
                          .untied = true, .n_ff = 32, .n_ff_expert = 32,
                          .n_expert = 2, .n_expert_used = 1 } },
    [FOLDERS_GPTQ] = { "mistral",
                       "gptq4-order",
                       { "llama", GGML_TYPE_BF16, .n_embd = 32, .n_layer = 1,
                         .n_head = 2, .n_ff = 32 } },
    [FOLDERS_AWQ] = { "mistral",
                      "awq",
                      { "llama", GGML_TYPE_BF16, .n_embd = 64, .n_layer = 1,
                        .n_head = 2, .n_ff = 64 } },
    [FOLDERS_W4] = { "mistral",
                     "w4-asym",
                     { "llama", GGML_TYPE_BF16, .n_embd = 64, .n_layer = 1,
                       .n_head = 2, .n_ff = 64 } },
    [FOLDERS_NVFP4] = { "mistral",
                        "nvfp4",
                        { "llama", GGML_TYPE_BF16, .n_embd = 64, .n_layer = 1,
                          .n_head = 2, .n_ff = 64 } },
};

static volatile unsigned seen; /* what is read must be used */

const char *
folders_path(size_t i, const char *file)
{
    char name[100];

    snprintf(name, sizeof(name), "%zu%s%s", i, file ? "/" : "",
             file ? file : "");
    return scratch_file(name);
}

void
folders_make(void)
{
    static bool made;
    char name[40];

    if (made)
        return;
    made = true;
    for (size_t i = 0; i < N_FOLDERS; i++) {
        snprintf(name, sizeof(name), "%s-f32", models[i].family);
        if (!models_write(&models[i].spec, scratch_path()))
            abort();
        folder_write(name, scratch_path(), folders_path(i, NULL), 2,
                     models[i].kind);
    }
}

void
folders_touch(const struct gg_file *f)
{
    const struct gguf_context *gguf = gg_file_gguf(f);
    for (int64_t i = 0; i < gguf_get_n_tensors(gguf); i++) {
        size_t size = gguf_get_tensor_size(gguf, i);
        uint8_t *p = malloc(size);

        if (!p)
            abort();
        gg_file_read(f, i, p);
        for (size_t k = 0; k < size; k++)
            seen += p[k];
        free(p);
    }
}
