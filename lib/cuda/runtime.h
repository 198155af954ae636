/* runtime.h - the interface to CUDA
 *
 * All of the host's calls of CUDA go through here, except for launches.
 * runtime.c implements them by NVIDIA's run-time; the tests have an
 * implementation in the host's memory, so that the back end runs where there is
 * no GPU.
 *
 * Streams, events and graphs are CUDA's own, as void pointers. */
#ifndef CUDA_RUNTIME_H
#define CUDA_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/kernels.h"

enum cuda_status {
    CUDA_OK,
    CUDA_NOMEM,
    CUDA_NO_DRIVER, /* none, or too old for this build */
    CUDA_NO_DEVICE,
    CUDA_FAILED, /* anything else; the device may be lost */
};

struct cuda_properties {
    char name[256];
    char bus_id[16]; /* "0000:17:00.0" */
    int arch;        /* 90: compute capability 9.0 */
    int n_sm;
    size_t max_shared; /* bytes a block, at most */
    size_t total;      /* bytes of memory */
    bool integrated;   /* shares the host's memory */
};

/* CUDA's message for the last failure of this thread; never NULL. */
const char *
cuda_error(void);
/* Sets it, for failures outside CUDA's run-time. */
void
cuda_set_error(const char *text);

/* ---- devices ------------------------------------------------------------- */
enum cuda_status
cuda_count(int *n);
enum cuda_status
cuda_properties(int device, struct cuda_properties *out);
/* Sets the current device of this thread. Starts the device. */
enum cuda_status
cuda_use(int device);
enum cuda_status
cuda_memory(size_t *free, size_t *total);

/* Copies from `other` to `device` go directly from now on, where they can; else
 * the driver takes them through the host's memory. */
void
cuda_open_peer(int device, int other);

/* ---- memory -------------------------------------------------------------- */
enum cuda_status
cuda_malloc(size_t size, void **out);
void
cuda_free(void *p);
/* Allocates memory of the host, pinned. */
enum cuda_status
cuda_host_malloc(size_t size, void **out);
void
cuda_host_free(void *p);
/* Pins memory that the program has allocated. */
enum cuda_status
cuda_host_register(void *p, size_t size);
void
cuda_host_unregister(void *p);

/* ---- streams, events ----------------------------------------------------- */
enum cuda_status
cuda_stream_new(void **out);
void
cuda_stream_free(void *stream);
/* Waits; reports what failed since the last time, launches too. */
enum cuda_status
cuda_stream_wait(void *stream);
enum cuda_status
cuda_event_new(void **out);
/* One with timing, for cuda_event_elapsed(). */
enum cuda_status
cuda_event_new_timed(void **out);
/* Nanoseconds between two that have completed. */
enum cuda_status
cuda_event_elapsed(void *from, void *to, uint64_t *ns);
void
cuda_event_free(void *event);
enum cuda_status
cuda_event_record(void *event, void *stream);
enum cuda_status
cuda_event_wait(void *event);
enum cuda_status
cuda_stream_wait_event(void *stream, void *event);

/* Between memory of the host and any device, in the order of the stream.
 * Pageable memory of the host is copied at once. */
enum cuda_status
cuda_copy(void *to, const void *from, size_t size, void *stream);
enum cuda_status
cuda_copy_peer(void *to, int to_device, const void *from, int from_device,
               size_t size, void *stream);
enum cuda_status
cuda_fill(void *p, unsigned char value, size_t size, void *stream);

/* The error of launches since the last call. */
enum cuda_status
cuda_launched(void);

/* ---- graphs -------------------------------------------------------------- */
/* Work given to the stream from now on is recorded instead. */
enum cuda_status
cuda_capture_begin(void *stream);
/* Instantiates what was recorded in *exec. If *exec is a graph already, it is
 * updated, if its topology is the same, else replaced. */
enum cuda_status
cuda_capture_end(void *stream, void **exec);
enum cuda_status
cuda_graph_launch(void *exec, void *stream);
void
cuda_graph_free(void *exec);

/* ---- cuBLAS -------------------------------------------------------------- */
/* Loads cuBLAS on the first call; CUDA_FAILED: it is not installed. */
enum cuda_status
cuda_blas_new(void **out);
void
cuda_blas_free(void *blas);
enum cuda_status
cuda_blas_gemm(void *blas, void *stream, const struct cuda_gemm *g);

#endif
