/* mistral3.c - Mistral 3, Ministral 3, Devstral 2: LLaMA, softer far beyond the
 * positions it was trained for
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           t(pos) rope(q), rope(k)
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x))
 *
 * t(p) = 1 + s log(1 + floor(p / n)), n the positions trained for. Or the
 * feed-forward block is a mixture of such. */
#include <math.h>

#include "graph/arch.h"

/* YaRN's magnitude is 1 + 0.1 log(factor), divided by the same with the file's
 * multiplier before log. */
static void
read_multiplier(struct model_keys *keys, struct rope_params *r)
{
    float times =
        graph_key_float(keys, "rope.scaling.yarn_log_multiplier", 0, 100, 0);

    if (r->scaling != ROPE_YARN || r->factor <= 1)
        return;
    r->magnitude = (r->magnitude > 0 ? r->magnitude : 1) /
                   (1 + 0.1f * times * logf(r->factor));
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    hp->rope.own_divisors = true;
    read_multiplier(keys, &hp->rope);
    graph_keys_experts(keys, hp, false);
    hp->routing.normed = true;
    hp->temperature_scale =
        graph_key_float(keys, "attention.temperature_scale", 0, 1e3f, 0);
    hp->temperature_n = hp->rope.n_ctx_orig;
}

const struct model_arch graph_family_mistral3[] = {
    { .name = "mistral3", .hparams = hparams },
    { 0 },
};
