/* cache.c - the KV cache: what each layer of a session keeps */
#include "session/cache.h"

#include <assert.h>
#include <string.h>

#include "core/check.h"
#include "core/mem.h"
#include "session/large_pages.h"
#include "session/mtp_rows.h"
#include "session/recurrent.h"
#include "session/rotations.h"
#include "session/shared_rows.h"

/* Bytes that a sum of sizes and alignments can have without overflow. */
#define MEASURABLE (SIZE_MAX / 4)

static int32_t
block_up(int32_t n)
{
    return (n + CACHE_BLOCK - 1) / CACHE_BLOCK * CACHE_BLOCK;
}

static int32_t
block_down(int32_t n)
{
    return n / CACHE_BLOCK * CACHE_BLOCK;
}

size_t
session_cache_size(const struct cache *cache)
{
    size_t n = 0;

    for (int i = 0; i < cache->n_homes; i++)
        n += cache->homes[i].size;
    return n;
}

/* ---- layout ------------------------------------------------------------- */

/* A window, the rest of the block that it begins in, a batch, and what makes
 * moves rare: each moves the window, after at least a block of ids. */
static int32_t
window_rows(int32_t window, int32_t n_batch)
{
    return block_up(window + n_batch + 2 * CACHE_BLOCK);
}

/* A block that is unfinished has a row, too. */
static void
count_blocks(struct cache *c, const struct model *model)
{
    const struct model_hparams *hp = &model->hp;

    for (int32_t i = 0; i < hp->n_compression; i++) {
        struct cache_part *p = &c->parts[graph_compressed_part(i)];

        p->ratio = hp->compressions[i].ratio;
        p->n_rows = block_up(c->n_ctx / p->ratio + 1);
    }
    for (int32_t i = 0; i < c->n_all; i++) {
        int32_t compression = hp->layers[i].compression;

        if (compression == 0)
            continue;
        c->layers[i].compressed = graph_compressed_part(compression - 1);
        c->parts[c->layers[i].compressed].n_layer++;
    }
}

static bool
choose_kinds(struct cache *c, const struct model *model, int32_t n_batch)
{
    struct cache_part *all = &c->parts[CACHE_ALL];
    struct cache_part *windowed = &c->parts[CACHE_WINDOW];
    int32_t window = model->hp.window;

    c->layers = mem_array((size_t)c->n_all, sizeof(*c->layers));
    if (!c->layers)
        return false;
    for (int i = 0; i < CACHE_PARTS; i++)
        c->parts[i].ratio = 1;
    count_blocks(c, model);
    for (int32_t i = 0; i < c->n_all; i++) {
        bool is_windowed = model->layers[i].windowed && window < c->n_ctx;

        c->layers[i].kind = is_windowed ? CACHE_WINDOW : CACHE_ALL;
        c->layers[i].home = graph_has_layer(model, i)
                                ? graph_home_of(model, i, MODEL_REST)
                                : model->n_homes;
        if (graph_keeps(&model->hp, i))
            c->parts[c->layers[i].kind].n_layer++;
    }
    all->n_rows = windowed->n_rows = block_up(c->n_ctx);
    if (windowed->n_layer == 0)
        return true;
    windowed->window = window;
    if (window_rows(window, n_batch) < windowed->n_rows)
        windowed->n_rows = window_rows(window, n_batch);
    return true;
}

/* Bytes of the layer's rows of one tensor; false: too many. */
static bool
rows_size(const struct cache *c, const struct model_hparams *hp, int32_t layer,
          int of, size_t *out)
{
    const struct cache_part *p =
        &c->parts[graph_part_of(&c->layers[layer], of)];
    int64_t n = graph_cache_width(hp, layer, of);

    *out = 0;
    if (n == 0)
        return true;
    return check_mul(ggml_row_size(graph_cache_type(&c->form, hp, layer, of),
                                   n * graph_cache_heads(hp, layer, of)),
                     (uint64_t)p->n_rows, out) &&
           check_mul(*out, (uint64_t)c->n_slots, out);
}

/* Sizes that overflow must never reach the tensor interface: it would end the
 * process. */
static bool
fits(const struct cache *c, const struct model *model, size_t total)
{
    size_t sum = 0, n;

    for (int32_t i = 0; i < c->n_all; i++) {
        size_t state = (size_t)graph_state_floats(&model->hp, i) * 4;

        if (!graph_has_layer(model, i))
            continue;
        if (!check_mul(state, (uint64_t)c->n_slots, &state) ||
            !check_add(sum, state, &sum))
            return false;
        for (int k = 0; k < CACHE_TENSORS; k++)
            if (!rows_size(c, &model->hp, i, k, &n) || !check_add(sum, n, &sum))
                return false;
    }
    return sum <= total;
}

static bool
new_parts(struct cache *c, size_t row)
{
    bool done;

    c->head = mem_array(CACHE_BLOCK, row);
    done = c->head != NULL;
    for (int i = 0; i < CACHE_PARTS; i++) {
        struct cache_part *p = &c->parts[i];

        p->base = mem_array((size_t)c->n_slots, sizeof(*p->base));
        p->used = mem_array((size_t)c->n_slots, sizeof(*p->used));
        done = done && p->base && p->used;
    }
    return done;
}

static bool
new_homes(struct cache *c, const struct model *model)
{
    struct ggml_init_params params = {
        .mem_size = ((CACHE_TENSORS + CACHE_RECURRENT) * (size_t)c->n_all + 1 +
                     CACHE_ROTATIONS) *
                    ggml_tensor_overhead(),
        .no_alloc = true,
    };
    bool done = true;

    c->n_homes = model->n_homes + !graph_is_whole(model);
    for (int i = 0; i < c->n_homes; i++) {
        bool here = i < model->n_homes;

        c->homes[i] = (struct cache_home){
            .device = here ? model->homes[i].device : NULL,
            .ctx = ggml_init(params),
        };
        done = done && c->homes[i].ctx;
    }
    return done;
}

static void
new_layer(struct cache *c, int32_t i, const struct model_hparams *hp)
{
    static const char *const names[] = {
        [CACHE_K] = "cache_k",
        [CACHE_V] = "cache_v",
        [CACHE_INDEX] = "cache_index",
        [CACHE_COMPRESSED] = "cache_compressed",
        [CACHE_COMPRESSED_INDEX] = "cache_compressed_index",
    };
    struct cache_layer *l = &c->layers[i];

    for (int k = 0; k < CACHE_TENSORS; k++) {
        int64_t length = graph_cache_width(hp, i, k);
        int64_t n = (int64_t)c->parts[graph_part_of(l, k)].n_rows * c->n_slots;

        if (length == 0)
            continue;
        l->t[k] = ggml_new_tensor_3d(c->homes[l->home].ctx,
                                     graph_cache_type(&c->form, hp, i, k),
                                     length, n, graph_cache_heads(hp, i, k));
        ggml_format_name(l->t[k], "%s.%d", names[k], (int)i);
    }
}

static bool
new_tensors(struct cache *c, const struct model *model)
{
    struct ggml_init_params two = {
        .mem_size = 2 * ggml_tensor_overhead(),
        .no_alloc = true,
    };

    c->views = ggml_init(two);
    if (!new_homes(c, model) || !c->views)
        return false;
    for (int32_t i = 0; i < c->n_all; i++)
        new_layer(c, i, &model->hp);
    session_rotations_new(c);
    return session_recurrent_init(c, model) && session_cache_mtp_init(c, model);
}

/* Bytes of the longest row that a head keeps; 1 if none keeps any. */
static size_t
longest_head(const struct model_hparams *hp, const struct cache_form *form)
{
    size_t longest = 1;

    for (int32_t i = 0; i < graph_used_layers(hp); i++)
        for (int k = 0; k < CACHE_TENSORS; k++) {
            size_t size = ggml_row_size(graph_cache_type(form, hp, i, k),
                                        graph_cache_width(hp, i, k));

            longest = size > longest ? size : longest;
        }
    return longest;
}

/* Everything but the memory, if it can be no more than `max` bytes. */
static bool
lay_out_cache(struct cache *c, const struct model *model,
              const struct cache_form *form, int32_t n_slots, int32_t n_ctx,
              int32_t n_batch, size_t max)
{
    *c = (struct cache){
        .form = *form,
        .n_slots = n_slots,
        .n_ctx = n_ctx,
        .n_layer = model->hp.n_layer,
        .n_all = graph_used_layers(&model->hp),
    };
    return choose_kinds(c, model, n_batch) && fits(c, model, max) &&
           new_parts(c, longest_head(&model->hp, form)) &&
           new_tensors(c, model) && session_shared_init(c, model);
}

static enum gg_status
check_allocated(struct cache *c, bool done, struct gg_error *err)
{
    if (done)
        return GG_OK;
    error_set(err, GG_ERR_NOMEM,
              "no memory for the key/value cache of %d x %d positions; "
              "a smaller -c (n_ctx) needs less",
              (int)c->n_slots, (int)c->n_ctx);
    session_cache_clear(c);
    return GG_ERR_NOMEM;
}

/* No layer may live there. Attention covers rows before they are written:
 * it multiplies what the mask hides by zero, which would not hide a NaN. */
static bool
get_memory(struct cache_home *home)
{
    if (!ggml_get_first_tensor(home->ctx) || !home->device)
        return true;
    home->buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        home->ctx, ggml_backend_dev_buffer_type(home->device));
    if (!home->buffer)
        return false;
    home->size = ggml_backend_buffer_get_size(home->buffer);
    if (ggml_backend_buffer_is_host(home->buffer)) {
        mem_small_pages(ggml_backend_buffer_get_base(home->buffer), home->size);
        session_large_pages_init(home);
    }
    ggml_backend_buffer_clear(home->buffer, 0);
    return session_rotations_fill(home);
}

/* Memory of the layers' devices together. */
static size_t
all_memory(const struct model *model)
{
    bool cpu = graph_device_layers(model) < model->hp.n_layer;
    size_t all = 0;

    for (int i = !cpu; i < model->n_homes; i++) {
        size_t available, total;

        ggml_backend_dev_memory(model->homes[i].device, &available, &total);
        if (!total) /* it cannot tell */
            return MEASURABLE;
        all += total;
    }
    return all;
}

enum gg_status
session_cache_init(struct cache *cache, const struct model *model,
                   const struct cache_form *form, int32_t n_slots,
                   int32_t n_ctx, int32_t n_batch, struct gg_error *err)
{
    struct cache *c = cache;
    bool done = lay_out_cache(c, model, form, n_slots, n_ctx, n_batch,
                              all_memory(model));

    for (int i = c->n_homes; i-- > 0 && done;)
        done = get_memory(&c->homes[i]);
    return check_allocated(c, done, err);
}

/* A buffer without memory, so that nobody plans any for the tensors. */
static bool
get_no_memory(struct cache_home *home)
{
    ggml_backend_buffer_type_t buft;
    struct ggml_tensor *t = ggml_get_first_tensor(home->ctx);

    if (!home->device)
        return true;
    buft = ggml_backend_dev_buffer_type(home->device);
    home->buffer = ggml_backend_buft_alloc_buffer(buft, 0);
    if (!home->buffer)
        return false;
    home->size = ggml_backend_alloc_ctx_tensors_from_buft_size(home->ctx, buft);
    for (; t; t = ggml_get_next_tensor(home->ctx, t))
        t->buffer = home->buffer;
    return true;
}

enum gg_status
session_cache_init_dry(struct cache *cache, const struct model *model,
                       const struct cache_form *form, int32_t n_slots,
                       int32_t n_ctx, int32_t n_batch, struct gg_error *err)
{
    struct cache *c = cache;
    bool done =
        lay_out_cache(c, model, form, n_slots, n_ctx, n_batch, MEASURABLE);

    for (int i = c->n_homes; i-- > 0 && done;)
        done = get_no_memory(&c->homes[i]);
    return check_allocated(c, done, err);
}

void
session_cache_clear(struct cache *cache)
{
    session_recurrent_clear(cache);
    session_cache_mtp_clear(cache);
    session_shared_clear(cache);
    for (int i = 0; i < cache->n_homes; i++) {
        session_large_pages_clear(&cache->homes[i]);
        ggml_backend_buffer_free(cache->homes[i].buffer);
        ggml_free(cache->homes[i].ctx);
    }
    ggml_free(cache->views);
    for (int i = 0; i < CACHE_PARTS; i++) {
        mem_free(cache->parts[i].base);
        mem_free(cache->parts[i].used);
    }
    mem_free(cache->head);
    mem_free(cache->layers);
    *cache = (struct cache){ 0 };
}

/* ---- positions and rows ------------------------------------------------- */

int64_t
session_cache_row(const struct cache *cache, int part, int32_t slot,
                  int32_t position)
{
    const struct cache_part *p = &cache->parts[part];

    if (p->owners)
        slot = session_shared_owner(p, slot, position);
    return (int64_t)slot * p->n_rows + position / p->ratio - p->base[slot];
}

/* At least a block, so that a graph has something to look at. */
int32_t
session_cache_blocks(const struct cache *cache, int32_t compression,
                     int32_t past, int32_t n)
{
    const struct cache_part *p =
        &cache->parts[graph_compressed_part(compression)];
    int32_t rows = (past + n) / p->ratio;

    return block_up(rows > 0 ? rows : 1);
}

/* The end is that of the last id's block. The start follows from it, not from
 * the first id that is seen, so that both change at once while ids come one by
 * one, and the graph serves until then. */
struct cache_range
session_cache_seen(const struct cache *cache, enum cache_kind kind,
                   int32_t slot, int32_t past, int32_t n)
{
    const struct cache_part *p = &cache->parts[kind];
    int32_t base = p->base[slot], end = block_up(past + n), start = base;

    if (p->window) {
        /* past + n > end - CACHE_BLOCK */
        int32_t first = end - (CACHE_BLOCK - 1) - n - (p->window - 1);

        if (first > base)
            start = block_down(first);
    }
    return (struct cache_range){ start - base, start, end - start };
}

/* The first position that an id at `past` sees. */
static int32_t
first_seen(int32_t window, int32_t past)
{
    return window && past >= window ? past - window + 1 : 0;
}

int32_t
session_cache_first(int32_t window, int32_t n)
{
    return block_down(first_seen(window, n));
}

int32_t
session_cache_kept(const struct cache *cache, int32_t slot, int32_t n)
{
    const struct cache_part *p = &cache->parts[CACHE_WINDOW];

    n = session_recurrent_kept(cache, slot, n);
    return p->base[slot] <= first_seen(p->window, n) ? n : 0;
}

/* ---- moving rows -------------------------------------------------------- */

static struct ggml_tensor *
rows_of(struct cache *cache, struct ggml_tensor *t, int64_t head, int64_t first,
        int64_t n)
{
    struct ggml_tensor *v = ggml_view_2d(cache->views, t, t->ne[0], n, t->nb[1],
                                         session_cache_place(t, head, first));

    ggml_backend_view_init(v);
    return v;
}

/* They must not overlap. */
static void
copy_rows(struct cache *cache, struct ggml_tensor *t, int64_t to, int64_t from,
          int64_t n)
{
    for (int64_t h = 0; h < t->ne[2]; h++) {
        ggml_reset(cache->views);
        ggml_backend_tensor_copy(rows_of(cache, t, h, from, n),
                                 rows_of(cache, t, h, to, n));
    }
}

void
session_cache_copy_rows(struct cache *cache, int part, int64_t to, int64_t from,
                        int64_t n)
{
    for (int32_t i = 0; i < cache->n_all && n > 0; i++)
        for (int k = 0; k < CACHE_TENSORS; k++)
            if (cache->layers[i].t[k] &&
                graph_part_of(&cache->layers[i], k) == part &&
                session_cache_is_here(cache, i))
                copy_rows(cache, cache->layers[i].t[k], to, from, n);
}

/* The slot's rows from position `base` up to `end` move to its start, in
 * pieces that do not overlap their targets. */
static void
move_down(struct cache *cache, int32_t slot, int32_t base, int32_t end)
{
    struct cache_part *p = &cache->parts[CACHE_WINDOW];
    int32_t by = base - p->base[slot], n = end - base;
    int64_t first = (int64_t)slot * p->n_rows;

    assert(by > 0);
    for (int32_t done = 0; done < n; done += by)
        session_cache_copy_rows(cache, CACHE_WINDOW, first + done,
                                first + done + by,
                                n - done < by ? n - done : by);
    p->base[slot] = base;
}

/* Rows of the slot for its first n positions. An unfinished block has none. */
int32_t
session_cache_rows_of(const struct cache_part *p, int32_t slot, int32_t n)
{
    return n / p->ratio - p->base[slot];
}

/* The slot has rows of positions below `end`; those from `first` on are written
 * now. */
static void
count_used(struct cache *cache, int32_t slot, int32_t first, int32_t end)
{
    session_shared_count(cache, slot, first, end);
    for (int i = 0; i < CACHE_PARTS; i++) {
        struct cache_part *p = &cache->parts[i];
        int32_t n = session_cache_rows_of(p, slot, end);

        if (p->owners || n <= p->used[slot])
            continue;
        session_large_pages_add(cache, i, slot, p->used[slot], n);
        p->used[slot] = n;
    }
}

void
session_cache_make_draft_room(struct cache *cache, int32_t slot, int32_t past,
                              int32_t n)
{
    struct cache_part *p = &cache->parts[CACHE_WINDOW];

    if (past == 0)
        p->base[slot] = 0;
    if (past + n > p->base[slot] + p->n_rows)
        move_down(cache, slot, session_cache_first(p->window, past), past);
    session_shared_own(cache, slot, past, n);
    count_used(cache, slot, past, past + n);
}

void
session_cache_make_room(struct cache *cache, int32_t slot, int32_t past,
                        int32_t n)
{
    session_cache_make_draft_room(cache, slot, past, n);
    session_recurrent_begin(cache, slot, past);
}

void
session_cache_copy(struct cache *cache, int32_t to, int32_t from, int32_t n)
{
    for (int i = 0; i < CACHE_PARTS; i++) {
        struct cache_part *p = &cache->parts[i];
        int32_t rows = session_cache_rows_of(p, from, n);

        if (p->owners)
            session_shared_copy(cache, to, from, rows);
        else
            session_cache_copy_rows(cache, i, (int64_t)to * p->n_rows,
                                    (int64_t)from * p->n_rows, rows);
        p->base[to] = p->base[from];
    }
    session_recurrent_copy(cache, to, from, n);
    session_cache_mtp_copy(cache, to, from, n);
    count_used(cache, to, n, n);
}

void
session_cache_assume(struct cache *cache, int32_t slot, int32_t n)
{
    for (int i = 0; i < CACHE_PARTS; i++) {
        struct cache_part *p = &cache->parts[i];

        p->base[slot] = session_cache_first(p->window, n);
        assert(p->n_rows == 0 ||
               session_cache_rows_of(p, slot, n) <= p->n_rows);
    }
    session_recurrent_assume(cache, slot, n);
    session_cache_mtp_forget(cache, slot, n);
    session_shared_cut(cache, slot, 0);
    session_shared_own(cache, slot, 0, n);
    count_used(cache, slot, 0, n);
}
