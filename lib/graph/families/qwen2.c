/* qwen2.c - Qwen 2, 2.5, 2-VL, PaddleOCR-VL, EXAONE 3, openPangu Embedded:
 * LLaMA with biases on queries, keys and values
 *
 * x = embed(ids)
 * x = x + attention(norm(x))
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x))
 *
 * EXAONE has no biases, openPangu has one for attention's output, too. Those
 * that read pictures, too, give an id a position in time, height and width
 * (M-RoPE), which is the same number thrice for text. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
}

static void
pangu_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    hparams(keys, hp);
    hp->rope.no_divisors = true;
}

/* Some files have a bias for the output, the model has none. */
static void
find_plain_head(struct model_loader *l)
{
    graph_find_head(l);
    l->model->output.bias = NULL;
}

const struct model_arch graph_family_qwen2[] = {
    { .name = "qwen2", .hparams = hparams },
    { .name = "exaone", .hparams = hparams },
    { .name = "paddleocr", .hparams = hparams },
    { .name = "pangu-embedded", .hparams = pangu_hparams },
    { .name = "qwen2vl", .hparams = hparams, .head = find_plain_head },
    { 0 },
};
