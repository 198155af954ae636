/* impl.h - what a back end implements: five tables of functions
 *
 * Each object is a table, shared by all of its kind, and a context of the
 * implementer's. The implementer allocates the objects and may embed them in
 * larger structs of its own; its free function frees the object as well.
 * Functions marked (opt) may be NULL.
 *
 * A module that is loaded at run time exports one function,
 *     ggml_backend_reg_t ggml_backend_init(void);
 * whose result has BACKEND_API_VERSION, or which returns NULL where it finds
 * nothing to run on; why, it may say by another,
 *     const char *ggml_backend_why_none(void); */
#ifndef BACKEND_IMPL_H
#define BACKEND_IMPL_H

#include <ggml-backend.h>

#define BACKEND_API_VERSION 3

/* -- Buffer type: a kind of memory -- */
struct ggml_backend_buffer_type_i {
    const char *(*get_name)(ggml_backend_buffer_type_t buft);
    /* NULL: no memory. size is not 0. */
    ggml_backend_buffer_t (*alloc_buffer)(ggml_backend_buffer_type_t buft,
                                          size_t size);
    size_t (*get_alignment)(ggml_backend_buffer_type_t buft);
    /* (opt) of one buffer; SIZE_MAX. */
    size_t (*get_max_size)(ggml_backend_buffer_type_t buft);
    /* (opt) what a tensor needs, with padding; ggml_nbytes(). */
    size_t (*get_alloc_size)(ggml_backend_buffer_type_t buft,
                             const struct ggml_tensor *tensor);
    /* (opt) data are in memory that the program can read; false. */
    bool (*is_host)(ggml_backend_buffer_type_t buft);
    /* (opt) memory for tensors that have none, which lie there then, and its
     * bytes; buffers of alloc_buffer(), each as large as may be. */
    ggml_backend_buffer_t (*alloc_buffer_n)(ggml_backend_buffer_type_t buft,
                                            struct ggml_tensor **tensors,
                                            int n_tensors);
    size_t (*get_alloc_size_n)(ggml_backend_buffer_type_t buft,
                               struct ggml_tensor **tensors, int n_tensors);
};

struct ggml_backend_buffer_type {
    const struct ggml_backend_buffer_type_i *iface;
    ggml_backend_dev_t device; /* may be NULL for memory of the host */
    void *context;
};

/* -- Buffer: memory of one type, that tensors lie in -- */
struct ggml_backend_buffer_i {
    void (*free_buffer)(ggml_backend_buffer_t buffer);
    void *(*get_base)(ggml_backend_buffer_t buffer);
    /* (opt) called for each tensor that is put there, views too. */
    enum ggml_status (*init_tensor)(ggml_backend_buffer_t buffer,
                                    struct ggml_tensor *tensor);
    /* Data access; bounds were checked, size is not 0. */
    void (*memset_tensor)(ggml_backend_buffer_t buffer,
                          struct ggml_tensor *tensor, uint8_t value,
                          size_t offset, size_t size);
    void (*set_tensor)(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor,
                       const void *data, size_t offset, size_t size);
    void (*get_tensor)(ggml_backend_buffer_t buffer,
                       const struct ggml_tensor *tensor, void *data,
                       size_t offset, size_t size);
    /* (opt) dst is in `buffer`, src anywhere; false: cannot. */
    bool (*copy_tensor)(ggml_backend_buffer_t buffer,
                        const struct ggml_tensor *src, struct ggml_tensor *dst);
    void (*clear)(ggml_backend_buffer_t buffer, uint8_t value);
    /* (opt) forgets what init_tensor() made. */
    void (*reset)(ggml_backend_buffer_t buffer);
};

struct ggml_backend_buffer {
    const struct ggml_backend_buffer_i *iface;
    ggml_backend_buffer_type_t buft;
    void *context;
    size_t size;
    enum ggml_backend_buffer_usage usage;
};

/* -- Back end: a stream of work on a device -- */

/* How graph_optimize() says that a tensor's memory must last until a node of
 * the same graph has been computed, as nodes run in another order. */
struct ggml_backend_graph_optimize_params {
    void (*add_alloc_dep)(void *user_data, struct ggml_tensor *tensor,
                          struct ggml_tensor *until);
    void *user_data;
};

struct ggml_backend_i {
    const char *(*get_name)(ggml_backend_t backend);
    void (*free)(ggml_backend_t backend);
    /* (opt) Ordered with the graphs on this stream. */
    void (*set_tensor_async)(ggml_backend_t backend, struct ggml_tensor *tensor,
                             const void *data, size_t offset, size_t size);
    void (*get_tensor_async)(ggml_backend_t backend,
                             const struct ggml_tensor *tensor, void *data,
                             size_t offset, size_t size);
    /* (opt) After the work of both; asked of `dst`'s table. False: cannot. */
    bool (*copy_tensor_async)(ggml_backend_t backend_src,
                              ggml_backend_t backend_dst,
                              const struct ggml_tensor *src,
                              struct ggml_tensor *dst);
    /* (opt) Waits for all work; needed if anything above is there. */
    void (*synchronize)(ggml_backend_t backend);
    /* (opt) All three or none. */
    ggml_backend_graph_plan_t (*graph_plan_create)(
        ggml_backend_t backend, const struct ggml_cgraph *graph);
    void (*graph_plan_free)(ggml_backend_t backend,
                            ggml_backend_graph_plan_t plan);
    enum ggml_status (*graph_plan_compute)(ggml_backend_t backend,
                                           ggml_backend_graph_plan_t plan);
    /* May return before the work is done, if there is a synchronize(). */
    enum ggml_status (*graph_compute)(ggml_backend_t backend,
                                      struct ggml_cgraph *graph);
    /* (opt) Marks a point in this stream; makes this stream wait for one. */
    void (*event_record)(ggml_backend_t backend, ggml_backend_event_t event);
    void (*event_wait)(ggml_backend_t backend, ggml_backend_event_t event);
    /* (opt) What has gone wrong on the device, in words, once any work has
     * failed: results since then mean nothing. NULL: nothing. */
    const char *(*get_error)(ggml_backend_t backend);
    /* (opt) Sees each graph that this stream will compute before its memory is
     * planned; may put nodes in another order that computes the same. */
    void (*graph_optimize)(ggml_backend_t backend, struct ggml_cgraph *graph,
                           struct ggml_backend_graph_optimize_params *params);
};

struct ggml_backend {
    const struct ggml_backend_i *iface;
    ggml_guid_t guid; /* one for all back ends of a kind */
    ggml_backend_dev_t device;
    void *context;
};

struct ggml_backend_event {
    ggml_backend_dev_t device;
    void *context;
};

/* -- Device -- */
struct ggml_backend_device_i {
    const char *(*get_name)(ggml_backend_dev_t device); /* "CPU", "CUDA0" */
    const char *(*get_description)(ggml_backend_dev_t device);
    void (*get_memory)(ggml_backend_dev_t device, size_t *free, size_t *total);
    enum ggml_backend_dev_type (*get_type)(ggml_backend_dev_t device);
    /* (opt) Fills in device_id and caps; the rest is there. */
    void (*get_props)(ggml_backend_dev_t device,
                      struct ggml_backend_dev_props *props);
    /* NULL: it cannot be used. */
    ggml_backend_t (*init_backend)(ggml_backend_dev_t device,
                                   const char *params);
    ggml_backend_buffer_type_t (*get_buffer_type)(ggml_backend_dev_t device);
    /* (opt) memory of the host that is fast to copy from and to. */
    ggml_backend_buffer_type_t (*get_host_buffer_type)(
        ggml_backend_dev_t device);
    /* (opt) a buffer over memory of the caller's. */
    ggml_backend_buffer_t (*buffer_from_host_ptr)(ggml_backend_dev_t device,
                                                  void *ptr, size_t size,
                                                  size_t max_tensor_size);
    bool (*supports_op)(ggml_backend_dev_t device,
                        const struct ggml_tensor *op);
    bool (*supports_buft)(ggml_backend_dev_t device,
                          ggml_backend_buffer_type_t buft);
    /* (opt) wants this op even if its weights must be copied; false. */
    bool (*offload_op)(ggml_backend_dev_t device, const struct ggml_tensor *op);
    /* (opt) All three or none. */
    ggml_backend_event_t (*event_new)(ggml_backend_dev_t device);
    void (*event_free)(ggml_backend_dev_t device, ggml_backend_event_t event);
    void (*event_synchronize)(ggml_backend_dev_t device,
                              ggml_backend_event_t event);
};

struct ggml_backend_device {
    const struct ggml_backend_device_i *iface;
    ggml_backend_reg_t reg;
    void *context;
};

/* -- Registration: the devices that one implementation found -- */
struct ggml_backend_reg_i {
    const char *(*get_name)(ggml_backend_reg_t reg);
    size_t (*get_device_count)(ggml_backend_reg_t reg);
    ggml_backend_dev_t (*get_device)(ggml_backend_reg_t reg, size_t index);
    /* (opt) functions that go beyond these tables, by name. */
    void *(*get_proc_address)(ggml_backend_reg_t reg, const char *name);
};

struct ggml_backend_reg {
    int api_version;
    const struct ggml_backend_reg_i *iface;
    void *context;
};

#endif
