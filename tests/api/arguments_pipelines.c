/* arguments_pipelines.c - arguments of functions of pipelines of processes, and
 * of NUMA nodes */
#include "api/arguments.h"

/* Without a launcher, or anything to join. */
static bool
pipeline_join(void)
{
    struct gg_pipeline *p = NULL;

    return refused(gg_pipeline_join(NULL, NULL, NULL, &err)) &&
           refused(gg_pipeline_join(NULL, NULL, &p, &err)) && !p;
}

static bool
pipeline_rank(void)
{
    return gg_pipeline_rank(NULL) == 0;
}

static bool
pipeline_size(void)
{
    return gg_pipeline_size(NULL) == 1;
}

static bool
pipeline_serve(void)
{
    return refused(gg_pipeline_serve(NULL, NULL, NULL, NULL, &err));
}

static bool
pipeline_ask(void)
{
    const void *bytes = NULL;
    size_t size = 0;

    return refused(gg_pipeline_ask(NULL, 1, &bytes, &size, &err)) && !bytes;
}

/* A rank that is nowhere has no sessions. */
static bool
pipeline_plan(void)
{
    struct gg_pipeline *p = NULL;
    struct gg_model_params params = { .device = "cpu" };
    struct gg_model *m = NULL;
    struct gg_session *s = NULL;
    int32_t first, end;
    bool right = refused(gg_pipeline_plan(0, 1, NULL, NULL, &err)) &&
                 refused(gg_pipeline_plan(-1, 2, NULL, &p, &err)) &&
                 refused(gg_pipeline_plan(2, 2, NULL, &p, &err)) &&
                 refused(gg_pipeline_plan(0, 1000, NULL, &p, &err)) &&
                 refused(gg_pipeline_plan(0, 2, "1", &p, &err)) && !p;

    must(gg_pipeline_plan(1, 2, NULL, &p, &err));
    params.pipeline = p;
    must(gg_model_open(model_path, &params, &m, &err));
    right = right && gg_model_layers(m, &first, &end) == 2 && first == 1 &&
            end == 2 && refused(gg_session_new(m, NULL, &s, &err)) && !s;
    gg_model_free(m);
    gg_pipeline_leave(p);
    return right;
}

static bool
pipeline_leave(void)
{
    gg_pipeline_leave(NULL);
    return true;
}

static bool
numa_init(void)
{
    return refused(gg_numa_init((enum gg_numa)3, NULL, &err)) &&
           refused(gg_numa_init((enum gg_numa)(-1), NULL, &err)) &&
           gg_numa_init(GG_NUMA_OFF, NULL, NULL) == GG_OK;
}

static bool
numa_nodes(void)
{
    int32_t index = 7, n_cpus = 7;

    return gg_numa_nodes(-1, NULL, NULL) == 0 &&
           gg_numa_nodes(0, &index, &n_cpus) == 0 && index == -1 && n_cpus == 0;
}

const struct argument_test arguments_pipelines[] = {
    TEST(pipeline_ask),  TEST(pipeline_join),  TEST(pipeline_rank),
    TEST(pipeline_size), TEST(numa_init),      TEST(numa_nodes),
    TEST(pipeline_plan), TEST(pipeline_serve), TEST(pipeline_leave),
    { .name = NULL },
};
