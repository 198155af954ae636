/* open.c - begins and ends a pipeline */
#include "pipeline/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static enum gg_status
bad_layers(const char *list, int32_t n, struct gg_error *err)
{
    return error_set(err, GG_ERR_ARG,
                     "'%.64s' is not a number of layers for each of "
                     "%d ranks, with commas",
                     list, (int)n);
}

/* "24,24,16,16" */
static enum gg_status
read_layers(struct pipeline *p, const char *list, struct gg_error *err)
{
    const char *s = list;

    p->layers = mem_array((size_t)p->base.n, sizeof(*p->layers));
    if (!p->layers)
        return error_nomem(err);
    for (int32_t i = 0; i < p->base.n; i++) {
        int32_t v = 0;

        for (; *s >= '0' && *s <= '9' && v < 1 << 20; s++)
            v = 10 * v + (*s - '0');
        if (v == 0 || *s != (i < p->base.n - 1 ? ',' : '\0'))
            return bad_layers(list, p->base.n, err);
        p->layers[i] = v;
        s++;
    }
    return GG_OK;
}

enum gg_status
pipeline_new(struct pipeline_transport *transport, const char *layers,
             struct pipeline **out, struct gg_error *err)
{
    struct pipeline *p = mem_zalloc(sizeof(*p));
    enum gg_status st = GG_OK;

    if (!p)
        return error_nomem(err);
    p->transport = transport;
    p->base = (struct gg_pipeline){ .call = &pipeline_calls,
                                    .rank = transport->rank,
                                    .n = transport->size,
                                    .n_local = transport->n_local,
                                    .local = transport->local,
                                    .divided = true };
    p->end = mem_array((size_t)p->base.n, sizeof(*p->end));
    if (!p->end)
        st = error_nomem(err);
    else if (p->base.n > PIPELINE_MAX_RANKS)
        st = error_set(err, GG_ERR_ARG, "%d ranks are more than %d",
                       (int)p->base.n, PIPELINE_MAX_RANKS);
    else if (layers)
        st = read_layers(p, layers, err);
    if (st == GG_OK)
        *out = p;
    else
        pipeline_free(p);
    return st;
}

static bool
send_nothing(struct pipeline_transport *t, int32_t to, enum transport_tag tag,
             const void *bytes, size_t n)
{
    (void)t, (void)to, (void)tag, (void)bytes, (void)n;
    return false;
}

static bool
receive_nothing(struct pipeline_transport *t, int32_t from,
                enum transport_tag tag, void *bytes, size_t n)
{
    (void)t, (void)from, (void)tag, (void)bytes, (void)n;
    return false;
}

static void
leave_nobody(struct pipeline_transport *t, bool failed)
{
    (void)failed;
    mem_free(t);
}

enum gg_status
pipeline_plan(int32_t rank, int32_t n, const char *layers,
              struct pipeline **out, struct gg_error *err)
{
    struct pipeline_transport *t = mem_zalloc(sizeof(*t));
    enum gg_status st;

    if (!t)
        return error_nomem(err);
    *t = (struct pipeline_transport){ .version = TRANSPORT_VERSION,
                                      .rank = rank,
                                      .size = n,
                                      .n_local = 1,
                                      .send = send_nothing,
                                      .receive = receive_nothing,
                                      .leave = leave_nobody,
                                      .error = "nobody is there" };
    st = pipeline_new(t, layers, out, err);
    if (st == GG_OK)
        (*out)->base.planned = true;
    else
        mem_free(t);
    return st;
}

void
pipeline_free(struct pipeline *p)
{
    if (!p)
        return;
    mem_free(p->layers);
    mem_free(p->end);
    mem_free(p->command);
    mem_free(p->buffer);
    mem_free(p);
}
