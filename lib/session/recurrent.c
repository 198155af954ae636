/* recurrent.c - recurrent states: what layers keep that is overwritten with
 * each token */
#include "session/recurrent.h"

#include <assert.h>

#include "core/mem.h"

enum {
    UNKNOWN = -1, /* a failure may have left the row of any id, or of some */
    FREE = -1,
};

/* ---- memory -------------------------------------------------------------- */

/* Floats of a row. */
static int64_t
width_of(const struct model_layer_hparams *hp,
         enum cache_recurrent_tensor which)
{
    switch (which) {
    case CACHE_CONV:
        return hp->d_conv > 1 ? (int64_t)(hp->d_conv - 1) * hp->n_channels : 0;
    case CACHE_STATE:
        return hp->n_state;
    default:
        return hp->n_apart;
    }
}

static void
new_rows(struct ggml_context *ctx, const struct model_layer_hparams *hp,
         int64_t n, const char *prefix, int32_t layer,
         struct ggml_tensor *rows[CACHE_RECURRENT])
{
    static const char *const names[] = { "conv", "state", "apart" };

    for (int k = 0; k < CACHE_RECURRENT; k++) {
        if (width_of(hp, k) == 0)
            continue;
        rows[k] = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, width_of(hp, k), n);
        ggml_format_name(rows[k], "%s_%s.%d", prefix, names[k], (int)layer);
    }
}

bool
session_recurrent_init(struct cache *cache, const struct model *model)
{
    struct cache_recurrent *s = &cache->recurrent;

    s->hp = model->hp.layers;
    for (int32_t i = 0; i < cache->n_layer; i++) {
        struct cache_layer *l = &cache->layers[i];

        if (graph_state_floats(&model->hp, i) > 0) {
            new_rows(cache->homes[l->home].ctx, &s->hp[i], cache->n_slots,
                     "cache", i, l->states);
            s->n_layer++;
        }
    }
    if (s->n_layer == 0)
        return true;
    s->n_snapshots = 2 + cache->n_slots;
    s->at = mem_array((size_t)cache->n_slots, sizeof(*s->at));
    s->written = mem_array((size_t)cache->n_slots, sizeof(*s->written));
    s->snapshots = mem_array((size_t)s->n_snapshots, sizeof(*s->snapshots));
    for (int32_t i = 0; i < s->n_snapshots && s->snapshots; i++)
        s->snapshots[i].slot = FREE;
    return s->at && s->written && s->snapshots;
}

void
session_recurrent_clear(struct cache *cache)
{
    struct cache_recurrent *s = &cache->recurrent;

    for (int i = 0; i < cache->n_homes; i++) {
        ggml_backend_buffer_free(s->homes[i].buffer);
        ggml_free(s->homes[i].ctx);
    }
    mem_free(s->layers);
    mem_free(s->at);
    mem_free(s->written);
    mem_free(s->snapshots);
    *s = (struct cache_recurrent){ 0 };
}

size_t
session_recurrent_row_at(const struct cache *cache, int home)
{
    size_t size = 0;

    for (int32_t i = 0; i < cache->n_layer; i++)
        for (int k = 0; k < CACHE_RECURRENT; k++)
            if (cache->layers[i].states[k] && cache->layers[i].home == home)
                size += cache->layers[i].states[k]->nb[1];
    return size;
}

size_t
session_recurrent_row_size(const struct cache *cache)
{
    size_t size = 0;

    for (int i = 0; i < cache->n_homes; i++)
        if (cache->homes[i].device)
            size += session_recurrent_row_at(cache, i);
    return size;
}

size_t
session_recurrent_used(const struct cache *cache)
{
    size_t n = 0;

    for (int32_t i = 0; i < cache->n_slots && cache->recurrent.n_layer; i++)
        n += cache->recurrent.written[i];
    return n ? n * session_recurrent_row_size(cache) : 0;
}

bool
session_recurrent_reserve(struct cache *cache)
{
    struct cache *c = cache;
    struct cache_recurrent *s = &c->recurrent;
    struct ggml_init_params params = {
        .mem_size =
            CACHE_RECURRENT * (size_t)c->n_layer * ggml_tensor_overhead(),
        .no_alloc = true,
    };
    bool done;

    if (s->layers)
        return true;
    s->layers = mem_array((size_t)c->n_layer, sizeof(*s->layers));
    done = s->layers != NULL;
    for (int i = 0; i < c->n_homes && done; i++)
        done = (s->homes[i].ctx = ggml_init(params)) != NULL;
    for (int32_t i = 0; i < c->n_layer && done; i++)
        if (c->layers[i].states[CACHE_CONV] || c->layers[i].states[CACHE_STATE])
            new_rows(s->homes[c->layers[i].home].ctx, &s->hp[i], s->n_snapshots,
                     "snapshot", i, s->layers[i].rows);
    for (int i = 0; i < c->n_homes && done; i++)
        if (ggml_get_first_tensor(s->homes[i].ctx) && c->homes[i].device)
            done =
                (s->homes[i].buffer = ggml_backend_alloc_ctx_tensors_from_buft(
                     s->homes[i].ctx,
                     ggml_backend_dev_buffer_type(c->homes[i].device))) != NULL;
    return done;
}

/* ---- rows ---------------------------------------------------------------- */

static struct ggml_tensor *
row_of(struct cache *c, struct ggml_tensor *t, int64_t row)
{
    struct ggml_tensor *v =
        ggml_view_1d(c->views, t, t->ne[0], (size_t)row * t->nb[1]);

    ggml_backend_view_init(v);
    return v;
}

static void
copy_row(struct cache *c, struct ggml_tensor *to, int64_t to_row,
         struct ggml_tensor *from, int64_t from_row)
{
    ggml_reset(c->views);
    ggml_backend_tensor_copy(row_of(c, from, from_row), row_of(c, to, to_row));
}

/* A row of all layers: of a slot, or of a snapshot. */
struct place {
    bool snapshot;
    int32_t row;
};

static struct ggml_tensor *
tensor_at(const struct cache *c, struct place p, int32_t layer, int k)
{
    return p.snapshot ? c->recurrent.layers[layer].rows[k]
                      : c->layers[layer].states[k];
}

static void
copy_rows(struct cache *c, struct place to, struct place from)
{
    for (int32_t i = 0; i < c->n_layer; i++)
        for (int k = 0; k < CACHE_RECURRENT; k++)
            if (c->layers[i].states[k] && session_cache_is_here(c, i))
                copy_row(c, tensor_at(c, to, i, k), to.row,
                         tensor_at(c, from, i, k), from.row);
}

static void
clear_rows(struct cache *c, int32_t slot)
{
    for (int32_t i = 0; i < c->n_layer; i++)
        for (int k = 0; k < CACHE_RECURRENT; k++) {
            struct ggml_tensor *t = c->layers[i].states[k];

            if (t && session_cache_is_here(c, i))
                ggml_backend_tensor_memset(t, 0, (size_t)slot * t->nb[1],
                                           t->nb[1]);
        }
}

/* ---- snapshots ----------------------------------------------------------- */

/* The slot's snapshot of the most ids up to n; NULL: there is none. */
static struct cache_snapshot *
find_snapshot(const struct cache_recurrent *s, int32_t slot, int32_t n)
{
    struct cache_snapshot *best = NULL;

    for (int32_t i = 0; i < s->n_snapshots; i++) {
        struct cache_snapshot *x = &s->snapshots[i];

        if (x->slot == slot && x->n <= n && (!best || x->n > best->n))
            best = x;
    }
    return best;
}

/* Snapshots after more than n ids are another future's. */
static void
forget_after(struct cache_recurrent *s, int32_t slot, int32_t n)
{
    for (int32_t i = 0; i < s->n_snapshots; i++)
        if (s->snapshots[i].slot == slot && s->snapshots[i].n > n)
            s->snapshots[i].slot = FREE;
}

/* The one that a new one takes the place of. */
static struct cache_snapshot *
choose_snapshot(const struct cache_recurrent *s, int32_t slot, bool brief)
{
    struct cache_snapshot *best = s->snapshots;

    for (int32_t i = 0; i < s->n_snapshots; i++) {
        struct cache_snapshot *x = &s->snapshots[i];

        if (brief && x->brief && x->slot == slot)
            return x;
        if (best->slot != FREE && (x->slot == FREE || x->used < best->used))
            best = x;
    }
    return best;
}

void
session_recurrent_keep(struct cache *cache, int32_t slot, bool brief)
{
    struct cache_recurrent *s = &cache->recurrent;
    struct cache_snapshot *x;
    int32_t n = s->n_layer ? s->at[slot] : 0;

    if (n <= 0 || !session_recurrent_reserve(cache))
        return;
    x = find_snapshot(s, slot, n);
    if (!x || x->n != n) {
        x = choose_snapshot(s, slot, brief);
        *x = (struct cache_snapshot){ .slot = slot, .n = n, .brief = brief };
        copy_rows(cache, (struct place){ true, (int32_t)(x - s->snapshots) },
                  (struct place){ false, slot });
    }
    x->brief = x->brief && brief;
    x->used = ++s->clock;
}

/* ---- positions ----------------------------------------------------------- */

int32_t
session_recurrent_kept(const struct cache *cache, int32_t slot, int32_t n)
{
    const struct cache_recurrent *s = &cache->recurrent;
    const struct cache_snapshot *x;

    if (s->n_layer == 0 || s->at[slot] == n)
        return n;
    x = find_snapshot(s, slot, n);
    if (s->at[slot] < n && s->at[slot] > (x ? x->n : 0))
        return s->at[slot];
    return x ? x->n : 0;
}

/* Where the slot's row after n ids is, n > 0. */
static struct place
place_of(const struct cache_recurrent *s, int32_t slot, int32_t n)
{
    const struct cache_snapshot *x;

    if (s->at[slot] == n)
        return (struct place){ false, slot };
    x = find_snapshot(s, slot, n);
    assert(x && x->n == n);
    return (struct place){ true, (int32_t)(x - s->snapshots) };
}

/* The slot's row after n ids is copied. */
static void
copy_from(struct cache *c, int32_t to, int32_t slot, int32_t n)
{
    struct place from = place_of(&c->recurrent, slot, n);

    copy_rows(c, (struct place){ false, to }, from);
    if (from.snapshot)
        c->recurrent.snapshots[from.row].used = ++c->recurrent.clock;
}

const struct ggml_tensor *
session_recurrent_find(const struct cache *cache, int32_t slot, int32_t n,
                       int32_t layer, enum cache_recurrent_tensor which,
                       int64_t *row)
{
    struct place p = place_of(&cache->recurrent, slot, n);

    *row = p.row;
    return tensor_at(cache, p, layer, which);
}

void
session_recurrent_begin(struct cache *cache, int32_t slot, int32_t past)
{
    struct cache_recurrent *s = &cache->recurrent;

    if (s->n_layer == 0)
        return;
    if (past == 0)
        clear_rows(cache, slot);
    assert(past == 0 || s->at[slot] == past);
    forget_after(s, slot, past);
    s->written[slot] = true;
    s->at[slot] = UNKNOWN;
}

void
session_recurrent_end(struct cache *cache, int32_t slot, int32_t n)
{
    struct cache_recurrent *s = &cache->recurrent;

    if (s->n_layer == 0)
        return;
    s->at[slot] = n;
    s->written[slot] = s->written[slot] || n > 0;
}

void
session_recurrent_assume(struct cache *cache, int32_t slot, int32_t n)
{
    forget_after(&cache->recurrent, slot, -1);
    session_recurrent_end(cache, slot, n);
}

void
session_recurrent_cut(struct cache *cache, int32_t slot, int32_t n)
{
    struct cache_recurrent *s = &cache->recurrent;

    if (s->n_layer == 0)
        return;
    if (n > 0 && s->at[slot] != n)
        copy_from(cache, slot, slot, n);
    s->at[slot] = n;
    forget_after(s, slot, n);
}

void
session_recurrent_copy(struct cache *cache, int32_t to, int32_t from, int32_t n)
{
    struct cache_recurrent *s = &cache->recurrent;

    if (s->n_layer == 0)
        return;
    if (n > 0)
        copy_from(cache, to, from, n);
    session_recurrent_assume(cache, to, n);
}
