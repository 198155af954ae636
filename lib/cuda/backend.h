/* backend.h - the parts of the back end, all but kernels */
#ifndef CUDA_BACKEND_H
#define CUDA_BACKEND_H

#include <pthread.h>
#include <ggml-backend.h>

#include "backend/best.h"
#include "backend/impl.h"
#include "backend/profile.h"
#include "cuda/kernels.h"
#include "cuda/runtime.h"

enum {
    CUDA_ALIGNMENT = 256, /* of tensors, and of scratch memory */
    CUDA_MAX_DEVICES = 16,
    CUDA_MAX_GRAPHS = 64, /* that a back end remembers */
    CUDA_ERROR_SIZE = 320,
    CUDA_DEQUANTIZED_BYTES = 128 << 20,
};

struct cuda;

struct cuda_device {
    struct ggml_backend_device base;
    struct ggml_backend_buffer_type memory; /* of the device */
    struct ggml_backend_buffer_type pinned; /* of the host */
    int number;
    char name[16]; /* "CUDA0" */
    struct cuda_properties properties;
    pthread_mutex_t lock;
    uint32_t peers;              /* devices that copies come from directly */
    void *transfers;             /* the stream of copies that are waited for */
    char error[CUDA_ERROR_SIZE]; /* the first failure; empty: none */
};

/* ---- device.c ------------------------------------------------------------ */

/* Keeps the first failure of a device, with what was tried; false if there
 * was one. */
bool
cuda_check(struct cuda_device *device, enum cuda_status status,
           const char *what);

/* The first failure, or NULL. */
const char *
cuda_device_error(struct cuda_device *device);

/* Before a copy from one to the other; false: it is to go through the host's
 * memory, as $GG_CUDA_PEER says. */
bool
cuda_device_reaches(struct cuda_device *from, struct cuda_device *to);

/* Fills in the list, once; CUDA_OK: there is one at least, unless none is
 * usable. */
enum cuda_status
cuda_devices_find(ggml_backend_reg_t reg);
int
cuda_devices_count(void);
struct cuda_device *
cuda_devices_at(int i);

/* ---- buffer.c ------------------------------------------------------------ */

extern const struct ggml_backend_buffer_type_i cuda_memory_table;
extern const struct ggml_backend_buffer_type_i cuda_pinned_table;

/* The device that a buffer lies in, or NULL. */
struct cuda_device *
cuda_buffer_device(ggml_backend_buffer_t buffer);

static inline size_t
cuda_round_up(size_t n)
{
    return (n + CUDA_ALIGNMENT - 1) / CUDA_ALIGNMENT * CUDA_ALIGNMENT;
}

/* ---- pool.c: scratch memory ---------------------------------------------- */

/* A growing arena for scratch buffers, reset for each node. Outgrown memory is
 * kept until no launch can be using it. */
struct cuda_pool {
    char *base;
    size_t size, used;
    void *outgrown[64];
    int n_outgrown;
    unsigned grown; /* how often base has changed */
};

/* NULL: no memory. */
void *
cuda_pool_take(struct cuda_pool *pool, size_t size);
/* Frees all scratch buffers: the next node begins. */
void
cuda_pool_reset(struct cuda_pool *pool);
/* All work is done: frees what was outgrown. */
void
cuda_pool_trim(struct cuda_pool *pool);
void
cuda_pool_clear(struct cuda_pool *pool);

/* ---- activation_cache.c: what nodes share -------------------------------- */

/* The activations that were converted last, in memory of their own, as they
 * outlive the node. */
struct cuda_activation_cache {
    struct cuda_pool pool;
    struct ggml_tensor
        x; /* what was converted; data NULL: the cache is empty */
    int how;
    size_t size;
    void *p;
    bool pending;              /* the current launch writes x and converts it */
    uint64_t n_made, n_shared; /* for tests */
};

/* A graph begins; these nodes were one launch, which may have overwritten x. */
void
cuda_activation_cache_clear(struct cuda_activation_cache *cache);
void
cuda_activation_cache_written(struct cuda_activation_cache *cache,
                              struct ggml_tensor *const *nodes, int n);

/* ---- kernel_profile.c: a backend_set_profile_t's counters */

struct cuda_profile {
    struct backend_profile *counters; /* the owner's; NULL: no profiling */
    bool active;                      /* the current graph is counted */
    void **events;                    /* before the first launch, after each */
    struct ggml_tensor **nodes;       /* that launches count as */
    int n, cap;
};

void
cuda_profile_begin(struct cuda *cuda);
/* These nodes were one launch. */
void
cuda_profile_launched(struct cuda *cuda, struct ggml_tensor *const *nodes,
                      int n);
void
cuda_profile_end(struct cuda *cuda);
/* All but the counters. */
void
cuda_profile_clear(struct cuda_profile *p);

/* ---- graph.c: what a graph launches, and its captures -------------------- */

/* A graph that was computed: the nodes that launch anything, and what they
 * were captured as, once it came again. */
struct cuda_graph {
    uint64_t key;      /* 0: the slot is free */
    uint64_t last_use; /* by the back end's count */
    int n_uses;
    unsigned pools; /* how often scratch memory had moved at the capture */
    bool captured;  /* exec holds this graph */
    void *exec;     /* or an older one, which may be changed to it */
};

struct cuda {
    struct ggml_backend base;
    struct cuda_ctx ctx; /* what kernels see */
    struct cuda_device *device;
    struct cuda_pool pool;
    struct cuda_activation_cache activations;
    struct cuda_profile profile;
    void *blas;  /* NULL until it is needed */
    void *point; /* an event, for others to wait for this stream */
    void *host;  /* pinned, for the readback of best.c */
    size_t host_size;
    struct cuda_graph graphs[CUDA_MAX_GRAPHS];
    uint64_t n_computed;
    bool no_capture;
    ggml_abort_callback abort; /* asked before each graph; or NULL */
    void *abort_data;
    /* The nodes of the current graph. */
    struct ggml_tensor **nodes;
    int *uses;
    int n_nodes, cap_nodes;
    uint64_t n_captures, n_replays; /* for tests */
};

static inline struct cuda *
cuda_of_ctx(struct cuda_ctx *ctx)
{
    return (struct cuda *)((char *)ctx - offsetof(struct cuda, ctx));
}

enum ggml_status
cuda_graph_compute(ggml_backend_t backend, struct ggml_cgraph *graph);
void
cuda_graphs_clear(struct cuda *cuda);

/* ---- best.c: a backend_best_t -------------------------------------------- */
bool
cuda_find_best(ggml_backend_t backend, const struct ggml_tensor *logits,
               int64_t first, int n_rows, int k, struct backend_best_row *rows);

/* ---- backend.c ----------------------------------------------------------- */

/* NULL: it cannot be started; the device says why. */
ggml_backend_t
cuda_backend_new(struct cuda_device *device);
bool
cuda_is_backend(ggml_backend_t backend);

#endif
