/* runtime.h - what the back end asks of CUDA
 *
 * All calls of the host go through here, but for launches. runtime.c does them
 * by NVIDIA's run-time; the tests have one of their own in the host's memory,
 * so that all above this line runs where there is no GPU.
 *
 * Streams, events and graphs are CUDA's own, behind void pointers. */
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
    size_t max_shared; /* bytes that a block can ask for */
    size_t total;      /* bytes of memory */
    bool integrated;   /* shares the host's memory */
};

/* What the last failure of this thread was, in CUDA's words; never NULL. */
const char *
cuda_error(void);
/* Sets it: what failed is no function of CUDA's run-time. */
void
cuda_set_error(const char *text);

/* ---- devices ------------------------------------------------------------- */
enum cuda_status
cuda_count(int *n);
enum cuda_status
cuda_properties(int device, struct cuda_properties *out);
/* Of this thread, for all that follows. Starts the device. */
enum cuda_status
cuda_use(int device);
enum cuda_status
cuda_memory(size_t *free, size_t *total);

/* ---- memory -------------------------------------------------------------- */
enum cuda_status
cuda_malloc(size_t size, void **out);
void
cuda_free(void *p);
/* Of the host, pinned. */
enum cuda_status
cuda_host_malloc(size_t size, void **out);
void
cuda_host_free(void *p);
/* Pins memory of the program's. */
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
/* One that cuda_event_elapsed() can be asked of. */
enum cuda_status
cuda_event_new_timed(void **out);
/* Nanoseconds between two that have come. */
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

/* Memory of the host or of any device, from and to; in order with the
 * stream. Memory of the host that is not pinned is copied at once. */
enum cuda_status
cuda_copy(void *to, const void *from, size_t size, void *stream);
enum cuda_status
cuda_copy_peer(void *to, int to_device, const void *from, int from_device,
               size_t size, void *stream);
enum cuda_status
cuda_fill(void *p, unsigned char value, size_t size, void *stream);

/* The error of the launches since it was asked for last. */
enum cuda_status
cuda_launched(void);

/* ---- graphs -------------------------------------------------------------- */
/* What is put on the stream from now on is recorded instead. */
enum cuda_status
cuda_capture_begin(void *stream);
/* *exec gets what was recorded, ready to run. Where *exec is a graph already
 * it is changed to that, if its shape is the same, else made anew. */
enum cuda_status
cuda_capture_end(void *stream, void **exec);
enum cuda_status
cuda_graph_launch(void *exec, void *stream);
void
cuda_graph_free(void *exec);

/* ---- cuBLAS -------------------------------------------------------------- */
/* Loaded when the first is made; not there: CUDA_FAILED. */
enum cuda_status
cuda_blas_new(void **out);
void
cuda_blas_free(void *blas);
enum cuda_status
cuda_blas_gemm(void *blas, void *stream, const struct cuda_gemm *g);

#endif
