/* classifier.c - what a folder says of a head with labels */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

/* The i-th name of what a classifier tells apart; or NULL. */
static const char *
label_at(const json_t *map, size_t i)
{
    char key[24];

    snprintf(key, sizeof(key), "%zu", i);
    return json_string_value(json_object_get(map, key));
}

/* The names of the scores. Two that nobody has named are left out, as
 * llama.cpp does. */
static void
set_labels(struct hf *h)
{
    const json_t *map = core_json_object_of(&h->config, "id2label");
    size_t n = json_object_size(map), i = 0;
    struct gguf_str *list = mem_array(n + 1, sizeof(*list));
    const char *text;
    char key[96];

    if (!list)
        h->config.status = error_nomem(h->config.err);
    for (; list && i < n && (text = label_at(map, i)); i++)
        list[i] = (struct gguf_str){ text, strlen(text) };
    snprintf(key, sizeof(key), "%s.classifier.output_labels", h->family->arch);
    if (list && i == n && n && (n != 2 || strcmp(label_at(map, 0), "LABEL_0")))
        gguf_set_strings(h->gguf, key, list, n);
    mem_free(list);
}

/* How scores become probabilities, where it does not follow from their
 * number. */
static void
set_problem(struct hf *h)
{
    static const char *const known[] = { "regression",
                                         "single_label_classification",
                                         "multi_label_classification" };
    const char *problem = core_json_text(&h->config, "problem_type", NULL);

    for (size_t i = 0; problem && i < sizeof(known) / sizeof(known[0]); i++)
        if (!strcmp(problem, known[i])) {
            convert_hf_set_str(h, "classifier.problem_type", problem);
            return;
        }
    if (problem)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "problem_type: '%.40s' is not known here", problem);
}

/* A reranker, or another classifier of texts or pairs of them. */
void
convert_hf_keys_rank(struct hf *h)
{
    convert_hf_set_u32(h, "pooling_type", HF_POOL_RANK);
    set_problem(h);
    set_labels(h);
}

void
convert_hf_keys_token_labels(struct hf *h)
{
    convert_hf_set_u32(h, "pooling_type", HF_POOL_NONE);
    convert_hf_set_u32(h, "classifier.pooling_type", HF_POOL_NONE);
    set_labels(h);
}

void
convert_hf_set_head_activation(struct hf *h, const char *name)
{
    static const char *const known[] = { "gelu", "relu", "silu", "tanh" };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (!strcmp(name, known[i])) {
            convert_hf_set_str(h, "classifier.activation", name);
            return;
        }
    core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                  "classifier_activation: '%.40s' is not one of gelu, relu, "
                  "silu and tanh",
                  name);
}

#endif
