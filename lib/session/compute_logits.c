/* compute_logits.c - logits of a batch, to where they are wanted */
#include "session/compute.h"

#include <string.h>

#include "backend/best.h"
#include "core/mem.h"

enum {
    BEST_AT_ONCE = 64, /* outputs */
};

void *
session_compute_extra(ggml_backend_t backend, const char *name)
{
    ggml_backend_dev_t dev = ggml_backend_get_device(backend);

    return ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(dev),
                                             name);
}

static bool
is_cpu(ggml_backend_t backend)
{
    return backend && ggml_backend_dev_type(ggml_backend_get_device(backend)) ==
                          GGML_BACKEND_DEVICE_TYPE_CPU;
}

/* From output i on, as many as want the same number of likeliest ids, or all
 * logits. */
static int32_t
alike(const struct batch *b, int32_t i)
{
    const struct gg_best *best = b->best[i];
    int32_t n = 1;

    while (n < BEST_AT_ONCE && i + n < b->n_outputs &&
           (best ? b->best[i + n] && b->best[i + n]->k == best->k
                 : !b->best[i + n]))
        n++;
    return n;
}

/* True if the device with the logits has found the likeliest of outputs
 * [i, i + n). */
static bool
get_best(struct compute *c, const struct batch *b, ggml_backend_t backend,
         int32_t i, int32_t n)
{
    void *p = backend ? session_compute_extra(backend, BACKEND_BEST) : NULL;
    struct backend_best_row rows[BEST_AT_ONCE];
    size_t k = b->best[i]->k;
    backend_best_t find;

    memcpy(&find, &p, sizeof(p));
    for (int32_t j = 0; j < n; j++)
        rows[j] = (struct backend_best_row){ b->best[i + j]->ids,
                                             b->best[i + j]->logits, 0 };
    if (!find || k > INT32_MAX ||
        !find(backend, c->graph.result, i, n, (int)k, rows))
        return false;
    for (int32_t j = 0; j < n; j++) {
        b->best[i + j]->n = k;
        b->best[i + j]->log_sum_exp = rows[j].log_sum_exp;
    }
    return true;
}

/* The host looks for them, in the row itself or a copy. */
static bool
find_best(struct compute *c, const struct batch *b, ggml_backend_t backend,
          int32_t i)
{
    struct ggml_tensor *t = c->graph.result;
    const float *row = c->row;

    if (is_cpu(backend)) {
        row = (const float *)((const char *)t->data + (size_t)i * t->nb[1]);
    } else {
        if (!c->row)
            row = c->row = mem_array((size_t)t->ne[0], sizeof(*c->row));
        if (!row)
            return false;
        ggml_backend_tensor_get(t, c->row, (size_t)i * t->nb[1], t->nb[1]);
    }
    return session_topk_find(&c->topk, row, (size_t)t->ne[0], b->best[i]);
}

bool
session_compute_get_logits(struct compute *c, const struct batch *b)
{
    ggml_backend_t backend =
        ggml_backend_sched_get_tensor_backend(c->sched, c->graph.result);
    bool done = true;

    for (int32_t i = 0, n; i < b->n_outputs && done; i += n) {
        n = alike(b, i);
        if (!b->best[i])
            session_readback_rows(&c->readback, backend, c->graph.result, i, n,
                                  b->logits);
        else if (!get_best(c, b, backend, i, n))
            for (int32_t j = 0; j < n && done; j++)
                done = find_best(c, b, backend, i + j);
    }
    return done;
}

/* Where all logits are wanted, one row after the other; NULL: otherwise. */
static float *
place_of_logits(const struct batch *b, size_t row)
{

    if (b->scored || b->pooled || !b->n_outputs)
        return NULL;
    for (int32_t i = 0; i < b->n_outputs; i++)
        if (!b->logits[i] || b->logits[i] != b->logits[0] + (size_t)i * row)
            return NULL;
    return b->logits[0];
}

/* The processor writes logits where the caller wants them: copying takes a
 * while, as they lie in the caches of who computed them. */
void *
session_compute_place_logits(struct compute *c, const struct batch *b)
{
    struct ggml_tensor *result = c->graph.result;
    float *place = place_of_logits(b, (size_t)result->ne[0]);
    void *own = result->data;

    if (!place || result->view_src || !ggml_is_contiguous(result) ||
        !is_cpu(ggml_backend_sched_get_tensor_backend(c->sched, result)))
        return NULL;
    result->data = place;
    return own;
}
