/* nanbeige.c - Nanbeige: LLaMA whose layers are applied several times
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           each time with keys of its own
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * x = norm(x)                          after all layers, then from the first
 * logits = output(x)
 *
 * Files may say that only the last norm is applied. */
#include "graph/arch.h"

/* The layers of the file, repeated. */
static void
repeat(struct model_hparams *hp, int32_t times)
{
    int32_t n = hp->n_layer;

    hp->n_loop = n;
    hp->n_layer = n * times;
    for (int32_t i = n; i < hp->n_layer; i++) {
        hp->layers[i] = hp->layers[i - n];
        hp->layers[i].kv_layer = i;
    }
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    int32_t most;

    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    hp->skip_loop_norm = graph_key_bool(keys, "skip_loop_final_norm", false);
    most = hp->n_layer > 0 ? MODEL_MAX_LAYERS / hp->n_layer : 1;
    repeat(hp, graph_key_int(keys, "num_loops", 1, most, 1));
}

static bool
ends_loop(const struct model_hparams *hp, int32_t layer)
{
    return (layer + 1) % hp->n_loop == 0 && layer + 1 < hp->n_layer;
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed(g);

    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++) {
        x = graph_block(g, i, x);
        if (ends_loop(&m->hp, i) && !m->hp.skip_loop_norm)
            x = graph_norm(g, x, &m->output_norm);
    }
    x = graph_leave(g, x);
    return graph_logits(g, graph_norm(g, x, &m->output_norm));
}

const struct model_arch graph_family_nanbeige[] = {
    { .name = "nanbeige", .hparams = hparams, .graph = graph },
    { 0 },
};
