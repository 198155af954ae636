/* rerank.c - Qwen3-Reranker: the answer yes or no to a question about a pair
 *
 * Its folders are those of Qwen 3; llama.cpp's converter knows them by their
 * names. Of the output only the rows of the two answers are kept, and a
 * template has the question, as its maker asks it. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "convert/hf/families.h"
#include "convert/hf/tokens.h"
#include "core/mem.h"

enum {
    MAX_PATH_LENGTH = 4096,
};

#define NAME "qwen3-reranker"

static const char question[] =
    "<|im_start|>system\nJudge whether the Document meets the requirements "
    "based on the Query and the Instruct provided. Note that the answer can "
    "only be \"yes\" or \"no\".<|im_end|>\n<|im_start|>user\n<Instruct>: Given "
    "a web search query, retrieve relevant passages that answer the query\n"
    "<Query>: {query}\n<Document>: {document}<|im_end|>\n<|im_start|>"
    "assistant\n<think>\n\n</think>\n\n";

/* ---- by its name --------------------------------------------------------- */

static bool
contains(const char *text, size_t len, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i + n <= len; i++)
        if (!strncasecmp(text + i, name, n))
            return true;
    return false;
}

/* As a title of its description. */
static bool
is_titled(const struct hf *h)
{
    char path[MAX_PATH_LENGTH];
    struct file_map map;
    bool found;

    snprintf(path, sizeof(path), "%s/README.md", h->path);
    if (access(path, R_OK) || file_map(path, &map, NULL) != GG_OK)
        return false;
    found = contains((const char *)map.data, map.size, "# " NAME);
    file_unmap(&map);
    return found;
}

static bool
is_reranker(const struct hf *h)
{
    size_t end = strlen(h->path), start;
    const char *was =
        json_string_value(core_json_find(&h->config, "_name_or_path"));

    while (end > 1 && h->path[end - 1] == '/')
        end--;
    for (start = end; start > 0 && h->path[start - 1] != '/';)
        start--;
    return contains(h->path + start, end - start, NAME) ||
           (was && contains(was, strlen(was), NAME)) || is_titled(h);
}

void
convert_hf_keys_qwen3(struct hf *h)
{
    static const struct gguf_str labels[] = { { "yes", 3 }, { "no", 2 } };
    static const struct gguf_str names[] = { { "rerank", 6 } };

    convert_hf_keys_qwen(h);
    h->answers = is_reranker(h);
    if (!h->answers)
        return;
    convert_hf_set_u32(h, "pooling_type", HF_POOL_RANK);
    gguf_set_strings(h->gguf, "qwen3.classifier.output_labels", labels, 2);
    gguf_set_strings(h->gguf, "tokenizer.chat_templates", names, 1);
    gguf_set_val_str(h->gguf, "tokenizer.chat_template.rerank", question);
}

/* ---- the two rows -------------------------------------------------------- */

/* The output's matrix, which may be the embedding's. */
static const struct safetensors_tensor *
output_of(struct hf *h)
{
    bool tied = core_json_bool(&h->config, "tie_word_embeddings", false);

    return convert_hf_weights_find(
        &h->weights, tied ? "model.embed_tokens.weight" : "lm_head.weight");
}

void
convert_hf_add_answers(struct hf_tokens *t)
{
    struct hf *h = t->h;
    int32_t ids[] = { convert_hf_token_find(t, "yes", 3),
                      convert_hf_token_find(t, "no", 2) };
    const struct safetensors_tensor *from = output_of(h);
    int64_t n = h->n_embd, ne[GGML_MAX_DIMS] = { n, 2, 1, 1 };
    struct hf_rows out = { .n_rows = 2, .n_blocks = 1, .length = n };
    struct hf_rows in = { .from = &from,
                          .n_from = 1,
                          .n_rows = h->n_vocab,
                          .n_blocks = 1,
                          .length = n,
                          .row = (size_t)n,
                          .step = 1 };
    float *x;

    if (!from || from->n_dims != 2 || from->shape[0] != h->n_vocab ||
        from->shape[1] != n || ids[0] < 0 || ids[1] < 0) {
        core_json_bad(&h->here, GG_ERR_FORMAT,
                      "no output, or no token 'yes' or 'no', as a reranker has "
                      "it");
        return;
    }
    x = mem_array(2 * (size_t)n, sizeof(*x));
    if (!x) {
        h->here.status = error_nomem(h->here.err);
        return;
    }
    for (int i = 0; i < 2; i++)
        convert_hf_rows_make(&in, ids[i], 1, GGML_TYPE_F32, x + i * n);
    out.made = x;
    convert_hf_add(h, "cls.output.weight", GGML_TYPE_F32, ne, &out);
}

#endif
