/* device.h - the primitives that kernels are written in
 *
 * Everything that only a GPU has goes through this header: launches, indices,
 * barriers, warp shuffles, integer dot products, tensor-core MMA, asynchronous
 * copies to shared memory. nvcc gets CUDA; any C++ compiler gets cuda/emulate.h
 * of the tests, where blocks are loops and threads are fibers, so that kernels
 * run, slowly and exactly, where there is no GPU.
 *
 * A kernel is C as far as possible. Grids have one dimension; a kernel loops
 * over its work items from cuda_block_id() on in steps of cuda_grid_size() (a
 * grid-stride loop), so that no shape exceeds a limit of grids, and neither the
 * result of an item nor the order of its sums depends on the grid. */
#ifndef CUDA_DEVICE_H
#define CUDA_DEVICE_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/kernels.h"

#define LANES 32 /* of a warp */

/* A launch: see launch_config.h. */
struct cuda_launch_config {
    unsigned blocks, threads;
    size_t shared; /* bytes of SHARED_BYTES() */
};

#ifdef __CUDACC__

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define DEVICE                  static __device__ __forceinline__
#define HOST_DEVICE             static __host__ __device__ __forceinline__
#define KERNEL                  static __global__ void
#define BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#define CONSTANT                static __device__ const
#define UNROLL                  _Pragma("unroll")

/* Lets a kernel have more than 48 KiB of dynamic shared memory. */
#define ALLOW_SHARED(kernel, size)                                             \
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,  \
                         (int)(size))

/* Prefers shared memory over L1 cache, so that occupancy is not limited by
 * it. */
#define PREFER_SHARED(kernel)                                                  \
    cudaFuncSetAttribute(kernel,                                               \
                         cudaFuncAttributePreferredSharedMemoryCarveout,       \
                         cudaSharedmemCarveoutMaxShared)

/* Launches a kernel: LAUNCH((f<int>), config, ctx, ...). Its blocks may begin
 * while the previous launch still runs (programmatic dependent launch): see
 * cuda_grid_dependency_sync(). */
#define LAUNCH(kernel, config, ctx, ...)                                       \
    cuda_launch_kernel(kernel, config, ctx, __VA_ARGS__)

template <typename... P, typename... A>
static void
cuda_launch_kernel(void (*kernel)(P...), struct cuda_launch_config config,
                   const struct cuda_ctx *c, A... arguments)
{
    cudaLaunchAttribute overlap = {};
    cudaLaunchConfig_t launch = {};

    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    launch.gridDim = dim3(config.blocks);
    launch.blockDim = dim3(config.threads);
    launch.dynamicSmemBytes = config.shared;
    launch.stream = (cudaStream_t)c->stream;
    launch.attrs = &overlap;
    launch.numAttrs = c->arch >= 90;
    cudaLaunchKernelEx(&launch, kernel, P(arguments)...);
}

/* A static array, and the dynamic shared memory that the launch configuration
 * asks for. */
#define SHARED(type, name, n) __shared__ __align__(16) type name[n]
#define SHARED_BYTES(name)                                                     \
    extern __shared__ __align__(16) char cuda_shared_bytes[];                  \
    char *name = cuda_shared_bytes

DEVICE unsigned
cuda_thread_id(void)
{
    return threadIdx.x;
}

DEVICE unsigned
cuda_block_size(void)
{
    return blockDim.x;
}

DEVICE unsigned
cuda_block_id(void)
{
    return blockIdx.x;
}

DEVICE unsigned
cuda_grid_size(void)
{
    return gridDim.x;
}

/* Every kernel calls this once, in all threads, before it reads what a previous
 * launch may have written, and before it writes anything: it returns when the
 * previous launch has ended, and allows the blocks of the next one to begin. */
DEVICE void
cuda_grid_dependency_sync(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Synchronises all threads of the block; cuda_warp_barrier(): all lanes of the
 * warp. */
DEVICE void
cuda_barrier(void)
{
    __syncthreads();
}

/* Synchronises likewise; returns whether `any` was true for any thread. */
DEVICE bool
cuda_barrier_any(bool any)
{
    return __syncthreads_or(any) != 0;
}

DEVICE void
cuda_warp_barrier(void)
{
    __syncwarp();
}

/* Warp shuffles: v of lane (this one ^ mask), or of `lane`; all 32 lanes take
 * part. */
template <typename T>
DEVICE T
cuda_lane_xor(T v, int mask)
{
    return __shfl_xor_sync(0xffffffffu, v, mask);
}

template <typename T>
DEVICE T
cuda_lane_get(T v, int lane)
{
    return __shfl_sync(0xffffffffu, v, lane);
}

/* sum + four products of signed bytes */
DEVICE int
cuda_dp4a(uint32_t a, uint32_t b, int sum)
{
    return __dp4a((int)a, (int)b, sum);
}

/* The low word of the 64 bits high:low, shifted right by `shift` % 32. */
DEVICE uint32_t
cuda_funnel_shift_right(uint32_t low, uint32_t high, unsigned shift)
{
    return __funnelshift_r(low, high, shift);
}

/* Four of the eight bytes of two words: each nibble of `which`, lowest first,
 * is the index of a byte (the instruction PRMT). */
DEVICE uint32_t
cuda_permute_bytes(uint32_t low, uint32_t high, uint32_t which)
{
    return __byte_perm(low, high, which);
}

/* For each byte: 0 - b */
DEVICE uint32_t
cuda_negate_bytes(uint32_t w)
{
    return __vneg4(w);
}

DEVICE int
cuda_count_bits(uint32_t w)
{
    return __popc(w);
}

DEVICE float
cuda_from_f16(uint16_t h)
{
    return __half2float(__ushort_as_half(h));
}

DEVICE uint16_t
cuda_to_f16(float f)
{
    return __half_as_ushort(__float2half_rn(f));
}

/* Two floats as F16s, the first in the low half. */
DEVICE uint32_t
cuda_to_f16_pair(float a, float b)
{
    return cuda_to_f16(a) | (uint32_t)cuda_to_f16(b) << 16;
}

/* Rounded separately, never contracted to a fused multiply-add. */
DEVICE float
cuda_multiply_rn(float a, float b)
{
    return __fmul_rn(a, b);
}

DEVICE float
cuda_subtract_rn(float a, float b)
{
    return __fsub_rn(a, b);
}

DEVICE uint32_t
cuda_float_bits(float f)
{
    return __float_as_uint(f);
}

DEVICE float
cuda_bits_float(uint32_t u)
{
    return __uint_as_float(u);
}

/* A vector of 8 or 16 bytes; its address is a multiple of that. */
template <typename T>
DEVICE T
cuda_load_vector(const void *p)
{
    return *(const T *)p;
}

template <typename T>
DEVICE void
cuda_store_vector(void *p, T v)
{
    *(T *)p = v;
}

/* 16 bytes that are not read again soon (streaming, evict first). */
DEVICE uint4
cuda_load_streaming(const void *p)
{
    return __ldcs((const uint4 *)p);
}

/* Keeps the value in a register: the compiler does not recompute it where it is
 * used. */
DEVICE void
cuda_keep_in_register(uint32_t *v)
{
    asm volatile("" : "+r"(*v));
}

/* Starts an asynchronous copy of 16 bytes, both addresses multiples of 16, to
 * shared memory; copies since the last cuda_copy_commit() are a group;
 * cuda_copy_wait<n>() waits for all but this thread's last n groups. */
DEVICE void
cuda_copy_async(void *shared, const void *global)
{
    unsigned to = (unsigned)__cvta_generic_to_shared(shared);

    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
                 "l"(global)
                 : "memory");
}

DEVICE void
cuda_copy_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int n>
DEVICE void
cuda_copy_wait(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

/* Loads four matrices of 8 x 8 F16s from shared memory: lane 8 m + r passes the
 * address of row r of matrix m, 16 bytes. A lane gets two elements of each, row
 * lane / 4, columns from 2 (lane % 4) on; transposed, column lane / 4, rows
 * from 2 (lane % 4) on. */
DEVICE void
cuda_ldmatrix_x4(uint32_t *w, const void *row)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(row);

    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                 "{%0,%1,%2,%3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "r"(at)
                 : "memory");
}

DEVICE void
cuda_ldmatrix_x4_trans(uint32_t *w, const void *row)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(row);

    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
                 "{%0,%1,%2,%3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "r"(at)
                 : "memory");
}

/* The tensor core's c += a b, with a 16 x 16 and b 16 x 8 of F16, c of F32. As
 * PTX distributes fragments over the lanes: with g = lane / 4 and t = lane % 4,
 * a holds two columns from 2 t on of rows g and g + 8, then two from 2 t + 8
 * on; b two rows from 2 t on and two from 2 t + 8 on of column g; c columns 2 t
 * and 2 t + 1 of row g, then of row g + 8. */
DEVICE void
cuda_mma_16x8x16_f16(float *c, const uint32_t *a, const uint32_t *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
                   "r"(b[1]));
}

/* c += a b of signed bytes, c of int32: a 16 x 32, b 32 x 8. A word holds four
 * columns of a from 4 t on, of rows g and g + 8, then from 4 t + 16 on; b rows
 * from 4 t on and from 4 t + 16 on of column g. */
DEVICE void
cuda_mma_16x8x32_s8(int *c, const uint32_t *a, const uint32_t *b)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
                   "r"(b[1]));
}

/* c += a b of signed bytes with 16 columns of a: the first half of that. */
DEVICE void
cuda_mma_16x8x16_s8(int *c, const uint32_t *a, uint32_t b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
                 "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b));
}

#else
#include "emulate.h"
#endif

/* -- The same for CUDA and the emulation -- */

DEVICE float
cuda_from_bf16(uint16_t h)
{
    return cuda_bits_float((uint32_t)h << 16);
}

/* To nearest, ties to even; a NaN stays one. */
DEVICE uint16_t
cuda_to_bf16(float f)
{
    uint32_t u = cuda_float_bits(f);

    if ((u & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(u >> 16 | 64);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

DEVICE uint32_t
cuda_to_bf16_pair(float a, float b)
{
    return cuda_to_bf16(a) | (uint32_t)cuda_to_bf16(b) << 16;
}

DEVICE unsigned
cuda_lane_id(void)
{
    return cuda_thread_id() % LANES;
}

DEVICE unsigned
cuda_warp_id(void)
{
    return cuda_thread_id() / LANES;
}

/* Warp reductions; all lanes get the same result. */
template <typename T>
DEVICE T
cuda_warp_sum(T v)
{
    UNROLL for (int m = LANES / 2; m; m /= 2) v += cuda_lane_xor(v, m);
    return v;
}

DEVICE float
cuda_warp_max(float v)
{
    UNROLL for (int m = LANES / 2; m; m /= 2) v = fmaxf(v, cuda_lane_xor(v, m));
    return v;
}

/* Block reductions, of whole warps; `scratch` is 32 values in shared memory. */
template <typename T>
DEVICE T
cuda_block_sum(T v, T *scratch)
{
    v = cuda_warp_sum(v);
    cuda_barrier();
    if (cuda_lane_id() == 0)
        scratch[cuda_warp_id()] = v;
    cuda_barrier();
    v = cuda_lane_id() < cuda_block_size() / LANES ? scratch[cuda_lane_id()]
                                                   : 0;
    return cuda_warp_sum(v);
}

DEVICE float
cuda_block_max(float v, float *scratch)
{
    v = cuda_warp_max(v);
    cuda_barrier();
    if (cuda_lane_id() == 0)
        scratch[cuda_warp_id()] = v;
    cuda_barrier();
    v = cuda_lane_id() < cuda_block_size() / LANES ? scratch[cuda_lane_id()]
                                                   : -INFINITY;
    return cuda_warp_max(v);
}

#endif
