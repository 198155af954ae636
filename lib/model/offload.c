/* offload.c - layer offload: which layers a device computes, which the CPU
 *
 * The CPU takes the first layers and the embeddings, the device the last and
 * the output: between them a batch's activations cross the bus once. */
#include "model/offload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"

enum {
    LIKELY_CTX = 8192, /* positions, where nobody says how many */
};

/* ---- what each layer takes
 * ------------------------------------------------------ */

struct needs {
    uint64_t *layers; /* bytes of each: weights, keys and values */
    int32_t n;
    uint64_t front; /* the embeddings */
    uint64_t back;  /* the output, and MTP layers */
    bool mtp;       /* which are used */
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

static void
add_tensor(struct needs *n, const struct gguf_tensor *t)
{
    const char *name = t->name + (begins(t->name, "enc.") ? 4 : 0); /* T5's */
    char *end;
    long layer;

    if (begins(name, "blk.")) {
        layer = strtol(name + 4, &end, 10);
        if (*end == '.' && layer >= 0 && layer < n->n)
            n->layers[layer] += t->size;
        else if (n->mtp)
            n->back += t->size;
    } else if (is_sparse(t)) {
        return;
    } else if (is_front(t)) {
        n->front += t->size;
    } else {
        n->back += t->size;
    }
}

/* What lies beside each layer. */
static void
add_adapter(struct needs *n, const struct gguf_context *gguf)
{
    for (int64_t i = 0; i < gguf_get_n_tensors(gguf); i++)
        add_tensor(n, gguf_tensor(gguf, i));
}

static uint64_t
cache_of_layer(const struct model_hparams *hp, int32_t layer, int32_t n_ctx,
               enum ggml_type type)
{
    const struct model_layer_hparams *l = &hp->layers[layer];
    uint64_t state = (uint64_t)model_state_floats(hp, layer) * sizeof(float);

    if (!model_keeps(hp, layer))
        return state;
    if (n_ctx == 0)
        n_ctx = hp->n_ctx_train < LIKELY_CTX ? hp->n_ctx_train : LIKELY_CTX;
    return state + (uint64_t)n_ctx *
                       (ggml_row_size(type, l->d_key) +
                        ggml_row_size(type, model_kept_value(l))) *
                       (uint64_t)l->n_head_kv;
}

static bool
count_needs(const struct gguf_context *gguf,
            const struct gg_model_params *params, const struct model *m,
            struct needs *n)
{
    *n = (struct needs){ .n = m->hp.n_layer, .mtp = m->hp.n_mtp > 0 };
    n->layers = mem_array((size_t)n->n, sizeof(*n->layers));
    if (!n->layers)
        return false;
    for (int32_t i = 0; i < n->n; i++)
        n->layers[i] = cache_of_layer(&m->hp, i, params->n_ctx, GGML_TYPE_F16);
    for (int64_t i = 0; i < gguf_get_n_tensors(gguf); i++)
        add_tensor(n, gguf_tensor(gguf, i));
    for (size_t i = 0; i < m->files.n_adapters; i++)
        add_adapter(n, m->files.adapters[i].file->gguf);
    /* A table that serves twice is there once, where both are. */
    if (!gguf_tensor_named(gguf, "output.weight"))
        n->back += gguf_tensor_named(gguf, "token_embd.weight")->size;
    return true;
}

bool
model_offload_bytes(const struct gguf_context *gguf, const struct model *m,
                    uint64_t *bytes)
{
    static const struct gg_model_params none;
    struct needs n;

    if (!count_needs(gguf, &none, m, &n))
        return false;
    memcpy(bytes, n.layers, (size_t)n.n * sizeof(*bytes));
    bytes[n.n] = n.front + n.back;
    mem_free(n.layers);
    return true;
}

/* ---- how many fit
 * ---------------------------------------------------------------- */

static uint64_t
need_of_all(const struct gguf_context *gguf, const struct needs *n)
{
    uint64_t sum = n->back;

    for (int32_t i = 0; i < n->n; i++)
        sum += n->layers[i];
    return gguf_tensor_named(gguf, "output.weight") ? sum + n->front : sum;
}

/* For buffers and scratch memory of the computation. */
static uint64_t
room_for_weights(uint64_t available, uint64_t total)
{
    uint64_t rest = total / 8;

    if (rest > (uint64_t)1 << 30)
        rest = (uint64_t)1 << 30;
    return available > rest ? available - rest : 0;
}

/* The number of layers, counted from the last. */
static int32_t
how_many_fit(const struct needs *n, uint64_t all, uint64_t room)
{
    uint64_t sum = n->back;
    int32_t fit = 0;

    if (all <= room)
        return n->n;
    while (fit < n->n - 1 && sum + n->layers[n->n - 1 - fit] <= room) {
        sum += n->layers[n->n - 1 - fit];
        fit++;
    }
    return fit;
}

/* ---- words
 * ---------------------------------------------------------------------- */

static const char *
show_size(char buf[24], uint64_t bytes)
{
    if (bytes >= (uint64_t)1 << 30)
        snprintf(buf, 24, "%.1f GiB", (double)bytes / 0x1p30);
    else
        snprintf(buf, 24, "%.1f MiB", (double)bytes / 0x1p20);
    return buf;
}

static void
note_offload(struct model *m, int32_t fit, uint64_t available, uint64_t all)
{
    const char *name = ggml_backend_dev_name(model_device(m));
    char one[24], two[24];

    show_size(one, available);
    show_size(two, all);
    if (fit == 0)
        snprintf(m->note, sizeof(m->note),
                 "%s has %s free, too little for any layer of the model, which "
                 "takes %s: the CPU computes",
                 name, one, two);
    else if (fit < m->hp.n_layer)
        snprintf(m->note, sizeof(m->note),
                 "%s has %s free, and the model takes %s: it computes %d of %d "
                 "layers, the CPU the others",
                 name, one, two, (int)fit, (int)m->hp.n_layer);
}

static bool
has_named_device(const struct gg_model_params *params)
{
    return params->device && strcmp(params->device, "auto") != 0;
}

/* ---- all of it
 * ------------------------------------------------------------------ */

/* A device without memory: it was lost, or is another program's alone. */
static enum gg_status
no_answer(struct model *m, struct gg_error *err)
{
    const char *name = ggml_backend_dev_name(model_device(m));

    snprintf(m->note, sizeof(m->note), "%s does not answer: the CPU computes",
             name);
    return m->named ? error_set(err, GG_ERR_IO, "%s does not answer", name)
                    : GG_OK;
}

static enum gg_status
fit_layers(const struct gguf_context *gguf,
           const struct gg_model_params *params, struct model *m, int32_t *fit,
           struct gg_error *err)
{
    size_t available, total;
    struct needs n;
    uint64_t all;
    char one[24], two[24];

    if (!count_needs(gguf, params, m, &n))
        return error_nomem(err);
    ggml_backend_dev_memory(model_device(m), &available, &total);
    if (total == 0) {
        mem_free(n.layers);
        *fit = 0;
        return no_answer(m, err);
    }
    all = need_of_all(gguf, &n);
    *fit = how_many_fit(&n, all, room_for_weights(available, total));
    mem_free(n.layers);
    note_offload(m, *fit, available, all);
    if (*fit > 0 || !m->named)
        return GG_OK;
    return error_set(err, GG_ERR_NOMEM,
                     "%s has %s free, too little for any layer of the model, "
                     "which takes %s",
                     ggml_backend_dev_name(model_device(m)),
                     show_size(one, available), show_size(two, all));
}

/* The CPU has what is in front of the last n layers, the device these. */
static void
set_homes(struct model *m, int32_t n)
{
    ggml_backend_dev_t device = model_device(m);
    int32_t end = m->hp.n_layer + 1; /* the output, too */
    int32_t first = n < m->hp.n_layer ? m->hp.n_layer - n : 0;

    m->homes[0] = (struct model_home){
        .device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU),
        .end = n ? first : end,
        .parts = MODEL_WHOLE,
    };
    m->n_homes = 1;
    if (n)
        m->homes[m->n_homes++] =
            (struct model_home){ device, first, end, MODEL_WHOLE, NULL };
}

enum gg_status
model_offload_layers(const struct gguf_context *gguf,
                     const struct gg_model_params *params, struct model *m,
                     struct gg_error *err)
{
    int32_t layers = params->gpu_layers;
    enum gg_status st = GG_OK;

    m->named = has_named_device(params);
    if (ggml_backend_dev_type(model_device(m)) ==
        GGML_BACKEND_DEVICE_TYPE_CPU) {
        m->homes[0].end = m->hp.n_layer + 1;
        return GG_OK;
    }
    if (layers == 0)
        st = fit_layers(gguf, params, m, &layers, err);
    if (st == GG_OK)
        set_homes(m, layers);
    return st;
}
