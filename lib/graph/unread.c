/* unread.c - tensors of a file that nothing of its family reads
 *
 * A tensor that is passed over may be one that the results need, as a format's
 * scales are: so none is, but for those that are known to have no part in
 * logits. */
#include "graph/loader.h"

#include <stdlib.h>

#include "graph/arch.h"

/* A name, or, with a dot at its end, how names begin. */
static const char *const ignorable[] = {
    /* divisors of angles, where no layer turns or YaRN has its own */
    "rope_freqs.weight",
    "rope_factors_long.weight",
    "rope_factors_short.weight",
    /* the rest of what classifies texts: see head.c */
    "cls.",
    /* encoders of pictures and sounds, and what projects what they see */
    "v.",
    "a.",
    "mm.",
};

static bool
name_matches(const char *name, const char *entry)
{
    size_t n = strlen(entry);

    return entry[n - 1] == '.' ? !strncmp(name, entry, n)
                               : !strcmp(name, entry);
}

/* Layers for ids beyond the next, where nobody asks them. */
static bool
is_after(const struct model_hparams *hp, const char *name)
{
    char *end;
    long layer;

    if (hp->n_mtp > hp->n_drafter || strncmp(name, "blk.", 4) != 0)
        return false;
    layer = strtol(name + 4, &end, 10);
    return *end == '.' && layer >= hp->n_layer && layer < graph_all_layers(hp);
}

/* Some files have keys and values also of layers that read another's. */
static bool
is_shared(const struct model_hparams *hp, const char *name)
{
    char *end;
    long layer;

    if (strncmp(name, "blk.", 4) != 0)
        return false;
    layer = strtol(name + 4, &end, 10);
    return layer >= 0 && layer < hp->n_layer &&
           hp->layers[layer].kv_layer != layer &&
           (name_matches(end, ".attn_k.") || name_matches(end, ".attn_v.") ||
            name_matches(end, ".attn_k_norm."));
}

/* Some files have an indexer also in layers that attend by another's. */
static bool
is_unused_indexer(const struct model_hparams *hp, const char *name)
{
    char *end;
    long layer;

    if (strncmp(name, "blk.", 4) != 0)
        return false;
    layer = strtol(name + 4, &end, 10);
    return layer >= 0 && layer < hp->n_layer && hp->layers[layer].chosen &&
           !graph_chooses(&hp->layers[layer]) &&
           (name_matches(end, ".indexer.") ||
            name_matches(end, ".indexer_compressor_ape.") ||
            name_matches(end, ".indexer_compressor_gate."));
}

/* Tensors that make logits of hidden vectors; encoders have no logits. */
static bool
is_output(const char *name)
{
    return !strcmp(name, "output.weight") || !strcmp(name, "output.bias");
}

static bool
is_ignorable(const struct model_hparams *hp, const char *name)
{
    if (hp->encoder && is_output(name))
        return true;
    for (size_t i = 0; i < sizeof(ignorable) / sizeof(ignorable[0]); i++)
        if (name_matches(name, ignorable[i]))
            return true;
    return is_after(hp, name) || is_shared(hp, name) ||
           is_unused_indexer(hp, name);
}

void
graph_find_unread(struct model_loader *l)
{
    const struct model *m = l->model;

    for (int64_t i = 0; i < gguf_get_n_tensors(l->gguf); i++) {
        const char *name = gguf_tensor(l->gguf, i)->name;

        if (l->status != GG_OK)
            return;
        if (l->taken[i] || is_ignorable(&m->hp, name))
            continue;
        gguf_bad_value(l->gguf, name, l->err,
                       "%s reads no such tensor here: what it computes would "
                       "be wrong",
                       m->arch->name);
        l->status = GG_ERR_UNSUPPORTED;
    }
}
