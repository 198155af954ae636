/* ggml-cpu.h - the CPU back end: threads, plans, scalar access */
#ifndef GGML_CPU_H
#define GGML_CPU_H

#include "ggml.h"
#include "ggml-backend.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ggml_cplan {
    size_t work_size;   /* bytes that ggml_graph_plan() asks for */
    uint8_t *work_data; /* the caller's */
    int n_threads;
    struct ggml_threadpool *threadpool; /* NULL: one for the call */
    ggml_abort_callback abort_callback; /* may be NULL */
    void *abort_callback_data;
    bool use_ref; /* plain kernels only */
};

/* *s = the dot product of n values at x and y; nrc is 1, and bs, bx, by are
 * not looked at. */
typedef void (*ggml_vec_dot_t)(int n, float *GGML_RESTRICT s, size_t bs,
                               const void *GGML_RESTRICT x, size_t bx,
                               const void *GGML_RESTRICT y, size_t by, int nrc);

struct ggml_type_traits_cpu {
    ggml_from_float_t from_float;
    ggml_vec_dot_t vec_dot;
    enum ggml_type vec_dot_type;
    int64_t nrows;
};

enum ggml_numa_strategy {
    GGML_NUMA_STRATEGY_DISABLED = 0,
    GGML_NUMA_STRATEGY_DISTRIBUTE = 1,
    GGML_NUMA_STRATEGY_ISOLATE = 2,
    GGML_NUMA_STRATEGY_NUMACTL = 3,
    GGML_NUMA_STRATEGY_MIRROR = 4,
    GGML_NUMA_STRATEGY_COUNT
};

/* Counts the nodes of memory, unless it is DISABLED. Threads keep to the
 * processors of a pool's cpumask, or those of the process, whichever strategy
 * is named. True: more than one was counted. */
GGML_API void
ggml_numa_init(enum ggml_numa_strategy numa);
GGML_API bool
ggml_is_numa(void);

/* A tensor of one element with that value, in a context that has data. */
GGML_API struct ggml_tensor *
ggml_new_i32(struct ggml_context *ctx, int32_t value);
GGML_API struct ggml_tensor *
ggml_new_f32(struct ggml_context *ctx, float value);

/* Sets every element, converted to the tensor's type; returns the tensor.
 * Data must be in memory of the host. */
GGML_API struct ggml_tensor *
ggml_set_i32(struct ggml_tensor *tensor, int32_t value);
GGML_API struct ggml_tensor *
ggml_set_f32(struct ggml_tensor *tensor, float value);

/* The i-th element in order of the dimensions, converted. */
GGML_API int32_t
ggml_get_i32_1d(const struct ggml_tensor *tensor, int i);
GGML_API void
ggml_set_i32_1d(const struct ggml_tensor *tensor, int i, int32_t value);

/* The element at these coordinates, converted. */
GGML_API int32_t
ggml_get_i32_nd(const struct ggml_tensor *tensor, int i0, int i1, int i2,
                int i3);
GGML_API void
ggml_set_i32_nd(const struct ggml_tensor *tensor, int i0, int i1, int i2,
                int i3, int32_t value);
GGML_API float
ggml_get_f32_1d(const struct ggml_tensor *tensor, int i);
GGML_API void
ggml_set_f32_1d(const struct ggml_tensor *tensor, int i, float value);
GGML_API float
ggml_get_f32_nd(const struct ggml_tensor *tensor, int i0, int i1, int i2,
                int i3);
GGML_API void
ggml_set_f32_nd(const struct ggml_tensor *tensor, int i0, int i1, int i2,
                int i3, float value);

/* Threads that wait for work; fewer than requested if the system refuses.
 * They keep to the processors of cpumask, if any is set; poll (0 to 100) says
 * how long an idle one spins before it sleeps; prio is not used. One graph at
 * a time. NULL: not to be had. _free() takes NULL. */
GGML_API struct ggml_threadpool *
ggml_threadpool_new(struct ggml_threadpool_params *params);
GGML_API void
ggml_threadpool_free(struct ggml_threadpool *threadpool);
GGML_API int
ggml_threadpool_get_n_threads(struct ggml_threadpool *threadpool);

/* A paused pool computes as well; its threads sleep as soon as they have
 * nothing to do. */
GGML_API void
ggml_threadpool_pause(struct ggml_threadpool *threadpool);
GGML_API void
ggml_threadpool_resume(struct ggml_threadpool *threadpool);

/* How to compute a graph with n_threads threads (0 or less: a default) of
 * that pool, or of one for the call (NULL). If work_size is not 0, work_data
 * must point to as many bytes, the caller's, before it is computed. Aborts on
 * a node that ggml_backend_supports_op() refuses. */
GGML_API struct ggml_cplan
ggml_graph_plan(const struct ggml_cgraph *cgraph, int n_threads,
                struct ggml_threadpool *threadpool);

/* Returns when all is done, or with GGML_STATUS_ABORTED when the callback
 * says so between two nodes. */
GGML_API enum ggml_status
ggml_graph_compute(struct ggml_cgraph *cgraph, struct ggml_cplan *cplan);

/* Like ggml_graph_compute(), with work memory from the context's pool. */
GGML_API enum ggml_status
ggml_graph_compute_with_ctx(struct ggml_context *ctx,
                            struct ggml_cgraph *cgraph, int n_threads);

/* 1: this machine has it, whatever GG_CPU_ISA says. */
GGML_API int
ggml_cpu_has_sse3(void);
GGML_API int
ggml_cpu_has_ssse3(void);
GGML_API int
ggml_cpu_has_avx(void);
GGML_API int
ggml_cpu_has_avx_vnni(void);
GGML_API int
ggml_cpu_has_avx2(void);
GGML_API int
ggml_cpu_has_bmi2(void);
GGML_API int
ggml_cpu_has_f16c(void);
GGML_API int
ggml_cpu_has_fma(void);
GGML_API int
ggml_cpu_has_avx512(void);
GGML_API int
ggml_cpu_has_avx512_vbmi(void);
GGML_API int
ggml_cpu_has_avx512_vnni(void);
GGML_API int
ggml_cpu_has_avx512_bf16(void);
GGML_API int
ggml_cpu_has_amx_int8(void);
GGML_API int
ggml_cpu_has_neon(void);
GGML_API int
ggml_cpu_has_arm_fma(void);
GGML_API int
ggml_cpu_has_dotprod(void);
GGML_API int
ggml_cpu_has_matmul_int8(void);
GGML_API int
ggml_cpu_has_fp16_va(void);
GGML_API int
ggml_cpu_has_sve(void);
GGML_API int
ggml_cpu_has_sme(void);
GGML_API int
ggml_cpu_has_sme2(void);

/* Bytes of a vector of SVE; of RISC-V's; 0: there are none. */
GGML_API int
ggml_cpu_get_sve_cnt(void);
GGML_API int
ggml_cpu_get_rvv_vlen(void);

/* Other machines', for which the library has plain C: 0. */
GGML_API int
ggml_cpu_has_riscv_v(void);
GGML_API int
ggml_cpu_has_vsx(void);
GGML_API int
ggml_cpu_has_vxe(void);
GGML_API int
ggml_cpu_has_wasm_simd(void);
GGML_API int
ggml_cpu_has_llamafile(void);

/* How rows of a type are multiplied: vec_dot() takes rows of the type and of
 * vec_dot_type, which from_float() of that type makes. Static; functions
 * that do not exist are NULL. */
GGML_API const struct ggml_type_traits_cpu *
ggml_get_type_traits_cpu(enum ggml_type type);

/* Needs not be called. The environment's GG_CPU_ISA (c, avx2, ...; see
 * libggml(3)) is the most that the kernels use. */
GGML_API void
ggml_cpu_init(void);

/* The caller's to free; NULL: no memory. */
GGML_API ggml_backend_t
ggml_backend_cpu_init(void);
GGML_API bool
ggml_backend_is_cpu(ggml_backend_t backend);

/* Threads of the graphs that follow; results do not depend on it. */
GGML_API void
ggml_backend_cpu_set_n_threads(ggml_backend_t backend_cpu, int n_threads);

/* The caller's pool, which must outlive the back end; NULL: its own. */
GGML_API void
ggml_backend_cpu_set_threadpool(ggml_backend_t backend_cpu,
                                ggml_threadpool_t threadpool);

/* Asked between two nodes whether to stop. */
GGML_API void
ggml_backend_cpu_set_abort_callback(ggml_backend_t backend_cpu,
                                    ggml_abort_callback abort_callback,
                                    void *abort_callback_data);

/* Computes with the plain kernels, for comparison. */
GGML_API void
ggml_backend_cpu_set_use_ref(ggml_backend_t backend_cpu, bool use_ref);

/* Registers one device. */
GGML_API ggml_backend_reg_t
ggml_backend_cpu_reg(void);

/* n values from x to y, which do not overlap. */
GGML_API void
ggml_cpu_fp32_to_fp32(const float *, float *, int64_t);
GGML_API void
ggml_cpu_fp32_to_i32(const float *, int32_t *, int64_t);
GGML_API void
ggml_cpu_fp32_to_fp16(const float *, ggml_fp16_t *, int64_t);
GGML_API void
ggml_cpu_fp16_to_fp32(const ggml_fp16_t *, float *, int64_t);
GGML_API void
ggml_cpu_fp32_to_bf16(const float *, ggml_bf16_t *, int64_t);
GGML_API void
ggml_cpu_bf16_to_fp32(const ggml_bf16_t *, float *, int64_t);

#ifdef __cplusplus
}
#endif

#endif
