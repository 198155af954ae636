/* ggml-backend.h - buffers, back ends, devices, the scheduler */
#ifndef GGML_BACKEND_H
#define GGML_BACKEND_H

#include "ggml.h"
#include "ggml-alloc.h"

#define GGML_BACKEND_API GGML_API

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ggml_backend_event *ggml_backend_event_t;

typedef struct ggml_backend_reg *ggml_backend_reg_t;

typedef struct ggml_backend_device *ggml_backend_dev_t;

typedef void *ggml_backend_graph_plan_t;

enum ggml_backend_buffer_usage {
    GGML_BACKEND_BUFFER_USAGE_ANY = 0,
    GGML_BACKEND_BUFFER_USAGE_WEIGHTS = 1,
    GGML_BACKEND_BUFFER_USAGE_COMPUTE = 2,
};

enum ggml_backend_dev_type {
    GGML_BACKEND_DEVICE_TYPE_CPU,
    GGML_BACKEND_DEVICE_TYPE_GPU,
    GGML_BACKEND_DEVICE_TYPE_IGPU,
    GGML_BACKEND_DEVICE_TYPE_ACCEL,
    GGML_BACKEND_DEVICE_TYPE_META,
};

struct ggml_backend_dev_caps {
    bool async;                /* graphs are computed while others run */
    bool host_buffer;          /* has a host buffer type */
    bool buffer_from_host_ptr; /* can use memory of the program */
    bool events;
    bool mmap_support; /* can use files that are mapped */
};

struct ggml_backend_dev_props {
    const char *name;
    const char *description;
    size_t memory_free;
    size_t memory_total;
    enum ggml_backend_dev_type type;
    const char *device_id; /* of the bus, or NULL */
    struct ggml_backend_dev_caps caps;
};

struct ggml_backend_feature {
    const char *name;
    const char *value;
};

struct ggml_backend_graph_copy {
    ggml_backend_buffer_t buffer;
    struct ggml_context *ctx_allocated;
    struct ggml_context *ctx_unallocated;
    struct ggml_cgraph *graph;
};

typedef void *(*ggml_backend_comm_init_t)(ggml_backend_t *backends,
                                          size_t n_backends);
typedef void (*ggml_backend_comm_free_t)(void *comm_ctx);
typedef bool (*ggml_backend_comm_allreduce_tensor_t)(
    void *comm_ctx, struct ggml_tensor **tensors);

typedef ggml_backend_buffer_type_t (*ggml_backend_split_buffer_type_t)(
    int main_device, const float *tensor_split);

typedef void (*ggml_backend_set_n_threads_t)(ggml_backend_t backend,
                                             int n_threads);

typedef void (*ggml_backend_set_abort_callback_t)(
    ggml_backend_t backend, ggml_abort_callback abort_callback,
    void *abort_callback_data);

typedef struct ggml_backend_feature *(*ggml_backend_get_features_t)(
    ggml_backend_reg_t reg);

typedef ggml_backend_buffer_type_t *(*ggml_backend_dev_get_extra_bufts_t)(
    ggml_backend_dev_t device);

typedef struct ggml_backend_sched *ggml_backend_sched_t;

/* See ggml_backend_sched_set_eval_callback(). */
typedef bool (*ggml_backend_sched_eval_callback)(struct ggml_tensor *t,
                                                 bool ask, void *user_data);

typedef bool (*ggml_backend_eval_callback)(int node_index,
                                           struct ggml_tensor *t1,
                                           struct ggml_tensor *t2,
                                           void *user_data);

/* -- Buffer types: kinds of memory -- */

/* "CPU", "CUDA0", ...; static. */
GGML_API const char *
ggml_backend_buft_name(ggml_backend_buffer_type_t buft);

/* The caller's to free; NULL: no memory. A size of 0 gives a buffer without
 * memory. */
GGML_API ggml_backend_buffer_t
ggml_backend_buft_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size);

/* Alignment of addresses in it, a power of two; the most bytes that a buffer
 * can have; the bytes that a tensor takes, with padding. */
GGML_API size_t
ggml_backend_buft_get_alignment(ggml_backend_buffer_type_t buft);
GGML_API size_t
ggml_backend_buft_get_max_size(ggml_backend_buffer_type_t buft);
GGML_API size_t
ggml_backend_buft_get_alloc_size(ggml_backend_buffer_type_t buft,
                                 const struct ggml_tensor *tensor);

/* A buffer, or several as one, for those of the tensors that have no data yet,
 * which lie there then; views of them, too. The caller's to free. NULL: nothing
 * to allocate, or no memory. And what it takes. */
GGML_API ggml_backend_buffer_t
ggml_backend_buft_alloc_buffer_n(ggml_backend_buffer_type_t buft,
                                 struct ggml_tensor **tensors, int n_tensors);
GGML_API size_t
ggml_backend_buft_get_alloc_size_n(ggml_backend_buffer_type_t buft,
                                   struct ggml_tensor **tensors, int n_tensors);

/* True if the program can read and write the data itself. */
GGML_API bool
ggml_backend_buft_is_host(ggml_backend_buffer_type_t buft);

/* NULL for plain memory of the host. */
GGML_API ggml_backend_dev_t
ggml_backend_buft_get_device(ggml_backend_buffer_type_t buft);

/* -- Buffers -- */

GGML_API const char *
ggml_backend_buffer_name(ggml_backend_buffer_t buffer);

/* Takes NULL. Tensors that lie there may not be used any more. */
GGML_API void
ggml_backend_buffer_free(ggml_backend_buffer_t buffer);

/* Where addresses in it start; NULL if it has no memory. */
GGML_API void *
ggml_backend_buffer_get_base(ggml_backend_buffer_t buffer);
GGML_API size_t
ggml_backend_buffer_get_size(ggml_backend_buffer_t buffer);

/* Tells the buffer about a tensor that was put there by hand. */
GGML_API enum ggml_status
ggml_backend_buffer_init_tensor(ggml_backend_buffer_t buffer,
                                struct ggml_tensor *tensor);
GGML_API size_t
ggml_backend_buffer_get_alignment(ggml_backend_buffer_t buffer);
GGML_API size_t
ggml_backend_buffer_get_max_size(ggml_backend_buffer_t buffer);
GGML_API size_t
ggml_backend_buffer_get_alloc_size(ggml_backend_buffer_t buffer,
                                   const struct ggml_tensor *tensor);

/* Sets every byte. */
GGML_API void
ggml_backend_buffer_clear(ggml_backend_buffer_t buffer, uint8_t value);
GGML_API bool
ggml_backend_buffer_is_host(ggml_backend_buffer_t buffer);

/* The buffer's use, for the scheduler: ops go where their weights are. */
GGML_API void
ggml_backend_buffer_set_usage(ggml_backend_buffer_t buffer,
                              enum ggml_backend_buffer_usage usage);
GGML_API enum ggml_backend_buffer_usage
ggml_backend_buffer_get_usage(ggml_backend_buffer_t buffer);
GGML_API ggml_backend_buffer_type_t
ggml_backend_buffer_get_type(ggml_backend_buffer_t buffer);

/* Forgets what it knows of tensors. */
GGML_API void
ggml_backend_buffer_reset(ggml_backend_buffer_t buffer);

/* Between tensors of one type, shape and strides, in any buffers. */
GGML_API void
ggml_backend_tensor_copy(const struct ggml_tensor *src,
                         struct ggml_tensor *dst);

/* -- Back ends: streams of work on a device -- */

/* One for all back ends of a kind; NULL for NULL. */
GGML_API ggml_guid_t
ggml_backend_guid(ggml_backend_t backend);
GGML_API const char *
ggml_backend_name(ggml_backend_t backend);

/* Takes NULL. */
GGML_API void
ggml_backend_free(ggml_backend_t backend);

/* The memory of its device, and shorthands for that type's functions. */
GGML_API ggml_backend_buffer_type_t
ggml_backend_get_default_buffer_type(ggml_backend_t backend);
GGML_API ggml_backend_buffer_t
ggml_backend_alloc_buffer(ggml_backend_t backend, size_t size);
GGML_API size_t
ggml_backend_get_alignment(ggml_backend_t backend);
GGML_API size_t
ggml_backend_get_max_size(ggml_backend_t backend);

/* As the functions below without _async, but in order with the work of that
 * back end, and may return before it is done: data stays as it is until
 * ggml_backend_synchronize(). */
GGML_API void
ggml_backend_tensor_set_async(ggml_backend_t backend,
                              struct ggml_tensor *tensor, const void *data,
                              size_t offset, size_t size);
GGML_API void
ggml_backend_tensor_get_async(ggml_backend_t backend,
                              const struct ggml_tensor *tensor, void *data,
                              size_t offset, size_t size);
GGML_API void
ggml_backend_tensor_set_2d_async(ggml_backend_t backend,
                                 struct ggml_tensor *tensor, const void *data,
                                 size_t offset, size_t size, size_t n_copies,
                                 size_t stride_tensor, size_t stride_data);
GGML_API void
ggml_backend_tensor_get_2d_async(ggml_backend_t backend,
                                 const struct ggml_tensor *tensor, void *data,
                                 size_t offset, size_t size, size_t n_copies,
                                 size_t stride_tensor, size_t stride_data);

/* Bytes [offset, offset + size) of a tensor, from and to memory of the
 * program, wherever the tensor is. Aborts outside of its ggml_nbytes(). */
GGML_API void
ggml_backend_tensor_set(struct ggml_tensor *tensor, const void *data,
                        size_t offset, size_t size);
GGML_API void
ggml_backend_tensor_get(const struct ggml_tensor *tensor, void *data,
                        size_t offset, size_t size);

/* n_copies pieces of `size` bytes, at distances of stride_tensor and
 * stride_data bytes. */
GGML_API void
ggml_backend_tensor_set_2d(struct ggml_tensor *tensor, const void *data,
                           size_t offset, size_t size, size_t n_copies,
                           size_t stride_tensor, size_t stride_data);
GGML_API void
ggml_backend_tensor_get_2d(const struct ggml_tensor *tensor, void *data,
                           size_t offset, size_t size, size_t n_copies,
                           size_t stride_tensor, size_t stride_data);
GGML_API void
ggml_backend_tensor_memset(struct ggml_tensor *tensor, uint8_t value,
                           size_t offset, size_t size);

/* Waits until all its work is done. */
GGML_API void
ggml_backend_synchronize(ggml_backend_t backend);

/* A graph that is prepared once and computed often; its tensors stay where
 * they are. Aborts where a back end has no plans. */
GGML_API ggml_backend_graph_plan_t
ggml_backend_graph_plan_create(ggml_backend_t backend,
                               struct ggml_cgraph *cgraph);
GGML_API void
ggml_backend_graph_plan_free(ggml_backend_t backend,
                             ggml_backend_graph_plan_t plan);
GGML_API enum ggml_status
ggml_backend_graph_plan_compute(ggml_backend_t backend,
                                ggml_backend_graph_plan_t plan);

/* Computes all nodes, which lie in memory of its device. _async may return
 * before it is done. */
GGML_API enum ggml_status
ggml_backend_graph_compute(ggml_backend_t backend, struct ggml_cgraph *cgraph);
GGML_API enum ggml_status
ggml_backend_graph_compute_async(ggml_backend_t backend,
                                 struct ggml_cgraph *cgraph);

/* Whether it can compute that op, with those types and shapes; use that
 * memory; would rather compute the op than leave it to the CPU, although it
 * must copy the weights. */
GGML_API bool
ggml_backend_supports_op(ggml_backend_t backend, const struct ggml_tensor *op);
GGML_API bool
ggml_backend_supports_buft(ggml_backend_t backend,
                           ggml_backend_buffer_type_t buft);
GGML_API bool
ggml_backend_offload_op(ggml_backend_t backend, const struct ggml_tensor *op);

/* After the work of both that was given before. */
GGML_API void
ggml_backend_tensor_copy_async(ggml_backend_t backend_src,
                               ggml_backend_t backend_dst,
                               const struct ggml_tensor *src,
                               struct ggml_tensor *dst);
GGML_API ggml_backend_dev_t
ggml_backend_get_device(ggml_backend_t backend);

/* -- Events -- */

/* A point in the work of a back end, for others to wait for. NULL: the
 * device has none. */
GGML_API ggml_backend_event_t
ggml_backend_event_new(ggml_backend_dev_t device);
GGML_API void
ggml_backend_event_free(ggml_backend_event_t event);

/* Set to after all the work so far; the program waits for it; another back
 * end waits for it. */
GGML_API void
ggml_backend_event_record(ggml_backend_event_t event, ggml_backend_t backend);
GGML_API void
ggml_backend_event_synchronize(ggml_backend_event_t event);
GGML_API void
ggml_backend_event_wait(ggml_backend_t backend, ggml_backend_event_t event);

/* -- Devices -- */

/* "CPU", "CUDA0", ... and words for people; static. */
GGML_API const char *
ggml_backend_dev_name(ggml_backend_dev_t device);
GGML_API const char *
ggml_backend_dev_description(ggml_backend_dev_t device);

/* Bytes; 0 where that is not known. */
GGML_API void
ggml_backend_dev_memory(ggml_backend_dev_t device, size_t *free, size_t *total);
GGML_API enum ggml_backend_dev_type
ggml_backend_dev_type(ggml_backend_dev_t device);

/* All of it together; the strings are static. */
GGML_API void
ggml_backend_dev_get_props(ggml_backend_dev_t device,
                           struct ggml_backend_dev_props *props);
GGML_API ggml_backend_reg_t
ggml_backend_dev_backend_reg(ggml_backend_dev_t device);

/* The caller's to free. NULL: it cannot be used. params: NULL, or what the
 * device documents. */
GGML_API ggml_backend_t
ggml_backend_dev_init(ggml_backend_dev_t device, const char *params);

/* Its memory, and memory of the host from which copies are fast, or NULL. */
GGML_API ggml_backend_buffer_type_t
ggml_backend_dev_buffer_type(ggml_backend_dev_t device);
GGML_API ggml_backend_buffer_type_t
ggml_backend_dev_host_buffer_type(ggml_backend_dev_t device);

/* A buffer over memory of the caller's, which must outlive it; NULL where a
 * device cannot. */
GGML_API ggml_backend_buffer_t
ggml_backend_dev_buffer_from_host_ptr(ggml_backend_dev_t device, void *ptr,
                                      size_t size, size_t max_tensor_size);

/* As for its back ends. */
GGML_API bool
ggml_backend_dev_supports_op(ggml_backend_dev_t device,
                             const struct ggml_tensor *op);
GGML_API bool
ggml_backend_dev_supports_buft(ggml_backend_dev_t device,
                               ggml_backend_buffer_type_t buft);
GGML_API bool
ggml_backend_dev_offload_op(ggml_backend_dev_t device,
                            const struct ggml_tensor *op);

/* -- The registry -- */

/* A registration is an implementation with the devices that it found. */
GGML_API const char *
ggml_backend_reg_name(ggml_backend_reg_t reg);
GGML_API size_t
ggml_backend_reg_dev_count(ggml_backend_reg_t reg);
GGML_API ggml_backend_dev_t
ggml_backend_reg_dev_get(ggml_backend_reg_t reg, size_t index);

/* A function beyond this interface, by name, or NULL. */
GGML_API void *
ggml_backend_reg_get_proc_address(ggml_backend_reg_t reg, const char *name);

/* Adds a back end or a device, unless it is there already. */
GGML_API void
ggml_backend_register(ggml_backend_reg_t reg);
GGML_API void
ggml_backend_device_register(ggml_backend_dev_t device);

/* Back ends that the library was built with are there from the first call on.
 * Names are compared without regard to case; NULL: none. */
GGML_API size_t
ggml_backend_reg_count(void);
GGML_API ggml_backend_reg_t
ggml_backend_reg_get(size_t index);
GGML_API ggml_backend_reg_t
ggml_backend_reg_by_name(const char *name);
GGML_API size_t
ggml_backend_dev_count(void);
GGML_API ggml_backend_dev_t
ggml_backend_dev_get(size_t index);
GGML_API ggml_backend_dev_t
ggml_backend_dev_by_name(const char *name);
GGML_API ggml_backend_dev_t
ggml_backend_dev_by_type(enum ggml_backend_dev_type type);

/* The caller's to free; NULL: no such device, or it cannot be used. Best is
 * a GPU, else one that shares the host's memory, else the CPU. */
GGML_API ggml_backend_t
ggml_backend_init_by_name(const char *name, const char *params);
GGML_API ggml_backend_t
ggml_backend_init_by_type(enum ggml_backend_dev_type type, const char *params);
GGML_API ggml_backend_t
ggml_backend_init_best(void);

/* Adds a back end from a shared object, which stays loaded; NULL: it is
 * none, or found no device (the log says which). */
GGML_API ggml_backend_reg_t
ggml_backend_load(const char *path);

/* Takes it and its devices off the lists; its code stays loaded. */
GGML_API void
ggml_backend_unload(ggml_backend_reg_t reg);

/* Needs not be called. _from_path(): modules lie in that folder; NULL: where
 * the library lies. */
GGML_API void
ggml_backend_load_all(void);
GGML_API void
ggml_backend_load_all_from_path(const char *dir_path);

/* -- The scheduler: one graph over several back ends -- */

/* Back ends in order of preference, the CPU last; they must outlive it.
 * bufts: memory for results, one each; NULL: their own. op_offload: back
 * ends may take over ops whose weights are on the CPU. NULL: no memory.
 * graph_size and parallel are hints. */
GGML_API ggml_backend_sched_t
ggml_backend_sched_new(ggml_backend_t *backends,
                       ggml_backend_buffer_type_t *bufts, int n_backends,
                       size_t graph_size, bool parallel, bool op_offload);

/* Takes NULL. */
GGML_API void
ggml_backend_sched_free(ggml_backend_sched_t sched);

/* The sizes that a reservation would lead to, one for each back end. */
GGML_API void
ggml_backend_sched_reserve_size(ggml_backend_sched_t sched,
                                struct ggml_cgraph *measure_graph,
                                size_t *sizes);

/* Gets memory for the largest graph; afterwards as after a reset. False:
 * there is none. */
GGML_API bool
ggml_backend_sched_reserve(ggml_backend_sched_t sched,
                           struct ggml_cgraph *measure_graph);
GGML_API int
ggml_backend_sched_get_n_backends(ggml_backend_sched_t sched);
GGML_API ggml_backend_t
ggml_backend_sched_get_backend(ggml_backend_sched_t sched, int i);

/* Splits of the last graph; and how many copies of its inputs are kept. */
GGML_API int
ggml_backend_sched_get_n_splits(ggml_backend_sched_t sched);
GGML_API int
ggml_backend_sched_get_n_copies(ggml_backend_sched_t sched);

/* Buffer type of the memory for results, and the size of that memory. */
GGML_API ggml_backend_buffer_type_t
ggml_backend_sched_get_buffer_type(ggml_backend_sched_t sched,
                                   ggml_backend_t backend);
GGML_API size_t
ggml_backend_sched_get_buffer_size(ggml_backend_sched_t sched,
                                   ggml_backend_t backend);

/* Pins a node of the next graph; until the reset. */
GGML_API void
ggml_backend_sched_set_tensor_backend(ggml_backend_sched_t sched,
                                      struct ggml_tensor *node,
                                      ggml_backend_t backend);

/* Who computes or holds it; NULL: not known yet. */
GGML_API ggml_backend_t
ggml_backend_sched_get_tensor_backend(ggml_backend_sched_t sched,
                                      struct ggml_tensor *node);

/* Assigns and cuts without memory. Sources of nodes may be replaced by
 * copies: a graph that was scheduled can be computed again, but after
 * another one it is to be built anew. */
GGML_API void
ggml_backend_sched_split_graph(ggml_backend_sched_t sched,
                               struct ggml_cgraph *graph);

/* Gives every tensor its place; inputs are set after it. False: no memory. */
GGML_API bool
ggml_backend_sched_alloc_graph(ggml_backend_sched_t sched,
                               struct ggml_cgraph *graph);

/* Allocates first, unless this graph is what was allocated last; computing
 * that again costs nothing but the computation. */
GGML_API enum ggml_status
ggml_backend_sched_graph_compute(ggml_backend_sched_t sched,
                                 struct ggml_cgraph *graph);
GGML_API enum ggml_status
ggml_backend_sched_graph_compute_async(ggml_backend_sched_t sched,
                                       struct ggml_cgraph *graph);
GGML_API void
ggml_backend_sched_synchronize(ggml_backend_sched_t sched);

/* Forgets graph and pins: to be called before another graph is allocated. */
GGML_API void
ggml_backend_sched_reset(ggml_backend_sched_t sched);

/* Asked about each node (ask): true, and it is called again when the node is
 * computed; false from that ends the computation with GGML_STATUS_ABORTED.
 * NULL: none watches. */
GGML_API void
ggml_backend_sched_set_eval_callback(ggml_backend_sched_t sched,
                                     ggml_backend_sched_eval_callback callback,
                                     void *user_data);

/* -- One device of several -- */

#define GGML_BACKEND_META_MAX_DEVICES 16

/* How a tensor is spread over devices: by a dimension, as a whole on each, or
 * as sums that are to be added up. */
enum ggml_backend_meta_split_axis {
    GGML_BACKEND_SPLIT_AXIS_0 = 0,
    GGML_BACKEND_SPLIT_AXIS_1 = 1,
    GGML_BACKEND_SPLIT_AXIS_2 = 2,
    GGML_BACKEND_SPLIT_AXIS_3 = 3,
    GGML_BACKEND_SPLIT_AXIS_MIRRORED = 10,
    GGML_BACKEND_SPLIT_AXIS_PARTIAL = 11,
    GGML_BACKEND_SPLIT_AXIS_NONE = 98,
    GGML_BACKEND_SPLIT_AXIS_UNKNOWN = 99,
};

/* "0" to "3", "MIRRORED" and so on; the string is static. */
GGML_API const char *
ggml_backend_meta_split_axis_name(enum ggml_backend_meta_split_axis split_axis);

/* Segments of that dimension, each split by itself and repeated nr times: ne
 * has the elements of a segment for each device. */
struct ggml_backend_meta_split_state {
    enum ggml_backend_meta_split_axis axis;
    int64_t ne[16 * GGML_BACKEND_META_MAX_DEVICES];
    uint32_t nr[16];
    uint32_t n_segments;
};
typedef struct ggml_backend_meta_split_state (
    *ggml_backend_meta_get_split_state_t)(const struct ggml_tensor *tensor,
                                          void *userdata);

/* A device that splits each tensor over others (tensor parallelism). There is
 * none here: a scheduler spreads nodes over devices, each of them whole. Of one
 * device it is that device, whatever get_split_state would say; of several, or
 * none, it is NULL, and the log says why. */
GGML_API ggml_backend_dev_t
ggml_backend_meta_device(ggml_backend_dev_t *devs, size_t n_devs,
                         ggml_backend_meta_get_split_state_t get_split_state,
                         void *get_split_state_ud);

/* -- Comparing back ends -- */

/* The graph and all its data once more, in memory of `backend`; graph is
 * NULL when there is none. */
GGML_API struct ggml_backend_graph_copy
ggml_backend_graph_copy(ggml_backend_t backend, struct ggml_cgraph *graph);
GGML_API void
ggml_backend_graph_copy_free(struct ggml_backend_graph_copy copy);

/* Computes the graph on backend1 and a copy of it on backend2, and shows
 * each pair of nodes after its computation, until callback says false; or,
 * with test_nodes, those after all is computed. False: no memory. */
GGML_API bool
ggml_backend_compare_graph_backend(
    ggml_backend_t backend1, ggml_backend_t backend2, struct ggml_cgraph *graph,
    ggml_backend_eval_callback callback, void *user_data,
    struct ggml_tensor const *const *test_nodes, size_t num_test_nodes);

/* -- Tensors into buffers; memory of the host -- */

/* Puts a tensor without data to an address in a buffer, where it must fit. */
GGML_API enum ggml_status
ggml_backend_tensor_alloc(ggml_backend_buffer_t buffer,
                          struct ggml_tensor *tensor, void *addr);

/* Puts a view to where its source is. */
GGML_API enum ggml_status
ggml_backend_view_init(struct ggml_tensor *tensor);

/* Memory of the caller's, aligned to 32 bytes, which must outlive the
 * buffer; NULL: no memory for the buffer itself. */
GGML_API ggml_backend_buffer_t
ggml_backend_cpu_buffer_from_ptr(void *ptr, size_t size);

/* Memory of the host, aligned to 64 bytes. */
GGML_API ggml_backend_buffer_type_t
ggml_backend_cpu_buffer_type(void);

#ifdef __cplusplus
}
#endif

#endif
