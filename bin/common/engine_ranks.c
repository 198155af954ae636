/* engine_ranks.c - --mpi: the ranks of a job, of which the first is the tool */
#include <config.h>

#include <stdlib.h>

#include "common/engine.h"

static struct gg_pipeline *joined;

/* A failure of rank 0 is the others' end, too. */
void
engine_leave(void)
{
    struct gg_pipeline *p = joined;

    joined = NULL;
    gg_pipeline_leave(p);
}

/* This process evaluates its layers until rank 0 needs it no more. */
CLI_NORETURN static void
serve(struct gg_pipeline *p, const struct engine_options *o)
{
    struct adapter_options adapters = o->adapters;
    struct gg_model_params params = engine_model_params(o);
    struct gg_serve_params serve = {
        .n_threads = o->n_threads,
        .watch = o->watch,
        .watch_data = o->watch_data,
        .answer = o->answer,
        .answer_data = o->watch_data,
    };
    struct gg_error err;
    enum gg_status st;

    params.adapters = adapters_list(&adapters);
    params.n_adapters = adapters.n;
    st = gg_pipeline_serve(p, cli_model(o->model, true), &params, &serve, &err);
    cli_check(st, &err);
    engine_leave();
    exit(cli_finish(EXIT_SUCCESS));
}

static void
check_options(const struct engine_options *o)
{
    if (!o->mpi && o->layers)
        cli_misuse("--layers is for --mpi layers");
    if (o->mpi && o->watch && !o->answer)
        cli_misuse("--mpi: --watch and --graph see what one process computes, "
                   "and need one that computes all of it");
}

void
engine_join(struct engine_options *o)
{
    struct gg_error err;
    enum gg_status st;

    check_options(o);
    if (!o->mpi)
        return;
    st = gg_pipeline_join(NULL, o->layers, &joined, &err);
    if (st == GG_ERR_ARG)
        cli_misuse("--mpi: %s", err.message);
    cli_check(st, &err);
    cli_before_end(engine_leave);
    cli_relayed_output();
    o->pipeline = joined;
    engine_choose_nodes(o);
    if (gg_pipeline_rank(joined) > 0)
        serve(joined, o);
}
