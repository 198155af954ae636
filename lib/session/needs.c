/* needs.c - bytes that each layer of a model takes where it is */
#include "session/needs.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "graph/cache.h"

enum {
    LIKELY_CTX = 8192, /* positions, where nobody says how many */
};

static bool
begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

static bool
is_front(const struct gguf_tensor *t)
{
    return begins(t->name, "token_embd.") || begins(t->name, "position_embd.");
}

/* Tables that the CPU reads, few rows at a time, wherever the layers are. */
static bool
is_sparse(const struct gguf_tensor *t)
{
    return begins(t->name, "per_layer_token_embd.");
}

static enum model_part
part_of(const struct gguf_tensor *t)
{
    return strstr(t->name, "exps.") ? MODEL_EXPERTS : MODEL_REST;
}

static void
add_tensor(struct model_needs *n, const struct model *m,
           const struct gguf_tensor *t)
{
    bool decodes = begins(t->name, "dec."); /* T5's */
    const char *name = t->name + (decodes || begins(t->name, "enc.") ? 4 : 0);
    char *end;
    long layer;

    if (begins(name, "blk.")) {
        layer = strtol(name + 4, &end, 10);
        layer += decodes && layer < n->n ? m->hp.n_encoder : 0;
        if (!graph_has_layer(m, (int32_t)(layer < n->n ? layer : n->n)))
            return;
        if (*end == '.' && layer >= 0 && layer < n->n)
            n->layers[part_of(t)][layer] += t->size;
        else if (m->hp.n_mtp > m->hp.n_drafter)
            n->back[part_of(t)] += t->size;
    } else if (is_sparse(t)) {
        return;
    } else if (is_front(t)) {
        n->front +=
            graph_has_layer(m, 0) || m->hp.n_embd_layer > 0 ? t->size : 0;
    } else if (graph_has_layer(m, n->n)) {
        n->back[MODEL_REST] += t->size;
    }
}

static void
add_file(struct model_needs *n, const struct model *m,
         const struct gguf_context *gguf)
{
    for (int64_t i = 0; i < gguf_get_n_tensors(gguf); i++)
        add_tensor(n, m, gguf_tensor(gguf, i));
}

static uint64_t
kept_by_layer(const struct model_hparams *hp, int32_t layer, int64_t n_ctx)
{
    int32_t compression = hp->layers[layer].compression;
    uint64_t size = (uint64_t)graph_state_floats(hp, layer) * sizeof(float);

    for (int k = 0; k < CACHE_TENSORS; k++) {
        int64_t row = graph_cache_width(hp, layer, k), n = n_ctx;

        if (k == CACHE_COMPRESSED || k == CACHE_COMPRESSED_INDEX)
            n /= compression > 0 ? hp->compressions[compression - 1].ratio : 1;
        if (row > 0)
            size += (uint64_t)n * ggml_row_size(GGML_TYPE_F16, row) *
                    (uint64_t)graph_cache_heads(hp, layer, k);
    }
    return size;
}

int64_t
session_needs_positions(const struct model *m, int32_t n_ctx)
{
    if (n_ctx > 0)
        return n_ctx;
    return m->hp.n_ctx_train < LIKELY_CTX ? m->hp.n_ctx_train : LIKELY_CTX;
}

static bool
new_lists(struct model_needs *needs)
{
    size_t n = (size_t)needs->n;
    bool done;

    needs->kept = mem_array(n, sizeof(*needs->kept));
    done = needs->kept != NULL;
    for (int part = 0; part < MODEL_PARTS; part++) {
        needs->layers[part] = mem_array(n, sizeof(*needs->layers[part]));
        done = done && needs->layers[part];
    }
    return done;
}

bool
session_needs_count(struct model_needs *needs, const struct model *m,
                    int64_t n_ctx)
{
    const struct gguf_context *gguf = m->file->gguf;
    struct model_needs *n = needs;

    *n = (struct model_needs){ .n = m->hp.n_layer };
    if (!new_lists(n)) {
        session_needs_clear(n);
        return false;
    }
    for (int32_t i = 0; i < n->n; i++)
        if (graph_has_layer(m, i))
            n->kept[i] = n->layers[MODEL_REST][i] =
                kept_by_layer(&m->hp, i, n_ctx);
    add_file(n, m, gguf);
    for (size_t i = 0; i < m->files.n_adapters; i++)
        add_file(n, m, m->files.adapters[i].file->gguf);
    /* A table that serves twice is there once, where both are. */
    n->tied = !gguf_tensor_named(gguf, "output.weight");
    if (n->tied && graph_has_layer(m, n->n))
        n->back[MODEL_REST] +=
            gguf_tensor_named(gguf, "token_embd.weight")->size;
    return true;
}

void
session_needs_clear(struct model_needs *needs)
{
    for (int part = 0; part < MODEL_PARTS; part++)
        mem_free(needs->layers[part]);
    mem_free(needs->kept);
    *needs = (struct model_needs){ 0 };
}

uint64_t
session_needs_layer(const struct model_needs *needs, int32_t layer,
                    int32_t experts_from)
{
    const uint64_t *rest = needs->layers[MODEL_REST];
    const uint64_t *experts = needs->layers[MODEL_EXPERTS];

    return rest[layer] + (layer >= experts_from ? experts[layer] : 0);
}

uint64_t
session_needs_all(const struct model_needs *needs)
{
    uint64_t sum = needs->back[MODEL_REST] + needs->back[MODEL_EXPERTS];

    for (int32_t i = 0; i < needs->n; i++)
        sum += session_needs_layer(needs, i, 0);
    return needs->tied ? sum : sum + needs->front;
}
