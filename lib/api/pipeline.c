/* pipeline.c - the processes of an MPI job evaluate one model */
#include "api/model.h"
#include "pipeline/pipeline.h"
#include "mpi/load.h"

static struct pipeline *joined;

enum gg_status
gg_pipeline_join(const char *module, const char *layers,
                 struct gg_pipeline **out, struct gg_error *err)
{
    struct pipeline_transport *t;
    enum gg_status st;

    if (!out)
        return error_null(err);
    if (joined)
        return error_set(err, GG_ERR_ARG, "this process has joined already");
    st = mpi_join(module, &t, err);
    if (st == GG_OK)
        st = pipeline_new(t, layers, &joined, err);
    if (st == GG_OK)
        *out = &joined->base;
    return st;
}

enum gg_status
gg_pipeline_plan(int32_t rank, int32_t n, const char *layers,
                 struct gg_pipeline **out, struct gg_error *err)
{
    struct pipeline *p;
    enum gg_status st;

    if (!out)
        return error_null(err);
    if (n < 1 || rank < 0 || rank >= n)
        return error_set(err, GG_ERR_ARG, "there is no rank %d of %d",
                         (int)rank, (int)n);
    st = pipeline_plan(rank, n, layers, &p, err);
    if (st == GG_OK)
        *out = &p->base;
    return st;
}

int32_t
gg_pipeline_rank(const struct gg_pipeline *pipeline)
{
    return pipeline ? pipeline->rank : 0;
}

int32_t
gg_pipeline_size(const struct gg_pipeline *pipeline)
{
    return pipeline ? pipeline->n : 1;
}

/* Rank 0's sessions have ended before, if all is well. */
static void
close_too(struct pipeline *p, struct gg_model **model)
{
    pipeline_end_sessions(p);
    gg_model_free(*model);
    *model = NULL;
}

/* Rank 0 opens its model, and this rank its own: whatever becomes of it, rank 0
 * knows, and says it. */
static void
open_too(struct pipeline *p, const char *path,
         const struct gg_model_params *params, struct gg_model **model)
{
    struct gg_model_params own = *params;
    struct gg_error e;
    enum gg_status st;

    close_too(p, model);
    own.pipeline = &p->base;
    p->opening = true;
    st = gg_model_open(path, &own, model, &e);
    if (st != GG_OK && p->opening)
        (void)pipeline_agree(&p->base, st, &e);
}

static enum gg_status
serve_requests(struct pipeline *p, const struct gg_serve_params *serve,
               struct gg_error *err)
{
    size_t n = 0;
    const void *bytes =
        serve->answer ? serve->answer(serve->answer_data, &n) : NULL;
    uint64_t size = n;
    enum gg_status st = pipeline_answer(p, &size, sizeof(size), err);

    return st == GG_OK && n ? pipeline_answer(p, bytes, n, err) : st;
}

enum gg_status
gg_pipeline_ask(struct gg_pipeline *pipeline, int32_t rank, const void **bytes,
                size_t *n, struct gg_error *err)
{
    struct pipeline_command c = { .op = PIPELINE_ASK };
    struct pipeline *p = pipeline_of(pipeline);
    uint64_t size = 0;
    enum gg_status st;

    if (!p || !bytes || !n)
        return error_null(err);
    if (!pipeline_leads(p) || rank < 1 || rank >= p->base.n)
        return error_set(err, GG_ERR_ARG, "rank %d is no other of %d",
                         (int)rank, (int)p->base.n);
    st = pipeline_tell(p, rank, &c, NULL, err);
    if (st == GG_OK)
        st = pipeline_reply(p, rank, &size, sizeof(size), err);
    if (st == GG_OK && !pipeline_room(p, size))
        st = error_nomem(err);
    if (st == GG_OK && size)
        st = pipeline_reply(p, rank, p->command, (size_t)size, err);
    if (st == GG_OK) {
        *bytes = p->command;
        *n = (size_t)size;
    }
    return st;
}

enum gg_status
gg_pipeline_serve(struct gg_pipeline *pipeline, const char *path,
                  const struct gg_model_params *params,
                  const struct gg_serve_params *serve, struct gg_error *err)
{
    static const struct gg_serve_params defaults;
    struct pipeline *p = pipeline_of(pipeline);
    struct gg_model *model = NULL;
    struct pipeline_command c = { 0 };
    const char *bytes;
    enum gg_status st = GG_OK;

    if (!p || !path || !params)
        return error_null(err);
    serve = serve ? serve : &defaults;
    st = ERROR_RESERVED(serve, err);
    while (st == GG_OK && c.op != PIPELINE_LEAVE) {
        st = pipeline_next(p, &c, &bytes, err);
        if (st != GG_OK || c.op == PIPELINE_LEAVE)
            continue;
        if (c.op == PIPELINE_OPEN)
            open_too(p, path, params, &model);
        else if (c.op == PIPELINE_CLOSE)
            close_too(p, &model);
        else if (c.op == PIPELINE_ASK)
            st = serve_requests(p, serve, err);
        else if (model)
            st = pipeline_do(p, model->model, serve, &c, bytes, err);
        else
            st = error_set(err, GG_ERR_IO, "there is no model");
    }
    close_too(p, &model);
    return st;
}

void
gg_pipeline_leave(struct gg_pipeline *pipeline)
{
    struct pipeline_command c = { .op = PIPELINE_LEAVE };
    struct pipeline *p = pipeline_of(pipeline);
    struct pipeline_transport *t;

    if (!p)
        return;
    t = p->transport;
    if (pipeline_leads(p))
        (void)pipeline_tell_all(p, &c, NULL, NULL);
    t->leave(t, p->failed || p->broken);
    joined = p == joined ? NULL : joined;
    pipeline_free(p);
}
