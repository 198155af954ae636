/* emulate.h - the primitives of cuda/device.h without a GPU
 *
 * A launch runs one block after another; the threads of a block are fibers,
 * which switch at barriers and where lanes exchange values. A barrier that
 * some threads do not reach ends the program with a message. Shared memory is
 * noise when a block begins, lies on the heap for the sanitizers to watch, and
 * asynchronous copies arrive as late as they may. emulate_order says in which
 * order blocks and threads run: no result may depend on it. */
#ifndef CUDA_EMULATE_H
#define CUDA_EMULATE_H

#include <string.h>
#include <tuple>
#include <type_traits>

#include "core/half.h"
#include "cuda/kernels.h"

#define DEVICE      static inline
#define HOST_DEVICE static inline
#define KERNEL      static void
#define BOUNDS(threads, blocks)
#define CONSTANT static const
#define UNROLL
#define __restrict__ __restrict

typedef void *cudaStream_t;

struct alignas(16) uint4 {
    uint32_t x, y, z, w;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) uint2 {
    uint32_t x, y;
};
struct alignas(8) float2 {
    float x, y;
};

/* Order of blocks and threads: 0 ascending, 1 descending, else mixed. */
extern int emulate_order;
extern long emulate_launches;
extern size_t emulate_most_shared; /* bytes of SHARED_BYTES() */

/* Runs all blocks of a launch, now. */
void
emulate_blocks(struct cuda_launch_config config, const char *name,
               void (*thread)(void *arg), void *arg);

/* A kernel with its arguments, as they wait on a stream. */
template <typename... P> struct emulate_call {
    void (*kernel)(P...);
    struct cuda_launch_config config;
    const char *name;
    std::tuple<P...> arguments;
};

template <typename... P>
static void
emulate_thread(void *arg)
{
    struct emulate_call<P...> *call = (struct emulate_call<P...> *)arg;

    std::apply(call->kernel, call->arguments);
}

template <typename... P>
static void
emulate_run(void *arg)
{
    struct emulate_call<P...> *call = (struct emulate_call<P...> *)arg;

    emulate_blocks(call->config, call->name, emulate_thread<P...>, call);
}

template <typename... P, typename... A>
static void
emulate_launch(void (*kernel)(P...), const char *name,
               struct cuda_launch_config config, cudaStream_t stream,
               A... arguments)
{
    struct emulate_call<P...> call = {
        kernel, config, name,
        {
            arguments...
        }
    };

    static_assert((std::is_trivially_copyable<P>::value && ...),
                  "arguments are copied as bytes");
    cuda_emulate(stream, emulate_run<P...>, &call, sizeof(call));
}

/* Indices of the fiber that runs. */
struct emulate_place {
    unsigned thread, threads, block, blocks;
};
extern struct emulate_place emulate_at;

/* Shared memory of this block: the array that `key` stands for. */
void *
emulate_shared(const void *key, size_t size);
void *
emulate_shared_bytes(void);

void
emulate_barrier(void);
bool
emulate_barrier_any(bool any);
void
emulate_warp_barrier(void);
void
emulate_grid_dependency_sync(void);
/* All lanes put `size` bytes (up to EMULATE_PUT), and may read what others put
 * till they exchange again: that of a lane lies at lane * EMULATE_PUT from
 * where emulate_put() points to. */
#define EMULATE_PUT 64
void
emulate_exchange(const void *value, size_t size);
const char *
emulate_put(void);

void
emulate_copy(void *shared, const void *global);
void
emulate_copy_commit(void);
void
emulate_copy_wait(int n);

#define LAUNCH(kernel, config, ctx, ...)                                       \
    emulate_launch(kernel, #kernel, config, (ctx)->stream, __VA_ARGS__)

#define ALLOW_SHARED(kernel, size) ((void)(size))
#define PREFER_SHARED(kernel)      ((void)0)

#define SHARED(type, name, n)                                                  \
    static const char name##_key = 0;                                          \
    type *name = (type *)emulate_shared(&name##_key, sizeof(type) * (n))
#define SHARED_BYTES(name) char *name = (char *)emulate_shared_bytes()

DEVICE unsigned
cuda_thread_id(void)
{
    return emulate_at.thread;
}

DEVICE unsigned
cuda_block_size(void)
{
    return emulate_at.threads;
}

DEVICE unsigned
cuda_block_id(void)
{
    return emulate_at.block;
}

/* Launches are serial here; each thread must call it once. */
DEVICE void
cuda_grid_dependency_sync(void)
{
    emulate_grid_dependency_sync();
}

DEVICE unsigned
cuda_grid_size(void)
{
    return emulate_at.blocks;
}

DEVICE void
cuda_barrier(void)
{
    emulate_barrier();
}

DEVICE bool
cuda_barrier_any(bool any)
{
    return emulate_barrier_any(any);
}

DEVICE void
cuda_warp_barrier(void)
{
    emulate_warp_barrier();
}

template <typename T>
DEVICE T
cuda_lane_get(T v, int lane)
{
    T other;

    emulate_exchange(&v, sizeof(v));
    memcpy(&other, emulate_put() + lane % 32 * EMULATE_PUT, sizeof(v));
    return other;
}

template <typename T>
DEVICE T
cuda_lane_xor(T v, int mask)
{
    return cuda_lane_get(v, (int)(cuda_thread_id() % 32) ^ mask);
}

DEVICE int
cuda_dp4a(uint32_t a, uint32_t b, int sum)
{
    for (int i = 0; i < 32; i += 8)
        sum += (int8_t)(a >> i) * (int8_t)(b >> i);
    return sum;
}

DEVICE uint32_t
cuda_funnel_shift_right(uint32_t low, uint32_t high, unsigned shift)
{
    return (uint32_t)(((uint64_t)high << 32 | low) >> (shift & 31));
}

DEVICE uint32_t
cuda_permute_bytes(uint32_t low, uint32_t high, uint32_t which)
{
    uint64_t both = (uint64_t)high << 32 | low;
    uint32_t w = 0;

    for (int i = 0; i < 4; i++)
        w |= (uint32_t)(both >> 8 * (which >> 4 * i & 7) & 255) << 8 * i;
    return w;
}

DEVICE uint32_t
cuda_negate_bytes(uint32_t w)
{
    uint32_t r = 0;

    for (int i = 0; i < 32; i += 8)
        r |= (uint32_t)(uint8_t)(0 - (w >> i & 255)) << i;
    return r;
}

DEVICE int
cuda_count_bits(uint32_t w)
{
    return __builtin_popcount(w);
}

DEVICE float
cuda_from_f16(uint16_t h)
{
    return half_to_float(h);
}

DEVICE uint16_t
cuda_to_f16(float f)
{
    return half_from_float(f);
}

DEVICE uint32_t
cuda_to_f16_pair(float a, float b)
{
    return cuda_to_f16(a) | (uint32_t)cuda_to_f16(b) << 16;
}

DEVICE float
cuda_multiply_rn(float a, float b)
{
    return a * b;
}

DEVICE float
cuda_subtract_rn(float a, float b)
{
    return a - b;
}

DEVICE uint32_t
cuda_float_bits(float f)
{
    return core_float_bits(f);
}

DEVICE float
cuda_bits_float(uint32_t u)
{
    return core_bits_float(u);
}

/* Ends the program with a message where p is no multiple of `size`. */
void
emulate_aligned(const void *p, size_t size);

template <typename T>
DEVICE T
cuda_load_vector(const void *p)
{
    emulate_aligned(p, sizeof(T));
    return *(const T *)p;
}

template <typename T>
DEVICE void
cuda_store_vector(void *p, T v)
{
    emulate_aligned(p, sizeof(T));
    *(T *)p = v;
}

DEVICE uint4
cuda_load_streaming(const void *p)
{
    return cuda_load_vector<uint4>(p);
}

DEVICE void
cuda_copy_async(void *shared, const void *global)
{
    emulate_copy(shared, global);
}

DEVICE void
cuda_copy_commit(void)
{
    emulate_copy_commit();
}

template <int n>
DEVICE void
cuda_copy_wait(void)
{
    emulate_copy_wait(n);
}

/* Element (r, c) of matrix m. */
DEVICE uint32_t
emulate_matrix_at(unsigned m, unsigned r, unsigned c)
{
    const char *row;
    uint16_t h;

    memcpy(&row, emulate_put() + (8 * m + r) * EMULATE_PUT, sizeof(row));
    memcpy(&h, row + 2 * c, sizeof(h));
    return h;
}

DEVICE void
emulate_matrices(uint32_t *w, const void *row, bool transposed)
{
    unsigned a = cuda_thread_id() % 32 / 4, b = cuda_thread_id() % 4 * 2;

    emulate_exchange(&row, sizeof(row));
    for (unsigned m = 0; m < 4; m++)
        w[m] = transposed ? emulate_matrix_at(m, b, a) |
                                emulate_matrix_at(m, b + 1, a) << 16
                          : emulate_matrix_at(m, a, b) |
                                emulate_matrix_at(m, a, b + 1) << 16;
    cuda_warp_barrier(); /* rows may be overwritten now */
}

DEVICE void
cuda_ldmatrix_x4(uint32_t *w, const void *row)
{
    emulate_matrices(w, row, false);
}

DEVICE void
cuda_ldmatrix_x4_trans(uint32_t *w, const void *row)
{
    emulate_matrices(w, row, true);
}

/* Lane `lane`'s, of what all put. */
template <typename T>
DEVICE const T *
emulate_lane(const char *put, unsigned lane)
{
    return (const T *)(const void *)(put + lane * EMULATE_PUT);
}

/* The part of a and b that a lane of a warp holds: words, or their floats. */
struct emulate_operands {
    uint32_t a[4], b[2];
};
struct emulate_floats {
    float a[8], b[4];
};

DEVICE float
emulate_half(uint32_t pair, int i)
{
    return half_to_float((uint16_t)(pair >> 16 * i));
}

DEVICE void
cuda_mma_16x8x16_f16(float *c, const uint32_t *a, const uint32_t *b)
{
    unsigned g = cuda_thread_id() % 32 / 4, t = cuda_thread_id() % 4;
    struct emulate_floats mine;
    const char *put;

    for (int i = 0; i < 8; i++)
        mine.a[i] = emulate_half(a[i / 2], i % 2);
    for (int i = 0; i < 4; i++)
        mine.b[i] = emulate_half(b[i / 2], i % 2);
    emulate_exchange(&mine, sizeof(mine));
    put = emulate_put();
    for (unsigned i = 0; i < 4; i++) {
        unsigned row = g + i / 2 * 8, column = 2 * t + i % 2;

        for (unsigned k = 0; k < 16; k++) {
            const float *of_a =
                emulate_lane<emulate_floats>(put, row % 8 * 4 + k % 8 / 2)->a;
            const float *of_b =
                emulate_lane<emulate_floats>(put, column * 4 + k % 8 / 2)->b;

            c[i] += of_a[(row / 8 + k / 8 * 2) * 2 + k % 2] *
                    of_b[k / 8 * 2 + k % 2];
        }
    }
}

DEVICE void
cuda_keep_in_register(uint32_t *v)
{
    (void)v;
}

/* c += a b, k columns of a: words of 16 of them follow each other. */
DEVICE void
emulate_bytes(int *c, const struct emulate_operands *mine, unsigned k)
{
    unsigned g = cuda_thread_id() % 32 / 4, t = cuda_thread_id() % 4;
    const char *put;

    emulate_exchange(mine, sizeof(*mine));
    put = emulate_put();
    for (unsigned i = 0; i < 4; i++) {
        unsigned row = g + i / 2 * 8, column = 2 * t + i % 2;

        for (unsigned j = 0; j < k / 4; j++) {
            const struct emulate_operands *of_a =
                emulate_lane<emulate_operands>(put, row % 8 * 4 + j % 4);
            const struct emulate_operands *of_b =
                emulate_lane<emulate_operands>(put, column * 4 + j % 4);

            c[i] =
                cuda_dp4a(of_a->a[row / 8 + j / 4 * 2], of_b->b[j / 4], c[i]);
        }
    }
}

DEVICE void
cuda_mma_16x8x32_s8(int *c, const uint32_t *a, const uint32_t *b)
{
    struct emulate_operands mine;

    memcpy(mine.a, a, sizeof(mine.a));
    memcpy(mine.b, b, sizeof(mine.b));
    emulate_bytes(c, &mine, 32);
}

DEVICE void
cuda_mma_16x8x16_s8(int *c, const uint32_t *a, uint32_t b)
{
    struct emulate_operands mine = { { a[0], a[1], 0, 0 }, { b, 0 } };

    emulate_bytes(c, &mine, 16);
}

#endif
