/* divide.c - which rank of a pipeline evaluates which layers
 *
 * All ranks say what they have opened, and rank 0 what becomes of it. */
#include <config.h>

#include "pipeline/remote.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/build.h"
#include "core/hash.h"
#include "core/mem.h"
#include "graph/adapter.h"
#include "session/offload.h"

/* Whom the layers go to. */
struct division {
    int32_t end[PIPELINE_MAX_RANKS];
};

static uint64_t
extras_of(const struct model *m)
{
    const struct rope_params *r = &m->hp.rope;
    const float rope[] = { r->base, r->factor };
    const int32_t numbers[] = { m->hp.n_mtp, r->n_ctx_orig,
                                (int32_t)r->scaling };
    uint64_t h = graph_files_fingerprint(&m->files);

    h = hash_bytes(h, rope, sizeof(rope));
    return hash_bytes(h, numbers, sizeof(numbers));
}

static struct pipeline_hello
hello_of(const struct pipeline *p, const struct model *m)
{
    ggml_backend_dev_t cpu =
        ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    struct pipeline_hello h = {
        .build = core_build_fingerprint(),
        .fingerprint = gguf_fingerprint(m->file->gguf),
        .extras = extras_of(m),
    };

    for (int i = m->n_homes > 1; i < m->n_homes; i++) {
        size_t available, total;

        ggml_backend_dev_memory(m->homes[i].device, &available, &total);
        h.available += available;
    }
    h.available /= (uint64_t)p->base.n_local;
    snprintf(h.version, sizeof(h.version), "%s", PACKAGE_VERSION);
    snprintf(h.kernels, sizeof(h.kernels), "%s",
             cpu ? ggml_backend_dev_description(cpu) : "");
    return h;
}

static enum gg_status
compare(const struct pipeline_hello *own, struct pipeline_hello *other,
        int32_t rank, struct gg_error *err)
{
    other->version[sizeof(other->version) - 1] = '\0';
    other->kernels[sizeof(other->kernels) - 1] = '\0';
    if (strcmp(own->version, other->version))
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "rank %d is of another build: version %s, and rank 0 "
                         "is of version %s",
                         (int)rank, other->version, own->version);
    if (own->build != other->build)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "rank %d is of another build of version %s than rank "
                         "0: they would not compute alike",
                         (int)rank, own->version);
    if (strcmp(own->kernels, other->kernels))
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "rank %d has other kernels (%s) than rank 0 (%s): "
                         "GG_CPU_ISA on all ranks makes them alike",
                         (int)rank, other->kernels, own->kernels);
    if (own->fingerprint != other->fingerprint)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "rank %d has another model in the file of that name: "
                         "fingerprint %016" PRIx64 ", and rank 0 has "
                         "%016" PRIx64,
                         (int)rank, other->fingerprint, own->fingerprint);
    if (own->extras != other->extras)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "rank %d has other adapters, MTP layers or rotary "
                         "positions than rank 0",
                         (int)rank);
    return GG_OK;
}

/* Whether no layer from this one on attends by the choice of one before it. */
static bool
chooses_itself(const struct model *m, int32_t layer)
{
    while (layer < m->hp.n_layer && !m->hp.layers[layer].chosen)
        layer++;
    return layer == m->hp.n_layer || graph_chooses(&m->hp.layers[layer]);
}

/* Whether a rank may begin with this layer: none from it on reads keys and
 * values of one before it, or what its indexer chooses. */
static bool
may_cut(const struct model *m, int32_t layer)
{
    bool may = chooses_itself(m, layer);

    for (int32_t i = layer; i < m->hp.n_layer; i++)
        may = may && m->hp.layers[i].kv_layer >= layer;
    return may;
}

static enum gg_status
take_list(struct pipeline *p, const struct model *m, struct gg_error *err)
{
    int32_t end = 0;

    for (int32_t i = 0; i < p->base.n; i++) {
        end += p->layers[i];
        p->end[i] = end;
        if (end < m->hp.n_layer && !may_cut(m, end))
            return error_set(err, GG_ERR_ARG,
                             "a rank cannot begin with layer %d: it, "
                             "or one after it, reads keys, or an indexer's "
                             "choice, of an earlier layer",
                             (int)end);
    }
    if (end == m->hp.n_layer)
        return GG_OK;
    return error_set(err, GG_ERR_ARG,
                     "the layers of all ranks are %d, and the model has %d",
                     (int)end, (int)m->hp.n_layer);
}

static enum gg_status
too_many(const struct pipeline *p, int32_t parts, struct gg_error *err)
{
    return error_set(err, GG_ERR_ARG,
                     "%d ranks are more than the model has layers that a rank "
                     "can begin with: %d",
                     (int)p->base.n, (int)parts);
}

/* Cuts after layer `from`. */
static int32_t
count_cuts(const struct model *m, int32_t from)
{
    int32_t n = 0;

    for (int32_t i = from + 1; i < m->hp.n_layer; i++)
        n += may_cut(m, i);
    return n;
}

/* The cut after `from`, with `needed` more after it, where `had`, the bytes in
 * front of layer `from`, comes nearest to `want`. */
static int32_t
nearest_cut(const struct model *m, const uint64_t *bytes, int32_t from,
            int32_t needed, double had, double want)
{
    int32_t best = from + 1;
    double least = INFINITY;

    for (int32_t i = from + 1; i < m->hp.n_layer; i++) {
        had += (double)bytes[i - 1];
        if (may_cut(m, i) && count_cuts(m, i) >= needed &&
            fabs(had - want) < least) {
            least = fabs(had - want);
            best = i;
        }
    }
    return best;
}

/* Each gets as much of all bytes as it has of all memory, and at least a layer.
 * bytes: of each layer, and of the output, which is rank 0's. */
static enum gg_status
by_memory(struct pipeline *p, const struct model *m, const uint64_t *bytes,
          const uint64_t *available, struct gg_error *err)
{
    int32_t n = m->hp.n_layer, from = 0, cuts = count_cuts(m, 0);
    double memory = 0, share = 0, had = (double)bytes[n], all = had;

    if (p->base.n > cuts + 1)
        return too_many(p, cuts + 1, err);
    for (int32_t i = 0; i < n; i++)
        all += (double)bytes[i];
    for (int32_t i = 0; i < p->base.n; i++)
        memory += (double)available[i];
    for (int32_t i = 0; i < p->base.n - 1; i++) {
        int32_t end;

        share += memory > 0 ? (double)available[i] / memory : 1.0 / p->base.n;
        end = nearest_cut(m, bytes, from, p->base.n - 2 - i, had, share * all);
        while (from < end)
            had += (double)bytes[from++];
        p->end[i] = end;
    }
    p->end[p->base.n - 1] = n;
    return GG_OK;
}

static enum gg_status
divide_by_memory(struct pipeline *p, const struct model *m,
                 const uint64_t *available, struct gg_error *err)
{
    uint64_t *bytes = mem_array((size_t)m->hp.n_layer + 1, sizeof(*bytes));
    enum gg_status st = error_nomem(err);

    if (bytes && session_offload_bytes(m, bytes))
        st = by_memory(p, m, bytes, available, err);
    mem_free(bytes);
    return st;
}

static enum gg_status
divide(struct pipeline *p, const struct model *m, const uint64_t *available,
       struct gg_error *err)
{
    if (p->base.n > m->hp.n_layer)
        return too_many(p, m->hp.n_layer, err);
    return p->layers ? take_list(p, m, err)
                     : divide_by_memory(p, m, available, err);
}

/* For ranks that are not there, with as much memory each. */
static enum gg_status
divide_evenly(struct pipeline *p, const struct model *m, struct gg_error *err)
{
    uint64_t *available = mem_array((size_t)p->base.n, sizeof(*available));
    enum gg_status st;

    for (int32_t i = 0; available && i < p->base.n; i++)
        available[i] = 1;
    st = available ? divide(p, m, available, err) : error_nomem(err);
    mem_free(available);
    return st;
}

/* Rank 0's part of it: hears the others, and chooses. */
static enum gg_status
choose(struct pipeline *p, struct model *m, struct gg_error *err)
{
    uint64_t *available = mem_array((size_t)p->base.n, sizeof(*available));
    struct pipeline_hello own = hello_of(p, m);
    enum gg_status st = available ? GG_OK : error_nomem(err);
    enum gg_status heard = GG_OK;

    for (int32_t i = 1; i < p->base.n && heard == GG_OK; i++) {
        struct pipeline_hello other;
        struct gg_error e;

        heard = pipeline_reply(p, i, &other, sizeof(other), &e);
        if (heard != GG_OK)
            st = error_set(err, heard, "%s", e.message);
        else if (st == GG_OK)
            st = compare(&own, &other, i, err);
        if (st == GG_OK)
            available[i] = other.available;
    }
    if (st == GG_OK) {
        available[0] = own.available;
        st = divide(p, m, available, err);
    }
    mem_free(available);
    return st;
}

/* Whether each rank has some of n_layer. */
static bool
is_division(const struct division *d, int32_t n, int32_t n_layer)
{
    for (int32_t i = 0; i < n; i++)
        if (d->end[i] <= (i ? d->end[i - 1] : 0))
            return false;
    return d->end[n - 1] == n_layer;
}

/* Rank 0's choice becomes that of all. */
static enum gg_status
spread(struct pipeline *p, int32_t n_layer, struct gg_error *err)
{
    struct division d = { { 0 } };
    struct pipeline_command c = { .op = PIPELINE_DIVIDE, .size = sizeof(d) };
    const char *bytes;
    enum gg_status st;

    if (p->base.rank == 0) {
        memcpy(d.end, p->end, (size_t)p->base.n * sizeof(*p->end));
        return pipeline_tell_all(p, &c, &d, err);
    }
    st = pipeline_next(p, &c, &bytes, err);
    if (st != GG_OK)
        return st;
    if (c.op == PIPELINE_DIVIDE && c.size == sizeof(d))
        memcpy(&d, bytes, sizeof(d));
    if (!is_division(&d, p->base.n, n_layer))
        return error_set(err, GG_ERR_FORMAT,
                         "rank 0 has not divided the model");
    memcpy(p->end, d.end, (size_t)p->base.n * sizeof(*p->end));
    return GG_OK;
}

static enum gg_status
divide_together(struct pipeline *p, struct model *m, struct gg_error *err)
{
    struct pipeline_command open = { .op = PIPELINE_OPEN };
    int32_t rank = p->base.rank;
    struct pipeline_hello own = hello_of(p, m);
    enum gg_status st = GG_OK;

    if (rank == 0)
        st = pipeline_tell_all(p, &open, NULL, err);
    p->opening = false;
    if (st == GG_OK) /* all have opened the file */
        st = pipeline_agree(&p->base, GG_OK, err);
    if (st != GG_OK)
        return st;
    if (rank == 0)
        st = choose(p, m, err);
    else
        st = pipeline_answer(p, &own, sizeof(own), err);
    st = pipeline_agree(&p->base, st, err);
    return st == GG_OK ? spread(p, m->hp.n_layer, err) : st;
}

enum gg_status
pipeline_divide(struct gg_pipeline *base, struct model *m, struct gg_error *err)
{
    struct pipeline *p = pipeline_of(base);
    enum gg_status st =
        base->planned ? divide_evenly(p, m, err) : divide_together(p, m, err);

    if (st != GG_OK)
        return st;
    m->pipeline = base;
    m->first = base->rank ? p->end[base->rank - 1] : 0;
    m->end = p->end[base->rank];
    return GG_OK;
}
