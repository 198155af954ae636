/* device.h - the words that kernels are written in
 *
 * Everything that only a GPU has goes through this header: launches, indices,
 * barriers, exchange between lanes, integer dot products, copies to shared
 * memory. nvcc gets CUDA; any C++ compiler gets cuda/emulate.h of the tests,
 * where blocks are loops and threads are fibers, so that kernels run, slowly
 * and exactly, where there is no GPU.
 *
 * A kernel is C as far as possible. Grids have one dimension; a kernel loops
 * over its items from block_id() on in steps of grid_size(), so that no shape
 * meets a limit of grids, and what is computed for an item, and the order of
 * its sums, never depends on the grid. */
#ifndef CUDA_DEVICE_H
#define CUDA_DEVICE_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/kernels.h"

#define LANES 32 /* of a warp */

/* A launch: see shapes.h. */
struct cuda_shape {
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

/* So that a kernel gets more than 48 KiB of SHARED_BYTES(). */
#define ALLOW_SHARED(kernel, size)                                             \
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,  \
                         (int)(size))

/* So that as many blocks of a kernel as can be are on a multiprocessor, where
 * shared memory is what they are short of. */
#define PREFER_SHARED(kernel)                                                  \
    cudaFuncSetAttribute(kernel,                                               \
                         cudaFuncAttributePreferredSharedMemoryCarveout,       \
                         cudaSharedmemCarveoutMaxShared)

/* Starts a kernel in parentheses: LAUNCH((f<int>), shape, ctx, ...). Its blocks
 * may begin while the launch before still runs: see take_turn(). */
#define LAUNCH(kernel, shape, ctx, ...)                                        \
    launch_kernel(kernel, shape, ctx, __VA_ARGS__)

template <typename... P, typename... A>
static void
launch_kernel(void (*kernel)(P...), struct cuda_shape shape,
              const struct cuda_ctx *c, A... arguments)
{
    cudaLaunchAttribute early = {};
    cudaLaunchConfig_t config = {};

    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3(shape.blocks);
    config.blockDim = dim3(shape.threads);
    config.dynamicSmemBytes = shape.shared;
    config.stream = (cudaStream_t)c->stream;
    config.attrs = &early;
    config.numAttrs = c->arch >= 90;
    cudaLaunchKernelEx(&config, kernel, P(arguments)...);
}

/* An array, and the bytes that the launch asked for, shared by a block. */
#define SHARED(type, name, n) __shared__ __align__(16) type name[n]
#define SHARED_BYTES(name)                                                     \
    extern __shared__ __align__(16) char cuda_shared_bytes[];                  \
    char *name = cuda_shared_bytes

DEVICE unsigned
thread_id(void)
{
    return threadIdx.x;
}

DEVICE unsigned
block_size(void)
{
    return blockDim.x;
}

DEVICE unsigned
block_id(void)
{
    return blockIdx.x;
}

DEVICE unsigned
grid_size(void)
{
    return gridDim.x;
}

/* Every kernel calls this, in all threads, before it touches what a launch
 * before may have written, or writes at all: that launch has ended then, and
 * the blocks of the one behind may begin. */
DEVICE void
take_turn(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* All threads of the block, all lanes of the warp, meet here. */
DEVICE void
barrier(void)
{
    __syncthreads();
}

/* The same; whether `any` was true for any thread. */
DEVICE bool
barrier_any(bool any)
{
    return __syncthreads_or(any) != 0;
}

DEVICE void
warp_barrier(void)
{
    __syncwarp();
}

/* The value of lane (this one ^ mask), or of `lane`; all 32 take part. */
template <typename T>
DEVICE T
lane_xor(T v, int mask)
{
    return __shfl_xor_sync(0xffffffffu, v, mask);
}

template <typename T>
DEVICE T
lane_get(T v, int lane)
{
    return __shfl_sync(0xffffffffu, v, lane);
}

/* sum + four products of signed bytes */
DEVICE int
dp4a(uint32_t a, uint32_t b, int sum)
{
    return __dp4a((int)a, (int)b, sum);
}

/* Bytes `shift` / 8 and on of two words, the first the lower. */
DEVICE uint32_t
funnel(uint32_t low, uint32_t high, unsigned shift)
{
    return __funnelshift_r(low, high, shift);
}

/* Four of the eight bytes of two words: of each nibble of `which`, lowest
 * first, the number of the byte. */
DEVICE uint32_t
pick_bytes(uint32_t low, uint32_t high, uint32_t which)
{
    return __byte_perm(low, high, which);
}

/* For each byte: 0 - b */
DEVICE uint32_t
negate_bytes(uint32_t w)
{
    return __vneg4(w);
}

DEVICE int
count_bits(uint32_t w)
{
    return __popc(w);
}

DEVICE float
from_f16(uint16_t h)
{
    return __half2float(__ushort_as_half(h));
}

DEVICE uint16_t
to_f16(float f)
{
    return __half_as_ushort(__float2half_rn(f));
}

/* Two floats as F16s, the first in the low half. */
DEVICE uint32_t
to_f16_pair(float a, float b)
{
    return to_f16(a) | (uint32_t)to_f16(b) << 16;
}

/* Rounded each by itself, never as one instruction with what follows. */
DEVICE float
multiply_exactly(float a, float b)
{
    return __fmul_rn(a, b);
}

DEVICE float
subtract_exactly(float a, float b)
{
    return __fsub_rn(a, b);
}

DEVICE uint32_t
bits_of(float f)
{
    return __float_as_uint(f);
}

DEVICE float
float_of(uint32_t u)
{
    return __uint_as_float(u);
}

/* A vector of 8 or 16 bytes; its address is a multiple of that. */
template <typename T>
DEVICE T
load_vector(const void *p)
{
    return *(const T *)p;
}

template <typename T>
DEVICE void
store_vector(void *p, T v)
{
    *(T *)p = v;
}

/* 16 bytes that nothing reads again soon. */
DEVICE uint4
load_once(const void *p)
{
    return __ldcs((const uint4 *)p);
}

/* Keeps v as it is now in a register: it is not computed anew where it is
 * used. */
DEVICE void
hold(uint32_t *v)
{
    asm volatile("" : "+r"(*v));
}

/* 16 bytes, both addresses multiples of 16, on their way to shared memory;
 * copies since the last copy_commit() are a group; copy_wait<n>() waits for
 * all but this thread's last n groups. */
DEVICE void
copy_async(void *shared, const void *global)
{
    unsigned to = (unsigned)__cvta_generic_to_shared(shared);

    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
                 "l"(global)
                 : "memory");
}

DEVICE void
copy_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int n>
DEVICE void
copy_wait(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

/* Four matrices of 8 x 8 F16s in shared memory: lane 8 m + r says where row r
 * of matrix m is, 16 bytes. A lane gets two elements of each, of row lane / 4
 * and columns 2 (lane % 4) and on; transposed, of column lane / 4 and rows
 * 2 (lane % 4) and on. */
DEVICE void
load_matrices(uint32_t *w, const void *row)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(row);

    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                 "{%0,%1,%2,%3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "r"(at)
                 : "memory");
}

DEVICE void
load_transposed(uint32_t *w, const void *row)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(row);

    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
                 "{%0,%1,%2,%3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "r"(at)
                 : "memory");
}

/* c += a b for a 16 x 16 and b 16 x 8 of F16s, c of floats. As PTX deals them
 * to the lanes: with g = lane / 4 and t = lane % 4, a holds the pairs of
 * columns 2 t and on of rows g, g + 8, then those of columns 2 t + 8 and on; b
 * the pairs of rows 2 t and on, and 2 t + 8 and on, of column g; c columns 2 t
 * and 2 t + 1 of row g, then of row g + 8. */
DEVICE void
multiply_16x8x16(float *c, const uint32_t *a, const uint32_t *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
                   "r"(b[1]));
}

/* The same of signed bytes, c of integers: a 16 x 32, b 32 x 8. A word holds
 * four columns of a from 4 t on, of rows g and g + 8, then those from 4 t + 16
 * on; b rows from 4 t on and from 4 t + 16 on of column g. */
DEVICE void
multiply_16x8x32(int *c, const uint32_t *a, const uint32_t *b)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
                   "r"(b[1]));
}

/* The first half of that. */
DEVICE void
multiply_bytes_16x8x16(int *c, const uint32_t *a, uint32_t b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
                 "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b));
}

#else
#include "emulate.h"
#endif

/* -- What follows is the same everywhere -- */

DEVICE float
from_bf16(uint16_t h)
{
    return float_of((uint32_t)h << 16);
}

/* To nearest, ties to even; a NaN stays one. */
DEVICE uint16_t
to_bf16(float f)
{
    uint32_t u = bits_of(f);

    if ((u & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(u >> 16 | 64);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

DEVICE uint32_t
to_bf16_pair(float a, float b)
{
    return to_bf16(a) | (uint32_t)to_bf16(b) << 16;
}

DEVICE unsigned
lane_id(void)
{
    return thread_id() % LANES;
}

DEVICE unsigned
warp_id(void)
{
    return thread_id() / LANES;
}

/* Over the lanes of a warp; all get the same result. */
DEVICE float
warp_sum(float v)
{
    UNROLL for (int m = LANES / 2; m; m /= 2) v += lane_xor(v, m);
    return v;
}

DEVICE float
warp_max(float v)
{
    UNROLL for (int m = LANES / 2; m; m /= 2) v = fmaxf(v, lane_xor(v, m));
    return v;
}

/* Over a block of whole warps; `room` is 32 floats that are shared. */
DEVICE float
block_sum(float v, float *room)
{
    v = warp_sum(v);
    barrier();
    if (lane_id() == 0)
        room[warp_id()] = v;
    barrier();
    v = lane_id() < block_size() / LANES ? room[lane_id()] : 0;
    return warp_sum(v);
}

DEVICE float
block_max(float v, float *room)
{
    v = warp_max(v);
    barrier();
    if (lane_id() == 0)
        room[warp_id()] = v;
    barrier();
    v = lane_id() < block_size() / LANES ? room[lane_id()] : -INFINITY;
    return warp_max(v);
}

#endif
