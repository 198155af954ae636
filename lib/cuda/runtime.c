/* runtime.c - the interface to CUDA, by NVIDIA's run-time */
#include "cuda/runtime.h"

#include <stdio.h>
#include <string.h>
#include <cuda_runtime_api.h>

#include "cuda/reserve.h"

static _Thread_local char message[256];

const char *
cuda_error(void)
{
    return message[0] ? message : "no error";
}

void
cuda_set_error(const char *text)
{
    snprintf(message, sizeof(message), "%s", text);
}

/* The run-time gives one error for a missing and an old driver. */
static void
set_driver_error(void)
{
    int driver = 0, runtime = 0;

    if (cudaDriverGetVersion(&driver) != cudaSuccess)
        driver = 0;
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0)
        snprintf(message, sizeof(message), "no NVIDIA driver is running");
    else
        snprintf(message, sizeof(message),
                 "the NVIDIA driver is too old: it knows CUDA %d.%d, and this "
                 "build needs %d.%d",
                 driver / 1000, driver % 1000 / 10, runtime / 1000,
                 runtime % 1000 / 10);
}

static enum cuda_status
status_of(cudaError_t e)
{
    switch (e) {
    case cudaSuccess:
        return CUDA_OK;
    case cudaErrorMemoryAllocation:
        snprintf(message, sizeof(message), "out of memory");
        return CUDA_NOMEM;
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorStubLibrary:
    case cudaErrorSystemDriverMismatch:
        set_driver_error();
        return CUDA_NO_DRIVER;
    case cudaErrorNoDevice:
        snprintf(
            message, sizeof(message),
            "the NVIDIA driver shows no device (see CUDA_VISIBLE_DEVICES)");
        return CUDA_NO_DEVICE;
    default:
        snprintf(message, sizeof(message), "%s", cudaGetErrorString(e));
        return CUDA_FAILED;
    }
}

/* Clears the run-time's last error, so that it is reported once, unless it is
 * sticky. */
static enum cuda_status
checked_status(cudaError_t e)
{
    if (e != cudaSuccess)
        (void)cudaGetLastError();
    return status_of(e);
}

/* ---- devices ------------------------------------------------------------- */

enum cuda_status
cuda_count(int *n)
{
    *n = 0;
    if (cuda_reserve_end())
        return CUDA_NOMEM; /* message[] would have to be allocated */
    return checked_status(cudaGetDeviceCount(n));
}

enum cuda_status
cuda_properties(int device, struct cuda_properties *out)
{
    struct cudaDeviceProp p;
    cudaError_t e = cudaGetDeviceProperties(&p, device);

    if (e != cudaSuccess)
        return checked_status(e);
    *out = (struct cuda_properties){
        .arch = p.major * 10 + p.minor,
        .n_sm = p.multiProcessorCount,
        .max_shared = p.sharedMemPerBlockOptin,
        .total = p.totalGlobalMem,
        .integrated = p.integrated,
    };
    snprintf(out->name, sizeof(out->name), "%s", p.name);
    snprintf(out->bus_id, sizeof(out->bus_id), "%04x:%02x:%02x.0",
             p.pciDomainID & 0xffff, p.pciBusID & 0xff, p.pciDeviceID & 0xff);
    return CUDA_OK;
}

enum cuda_status
cuda_use(int device)
{
    return checked_status(cudaSetDevice(device));
}

enum cuda_status
cuda_memory(size_t *free, size_t *total)
{
    return checked_status(cudaMemGetInfo(free, total));
}

/* It may be open already, or there is none. */
void
cuda_open_peer(int device, int other)
{
    int can = 0;

    if (cudaDeviceCanAccessPeer(&can, device, other) == cudaSuccess && can &&
        cudaSetDevice(device) == cudaSuccess)
        (void)cudaDeviceEnablePeerAccess(other, 0);
    (void)cudaGetLastError();
}

/* ---- memory -------------------------------------------------------------- */

enum cuda_status
cuda_malloc(size_t size, void **out)
{
    return checked_status(cudaMalloc(out, size));
}

void
cuda_free(void *p)
{
    checked_status(cudaFree(p));
}

enum cuda_status
cuda_host_malloc(size_t size, void **out)
{
    return checked_status(cudaHostAlloc(out, size, cudaHostAllocPortable));
}

void
cuda_host_free(void *p)
{
    checked_status(cudaFreeHost(p));
}

enum cuda_status
cuda_host_register(void *p, size_t size)
{
    return checked_status(cudaHostRegister(p, size, cudaHostRegisterPortable));
}

void
cuda_host_unregister(void *p)
{
    checked_status(cudaHostUnregister(p));
}

/* ---- streams, events ----------------------------------------------------- */

enum cuda_status
cuda_stream_new(void **out)
{
    cudaStream_t stream;
    cudaError_t e = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);

    if (e == cudaSuccess)
        *out = stream;
    return checked_status(e);
}

void
cuda_stream_free(void *stream)
{
    if (stream)
        checked_status(cudaStreamDestroy(stream));
}

enum cuda_status
cuda_stream_wait(void *stream)
{
    return checked_status(cudaStreamSynchronize(stream));
}

static enum cuda_status
new_event(unsigned flags, void **out)
{
    cudaEvent_t event;
    cudaError_t e = cudaEventCreateWithFlags(&event, flags);

    if (e == cudaSuccess)
        *out = event;
    return checked_status(e);
}

enum cuda_status
cuda_event_new(void **out)
{
    return new_event(cudaEventDisableTiming, out);
}

enum cuda_status
cuda_event_new_timed(void **out)
{
    return new_event(cudaEventDefault, out);
}

enum cuda_status
cuda_event_elapsed(void *from, void *to, uint64_t *ns)
{
    float ms = 0;
    cudaError_t e = cudaEventElapsedTime(&ms, from, to);

    *ns = ms > 0 ? (uint64_t)((double)ms * 1e6) : 0;
    return checked_status(e);
}

void
cuda_event_free(void *event)
{
    if (event)
        checked_status(cudaEventDestroy(event));
}

enum cuda_status
cuda_event_record(void *event, void *stream)
{
    return checked_status(cudaEventRecord(event, stream));
}

enum cuda_status
cuda_event_wait(void *event)
{
    return checked_status(cudaEventSynchronize(event));
}

enum cuda_status
cuda_stream_wait_event(void *stream, void *event)
{
    return checked_status(cudaStreamWaitEvent(stream, event, 0));
}

enum cuda_status
cuda_copy(void *to, const void *from, size_t size, void *stream)
{
    return checked_status(
        cudaMemcpyAsync(to, from, size, cudaMemcpyDefault, stream));
}

enum cuda_status
cuda_copy_peer(void *to, int to_device, const void *from, int from_device,
               size_t size, void *stream)
{
    if (to_device == from_device)
        return cuda_copy(to, from, size, stream);
    return checked_status(
        cudaMemcpyPeerAsync(to, to_device, from, from_device, size, stream));
}

enum cuda_status
cuda_fill(void *p, unsigned char value, size_t size, void *stream)
{
    return checked_status(cudaMemsetAsync(p, value, size, stream));
}

enum cuda_status
cuda_launched(void)
{
    return status_of(cudaGetLastError());
}

/* ---- graphs -------------------------------------------------------------- */

/* Other threads may call CUDA meanwhile. */
enum cuda_status
cuda_capture_begin(void *stream)
{
    return checked_status(
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
}

static cudaError_t
make_exec(cudaGraph_t graph, void **exec)
{
    cudaGraphExecUpdateResultInfo info;
    cudaGraphExec_t made;
    cudaError_t e;

    if (*exec) {
        if (cudaGraphExecUpdate(*exec, graph, &info) == cudaSuccess)
            return cudaSuccess;
        (void)cudaGetLastError();
        cudaGraphExecDestroy(*exec);
        *exec = NULL;
    }
    e = cudaGraphInstantiate(&made, graph, 0);
    if (e == cudaSuccess)
        *exec = made;
    return e;
}

enum cuda_status
cuda_capture_end(void *stream, void **exec)
{
    cudaGraph_t graph = NULL;
    cudaError_t e = cudaStreamEndCapture(stream, &graph);

    if (e == cudaSuccess)
        e = make_exec(graph, exec);
    if (graph)
        cudaGraphDestroy(graph);
    return checked_status(e);
}

enum cuda_status
cuda_graph_launch(void *exec, void *stream)
{
    return checked_status(cudaGraphLaunch(exec, stream));
}

void
cuda_graph_free(void *exec)
{
    checked_status(cudaGraphExecDestroy(exec));
}
