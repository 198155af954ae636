/* cpu_backend.c - the CPU as a back end, a device and a registration */
#include <config.h>

#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <ggml-cpu.h>

#include "backend/impl.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/thread.h"
#include "cpu/isa.h"
#include "cpu/exec/graph_jobs.h"
#include "cpu/exec/graph_profile.h"
#include "cpu/exec/task.h"
#include "cpu/exec/weight_stream.h"
#include "tensor/graph.h"

struct cpu {
    struct ggml_backend backend;
    int n_threads;
    struct ggml_threadpool *pool; /* the one in use */
    bool owns_pool;
    uint8_t *work;
    size_t work_size;
    ggml_abort_callback abort_callback;
    void *abort_data;
    bool use_ref;
    struct backend_profile *profile; /* the owner's; NULL: nobody looks */
    uint64_t planned;                /* serial of the graph that `plan` is of */
    struct ggml_cplan plan;
    struct cpu_jobs jobs;
    struct cpu_stream *stream; /* NULL: weights are in memory */
};

static struct cpu *
cpu_of(ggml_backend_t backend)
{
    return backend->context;
}

static const char *
backend_name(ggml_backend_t backend)
{
    (void)backend;
    return "CPU";
}

static void
drop_pool(struct cpu *cpu)
{
    if (cpu->owns_pool)
        ggml_threadpool_free(cpu->pool);
    cpu->pool = NULL;
    cpu->owns_pool = false;
}

static void
backend_free(ggml_backend_t backend)
{
    struct cpu *cpu = cpu_of(backend);

    drop_pool(cpu);
    cpu_jobs_clear(&cpu->jobs);
    cpu_stream_free(cpu->stream);
    mem_free(cpu->work);
    mem_free(cpu);
}

/* Threads start with the first graph, and stay. */
static bool
need_pool(struct cpu *cpu)
{
    struct ggml_threadpool_params params;

    if (cpu->pool)
        return true;
    params = ggml_threadpool_params_default(cpu->n_threads);
    cpu->pool = ggml_threadpool_new(&params);
    cpu->owns_pool = cpu->pool != NULL;
    return cpu->owns_pool;
}

static bool
need_work(struct cpu *cpu, size_t size)
{
    if (size <= cpu->work_size)
        return true;
    mem_free(cpu->work);
    cpu->work_size = 0;
    cpu->work = mem_aligned(CPU_LINE, size);
    if (!cpu->work)
        return false;
    cpu->work_size = size;
    return true;
}

/* The last graph's plan holds as long as that comes again. */
static struct ggml_cplan
plan_of(struct cpu *cpu, const struct ggml_cgraph *graph)
{
    if (!graph->serial || graph->serial != cpu->planned)
        cpu->plan = ggml_graph_plan(graph, cpu->n_threads, NULL);
    cpu->planned = graph->serial;
    return cpu->plan;
}

static struct ggml_cplan
make_plan(struct cpu *cpu, const struct ggml_cgraph *graph)
{
    struct ggml_cplan plan = plan_of(cpu, graph);

    plan.threadpool = cpu->pool;
    plan.abort_callback = cpu->abort_callback;
    plan.abort_callback_data = cpu->abort_data;
    plan.use_ref = cpu->use_ref;
    return plan;
}

static enum ggml_status
graph_compute(ggml_backend_t backend, struct ggml_cgraph *graph)
{
    struct cpu *cpu = cpu_of(backend);
    struct ggml_cplan plan;

    if (!need_pool(cpu))
        return GGML_STATUS_ALLOC_FAILED;
    plan = make_plan(cpu, graph);
    if (!need_work(cpu, plan.work_size))
        return GGML_STATUS_ALLOC_FAILED;
    plan.work_data = cpu->work;
    return cpu_compute(graph, &plan, cpu->profile, &cpu->jobs, cpu->stream);
}

/* A graph and its plan, with work memory of their own. */
struct kept_plan {
    struct ggml_cgraph graph;
    struct ggml_cplan plan;
};

static void
graph_plan_free(ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    struct kept_plan *kept = plan;

    (void)backend;
    if (kept)
        mem_free(kept->plan.work_data);
    mem_free(kept);
}

static ggml_backend_graph_plan_t
graph_plan_create(ggml_backend_t backend, const struct ggml_cgraph *graph)
{
    struct cpu *cpu = cpu_of(backend);
    struct kept_plan *kept = mem_zalloc(sizeof(*kept));

    if (!kept || !need_pool(cpu)) {
        mem_free(kept);
        return NULL;
    }
    kept->graph = *graph;
    kept->plan = make_plan(cpu, graph);
    kept->plan.work_data = mem_aligned(CPU_LINE, kept->plan.work_size);
    if (!kept->plan.work_data) {
        mem_free(kept);
        return NULL;
    }
    return kept;
}

static enum ggml_status
graph_plan_compute(ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    struct kept_plan *kept = plan;

    return cpu_compute(&kept->graph, &kept->plan, cpu_of(backend)->profile,
                       NULL, cpu_of(backend)->stream);
}

static const struct ggml_backend_i backend_table = {
    .get_name = backend_name,
    .free = backend_free,
    .graph_plan_create = graph_plan_create,
    .graph_plan_free = graph_plan_free,
    .graph_plan_compute = graph_plan_compute,
    .graph_compute = graph_compute,
};

static ggml_guid guid = { 'g', 'g', ' ', 'c', 'p', 'u', ' ', 'b',
                          'a', 'c', 'k', ' ', 'e', 'n', 'd', '1' };

ggml_backend_t
ggml_backend_cpu_init(void)
{
    struct cpu *cpu;
    struct gg_error err;

    if (cpu_isa_check(&err) != GG_OK) {
        log_say(GGML_LOG_LEVEL_ERROR, "%s\n", err.message);
        return NULL;
    }
    cpu = mem_zalloc(sizeof(*cpu));
    if (!cpu)
        return NULL;
    ggml_cpu_init();
    cpu->n_threads = thread_count_default();
    if (cpu->n_threads > GGML_MAX_N_THREADS)
        cpu->n_threads = GGML_MAX_N_THREADS;
    cpu->backend = (struct ggml_backend){
        .iface = &backend_table,
        .guid = &guid,
        .device = ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0),
        .context = cpu,
    };
    return &cpu->backend;
}

bool
ggml_backend_is_cpu(ggml_backend_t backend)
{
    return backend && ggml_guid_matches(backend->guid, &guid);
}

void
ggml_backend_cpu_set_n_threads(ggml_backend_t backend_cpu, int n_threads)
{
    struct cpu *cpu = cpu_of(backend_cpu);

    GGML_ASSERT(ggml_backend_is_cpu(backend_cpu));
    if (n_threads < 1)
        n_threads = 1;
    if (n_threads > GGML_MAX_N_THREADS)
        n_threads = GGML_MAX_N_THREADS;
    if (cpu->owns_pool && n_threads != cpu->n_threads)
        drop_pool(cpu);
    cpu->n_threads = n_threads;
    cpu->planned = 0;
}

void
ggml_backend_cpu_set_threadpool(ggml_backend_t backend_cpu,
                                ggml_threadpool_t threadpool)
{
    struct cpu *cpu = cpu_of(backend_cpu);

    GGML_ASSERT(ggml_backend_is_cpu(backend_cpu));
    if (cpu->pool == threadpool)
        return;
    if (cpu->pool)
        ggml_threadpool_pause(cpu->pool);
    drop_pool(cpu);
    cpu->pool = threadpool;
}

void
ggml_backend_cpu_set_abort_callback(ggml_backend_t backend_cpu,
                                    ggml_abort_callback abort_callback,
                                    void *abort_callback_data)
{
    struct cpu *cpu = cpu_of(backend_cpu);

    GGML_ASSERT(ggml_backend_is_cpu(backend_cpu));
    cpu->abort_callback = abort_callback;
    cpu->abort_data = abort_callback_data;
}

void
ggml_backend_cpu_set_use_ref(ggml_backend_t backend_cpu, bool use_ref)
{
    GGML_ASSERT(ggml_backend_is_cpu(backend_cpu));
    cpu_of(backend_cpu)->use_ref = use_ref;
}

static void
set_profile(ggml_backend_t backend, struct backend_profile *profile)
{
    cpu_of(backend)->profile = profile;
}

static bool
set_streaming(ggml_backend_t backend, const struct backend_streaming *s)
{
    struct cpu *cpu = cpu_of(backend);

    cpu_stream_free(cpu->stream);
    cpu->stream = s ? cpu_stream_new(s) : NULL;
    return cpu->stream || !s;
}

static const char *
device_name(ggml_backend_dev_t device)
{
    (void)device;
    return "CPU";
}

static const char *
device_description(ggml_backend_dev_t device)
{
    (void)device;
    return cpu_kernels()->description;
}

static void
device_memory(ggml_backend_dev_t device, size_t *free, size_t *total)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    (void)device;
    *total = page * (size_t)sysconf(_SC_PHYS_PAGES);
    *free = page * (size_t)sysconf(_SC_AVPHYS_PAGES);
}

static enum ggml_backend_dev_type
device_type(ggml_backend_dev_t device)
{
    (void)device;
    return GGML_BACKEND_DEVICE_TYPE_CPU;
}

static void
device_props(ggml_backend_dev_t device, struct ggml_backend_dev_props *props)
{
    (void)device;
    props->caps.buffer_from_host_ptr = true;
    props->caps.mmap_support = true;
}

static ggml_backend_t
device_init(ggml_backend_dev_t device, const char *params)
{
    (void)device;
    (void)params;
    return ggml_backend_cpu_init();
}

static ggml_backend_buffer_type_t
device_buffer_type(ggml_backend_dev_t device)
{
    (void)device;
    return ggml_backend_cpu_buffer_type();
}

static ggml_backend_buffer_t
device_from_host_ptr(ggml_backend_dev_t device, void *ptr, size_t size,
                     size_t max_tensor_size)
{
    (void)device;
    (void)max_tensor_size;
    return ggml_backend_cpu_buffer_from_ptr(ptr, size);
}

static bool
device_supports_op(ggml_backend_dev_t device, const struct ggml_tensor *op)
{
    (void)device;
    return cpu_supports(op);
}

static bool
device_supports_buft(ggml_backend_dev_t device, ggml_backend_buffer_type_t buft)
{
    (void)device;
    return ggml_backend_buft_is_host(buft);
}

static const struct ggml_backend_device_i device_table = {
    .get_name = device_name,
    .get_description = device_description,
    .get_memory = device_memory,
    .get_type = device_type,
    .get_props = device_props,
    .init_backend = device_init,
    .get_buffer_type = device_buffer_type,
    .buffer_from_host_ptr = device_from_host_ptr,
    .supports_op = device_supports_op,
    .supports_buft = device_supports_buft,
};

static size_t
device_count(ggml_backend_reg_t reg)
{
    (void)reg;
    return 1;
}

static struct ggml_backend_device device_cpu;

static ggml_backend_dev_t
get_device(ggml_backend_reg_t reg, size_t index)
{
    (void)reg;
    GGML_ASSERT(index == 0);
    return &device_cpu;
}

static struct ggml_backend_feature features[16];

static void
find_features(void)
{
    const struct {
        const char *name;
        int present;
    } all[] = {
        { "AVX2", ggml_cpu_has_avx2() },
        { "F16C", ggml_cpu_has_f16c() },
        { "FMA", ggml_cpu_has_fma() },
        { "AVX512", ggml_cpu_has_avx512() },
        { "AVX_VNNI", ggml_cpu_has_avx_vnni() },
        { "AVX512_VNNI", ggml_cpu_has_avx512_vnni() },
        { "AVX512_BF16", ggml_cpu_has_avx512_bf16() },
        { "AMX_INT8", ggml_cpu_has_amx_int8() },
        { "NEON", ggml_cpu_has_neon() },
        { "DOTPROD", ggml_cpu_has_dotprod() },
        { "MATMUL_INT8", ggml_cpu_has_matmul_int8() },
    };
    size_t n = 0;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i].present)
            features[n++] = (struct ggml_backend_feature){ all[i].name, "1" };
}

/* Features of the machine that kernels may use; ends with a NULL name. */
static struct ggml_backend_feature *
get_features(ggml_backend_reg_t reg)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)reg;
    pthread_once(&once, find_features);
    return features;
}

typedef void (*any_fn)(void);

static const struct {
    const char *name;
    any_fn fn;
} addresses[] = {
    { "ggml_backend_set_n_threads", (any_fn)ggml_backend_cpu_set_n_threads },
    { "ggml_backend_set_abort_callback",
      (any_fn)ggml_backend_cpu_set_abort_callback },
    { "ggml_backend_cpu_set_use_ref", (any_fn)ggml_backend_cpu_set_use_ref },
    { BACKEND_SET_PROFILE, (any_fn)set_profile },
    { BACKEND_SET_STREAMING, (any_fn)set_streaming },
    { "ggml_backend_get_features", (any_fn)get_features },
    { "ggml_backend_cpu_set_threadpool",
      (any_fn)ggml_backend_cpu_set_threadpool },
    { "ggml_threadpool_new", (any_fn)ggml_threadpool_new },
    { "ggml_threadpool_free", (any_fn)ggml_threadpool_free },
};

static void *
get_proc_address(ggml_backend_reg_t reg, const char *name)
{
    void *address = NULL;

    (void)reg;
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
        if (strcmp(name, addresses[i].name) == 0)
            memcpy(&address, &addresses[i].fn, sizeof(address));
    return address;
}

static const char *
reg_name(ggml_backend_reg_t reg)
{
    (void)reg;
    return "CPU";
}

static const struct ggml_backend_reg_i reg_table = {
    .get_name = reg_name,
    .get_device_count = device_count,
    .get_device = get_device,
    .get_proc_address = get_proc_address,
};
static struct ggml_backend_reg reg_cpu = { .api_version = BACKEND_API_VERSION,
                                           .iface = &reg_table };
static struct ggml_backend_device device_cpu = { .iface = &device_table,
                                                 .reg = &reg_cpu };

ggml_backend_reg_t
ggml_backend_cpu_reg(void)
{
    return &reg_cpu;
}
