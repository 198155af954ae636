/* piece.c - pieces of what a slot holds: what they depend on, and how they get
 * into a slot */
#include "session/piece.h"

#include <string.h>

#include "core/build.h"
#include "graph/adapter.h"
#include "session/piece_rows.h"
#include "session/pipeline.h"
#include "session/recurrent.h"
#include "session/state_head.h"

bool
session_piece_can(const struct gg_session *s)
{
    return session_can(s).save && session_can(s).truncate &&
           s->model->hp.n_encoder == 0 && s->model->pipeline == &session_alone;
}

bool
session_piece_recurs(const struct gg_session *s)
{
    return s->cache.recurrent.n_layer > 0;
}

int32_t
session_piece_step(const struct gg_session *s)
{
    return s->cache.parts[CACHE_WINDOW].n_layer > 0 ? s->n_batch : 0;
}

/* ---- what the bits depend on --------------------------------------------- */

static void
hash_text(struct sha256 *h, const char *text)
{
    sha256_add(h, text, strlen(text) + 1);
}

static void
add_array(struct sha256 *h, const struct gguf_array *a)
{
    for (size_t i = 0; i < a->n; i++)
        sha256_add_u64(h, (uint64_t)gguf_array_i32(a, i));
}

static void
add_head(struct sha256 *h, const struct state_head *head)
{
    const float floats[] = { head->factor, head->base };

    sha256_add_u64(h, head->model);
    add_array(h, &head->layers);
    sha256_add(h, head->scaling.s, head->scaling.n + 1);
    sha256_add(h, floats, sizeof(floats));
    sha256_add_u64(h, head->n_ctx_orig);
    sha256_add_u64(h, head->longer);
    sha256_add_u64(h, head->rotation.n);
    sha256_add(h, head->rotation.s, head->rotation.n);
}

/* Devices by their kernels, and which layers they compute. */
static void
add_devices(struct sha256 *h, const struct model *m)
{
    ggml_backend_dev_t cpu =
        ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);

    hash_text(h, cpu ? ggml_backend_dev_description(cpu) : "");
    for (int i = 0; i < m->n_homes; i++) {
        const struct model_home *home = &m->homes[i];

        hash_text(h, ggml_backend_dev_name(home->device));
        hash_text(h, ggml_backend_dev_description(home->device));
        for (int k = 0; k < MODEL_PARTS; k++) {
            sha256_add_u64(h, (uint64_t)home->spans[k].first);
            sha256_add_u64(h, (uint64_t)home->spans[k].end);
        }
    }
}

static void
add_adapters(struct sha256 *h, const struct model *m, const float *scales)
{
    for (size_t i = 0; i < m->files.n_adapters; i++) {
        const struct model_adapter_file *a = &m->files.adapters[i];

        sha256_add_u64(h, graph_adapter_fingerprint(&m->adapters[i]));
        sha256_add_u64(h, (uint64_t)a->first);
        sha256_add_u64(h, (uint64_t)a->last);
        sha256_add(h, &scales[i], sizeof(scales[i]));
    }
}

enum gg_status
session_piece_add_key(const struct gg_session *s, const float *scales,
                      struct sha256 *h, struct gg_error *err)
{
    const struct model *m = s->model;
    struct state_head head;
    enum gg_status st = session_state_head_of(s, &head, err);

    if (st == GG_OK) {
        sha256_add_u64(h, core_build_fingerprint());
        add_head(h, &head);
        for (int i = 0; i < CACHE_TENSORS; i++)
            sha256_add_u64(h, (uint64_t)s->cache.form.types[i]);
        sha256_add_u64(h, s->params.bf16);
        add_devices(h, m);
        add_adapters(h, m, scales ? scales : m->scales);
    }
    session_state_head_clear(&head);
    return st;
}

/* ---- rows of a slot ------------------------------------------------------ */

bool
session_piece_has(const struct gg_session *s, int32_t slot, int32_t first,
                  int32_t n)
{
    const struct cache_part *window = &s->cache.parts[CACHE_WINDOW];

    return s->slots.there[slot] >= n &&
           session_cache_kept(&s->cache, slot, n) == n &&
           (window->n_layer == 0 || window->base[slot] <= first);
}

bool
session_piece_assume(struct gg_session *s, int32_t slot, const int32_t *ids,
                     int32_t n, const float *scales)
{
    struct gg_chunk chunk = { .slot = slot, .ids = ids, .n = (size_t)n };

    session_slots_cut(&s->slots, slot, 0);
    session_slots_set_scales(&s->slots, slot,
                             scales ? scales : s->model->scales);
    if (!session_slots_keep(&s->slots, &chunk))
        chunk.n = 0;
    session_assume(s, &chunk);
    return chunk.n > 0;
}

static int32_t
max_i32(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Puts rows from..to - 1 of a tensor. */
static void
put_tensor_rows(struct gg_session *s, int32_t slot,
                const struct piece_part *part, const char *rows, int32_t from,
                int32_t to)
{
    const struct cache *c = &s->cache;
    const struct cache_layer *l = &c->layers[part->layer];
    int64_t row;

    if (from >= to)
        return;
    row = session_cache_row(c, graph_part_of(l, part->k), slot,
                            from * part->ratio);
    session_set_rows(s, part->layer, part->k, row, to - from,
                     rows + part->at +
                         (size_t)(from - part->first) * part->size);
}

void
session_piece_put(struct gg_session *s, int32_t slot, const struct piece *p,
                  const char *rows, int32_t from, int32_t to, int32_t n)
{
    struct piece_part part;

    for (session_piece_begin(s, p, &part); part.layer < s->cache.n_layer;
         session_piece_next(s, p, &part)) {
        int32_t seen =
            part.windowed ? session_cache_first(s->model->hp.window, n) : 0;

        if (!part.recurrent)
            put_tensor_rows(s, slot, &part, rows,
                            max_i32(from, seen) / part.ratio, to / part.ratio);
        else if (p->first + p->n == n)
            session_set_state(s, part.layer, part.k, slot, rows + part.at);
    }
}
