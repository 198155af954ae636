/* shared_rows.c - rows of the KV cache that slots have in common */
#include "session/shared_rows.h"

#include <assert.h>

#include "core/mem.h"
#include "graph/arch.h"
#include "session/large_pages.h"

enum {
    MOST_BLOCKS = 1 << 22, /* of all slots: a billion rows */
};

static struct cache_part *
shared_part(struct cache *c)
{
    return &c->parts[CACHE_ALL];
}

static int32_t
n_blocks(const struct cache_part *p)
{
    return p->n_rows / CACHE_BLOCK;
}

static int32_t
fewer_rows(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* The owners of the slot's blocks. */
static int32_t *
owners_of(const struct cache_part *p, int32_t slot)
{
    return p->owners + (size_t)slot * (size_t)n_blocks(p);
}

/* ---- birth and death ----------------------------------------------------- */

/* Layers that read rows by lists, or add to their scores, need them in one
 * piece. */
static bool
takes_parts(const struct model_hparams *hp)
{
    for (int32_t i = 0; i < graph_used_layers(hp); i++)
        if (hp->layers[i].chosen || hp->layers[i].d_index > 0)
            return false;
    return hp->n_compression == 0 && hp->n_bucket == 0 && hp->n_encoder == 0 &&
           !hp->encoder;
}

static bool
is_on_cpu(const struct cache *c)
{
    for (int32_t i = 0; i < c->n_all; i++) {
        ggml_backend_dev_t device = c->homes[c->layers[i].home].device;

        if (!device ||
            ggml_backend_dev_type(device) != GGML_BACKEND_DEVICE_TYPE_CPU)
            return false;
    }
    return true;
}

bool
session_shared_init(struct cache *cache, const struct model *model)
{
    struct cache_part *p = shared_part(cache);
    size_t n = (size_t)cache->n_slots * (size_t)n_blocks(p);

    if (cache->n_slots < 2 || n_blocks(p) < 2 || n > MOST_BLOCKS ||
        p->n_layer == 0 || !takes_parts(&model->hp) || !is_on_cpu(cache))
        return true;
    p->owners = mem_array(n, sizeof(*p->owners));
    p->written = mem_array(n, sizeof(*p->written));
    p->lent = mem_array((size_t)cache->n_slots, sizeof(*p->lent));
    if (!p->owners || !p->written || !p->lent)
        return false;
    for (size_t i = 0; i < n; i++)
        p->owners[i] = (int32_t)(i / (size_t)n_blocks(p));
    return true;
}

void
session_shared_clear(struct cache *cache)
{
    struct cache_part *p = shared_part(cache);

    mem_free(p->owners);
    mem_free(p->written);
    mem_free(p->lent);
    p->owners = p->written = p->lent = NULL;
}

/* ---- rows that are written ----------------------------------------------- */

void
session_shared_count(struct cache *cache, int32_t slot, int32_t first,
                     int32_t end)
{
    struct cache_part *p = shared_part(cache);
    int32_t *written;

    if (!p->owners)
        return;
    written = p->written + (size_t)slot * (size_t)n_blocks(p);
    for (int32_t b = first / CACHE_BLOCK; b * CACHE_BLOCK < end; b++) {
        int32_t n = fewer_rows(end - b * CACHE_BLOCK, CACHE_BLOCK);

        if (n <= written[b])
            continue;
        session_large_pages_add(cache, CACHE_ALL, slot,
                                b * CACHE_BLOCK + written[b],
                                b * CACHE_BLOCK + n);
        p->used[slot] += n - written[b];
        written[b] = n;
    }
}

void
session_shared_discard(struct cache *cache, int32_t slot)
{
    struct cache_part *p = shared_part(cache);
    int32_t *written;

    if (!p->owners)
        return;
    written = p->written + (size_t)slot * (size_t)n_blocks(p);
    for (int32_t b = 0; b < n_blocks(p); b++) {
        session_large_pages_remove(cache, CACHE_ALL, slot, b * CACHE_BLOCK,
                                   b * CACHE_BLOCK + written[b]);
        written[b] = 0;
    }
}

int32_t
session_shared_growth(const struct cache *cache, int32_t slot, int32_t n,
                      int32_t from, int32_t n_shared)
{
    const struct cache_part *p = &cache->parts[CACHE_ALL];
    int32_t first = from < 0 ? 0 : n_shared / CACHE_BLOCK, sum = 0;

    for (int32_t b = first; b < n_blocks(p) && b * CACHE_BLOCK < n; b++) {
        int32_t rows = fewer_rows(n - b * CACHE_BLOCK, CACHE_BLOCK);
        int32_t has = p->written[slot * n_blocks(p) + b];

        if (from < 0 && owners_of(p, slot)[b] != slot)
            continue;
        sum += rows > has ? rows - has : 0;
    }
    return sum;
}

/* ---- owners -------------------------------------------------------------- */

/* Block b of slot `to` gets n rows of the owner `from`. */
static void
copy_block(struct cache *cache, int32_t to, int32_t from, int32_t b, int32_t n)
{
    int64_t rows = shared_part(cache)->n_rows, at = (int64_t)b * CACHE_BLOCK;

    session_cache_copy_rows(cache, CACHE_ALL, to * rows + at, from * rows + at,
                            n);
    session_shared_count(cache, to, b * CACHE_BLOCK, b * CACHE_BLOCK + n);
}

static int32_t
count_runs(const struct cache_part *p, int32_t slot)
{
    const int32_t *owners = owners_of(p, slot);
    int32_t n = 1;

    for (int32_t b = 1; b < n_blocks(p); b++)
        n += owners[b] != owners[b - 1];
    return n;
}

/* A slot with more runs than a graph takes gets copies of all. */
static void
bound_runs(struct cache *cache, int32_t slot)
{
    struct cache_part *p = shared_part(cache);
    int32_t *owners = owners_of(p, slot);

    if (count_runs(p, slot) <= CACHE_RUNS)
        return;
    for (int32_t b = 0; b < n_blocks(p); b++)
        if (owners[b] != slot) {
            copy_block(cache, slot, owners[b], b, CACHE_BLOCK);
            owners[b] = slot;
        }
}

/* How many blocks from `first` on the slot refers to of another. */
static int32_t
count_referred(const struct cache_part *p, int32_t slot, int32_t owner,
               int32_t first)
{
    const int32_t *owners = owners_of(p, slot);
    int32_t n = 0;

    for (int32_t b = first; b < p->lent[owner]; b++)
        n += owners[b] == owner;
    return n;
}

/* The slot that refers to most of them; -1: none does. */
static int32_t
find_heir(const struct cache *c, int32_t owner, int32_t first)
{
    const struct cache_part *p = &c->parts[CACHE_ALL];
    int32_t best = -1, most = 0;

    for (int32_t i = 0; i < c->n_slots; i++) {
        int32_t n = i == owner ? 0 : count_referred(p, i, owner, first);

        if (n > most) {
            best = i;
            most = n;
        }
    }
    return best;
}

/* The heir owns the blocks that it refers to, and others refer to it. */
static void
give_blocks(struct cache *c, int32_t owner, int32_t heir, int32_t first)
{
    struct cache_part *p = shared_part(c);

    for (int32_t b = first; b < p->lent[owner]; b++) {
        if (owners_of(p, heir)[b] != owner)
            continue;
        copy_block(c, heir, owner, b, CACHE_BLOCK);
        for (int32_t i = 0; i < c->n_slots; i++)
            if (i != owner && owners_of(p, i)[b] == owner)
                owners_of(p, i)[b] = heir;
        p->lent[heir] = p->lent[heir] > b ? p->lent[heir] : b + 1;
    }
}

/* Others who refer to the slot's blocks from `first` on no longer do. */
static void
give_up(struct cache *c, int32_t slot, int32_t first)
{
    struct cache_part *p = shared_part(c);
    bool any = false;
    int32_t heir;

    if (p->lent[slot] <= first)
        return;
    while ((heir = find_heir(c, slot, first)) >= 0) {
        give_blocks(c, slot, heir, first);
        any = true;
    }
    p->lent[slot] = first;
    for (int32_t i = 0; i < c->n_slots && any; i++)
        bound_runs(c, i);
}

void
session_shared_own(struct cache *cache, int32_t slot, int32_t past, int32_t n)
{
    struct cache_part *p = shared_part(cache);
    int32_t first = past / CACHE_BLOCK, *owners;

    if (!p->owners)
        return;
    give_up(cache, slot, first);
    owners = owners_of(p, slot);
    for (int32_t b = first; b * CACHE_BLOCK < past + n; b++) {
        if (owners[b] == slot)
            continue;
        copy_block(cache, slot, owners[b], b, CACHE_BLOCK);
        owners[b] = slot;
    }
    bound_runs(cache, slot);
}

void
session_shared_cut(struct cache *cache, int32_t slot, int32_t n)
{
    struct cache_part *p = shared_part(cache);

    if (!p->owners)
        return;
    for (int32_t b = (n + CACHE_BLOCK - 1) / CACHE_BLOCK; b < n_blocks(p); b++)
        owners_of(p, slot)[b] = slot;
}

void
session_shared_copy(struct cache *cache, int32_t to, int32_t from, int32_t n)
{
    struct cache_part *p = shared_part(cache);
    int32_t whole = n / CACHE_BLOCK, rest = n % CACHE_BLOCK, kept = 0, owner;
    int32_t *theirs = owners_of(p, from), *own = owners_of(p, to);

    while (kept < whole && theirs[kept] == to)
        kept++;
    give_up(cache, to, kept);
    for (int32_t b = kept; b < whole; b++) {
        owner = theirs[b];
        own[b] = owner;
        if (p->lent[owner] <= b)
            p->lent[owner] = b + 1;
    }
    for (int32_t b = 0; b < kept; b++)
        own[b] = to;
    for (int32_t b = whole; b < n_blocks(p); b++)
        own[b] = to;
    if (rest > 0)
        copy_block(cache, to, theirs[whole], whole, rest);
    bound_runs(cache, to);
}

/* ---- how much is shared -------------------------------------------------- */

/* How many others refer to block b of the slot. */
static int32_t
count_others(const struct cache *c, int32_t slot, int32_t b)
{
    const struct cache_part *p = &c->parts[CACHE_ALL];
    int32_t n = 0;

    for (int32_t i = 0; i < c->n_slots; i++)
        n += i != slot && owners_of(p, i)[b] == slot;
    return n;
}

/* Whether some block that the slot has is another's, too. */
static bool
shares_any(const struct cache *c, int32_t slot)
{
    const struct cache_part *p = &c->parts[CACHE_ALL];

    for (int32_t b = 0; b < n_blocks(p); b++)
        if (owners_of(p, slot)[b] != slot ||
            (b < p->lent[slot] && count_others(c, slot, b) > 0))
            return true;
    return false;
}

size_t
session_shared_bytes(const struct cache *cache, int32_t *n_slots)
{
    const struct cache_part *p = &cache->parts[CACHE_ALL];
    size_t n = 0;

    *n_slots = 0;
    for (int32_t i = 0; i < cache->n_slots && p->owners; i++) {
        *n_slots += shares_any(cache, i);
        for (int32_t b = 0; b < p->lent[i]; b++)
            n += count_others(cache, i, b) > 0;
    }
    return n * CACHE_BLOCK * session_cache_rows_size(cache, CACHE_ALL);
}

/* ---- for graphs ---------------------------------------------------------- */

/* Runs of the first n rows of a slot. */
static struct cache_runs
runs_of(const struct cache_part *p, int32_t slot, int32_t n)
{
    const int32_t *owners = owners_of(p, slot);
    struct cache_runs r = { 0 };

    for (int32_t b = 0; b * CACHE_BLOCK < n; b++) {
        if (r.n == 0 || r.list[r.n - 1].slot != owners[b]) {
            assert(r.n < CACHE_RUNS);
            r.list[r.n++].slot = owners[b];
        }
        r.list[r.n - 1].end = (b + 1) * CACHE_BLOCK;
    }
    return r;
}

void
session_shared_find(const struct cache *cache, struct graph_segment *segments,
                    int32_t n)
{
    const struct cache_part *p = &cache->parts[CACHE_ALL];

    for (int32_t i = 0; i < n && p->owners; i++)
        segments[i].runs =
            runs_of(p, segments[i].slot, segments[i].keys[CACHE_ALL].n);
}
