/* ggml.h - the tensor interface: context pool, tensors, op builders, graph
 *
 * Source-compatible with the upstream ggml library's public C interface of
 * October 2026 for what is declared here. Shapes are given as ne[0], ne[1],
 * ne[2], ne[3]; ne[0] is the contiguous dimension. Misuse by the calling
 * program (shapes that do not fit) ends in ggml_abort().
 */
#ifndef GGML_H
#define GGML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define GGML_API                    __attribute__((visibility("default"))) extern
#define GGML_ATTRIBUTE_FORMAT(...)  __attribute__((format(printf, __VA_ARGS__)))
#define GGML_DEPRECATED(func, hint) func __attribute__((deprecated(hint)))

#ifdef __cplusplus
#define GGML_NORETURN [[noreturn]]
#define GGML_RESTRICT __restrict__
#else
#define GGML_NORETURN _Noreturn
#define GGML_RESTRICT restrict
#endif

#define GGML_FILE_MAGIC   0x67676d6c /* "ggml", the legacy files */
#define GGML_FILE_VERSION 2

#define GGML_QNT_VERSION        2    /* of the block formats */
#define GGML_QNT_VERSION_FACTOR 1000 /* ftype + version * factor in files */

#define GGML_MAX_DIMS      4
#define GGML_MAX_PARAMS    2048
#define GGML_MAX_SRC       10
#define GGML_MAX_N_THREADS 512
#define GGML_MAX_OP_PARAMS 64 /* bytes */
#ifndef GGML_MAX_NAME
#define GGML_MAX_NAME 64
#endif
#define GGML_DEFAULT_N_THREADS  4
#define GGML_DEFAULT_GRAPH_SIZE 2048
#define GGML_MEM_ALIGN          16

#define GGML_EXIT_SUCCESS 0
#define GGML_EXIT_ABORTED 1

#define GGML_ROPE_TYPE_NORMAL 0
#define GGML_ROPE_TYPE_NEOX   2
#define GGML_ROPE_TYPE_MROPE  8
#define GGML_ROPE_TYPE_VISION 24
#define GGML_ROPE_TYPE_IMROPE 40
#define GGML_MROPE_SECTIONS   4

#define GGML_N_TASKS_MAX (-1)

#define GGML_UNUSED(x) (void)(x)

/* Several at once; what is never reached. */
#ifdef __CUDACC__
template <typename... Args>
__host__ __device__ constexpr inline void
ggml_unused_vars_impl(Args &&...) noexcept
{
}
#define GGML_UNUSED_VARS(...) ggml_unused_vars_impl(__VA_ARGS__)
#else
#define GGML_UNUSED_VARS(...)                                                  \
    do {                                                                       \
        (void)sizeof((__VA_ARGS__, 0));                                        \
    } while (0)
#endif
#define GGML_UNREACHABLE() ggml_abort(__FILE__, __LINE__, "unreachable")

/* Constants named prefix0 to prefix3 for what pointer->array holds, 0 for
 * NULL: GGML_TENSOR_LOCALS(int64_t, ne1, src1, ne) declares ne10, ne11, ne12
 * and ne13. Those of ops want src0, src1, src2 and dst in scope. */
#define GGML_TENSOR_LOCALS_1(type, prefix, pointer, array)                     \
    const type prefix##0 = (pointer) ? (pointer)->array[0] : 0;                \
    GGML_UNUSED(prefix##0);
#define GGML_TENSOR_LOCALS_2(type, prefix, pointer, array)                     \
    GGML_TENSOR_LOCALS_1(type, prefix, pointer, array)                         \
    const type prefix##1 = (pointer) ? (pointer)->array[1] : 0;                \
    GGML_UNUSED(prefix##1);
#define GGML_TENSOR_LOCALS_3(type, prefix, pointer, array)                     \
    GGML_TENSOR_LOCALS_2(type, prefix, pointer, array)                         \
    const type prefix##2 = (pointer) ? (pointer)->array[2] : 0;                \
    GGML_UNUSED(prefix##2);
#define GGML_TENSOR_LOCALS(type, prefix, pointer, array)                       \
    GGML_TENSOR_LOCALS_3(type, prefix, pointer, array)                         \
    const type prefix##3 = (pointer) ? (pointer)->array[3] : 0;                \
    GGML_UNUSED(prefix##3);
#define GGML_TENSOR_UNARY_OP_LOCALS                                            \
    GGML_TENSOR_LOCALS(int64_t, ne0, src0, ne)                                 \
    GGML_TENSOR_LOCALS(size_t, nb0, src0, nb)                                  \
    GGML_TENSOR_LOCALS(int64_t, ne, dst, ne)                                   \
    GGML_TENSOR_LOCALS(size_t, nb, dst, nb)
#define GGML_TENSOR_BINARY_OP_LOCALS01                                         \
    GGML_TENSOR_LOCALS(int64_t, ne0, src0, ne)                                 \
    GGML_TENSOR_LOCALS(size_t, nb0, src0, nb)                                  \
    GGML_TENSOR_LOCALS(int64_t, ne1, src1, ne)                                 \
    GGML_TENSOR_LOCALS(size_t, nb1, src1, nb)
#define GGML_TENSOR_BINARY_OP_LOCALS                                           \
    GGML_TENSOR_BINARY_OP_LOCALS01                                             \
    GGML_TENSOR_LOCALS(int64_t, ne, dst, ne)                                   \
    GGML_TENSOR_LOCALS(size_t, nb, dst, nb)
#define GGML_TENSOR_TERNARY_OP_LOCALS                                          \
    GGML_TENSOR_BINARY_OP_LOCALS                                               \
    GGML_TENSOR_LOCALS(int64_t, ne2, src2, ne)                                 \
    GGML_TENSOR_LOCALS(size_t, nb2, src2, nb)

#define GGML_PAD(x, n) (((x) + (n)-1) & ~((n)-1))

#define GGML_ABORT(...) ggml_abort(__FILE__, __LINE__, __VA_ARGS__)
#define GGML_ASSERT(x)                                                         \
    ((x) ? (void)0 : GGML_ABORT("GGML_ASSERT(%s) failed", #x))

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*ggml_abort_callback_t)(const char *error_message);

/* Reports a mistake of the calling program and ends the process. */
GGML_NORETURN GGML_ATTRIBUTE_FORMAT(3, 4) GGML_API
    void ggml_abort(const char *file, int line, const char *fmt, ...);

enum ggml_status {
    GGML_STATUS_ALLOC_FAILED = -2,
    GGML_STATUS_FAILED = -1,
    GGML_STATUS_SUCCESS = 0,
    GGML_STATUS_ABORTED = 1,
};

enum ggml_type {
    GGML_TYPE_F32 = 0,
    GGML_TYPE_F16 = 1,
    GGML_TYPE_Q4_0 = 2,
    GGML_TYPE_Q4_1 = 3,
    GGML_TYPE_Q5_0 = 6,
    GGML_TYPE_Q5_1 = 7,
    GGML_TYPE_Q8_0 = 8,
    GGML_TYPE_Q8_1 = 9,
    GGML_TYPE_Q2_K = 10,
    GGML_TYPE_Q3_K = 11,
    GGML_TYPE_Q4_K = 12,
    GGML_TYPE_Q5_K = 13,
    GGML_TYPE_Q6_K = 14,
    GGML_TYPE_Q8_K = 15,
    GGML_TYPE_IQ2_XXS = 16,
    GGML_TYPE_IQ2_XS = 17,
    GGML_TYPE_IQ3_XXS = 18,
    GGML_TYPE_IQ1_S = 19,
    GGML_TYPE_IQ4_NL = 20,
    GGML_TYPE_IQ3_S = 21,
    GGML_TYPE_IQ2_S = 22,
    GGML_TYPE_IQ4_XS = 23,
    GGML_TYPE_I8 = 24,
    GGML_TYPE_I16 = 25,
    GGML_TYPE_I32 = 26,
    GGML_TYPE_I64 = 27,
    GGML_TYPE_F64 = 28,
    GGML_TYPE_IQ1_M = 29,
    GGML_TYPE_BF16 = 30,
    GGML_TYPE_TQ1_0 = 34,
    GGML_TYPE_TQ2_0 = 35,
    GGML_TYPE_MXFP4 = 39,
    GGML_TYPE_NVFP4 = 40,
    GGML_TYPE_Q1_0 = 41,
    GGML_TYPE_Q2_0 = 42,
    GGML_TYPE_COUNT = 43,
};

enum ggml_prec {
    GGML_PREC_UNDEFINED = 0,
    GGML_PREC_DEFAULT = 0,
    GGML_PREC_F32 = 10,
    GGML_PREC_BF16 = 15,
    GGML_PREC_F16 = 20,
    GGML_PREC_Q8 = 30,
    GGML_PREC_Q4 = 40,
};

enum ggml_op_hint {
    GGML_HINT_NONE = 0,
    GGML_HINT_SRC0_IS_HADAMARD = 1,
};

enum ggml_ftype {
    GGML_FTYPE_UNKNOWN = -1,
    GGML_FTYPE_ALL_F32 = 0,
    GGML_FTYPE_MOSTLY_F16 = 1,
    GGML_FTYPE_MOSTLY_Q4_0 = 2,
    GGML_FTYPE_MOSTLY_Q4_1 = 3,
    GGML_FTYPE_MOSTLY_Q4_1_SOME_F16 = 4,
    GGML_FTYPE_MOSTLY_Q8_0 = 7,
    GGML_FTYPE_MOSTLY_Q5_0 = 8,
    GGML_FTYPE_MOSTLY_Q5_1 = 9,
    GGML_FTYPE_MOSTLY_Q2_K = 10,
    GGML_FTYPE_MOSTLY_Q3_K = 11,
    GGML_FTYPE_MOSTLY_Q4_K = 12,
    GGML_FTYPE_MOSTLY_Q5_K = 13,
    GGML_FTYPE_MOSTLY_Q6_K = 14,
    GGML_FTYPE_MOSTLY_IQ2_XXS = 15,
    GGML_FTYPE_MOSTLY_IQ2_XS = 16,
    GGML_FTYPE_MOSTLY_IQ3_XXS = 17,
    GGML_FTYPE_MOSTLY_IQ1_S = 18,
    GGML_FTYPE_MOSTLY_IQ4_NL = 19,
    GGML_FTYPE_MOSTLY_IQ3_S = 20,
    GGML_FTYPE_MOSTLY_IQ2_S = 21,
    GGML_FTYPE_MOSTLY_IQ4_XS = 22,
    GGML_FTYPE_MOSTLY_IQ1_M = 23,
    GGML_FTYPE_MOSTLY_BF16 = 24,
    GGML_FTYPE_MOSTLY_MXFP4 = 25,
    GGML_FTYPE_MOSTLY_NVFP4 = 26,
    GGML_FTYPE_MOSTLY_Q1_0 = 27,
    GGML_FTYPE_MOSTLY_Q2_0 = 28,
};

enum ggml_op {
    GGML_OP_NONE = 0,
    GGML_OP_DUP,
    GGML_OP_ADD,
    GGML_OP_ADD_ID,
    GGML_OP_ADD1,
    GGML_OP_ACC,
    GGML_OP_SUB,
    GGML_OP_MUL,
    GGML_OP_DIV,
    GGML_OP_SQR,
    GGML_OP_SQRT,
    GGML_OP_LOG,
    GGML_OP_SIN,
    GGML_OP_COS,
    GGML_OP_SUM,
    GGML_OP_SUM_ROWS,
    GGML_OP_CUMSUM,
    GGML_OP_MEAN,
    GGML_OP_ARGMAX,
    GGML_OP_COUNT_EQUAL,
    GGML_OP_REPEAT,
    GGML_OP_REPEAT_BACK,
    GGML_OP_CONCAT,
    GGML_OP_SILU_BACK,
    GGML_OP_NORM,
    GGML_OP_RMS_NORM,
    GGML_OP_RMS_NORM_BACK,
    GGML_OP_GROUP_NORM,
    GGML_OP_L2_NORM,
    GGML_OP_MUL_MAT,
    GGML_OP_MUL_MAT_ID,
    GGML_OP_OUT_PROD,
    GGML_OP_SCALE,
    GGML_OP_SET,
    GGML_OP_CPY,
    GGML_OP_CONT,
    GGML_OP_RESHAPE,
    GGML_OP_VIEW,
    GGML_OP_PERMUTE,
    GGML_OP_TRANSPOSE,
    GGML_OP_GET_ROWS,
    GGML_OP_GET_ROWS_BACK,
    GGML_OP_SET_ROWS,
    GGML_OP_DIAG,
    GGML_OP_DIAG_MASK_INF,
    GGML_OP_DIAG_MASK_ZERO,
    GGML_OP_SOFT_MAX,
    GGML_OP_SOFT_MAX_BACK,
    GGML_OP_ROPE,
    GGML_OP_ROPE_BACK,
    GGML_OP_CLAMP,
    GGML_OP_CONV_TRANSPOSE_1D,
    GGML_OP_IM2COL,
    GGML_OP_IM2COL_BACK,
    GGML_OP_IM2COL_3D,
    GGML_OP_COL2IM_1D,
    GGML_OP_CONV_2D,
    GGML_OP_CONV_3D,
    GGML_OP_CONV_2D_DW,
    GGML_OP_CONV_TRANSPOSE_2D,
    GGML_OP_POOL_1D,
    GGML_OP_POOL_2D,
    GGML_OP_POOL_2D_BACK,
    GGML_OP_UPSCALE,
    GGML_OP_PAD,
    GGML_OP_PAD_REFLECT_1D,
    GGML_OP_ROLL,
    GGML_OP_ARANGE,
    GGML_OP_TIMESTEP_EMBEDDING,
    GGML_OP_ARGSORT,
    GGML_OP_TOP_K,
    GGML_OP_LEAKY_RELU,
    GGML_OP_TRI,
    GGML_OP_FILL,
    GGML_OP_FLASH_ATTN_EXT,
    GGML_OP_FLASH_ATTN_BACK,
    GGML_OP_SSM_CONV,
    GGML_OP_SSM_SCAN,
    GGML_OP_WIN_PART,
    GGML_OP_WIN_UNPART,
    GGML_OP_GET_REL_POS,
    GGML_OP_ADD_REL_POS,
    GGML_OP_RWKV_WKV6,
    GGML_OP_GATED_LINEAR_ATTN,
    GGML_OP_RWKV_WKV7,
    GGML_OP_SOLVE_TRI,
    GGML_OP_GATED_DELTA_NET,
    GGML_OP_LIGHTNING_INDEXER,
    GGML_OP_DSV4_HC_COMB,
    GGML_OP_DSV4_HC_PRE,
    GGML_OP_DSV4_HC_POST,
    GGML_OP_UNARY,
    GGML_OP_MAP_CUSTOM1,
    GGML_OP_MAP_CUSTOM2,
    GGML_OP_MAP_CUSTOM3,
    GGML_OP_CUSTOM,
    GGML_OP_CROSS_ENTROPY_LOSS,
    GGML_OP_CROSS_ENTROPY_LOSS_BACK,
    GGML_OP_OPT_STEP_ADAMW,
    GGML_OP_OPT_STEP_SGD,
    GGML_OP_GLU,
    GGML_OP_COUNT,
};

enum ggml_unary_op {
    GGML_UNARY_OP_ABS,
    GGML_UNARY_OP_SGN,
    GGML_UNARY_OP_NEG,
    GGML_UNARY_OP_STEP,
    GGML_UNARY_OP_TANH,
    GGML_UNARY_OP_ELU,
    GGML_UNARY_OP_RELU,
    GGML_UNARY_OP_SIGMOID,
    GGML_UNARY_OP_GELU,
    GGML_UNARY_OP_GELU_QUICK,
    GGML_UNARY_OP_SILU,
    GGML_UNARY_OP_HARDSWISH,
    GGML_UNARY_OP_HARDSIGMOID,
    GGML_UNARY_OP_EXP,
    GGML_UNARY_OP_EXPM1,
    GGML_UNARY_OP_SOFTPLUS,
    GGML_UNARY_OP_GELU_ERF,
    GGML_UNARY_OP_XIELU,
    GGML_UNARY_OP_FLOOR,
    GGML_UNARY_OP_CEIL,
    GGML_UNARY_OP_ROUND,
    GGML_UNARY_OP_TRUNC, /* upstream's last one */
    GGML_UNARY_OP_COUNT,
};

enum ggml_glu_op {
    GGML_GLU_OP_REGLU,
    GGML_GLU_OP_GEGLU,
    GGML_GLU_OP_SWIGLU,
    GGML_GLU_OP_SWIGLU_OAI,
    GGML_GLU_OP_GEGLU_ERF,
    GGML_GLU_OP_GEGLU_QUICK,
    GGML_GLU_OP_SWIGLU_CLAMP,
    GGML_GLU_OP_COUNT,
};

enum ggml_op_pool {
    GGML_OP_POOL_MAX,
    GGML_OP_POOL_AVG,
    GGML_OP_POOL_COUNT,
};

enum ggml_sort_order {
    GGML_SORT_ORDER_ASC,
    GGML_SORT_ORDER_DESC,
};

enum ggml_scale_mode {
    GGML_SCALE_MODE_NEAREST = 0,
    GGML_SCALE_MODE_BILINEAR = 1,
    GGML_SCALE_MODE_BICUBIC = 2,
    GGML_SCALE_MODE_COUNT
};

enum ggml_scale_flag {
    GGML_SCALE_FLAG_ALIGN_CORNERS = 1 << 8, /* corners meet, not edges */
    GGML_SCALE_FLAG_ANTIALIAS = 1 << 9,     /* bilinear only */
};

/* The triangle of a matrix that is kept, with or without its diagonal. */
enum ggml_tri_type {
    GGML_TRI_TYPE_UPPER_DIAG = 0,
    GGML_TRI_TYPE_UPPER = 1,
    GGML_TRI_TYPE_LOWER_DIAG = 2,
    GGML_TRI_TYPE_LOWER = 3
};

enum ggml_object_type {
    GGML_OBJECT_TYPE_TENSOR,
    GGML_OBJECT_TYPE_GRAPH,
    GGML_OBJECT_TYPE_WORK_BUFFER
};

enum ggml_log_level {
    GGML_LOG_LEVEL_NONE = 0,
    GGML_LOG_LEVEL_DEBUG = 1,
    GGML_LOG_LEVEL_INFO = 2,
    GGML_LOG_LEVEL_WARN = 3,
    GGML_LOG_LEVEL_ERROR = 4,
    GGML_LOG_LEVEL_CONT = 5,
};

enum ggml_tensor_flag {
    GGML_TENSOR_FLAG_INPUT = 1,
    GGML_TENSOR_FLAG_OUTPUT = 2,
    GGML_TENSOR_FLAG_PARAM = 4,
    GGML_TENSOR_FLAG_LOSS = 8,
    GGML_TENSOR_FLAG_COMPUTE = 16, /* set when a graph takes it up */
};

typedef uint16_t ggml_fp16_t;
typedef struct {
    uint16_t bits;
} ggml_bf16_t;
struct ggml_object;
struct ggml_context;
struct ggml_cgraph;
struct ggml_backend_buffer;

struct ggml_init_params {
    size_t mem_size;  /* bytes */
    void *mem_buffer; /* NULL: the context's own */
    bool no_alloc;    /* no data in the pool */
};

struct ggml_tensor {
    enum ggml_type type;
    struct ggml_backend_buffer *buffer; /* where data is; NULL: a pool */
    int64_t ne[GGML_MAX_DIMS];          /* elements */
    size_t nb[GGML_MAX_DIMS]; /* strides in bytes; nb[0]: from block to block */
    enum ggml_op op;
    int32_t op_params[GGML_MAX_OP_PARAMS / sizeof(int32_t)];
    int32_t flags; /* of enum ggml_tensor_flag */
    struct ggml_tensor *src[GGML_MAX_SRC];
    struct ggml_tensor *view_src; /* whose data it views; never a view */
    size_t view_offs;             /* bytes */
    void *data;
    char name[GGML_MAX_NAME];
    void *extra; /* a back end's */
    char padding[8];
};

static const size_t GGML_TENSOR_SIZE = sizeof(struct ggml_tensor);

/* True ends a computation between two nodes. */
typedef bool (*ggml_abort_callback)(void *data);
typedef uint8_t ggml_guid[16];
typedef ggml_guid *ggml_guid_t;
typedef void (*ggml_log_callback)(enum ggml_log_level level, const char *text,
                                  void *user_data);

/* k values, whole blocks. */
typedef void (*ggml_to_float_t)(const void *GGML_RESTRICT x,
                                float *GGML_RESTRICT y, int64_t k);
typedef void (*ggml_from_float_t)(const float *GGML_RESTRICT x,
                                  void *GGML_RESTRICT y, int64_t k);

struct ggml_type_traits {
    const char *type_name;
    int64_t blck_size;
    int64_t blck_size_interleave;
    size_t type_size;
    bool is_quantized;
    ggml_to_float_t to_float;
    ggml_from_float_t from_float_ref;
};

enum ggml_sched_priority {
    GGML_SCHED_PRIO_LOW = -1,
    GGML_SCHED_PRIO_NORMAL,
    GGML_SCHED_PRIO_MEDIUM,
    GGML_SCHED_PRIO_HIGH,
    GGML_SCHED_PRIO_REALTIME
};

struct ggml_threadpool_params {
    bool cpumask[GGML_MAX_N_THREADS]; /* all false: any processor */
    int n_threads;
    enum ggml_sched_priority prio;
    uint32_t poll;
    bool strict_cpu;
    bool paused;
};

struct ggml_threadpool;
typedef struct ggml_threadpool *ggml_threadpool_t;

/* -- Status, abort, log -- */

/* Who is told before the process ends; returns who was. NULL: stderr. */
GGML_API ggml_abort_callback_t
ggml_set_abort_callback(ggml_abort_callback_t callback);

/* A few words; static. */
GGML_API const char *
ggml_status_to_string(enum ggml_status status);

/* The callback that gets every message, and what is handed to it. The
 * library is silent without one. */
GGML_API void
ggml_log_get(ggml_log_callback *log_callback, void **user_data);
GGML_API void
ggml_log_set(ggml_log_callback log_callback, void *user_data);

/* -- Half-precision floats -- */

/* F16 is IEEE 754 binary16, BF16 the upper half of a float. Both round to
 * nearest, ties to even, keep infinities, and a NaN stays one. Rows have n
 * values and may not overlap. */
GGML_API float ggml_fp16_to_fp32(ggml_fp16_t);
GGML_API ggml_fp16_t
ggml_fp32_to_fp16(float);
GGML_API void
ggml_fp16_to_fp32_row(const ggml_fp16_t *, float *, int64_t);
GGML_API void
ggml_fp32_to_fp16_row(const float *, ggml_fp16_t *, int64_t);
GGML_API ggml_bf16_t
ggml_fp32_to_bf16(float);
GGML_API float ggml_bf16_to_fp32(ggml_bf16_t);
GGML_API void
ggml_bf16_to_fp32_row(const ggml_bf16_t *, float *, int64_t);

/* The plain version of the next one; the same bits. */
GGML_API void
ggml_fp32_to_bf16_row_ref(const float *, ggml_bf16_t *, int64_t);
GGML_API void
ggml_fp32_to_bf16_row(const float *, ggml_bf16_t *, int64_t);

/* -- Time, version, files -- */

/* Back ends with one guid are of a kind. */
GGML_API bool
ggml_guid_matches(ggml_guid_t guid_a, ggml_guid_t guid_b);

/* The release's number, and the commit where one is known; static. */
GGML_API const char *
ggml_version(void);
GGML_API const char *
ggml_commit(void);

/* Needs not be called. */
GGML_API void
ggml_time_init(void);

/* A clock that only goes forward; where it starts means nothing. */
GGML_API int64_t
ggml_time_ms(void);
GGML_API int64_t
ggml_time_us(void);

/* That clock in its finest unit. */
GGML_API int64_t
ggml_cycles(void);
GGML_API int64_t
ggml_cycles_per_ms(void);

/* fopen(), with a UTF-8 name on every system. */
GGML_API FILE *
ggml_fopen(const char *fname, const char *mode);

/* -- Types -- */

/* Values in a block, bytes of a block: 1 and the size of a value for types
 * that are not quantised, 0 for ids that were removed. ggml_row_size():
 * bytes of ne values, a multiple of the block. */
GGML_API int64_t
ggml_blck_size(enum ggml_type type);
GGML_API size_t
ggml_type_size(enum ggml_type type);
GGML_API size_t
ggml_row_size(enum ggml_type type, int64_t ne);
GGML_API
GGML_DEPRECATED(double ggml_type_sizef(enum ggml_type type),
                "use ggml_row_size instead");

/* "f32", "q8_0", ...; static. */
GGML_API const char *
ggml_type_name(enum ggml_type type);
GGML_API bool
ggml_is_quantized(enum ggml_type type);

/* The type of most tensors in a file of that kind; aborts where there is no
 * single one. */
GGML_API enum ggml_type
ggml_ftype_to_ggml_type(enum ggml_ftype ftype);

/* Its line of the table of types; static. */
GGML_API const struct ggml_type_traits *
ggml_get_type_traits(enum ggml_type type);

/* False if the bytes cannot be data of that type: a wrong length, a NaN or
 * an infinity among floats or scales. */
GGML_API bool
ggml_validate_row_data(enum ggml_type type, const void *data, size_t nbytes);

/* Needs not be called; ggml_quantize_free() neither. */
GGML_API void
ggml_quantize_init(enum ggml_type type);
GGML_API void
ggml_quantize_free(void);

/* True if a type is useless without knowing which columns matter. */
GGML_API bool
ggml_quantize_requires_imatrix(enum ggml_type type);

/* Quantises nrows rows of n_per_row floats from src + start to their place
 * in dst, where element 0 is at the front; start begins a row. imatrix: how
 * much each of the n_per_row columns matters, or NULL. Returns the bytes
 * written. */
GGML_API size_t
ggml_quantize_chunk(enum ggml_type type, const float *src, void *dst,
                    int64_t start, int64_t nrows, int64_t n_per_row,
                    const float *imatrix);

/* -- Names of ops -- */

/* "MUL_MAT", its formula "X*Y", and names of the functions within UNARY and
 * GLU; ggml_op_desc(): the most telling of these. All static. */
GGML_API const char *
ggml_op_name(enum ggml_op op);
GGML_API const char *
ggml_op_symbol(enum ggml_op op);
GGML_API const char *
ggml_unary_op_name(enum ggml_unary_op op);
GGML_API const char *
ggml_glu_op_name(enum ggml_glu_op op);
GGML_API const char *
ggml_op_desc(const struct ggml_tensor *t);

/* -- Shapes and strides of a tensor -- */

/* ne[0] * ne[1] * ne[2] * ne[3]; rows: the last three. */
GGML_API int64_t
ggml_nelements(const struct ggml_tensor *tensor);
GGML_API int64_t
ggml_nrows(const struct ggml_tensor *tensor);

/* From the first byte to the last, with the gaps that strides leave; then
 * rounded up to GGML_MEM_ALIGN. */
GGML_API size_t
ggml_nbytes(const struct ggml_tensor *tensor);
GGML_API size_t
ggml_nbytes_pad(const struct ggml_tensor *tensor);

/* Bytes of a block. */
GGML_API size_t
ggml_element_size(const struct ggml_tensor *tensor);

/* nb[0] > nb[1]; permuted: any stride larger than the next. */
GGML_API bool
ggml_is_transposed(const struct ggml_tensor *tensor);
GGML_API bool
ggml_is_permuted(const struct ggml_tensor *tensor);

/* Some dimension is 0. */
GGML_API bool
ggml_is_empty(const struct ggml_tensor *tensor);
GGML_API bool
ggml_is_view(const struct ggml_tensor *tensor);

/* No more dimensions than 0, 1, 2, 3 are larger than 1. The number of
 * dimensions is at least 1. */
GGML_API bool
ggml_is_scalar(const struct ggml_tensor *tensor);
GGML_API bool
ggml_is_vector(const struct ggml_tensor *tensor);
GGML_API bool
ggml_is_matrix(const struct ggml_tensor *tensor);
GGML_API bool
ggml_is_3d(const struct ggml_tensor *tensor);
GGML_API int
ggml_n_dims(const struct ggml_tensor *tensor);

/* No gaps and no other order than that of the dimensions. _1 and _2: but for
 * the strides of dimensions 1, and 1 and 2. */
GGML_API bool
ggml_is_contiguous(const struct ggml_tensor *tensor);
GGML_API bool
ggml_is_contiguous_0(const struct ggml_tensor *tensor);
GGML_API bool
ggml_is_contiguous_1(const struct ggml_tensor *tensor);
GGML_API bool
ggml_is_contiguous_2(const struct ggml_tensor *tensor);

/* No gaps in the first 1, 2, 3 dimensions. */
GGML_API bool
ggml_is_contiguous_to_1(const struct ggml_tensor *tensor);
GGML_API bool
ggml_is_contiguous_to_2(const struct ggml_tensor *tensor);
GGML_API bool
ggml_is_contiguous_to_3(const struct ggml_tensor *tensor);

/* As many bytes as values, in any order of the dimensions. */
GGML_API bool
ggml_is_contiguously_allocated(const struct ggml_tensor *tensor);

/* Dimension 2 is the innermost, then 0, then 1. */
GGML_API bool
ggml_is_contiguous_channels(const struct ggml_tensor *tensor);

/* No gaps within a row. */
GGML_API bool
ggml_is_contiguous_rows(const struct ggml_tensor *tensor);
GGML_API bool
ggml_are_same_shape(const struct ggml_tensor *t0, const struct ggml_tensor *t1);
GGML_API bool
ggml_are_same_stride(const struct ggml_tensor *t0,
                     const struct ggml_tensor *t1);

/* t1's shape is a multiple of t0's in every dimension. */
GGML_API bool
ggml_can_repeat(const struct ggml_tensor *t0, const struct ggml_tensor *t1);

/* The coordinates of the i-th element in order of the dimensions; a pointer
 * may be NULL. */
GGML_API void
ggml_unravel_index(const struct ggml_tensor *tensor, int64_t i, int64_t *i0,
                   int64_t *i1, int64_t *i2, int64_t *i3);

/* -- Context: a pool of objects -- */

/* Bytes that a tensor without data takes of a pool; n of them take exactly n
 * times that. */
GGML_API size_t
ggml_tensor_overhead(void);

/* A pool of mem_size bytes: in mem_buffer, aligned to GGML_MEM_ALIGN, which
 * stays the caller's, or in memory of its own. With no_alloc tensors get no
 * data. NULL: no memory. Each call below that makes a tensor or a graph
 * aborts when the pool is full. */
GGML_API struct ggml_context *
ggml_init(struct ggml_init_params params);

/* Forgets all objects and keeps the pool. */
GGML_API void
ggml_reset(struct ggml_context *ctx);

/* Takes NULL. What lies in the caller's memory stays usable. */
GGML_API void
ggml_free(struct ggml_context *ctx);

/* Bytes up to the end of the last object. */
GGML_API size_t
ggml_used_mem(const struct ggml_context *ctx);
GGML_API bool
ggml_get_no_alloc(struct ggml_context *ctx);
GGML_API void
ggml_set_no_alloc(struct ggml_context *ctx, bool no_alloc);
GGML_API void *
ggml_get_mem_buffer(const struct ggml_context *ctx);
GGML_API size_t
ggml_get_mem_size(const struct ggml_context *ctx);

/* Bytes of the largest tensor. */
GGML_API size_t
ggml_get_max_tensor_size(const struct ggml_context *ctx);

/* To the log: one object of a pool, all. */
GGML_API void
ggml_print_object(const struct ggml_object *obj);
GGML_API void
ggml_print_objects(const struct ggml_context *ctx);

/* Bytes of the pool for any purpose, aligned to GGML_MEM_ALIGN. */
GGML_API void *
ggml_new_buffer(struct ggml_context *ctx, size_t nbytes);

/* -- Tensors -- */

/* A contiguous tensor; dimensions that are not given are 1. ne[0] is a
 * multiple of the block. Its data are not set to anything. */
GGML_API struct ggml_tensor *
ggml_new_tensor(struct ggml_context *ctx, enum ggml_type type, int n_dims,
                const int64_t *ne);
GGML_API struct ggml_tensor *
ggml_new_tensor_1d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0);
GGML_API struct ggml_tensor *
ggml_new_tensor_2d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0,
                   int64_t ne1);
GGML_API struct ggml_tensor *
ggml_new_tensor_3d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0,
                   int64_t ne1, int64_t ne2);
GGML_API struct ggml_tensor *
ggml_new_tensor_4d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0,
                   int64_t ne1, int64_t ne2, int64_t ne3);

/* A tensor of the type and shape of `src`; nothing is copied. */
GGML_API struct ggml_tensor *
ggml_dup_tensor(struct ggml_context *ctx, const struct ggml_tensor *src);

/* All of src's data once more, with its strides. */
GGML_API struct ggml_tensor *
ggml_view_tensor(struct ggml_context *ctx, struct ggml_tensor *src);

/* The tensors of a pool in the order of their making; NULL: no more. */
GGML_API struct ggml_tensor *
ggml_get_first_tensor(const struct ggml_context *ctx);
GGML_API struct ggml_tensor *
ggml_get_next_tensor(const struct ggml_context *ctx,
                     struct ggml_tensor *tensor);

/* The first of that name, or NULL. */
GGML_API struct ggml_tensor *
ggml_get_tensor(struct ggml_context *ctx, const char *name);

/* The function within GGML_OP_UNARY or GGML_OP_GLU. */
GGML_API enum ggml_unary_op
ggml_get_unary_op(const struct ggml_tensor *tensor);
GGML_API enum ggml_glu_op
ggml_get_glu_op(const struct ggml_tensor *tensor);

/* NULL until it is allocated. May be an address that only a back end can
 * read: ggml_backend_tensor_get() always works. */
GGML_API void *
ggml_get_data(const struct ggml_tensor *tensor);
GGML_API float *
ggml_get_data_f32(const struct ggml_tensor *tensor);

/* At most GGML_MAX_NAME - 1 bytes; longer names are cut. */
GGML_API const char *
ggml_get_name(const struct ggml_tensor *tensor);
GGML_API struct ggml_tensor *
ggml_set_name(struct ggml_tensor *tensor, const char *name);
GGML_ATTRIBUTE_FORMAT(2, 3)
GGML_API struct ggml_tensor *
ggml_format_name(struct ggml_tensor *tensor, const char *fmt, ...);

/* Tells the allocator: data are set before the graph is computed; data are
 * read after it; to be optimised; the loss that is to shrink. */
GGML_API void
ggml_set_input(struct ggml_tensor *tensor);
GGML_API void
ggml_set_output(struct ggml_tensor *tensor);
GGML_API void
ggml_set_param(struct ggml_tensor *tensor);
GGML_API void
ggml_set_loss(struct ggml_tensor *tensor);

/* Fills with zero bytes, wherever the data are. Returns its argument. */
GGML_API struct ggml_tensor *
ggml_set_zero(struct ggml_tensor *tensor);

/* -- Op builders: arithmetic -- */

/* A contiguous copy. Throughout, x_inplace() works in the memory of a, of
 * which the result is a view. */
GGML_API struct ggml_tensor *
ggml_dup(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_dup_inplace(struct ggml_context *ctx, struct ggml_tensor *a);

/* a + b, a - b, a * b, a / b for each element; b is repeated to the shape of
 * a, which the result has. */
GGML_API struct ggml_tensor *
ggml_add(struct ggml_context *ctx, struct ggml_tensor *a,
         struct ggml_tensor *b);
GGML_API struct ggml_tensor *
ggml_add_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b);

/* a + b, which is one value. */
GGML_API struct ggml_tensor *
ggml_add1(struct ggml_context *ctx, struct ggml_tensor *a,
          struct ggml_tensor *b);
GGML_API struct ggml_tensor *
ggml_add1_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *b);

/* a + b, of `type`; a may be quantised, as it may be in ggml_add(). */
GGML_API struct ggml_tensor *
ggml_add_cast(struct ggml_context *ctx, struct ggml_tensor *a,
              struct ggml_tensor *b, enum ggml_type type);

/* a[.., i, j] + row ids[i, j] of b: a [n, used, tokens], b [n, rows], ids I32
 * [used, tokens]. F32. */
GGML_API struct ggml_tensor *
ggml_add_id(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *b, struct ggml_tensor *ids);

GGML_API struct ggml_tensor *
ggml_sub(struct ggml_context *ctx, struct ggml_tensor *a,
         struct ggml_tensor *b);
GGML_API struct ggml_tensor *
ggml_sub_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b);
GGML_API struct ggml_tensor *
ggml_mul(struct ggml_context *ctx, struct ggml_tensor *a,
         struct ggml_tensor *b);
GGML_API struct ggml_tensor *
ggml_mul_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b);
GGML_API struct ggml_tensor *
ggml_div(struct ggml_context *ctx, struct ggml_tensor *a,
         struct ggml_tensor *b);
GGML_API struct ggml_tensor *
ggml_div_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b);

/* a^2 and its inverse; the natural logarithm; sine and cosine of radians. */
GGML_API struct ggml_tensor *
ggml_sqr(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_sqr_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_sqrt(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_sqrt_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_log(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_log_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_sin(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_sin_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_cos(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_cos_inplace(struct ggml_context *ctx, struct ggml_tensor *a);

/* The sum of all elements, [1]; of each row, [1, ne1, ne2, ne3]; the mean of
 * each row, F32; the sums of the elements of a row up to each one. */
GGML_API struct ggml_tensor *
ggml_sum(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_sum_rows(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_mean(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_cumsum(struct ggml_context *ctx, struct ggml_tensor *a);

/* The index of the greatest value of each row of a matrix: I32 [ne1]. Of
 * equal values the lower index; of what is no number, only if all are. */
GGML_API struct ggml_tensor *
ggml_argmax(struct ggml_context *ctx, struct ggml_tensor *a);

/* a as many times as the shape of b, or the given one, is a multiple of a's. */
GGML_API struct ggml_tensor *
ggml_repeat(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *b);
GGML_API struct ggml_tensor *
ggml_repeat_4d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
               int64_t ne1, int64_t ne2, int64_t ne3);

/* a * s + b; rows may not have gaps. */
GGML_API struct ggml_tensor *
ggml_scale(struct ggml_context *ctx, struct ggml_tensor *a, float s);
GGML_API struct ggml_tensor *
ggml_scale_inplace(struct ggml_context *ctx, struct ggml_tensor *a, float s);
GGML_API struct ggml_tensor *
ggml_scale_bias(struct ggml_context *ctx, struct ggml_tensor *a, float s,
                float b);
GGML_API struct ggml_tensor *
ggml_scale_bias_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                        float s, float b);

/* Values below min become min, values above max become max. */
GGML_API struct ggml_tensor *
ggml_clamp(struct ggml_context *ctx, struct ggml_tensor *a, float min,
           float max);
GGML_API struct ggml_tensor *
ggml_clamp_inplace(struct ggml_context *ctx, struct ggml_tensor *a, float min,
                   float max);

/* c in every element; a, contiguous F32 or F16, gives type and shape. */
GGML_API struct ggml_tensor *
ggml_fill(struct ggml_context *ctx, struct ggml_tensor *a, float c);
GGML_API struct ggml_tensor *
ggml_fill_inplace(struct ggml_context *ctx, struct ggml_tensor *a, float c);

/* -- Op builders: activations -- */

/* One function of each element; rows are contiguous. */
GGML_API struct ggml_tensor *
ggml_unary(struct ggml_context *ctx, struct ggml_tensor *a,
           enum ggml_unary_op op);
GGML_API struct ggml_tensor *
ggml_unary_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                   enum ggml_unary_op op);

/* |a|, its sign (-1, 0 or 1), -a, 1 where a > 0 and else 0. */
GGML_API struct ggml_tensor *
ggml_abs(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_abs_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_sgn(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_sgn_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_neg(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_neg_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_step(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_step_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_tanh(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_tanh_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_sigmoid(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_sigmoid_inplace(struct ggml_context *ctx, struct ggml_tensor *a);

/* max(a, 0); elu: exp(a) - 1 where a < 0. */
GGML_API struct ggml_tensor *
ggml_relu(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_relu_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_elu(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_elu_inplace(struct ggml_context *ctx, struct ggml_tensor *a);

/* negative_slope * a where a < 0. */
GGML_API struct ggml_tensor *
ggml_leaky_relu(struct ggml_context *ctx, struct ggml_tensor *a,
                float negative_slope, bool inplace);

/* x Phi(x) by the tanh approximation; _erf by the error function; _quick as
 * x sigmoid(1.702 x) (Hendrycks and Gimpel, arXiv 1606.08415). */
GGML_API struct ggml_tensor *
ggml_gelu(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_gelu_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_gelu_erf(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_gelu_erf_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_gelu_quick(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_gelu_quick_inplace(struct ggml_context *ctx, struct ggml_tensor *a);

/* x sigmoid(x); log(1 + exp(x)); exp(x), and that less 1. */
GGML_API struct ggml_tensor *
ggml_silu(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_silu_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_softplus(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_softplus_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_exp(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_exp_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_expm1(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_expm1_inplace(struct ggml_context *ctx, struct ggml_tensor *a);

/* s(x) = (x + 3) / 6 within [0, 1], x s(x). */
GGML_API struct ggml_tensor *
ggml_hardsigmoid(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_hardswish(struct ggml_context *ctx, struct ggml_tensor *a);

/* To an integer: down, up, to the nearest one, away from 0 in the middle;
 * towards 0. */
GGML_API struct ggml_tensor *
ggml_floor(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_floor_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_ceil(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_ceil_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_round(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_round_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_trunc(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_trunc_inplace(struct ggml_context *ctx, struct ggml_tensor *a);

/* p x^2 + beta x where x > 0, n (exp(min(x, eps)) - 1 - x) + beta x else; p =
 * softplus(alpha_p), n = beta + softplus(alpha_n) (arXiv 2411.13010). */
GGML_API struct ggml_tensor *
ggml_xielu(struct ggml_context *ctx, struct ggml_tensor *a, float alpha_n,
           float alpha_p, float beta, float eps);

/* f(first half of each row) * second half (`swapped`: the other way round):
 * [ne0 / 2, ...] (Shazeer, arXiv 2002.05202). _split: f(a) * b, of one
 * shape. swiglu has f = silu, geglu gelu, reglu relu. */
GGML_API struct ggml_tensor *
ggml_glu(struct ggml_context *ctx, struct ggml_tensor *a, enum ggml_glu_op op,
         bool swapped);
GGML_API struct ggml_tensor *
ggml_glu_split(struct ggml_context *ctx, struct ggml_tensor *a,
               struct ggml_tensor *b, enum ggml_glu_op op);
GGML_API struct ggml_tensor *
ggml_reglu(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_reglu_swapped(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_geglu(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_geglu_swapped(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_swiglu(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_swiglu_swapped(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_geglu_erf(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_geglu_erf_swapped(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_geglu_quick(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_geglu_quick_swapped(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_reglu_split(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b);
GGML_API struct ggml_tensor *
ggml_geglu_split(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b);
GGML_API struct ggml_tensor *
ggml_swiglu_split(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *b);
GGML_API struct ggml_tensor *
ggml_geglu_erf_split(struct ggml_context *ctx, struct ggml_tensor *a,
                     struct ggml_tensor *b);
GGML_API struct ggml_tensor *
ggml_geglu_quick_split(struct ggml_context *ctx, struct ggml_tensor *a,
                       struct ggml_tensor *b);

/* x * sigmoid(alpha x) * (y + 1), x = min(a, limit), y = b within +-limit:
 * the experts' gate of gpt-oss. */
GGML_API struct ggml_tensor *
ggml_swiglu_oai(struct ggml_context *ctx, struct ggml_tensor *a,
                struct ggml_tensor *b, float alpha, float limit);

/* silu(min(a, limit)) * (b within +-limit). */
GGML_API struct ggml_tensor *
ggml_swiglu_clamp(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *b, float limit);

/* -- Op builders: norms -- */

/* (x - mean) / sqrt(variance + eps) over each row. */
GGML_API struct ggml_tensor *
ggml_norm(struct ggml_context *ctx, struct ggml_tensor *a, float eps);
GGML_API struct ggml_tensor *
ggml_norm_inplace(struct ggml_context *ctx, struct ggml_tensor *a, float eps);

/* x / sqrt(mean of x^2 + eps) over each row (arXiv 1910.07467). */
GGML_API struct ggml_tensor *
ggml_rms_norm(struct ggml_context *ctx, struct ggml_tensor *a, float eps);
GGML_API struct ggml_tensor *
ggml_rms_norm_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                      float eps);

/* x / max(length of the row, eps). */
GGML_API struct ggml_tensor *
ggml_l2_norm(struct ggml_context *ctx, struct ggml_tensor *a, float eps);
GGML_API struct ggml_tensor *
ggml_l2_norm_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                     float eps);

/* (x - mean) / sqrt(variance + eps) over each of n_groups groups of planes,
 * ne2 / n_groups rounded up; the last may have fewer (arXiv 1803.08494). */
GGML_API struct ggml_tensor *
ggml_group_norm(struct ggml_context *ctx, struct ggml_tensor *a, int n_groups,
                float eps);
GGML_API struct ggml_tensor *
ggml_group_norm_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                        int n_groups, float eps);

/* -- Op builders: matrix products -- */

/* a [k, n, p, q], b [k, m, p r, q s] -> F32 [n, m, p r, q s]: the dot
 * products of all rows; each plane of a serves r planes of b. a is not
 * transposed, and may be quantised. */
GGML_API struct ggml_tensor *
ggml_mul_mat(struct ggml_context *ctx, struct ggml_tensor *a,
             struct ggml_tensor *b);

/* Row j of b's token t times matrix ids[j, t] of a: as [k, n, matrices], b [k,
 * used or a divisor of it, tokens], whose rows repeat, ids I32 [used, tokens]
 * -> F32 [n, used, tokens]. An id without a matrix is misuse. */
GGML_API struct ggml_tensor *
ggml_mul_mat_id(struct ggml_context *ctx, struct ggml_tensor *as,
                struct ggml_tensor *b, struct ggml_tensor *ids);

/* a [n, k, p, q], b [m, k, p r, q s] -> F32 [n, m, p r, q s]: the outer
 * products of row i of a and row i of b, summed up over i. Each plane of a
 * serves r planes of b. a is not transposed, and may be quantised. */
GGML_API struct ggml_tensor *
ggml_out_prod(struct ggml_context *ctx, struct ggml_tensor *a,
              struct ggml_tensor *b);

/* GGML_PREC_F32: no sums in less than F32. GGML_PREC_BF16: weights of F16 may
 * be rounded to BF16, and what they are multiplied by, where that is faster;
 * also of ggml_mul_mat_id(). */
GGML_API void
ggml_mul_mat_set_prec(struct ggml_tensor *a, enum ggml_prec prec);

/* Precision of sums in products and ggml_flash_attn_ext(), as above; the
 * precision that a source, the second of a product, may be rounded to, which is
 * a wish. False: a is no such op. */
GGML_API bool
ggml_prec_set_acc(struct ggml_tensor *a, enum ggml_prec prec);
GGML_API bool
ggml_prec_set_src(struct ggml_tensor *a, enum ggml_prec prec, int idx);

/* Hint about a product's sources; nothing depends on it. */
GGML_API void
ggml_mul_mat_set_hint(struct ggml_tensor *a, enum ggml_op_hint hint);

/* -- Op builders: shape, copies, rows -- */

/* a's elements into b, converted to its type; as many, in any shapes. The
 * result is a view of b. */
GGML_API struct ggml_tensor *
ggml_cpy(struct ggml_context *ctx, struct ggml_tensor *a,
         struct ggml_tensor *b);

/* A contiguous copy of another type. */
GGML_API struct ggml_tensor *
ggml_cast(struct ggml_context *ctx, struct ggml_tensor *a, enum ggml_type type);

/* A contiguous copy, in another shape of as many elements. */
GGML_API struct ggml_tensor *
ggml_cont(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_cont_1d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0);
GGML_API struct ggml_tensor *
ggml_cont_2d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1);
GGML_API struct ggml_tensor *
ggml_cont_3d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1, int64_t ne2);
GGML_API struct ggml_tensor *
ggml_cont_4d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1, int64_t ne2, int64_t ne3);

/* a, which is contiguous, in the shape of b or the given one; a view. */
GGML_API struct ggml_tensor *
ggml_reshape(struct ggml_context *ctx, struct ggml_tensor *a,
             struct ggml_tensor *b);
GGML_API struct ggml_tensor *
ggml_reshape_1d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0);
GGML_API struct ggml_tensor *
ggml_reshape_2d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
                int64_t ne1);
GGML_API struct ggml_tensor *
ggml_reshape_3d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
                int64_t ne1, int64_t ne2);
GGML_API struct ggml_tensor *
ggml_reshape_4d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
                int64_t ne1, int64_t ne2, int64_t ne3);

/* The data of a from `offset` bytes on, with strides in bytes; those that
 * are not given follow from the shape. It must end within a. */
GGML_API struct ggml_tensor *
ggml_view_1d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             size_t offset);
GGML_API struct ggml_tensor *
ggml_view_2d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1, size_t nb1, size_t offset);
GGML_API struct ggml_tensor *
ggml_view_3d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1, int64_t ne2, size_t nb1, size_t nb2, size_t offset);
GGML_API struct ggml_tensor *
ggml_view_4d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1, int64_t ne2, int64_t ne3, size_t nb1, size_t nb2,
             size_t nb3, size_t offset);

/* Dimension i becomes dimension axis<i>; a view. */
GGML_API struct ggml_tensor *
ggml_permute(struct ggml_context *ctx, struct ggml_tensor *a, int axis0,
             int axis1, int axis2, int axis3);

/* Rows become columns; a view. */
GGML_API struct ggml_tensor *
ggml_transpose(struct ggml_context *ctx, struct ggml_tensor *a);

/* b after a in dimension dim; all others are equal. Rows of a quantised type
 * are whole blocks. */
GGML_API struct ggml_tensor *
ggml_concat(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *b, int dim);

/* a [n, rows, p, q], b I32 [m, p, q] -> [n, m, p, q]: the rows of a whose
 * numbers are in b, as F32 (I32 stays I32). */
GGML_API struct ggml_tensor *
ggml_get_rows(struct ggml_context *ctx, struct ggml_tensor *a,
              struct ggml_tensor *b);

/* Writes the rows of b, F32 or F16 [n, m, p, q], into a, at the numbers in
 * c, I32 or I64 [m, ...], converted to its type. The result is a view of a. */
GGML_API struct ggml_tensor *
ggml_set_rows(struct ggml_context *ctx, struct ggml_tensor *a,
              struct ggml_tensor *b, struct ggml_tensor *c);

/* a with b in the place of some of it: a view of a's shape and data with b's
 * shape, these strides and this offset, in bytes. ggml_acc(): b is added there;
 * both are F32. Strides that are not given are a's. */
GGML_API struct ggml_tensor *
ggml_set(struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
         size_t nb1, size_t nb2, size_t nb3, size_t offset);
GGML_API struct ggml_tensor *
ggml_set_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b, size_t nb1, size_t nb2, size_t nb3,
                 size_t offset);
GGML_API struct ggml_tensor *
ggml_set_1d(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *b, size_t offset);
GGML_API struct ggml_tensor *
ggml_set_1d_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor *b, size_t offset);
GGML_API struct ggml_tensor *
ggml_set_2d(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *b, size_t nb1, size_t offset);
GGML_API struct ggml_tensor *
ggml_set_2d_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor *b, size_t nb1, size_t offset);
GGML_API struct ggml_tensor *
ggml_acc(struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
         size_t nb1, size_t nb2, size_t nb3, size_t offset);
GGML_API struct ggml_tensor *
ggml_acc_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b, size_t nb1, size_t nb2, size_t nb3,
                 size_t offset);

/* A matrix with the only row of a on its diagonal, zeros elsewhere. */
GGML_API struct ggml_tensor *
ggml_diag(struct ggml_context *ctx, struct ggml_tensor *a);

/* Zeros outside of the triangle; a is F32, contiguous, of square matrices. */
GGML_API struct ggml_tensor *
ggml_tri(struct ggml_context *ctx, struct ggml_tensor *a,
         enum ggml_tri_type type);

/* -- Op builders: attention -- */

/* Sets element (i, j), column i of row j, to -infinity, or 0, where i > n_past
 * + j. */
GGML_API struct ggml_tensor *
ggml_diag_mask_inf(struct ggml_context *ctx, struct ggml_tensor *a, int n_past);
GGML_API struct ggml_tensor *
ggml_diag_mask_inf_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                           int n_past);
GGML_API struct ggml_tensor *
ggml_diag_mask_zero(struct ggml_context *ctx, struct ggml_tensor *a,
                    int n_past);
GGML_API struct ggml_tensor *
ggml_diag_mask_zero_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                            int n_past);

/* exp(x) / sum of exp(x) over each row; a is contiguous. _ext: of scale * a
 * + slope * mask, where mask is F16 or F32 [ne0, at least ne1, ...] or NULL,
 * and slope is 1, or with max_bias > 0 ALiBi's for the head ne2 (arXiv
 * 2108.12409). */
GGML_API struct ggml_tensor *
ggml_soft_max(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_soft_max_inplace(struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *
ggml_soft_max_ext(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *mask, float scale, float max_bias);
GGML_API struct ggml_tensor *
ggml_soft_max_ext_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                          struct ggml_tensor *mask, float scale,
                          float max_bias);

/* One more score a head, without an element of its own: it takes its share
 * of the sum. sinks F32 [heads], or NULL for none; on a softmax's result, of
 * rows whose ne[2] counts heads. */
GGML_API void
ggml_soft_max_add_sinks(struct ggml_tensor *a, struct ggml_tensor *sinks);

/* Turns pairs of each head's first n_dims elements by position *
 * freq_base^(-2i / n_dims) (arXiv 2104.09864). a [head, heads, tokens, ...],
 * b I32 [tokens]. Pairs are (2i, 2i + 1) in mode NORMAL, (i, i + n_dims / 2)
 * in NEOX. */
GGML_API struct ggml_tensor *
ggml_rope(struct ggml_context *ctx, struct ggml_tensor *a,
          struct ggml_tensor *b, int n_dims, int mode);
GGML_API struct ggml_tensor *
ggml_rope_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *b, int n_dims, int mode);

/* c: F32 [n_dims / 2], divides each frequency, or NULL. freq_scale
 * multiplies positions; ext_factor, attn_factor, beta_fast and beta_slow are
 * YaRN's (arXiv 2309.00071), for a model trained with n_ctx_orig positions;
 * 0, 1, 0, 0 to do without. */
GGML_API struct ggml_tensor *
ggml_rope_ext(struct ggml_context *ctx, struct ggml_tensor *a,
              struct ggml_tensor *b, struct ggml_tensor *c, int n_dims,
              int mode, int n_ctx_orig, float freq_base, float freq_scale,
              float ext_factor, float attn_factor, float beta_fast,
              float beta_slow);
GGML_API struct ggml_tensor *
ggml_rope_ext_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                      struct ggml_tensor *b, struct ggml_tensor *c, int n_dims,
                      int mode, int n_ctx_orig, float freq_base,
                      float freq_scale, float ext_factor, float attn_factor,
                      float beta_fast, float beta_slow);

GGML_API
GGML_DEPRECATED(struct ggml_tensor *ggml_rope_custom(
                    struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor *b, int n_dims, int mode, int n_ctx_orig,
                    float freq_base, float freq_scale, float ext_factor,
                    float attn_factor, float beta_fast, float beta_slow),
                "use ggml_rope_ext instead");
GGML_API
GGML_DEPRECATED(struct ggml_tensor *ggml_rope_custom_inplace(
                    struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor *b, int n_dims, int mode, int n_ctx_orig,
                    float freq_base, float freq_scale, float ext_factor,
                    float attn_factor, float beta_fast, float beta_slow),
                "use ggml_rope_ext_inplace instead");

/* Four positions a token (time, height, width, another): b I32 [4 tokens],
 * all first ones, then all second ones, ... sections: how many pairs, one after
 * the other, go by each; pairs are NEOX's, frequencies those of
 * ggml_rope_ext(). Modes: MROPE; IMROPE, where time, height and width take
 * turns for as long as they have pairs (Qwen3-VL); VISION, where n_dims is half
 * a head, pairs are (i, i + n_dims) and frequencies begin anew with each
 * section. Sections repeat if they are fewer than the pairs. */
GGML_API struct ggml_tensor *
ggml_rope_multi(struct ggml_context *ctx, struct ggml_tensor *a,
                struct ggml_tensor *b, struct ggml_tensor *c, int n_dims,
                int sections[GGML_MROPE_SECTIONS], int mode, int n_ctx_orig,
                float freq_base, float freq_scale, float ext_factor,
                float attn_factor, float beta_fast, float beta_slow);
GGML_API struct ggml_tensor *
ggml_rope_multi_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                        struct ggml_tensor *b, struct ggml_tensor *c,
                        int n_dims, int sections[GGML_MROPE_SECTIONS], int mode,
                        int n_ctx_orig, float freq_base, float freq_scale,
                        float ext_factor, float attn_factor, float beta_fast,
                        float beta_slow);

/* Leaves out the first n_offs elements of each head, on a rotation's result,
 * not VISION's. Returns its argument. */
GGML_API struct ggml_tensor *
ggml_rope_set_offset(struct ggml_tensor *a, int n_offs);

/* The pairs between which YaRN blends. */
GGML_API void
ggml_rope_yarn_corr_dims(int n_dims, int n_ctx_orig, float freq_base,
                         float beta_fast, float beta_slow, float dims[2]);

/* softmax(scale * q k^T + slope * mask) v without storing it: q [d, m,
 * heads, batch], k [d, n, kv heads, batch], v [e, n, kv heads, batch], mask
 * F16 [n, at least m, ...] or NULL -> F32 [e, heads, m, batch].
 * logit_softcap c, if not 0, makes c tanh(x / c) of what the softmax gets. */
GGML_API struct ggml_tensor *
ggml_flash_attn_ext(struct ggml_context *ctx, struct ggml_tensor *q,
                    struct ggml_tensor *k, struct ggml_tensor *v,
                    struct ggml_tensor *mask, float scale, float max_bias,
                    float logit_softcap);
GGML_API void
ggml_flash_attn_ext_set_prec(struct ggml_tensor *a, enum ggml_prec prec);
GGML_API enum ggml_prec
ggml_flash_attn_ext_get_prec(const struct ggml_tensor *a);

/* No row of the mask leaves more than n_kv_max keys; 0: not known. Nothing
 * depends on it but speed. */
GGML_API void
ggml_flash_attn_ext_set_n_kv_max(struct ggml_tensor *a, int32_t n_kv_max);

/* See ggml_soft_max_add_sinks(): one score a head of q, without a value. */
GGML_API void
ggml_flash_attn_ext_add_sinks(struct ggml_tensor *a, struct ggml_tensor *sinks);

/* DeepSeek's lightning indexer (V3.2), by which a token chooses the keys that
 * it attends to: sum over heads of weight * max(0, q . k), and the mask. q F32
 * [d, heads, tokens, p], k [d, 1, n, p], weights F32 [heads, tokens, 1, p],
 * mask F16 [n, tokens, 1, p or a divisor of it], or NULL -> F32 [n, tokens, 1,
 * p]. */
GGML_API struct ggml_tensor *
ggml_lightning_indexer(struct ggml_context *ctx, struct ggml_tensor *q,
                       struct ggml_tensor *k, struct ggml_tensor *weights,
                       struct ggml_tensor *mask);

/* Hyper-connections (arXiv 2512.24880): h residual streams, of which a layer
 * reads a weighted sum (pre) and to which it adds what it made (post), while
 * they mix (comb). All F32.
 *
 * _comb: mixes [h (h + 2), tokens], scale [at least 3], base [h (h + 2)] ->
 * [h to, h from, tokens]: the exponentials of mixes * scale[2] + base, elements
 * 2 h and on, of each stream they come from over their sum, plus eps; then
 * n_iter times those that go to a stream over their sum plus eps, and between
 * the times those that come from one.
 * _pre: x [n, h, tokens], weights [h, tokens] -> [n, tokens]; _gated: weights
 * are sigmoid(gate), [n, h, tokens], and the sum is multiplied by scale.
 * _post: x [n, tokens], residual [n, h, tokens], post [h, tokens], comb [h, h,
 * tokens] or NULL for the identity -> [n, h, tokens]. */
GGML_API struct ggml_tensor *
ggml_dsv4_hc_comb(struct ggml_context *ctx, struct ggml_tensor *mixes,
                  struct ggml_tensor *scale, struct ggml_tensor *base,
                  float eps, int32_t n_iter);
GGML_API struct ggml_tensor *
ggml_dsv4_hc_pre(struct ggml_context *ctx, struct ggml_tensor *x,
                 struct ggml_tensor *weights);
GGML_API struct ggml_tensor *
ggml_dsv4_hc_pre_gated(struct ggml_context *ctx, struct ggml_tensor *x,
                       struct ggml_tensor *gate, float scale);
GGML_API struct ggml_tensor *
ggml_dsv4_hc_post(struct ggml_context *ctx, struct ggml_tensor *x,
                  struct ggml_tensor *residual, struct ggml_tensor *post,
                  struct ggml_tensor *comb);

/* -- Op builders: sorting -- */

/* The indices that put each row in order, I32; of equal values the lower
 * index comes first, and no number comes after all numbers. */
GGML_API struct ggml_tensor *
ggml_argsort(struct ggml_context *ctx, struct ggml_tensor *a,
             enum ggml_sort_order order);

/* Indices of the k largest values of each row, largest first: a view of the
 * whole argsort, or the op that gives no more than these. */
GGML_API struct ggml_tensor *
ggml_argsort_top_k(struct ggml_context *ctx, struct ggml_tensor *a, int k);
GGML_API struct ggml_tensor *
ggml_top_k(struct ggml_context *ctx, struct ggml_tensor *a, int k);

/* -- Op builders: convolutions, pooling -- */

/* In what follows a is the kernel, b what it runs over, s strides, p zeros
 * around b, d dilations; 0 is the width, 1 the height. n positions of b hold
 * (n + 2 p - d (k - 1) - 1) / s + 1 of a kernel of k. Sums are not flipped:
 * they are cross-correlations. */

/* Values under the kernel at each position as a row, of dst_type, F16 or F32.
 * is_2D: a [kw, kh, channels, ...], b [w, h, channels, n] -> [kw kh
 * channels, ow, oh, n]; else a [k, channels, ...], b [w, channels, n] -> [k
 * channels, ow, n]. Only the shape of a counts. */
GGML_API struct ggml_tensor *
ggml_im2col(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *b, int s0, int s1, int p0, int p1, int d0,
            int d1, bool is_2D, enum ggml_type dst_type);

/* ggml_im2col() in three dimensions, 2 the depth: a [kw, kh, kd, IC out
 * channels], b [w, h, depth, IC n] -> [kw kh kd IC, ow, oh, od n]. */
GGML_API struct ggml_tensor *
ggml_im2col_3d(struct ggml_context *ctx, struct ggml_tensor *a,
               struct ggml_tensor *b, int64_t IC, int s0, int s1, int s2,
               int p0, int p1, int p2, int d0, int d1, int d2,
               enum ggml_type dst_type);

/* The sums of columns where they overlap: a [k oc, n], a kernel's output for
 * each of n places, s0 apart -> [(n - 1) s0 + k - 2 p0, oc], p0 cut off at both
 * ends; k counts faster. Of conv_transpose_1d, what follows the product. */
GGML_API struct ggml_tensor *
ggml_col2im_1d(struct ggml_context *ctx, struct ggml_tensor *a, int s0, int oc,
               int p0);

/* a [k, channels, out channels], b [w, channels, n] -> [ow, out channels,
 * n], by im2col, in F16 unless a is BF16. _ph: as many zeros as half of a. */
GGML_API struct ggml_tensor *
ggml_conv_1d(struct ggml_context *ctx, struct ggml_tensor *a,
             struct ggml_tensor *b, int s0, int p0, int d0);
GGML_API struct ggml_tensor *
ggml_conv_1d_ph(struct ggml_context *ctx, struct ggml_tensor *a,
                struct ggml_tensor *b, int s, int d);

/* Each channel with a kernel of its own: a [k, 1, channels], b [w, channels]
 * -> [ow, channels]. */
GGML_API struct ggml_tensor *
ggml_conv_1d_dw(struct ggml_context *ctx, struct ggml_tensor *a,
                struct ggml_tensor *b, int s0, int p0, int d0);
GGML_API struct ggml_tensor *
ggml_conv_1d_dw_ph(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b, int s0, int d0);

/* a [k, out channels, channels], b [w, channels] -> F32 [(w - 1) s0 + k, out
 * channels]: each element of b adds the kernel times itself. p0 is 0, d0 1. */
GGML_API struct ggml_tensor *
ggml_conv_transpose_1d(struct ggml_context *ctx, struct ggml_tensor *a,
                       struct ggml_tensor *b, int s0, int p0, int d0);

/* a [kw, kh, channels, out channels], b [w, h, channels, n] -> [ow, oh, out
 * channels, n]. _sk_p0: strides of the kernel's size, no zeros; _s1_ph:
 * strides of 1, zeros of half the kernel. */
GGML_API struct ggml_tensor *
ggml_conv_2d(struct ggml_context *ctx, struct ggml_tensor *a,
             struct ggml_tensor *b, int s0, int s1, int p0, int p1, int d0,
             int d1);
GGML_API struct ggml_tensor *
ggml_conv_2d_sk_p0(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b);
GGML_API struct ggml_tensor *
ggml_conv_2d_s1_ph(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b);

/* Without im2col; the result has b's type. */
GGML_API struct ggml_tensor *
ggml_conv_2d_direct(struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor *b, int s0, int s1, int p0, int p1,
                    int d0, int d1);

/* a [kw, kh, kd, IC out channels], b [w, h, depth, IC n] -> [ow, oh, od, out
 * channels n]; _direct: without im2col, a and b, whose n_channels count faster
 * than output channels and images. */
GGML_API struct ggml_tensor *
ggml_conv_3d(struct ggml_context *ctx, struct ggml_tensor *a,
             struct ggml_tensor *b, int64_t IC, int s0, int s1, int s2, int p0,
             int p1, int p2, int d0, int d1, int d2);
GGML_API struct ggml_tensor *
ggml_conv_3d_direct(struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor *b, int s0, int s1, int s2, int p0,
                    int p1, int p2, int d0, int d1, int d2, int n_channels,
                    int n_batch, int n_channels_out);

/* Each channel with a kernel of its own: a [kw, kh, 1, channels], b [w, h,
 * channels, n] -> [ow, oh, channels, n]. _direct: without im2col; where b
 * has its channels innermost, the result has them so, too. */
GGML_API struct ggml_tensor *
ggml_conv_2d_dw(struct ggml_context *ctx, struct ggml_tensor *a,
                struct ggml_tensor *b, int s0, int s1, int p0, int p1, int d0,
                int d1);
GGML_API struct ggml_tensor *
ggml_conv_2d_dw_direct(struct ggml_context *ctx, struct ggml_tensor *a,
                       struct ggml_tensor *b, int stride0, int stride1,
                       int pad0, int pad1, int dilation0, int dilation1);

/* a [kw, kh, out channels, channels], b [w, h, channels, n] -> F32 [(w - 1)
 * stride + kw, (h - 1) stride + kh, out channels, n]. */
GGML_API struct ggml_tensor *
ggml_conv_transpose_2d_p0(struct ggml_context *ctx, struct ggml_tensor *a,
                          struct ggml_tensor *b, int stride);

/* The greatest, or the mean, of each window of k0 [x k1]; what lies outside
 * of a is not looked at, but counts in the mean of pool_2d as 0. */
GGML_API struct ggml_tensor *
ggml_pool_1d(struct ggml_context *ctx, struct ggml_tensor *a,
             enum ggml_op_pool op, int k0, int s0, int p0);
GGML_API struct ggml_tensor *
ggml_pool_2d(struct ggml_context *ctx, struct ggml_tensor *a,
             enum ggml_op_pool op, int k0, int k1, int s0, int s1, float p0,
             float p1);

/* -- Op builders: images, sequences, positions -- */

/* a, F32, in another size: `mode` (of enum ggml_scale_mode, with flags) says
 * how width and height are sampled; dimensions 2 and 3 take the nearest.
 * Bicubic is the convolution with a = -0.75 (Keys 1981). */
GGML_API struct ggml_tensor *
ggml_interpolate(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
                 int64_t ne1, int64_t ne2, int64_t ne3, uint32_t mode);

/* Width and height times scale_factor. */
GGML_API struct ggml_tensor *
ggml_upscale(struct ggml_context *ctx, struct ggml_tensor *a, int scale_factor,
             enum ggml_scale_mode mode);
GGML_API
GGML_DEPRECATED(struct ggml_tensor *ggml_upscale_ext(
                    struct ggml_context *ctx, struct ggml_tensor *a, int ne0,
                    int ne1, int ne2, int ne3, enum ggml_scale_mode mode),
                "use ggml_interpolate instead");

/* p<i> zeros after dimension i; _ext: lp<i> before it and rp<i> after it;
 * _circular: what is there if a repeats in all directions. */
GGML_API struct ggml_tensor *
ggml_pad(struct ggml_context *ctx, struct ggml_tensor *a, int p0, int p1,
         int p2, int p3);
GGML_API struct ggml_tensor *
ggml_pad_circular(struct ggml_context *ctx, struct ggml_tensor *a, int p0,
                  int p1, int p2, int p3);
GGML_API struct ggml_tensor *
ggml_pad_ext(struct ggml_context *ctx, struct ggml_tensor *a, int lp0, int rp0,
             int lp1, int rp1, int lp2, int rp2, int lp3, int rp3);
GGML_API struct ggml_tensor *
ggml_pad_ext_circular(struct ggml_context *ctx, struct ggml_tensor *a, int lp0,
                      int rp0, int lp1, int rp1, int lp2, int rp2, int lp3,
                      int rp3);

/* p0 elements before each row of a, F32, and p1 after it: the row mirrored
 * at its ends, which are not repeated. */
GGML_API struct ggml_tensor *
ggml_pad_reflect_1d(struct ggml_context *ctx, struct ggml_tensor *a, int p0,
                    int p1);

/* Every element moves by the shifts, forward if they are positive; what
 * leaves at one end comes in at the other. */
GGML_API struct ggml_tensor *
ggml_roll(struct ggml_context *ctx, struct ggml_tensor *a, int shift0,
          int shift1, int shift2, int shift3);

/* start, start + step, ... up to stop, which is not reached. F32. */
GGML_API struct ggml_tensor *
ggml_arange(struct ggml_context *ctx, float start, float stop, float step);

/* timesteps F32 [n] -> [dim, n]: cosines, then sines, of t *
 * max_period^(-2 i / dim) (arXiv 2112.10741); 0 after them if dim is odd. */
GGML_API struct ggml_tensor *
ggml_timestep_embedding(struct ggml_context *ctx, struct ggml_tensor *timesteps,
                        int dim, int max_period);

/* Windows of w x w for SAM, zeros where they go beyond a: F32 [n, width,
 * height] -> [n, w, w, windows], line after line; and back, to width w0 and
 * height h0. */
GGML_API struct ggml_tensor *
ggml_win_part(struct ggml_context *ctx, struct ggml_tensor *a, int w);
GGML_API struct ggml_tensor *
ggml_win_unpart(struct ggml_context *ctx, struct ggml_tensor *a, int w0, int h0,
                int w);

/* a [n, 2 k - 1] -> F16 [n, k, q]: row (kh - 1 - i) + j of a for key i and
 * query j; qh = kh. With add_rel_pos() SAM's relative positions (arXiv
 * 2304.02643): a [k k, qw qh, n], pw and ph F32 [k, qw, qh, n] -> a + what
 * pw has for a key's column + what ph has for its line. */
GGML_API struct ggml_tensor *
ggml_get_rel_pos(struct ggml_context *ctx, struct ggml_tensor *a, int qh,
                 int kh);
GGML_API struct ggml_tensor *
ggml_add_rel_pos(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *pw, struct ggml_tensor *ph);
GGML_API struct ggml_tensor *
ggml_add_rel_pos_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                         struct ggml_tensor *pw, struct ggml_tensor *ph);

/* -- Op builders: recurrences -- */

/* All F32. A state is a matrix that a head keeps from token to token. Results
 * hold what the tokens give, as many rows as there are tokens in all, and
 * after them the states after the last token of each sequence; with K > 1 those
 * of the last K tokens, the last one's first, or of all where a sequence has
 * fewer. */

/* A short convolution, each channel alone: sx [d_conv - 1 + tokens, channels,
 * sequences], c [d_conv, channels] -> [channels, tokens, sequences]. */
GGML_API struct ggml_tensor *
ggml_ssm_conv(struct ggml_context *ctx, struct ggml_tensor *sx,
              struct ggml_tensor *c);

/* Mamba's selective scan (Gu, Dao 2023, 2024): with d = softplus(dt) a head and
 * token, S = exp(d A) S + d x B^T, y = S C. s [d_state, dim, heads, states], of
 * which ids I32 [sequences] says a sequence's; x [dim, heads, tokens,
 * sequences], dt [heads, tokens, sequences], A [d_state or 1, heads], B and C
 * [d_state, groups, tokens, sequences], each for heads / groups neighbours ->
 * y, then states, [n]. K > 1 only where A is a number a head. */
GGML_API struct ggml_tensor *
ggml_ssm_scan(struct ggml_context *ctx, struct ggml_tensor *s,
              struct ggml_tensor *x, struct ggml_tensor *dt,
              struct ggml_tensor *A, struct ggml_tensor *B,
              struct ggml_tensor *C, struct ggml_tensor *ids, int64_t K);

/* RWKV 6 (Peng et al. 2024): y = (S + u k v^T)^T r, then S = w S + k v^T, u and
 * w by rows. k, v, r and td (w) [n, heads, tokens], tf (u) [n, heads], state
 * [n n heads, sequences], row i for k's element i -> [n heads, tokens + n
 * sequences]. */
GGML_API struct ggml_tensor *
ggml_rwkv_wkv6(struct ggml_context *ctx, struct ggml_tensor *k,
               struct ggml_tensor *v, struct ggml_tensor *r,
               struct ggml_tensor *tf, struct ggml_tensor *td,
               struct ggml_tensor *state);

/* Gated linear attention (Yang et al. 2023): S = g S + k v^T, g by rows, y =
 * scale S^T q; shapes as above. */
GGML_API struct ggml_tensor *
ggml_gated_linear_attn(struct ggml_context *ctx, struct ggml_tensor *k,
                       struct ggml_tensor *v, struct ggml_tensor *q,
                       struct ggml_tensor *g, struct ggml_tensor *state,
                       float scale);

/* RWKV 7 (Peng et al. 2025): S = S diag(w) + v k^T + (S a) b^T, y = S r; all
 * [n, heads, tokens], row i of a state for v's element i. */
GGML_API struct ggml_tensor *
ggml_rwkv_wkv7(struct ggml_context *ctx, struct ggml_tensor *r,
               struct ggml_tensor *w, struct ggml_tensor *k,
               struct ggml_tensor *v, struct ggml_tensor *a,
               struct ggml_tensor *b, struct ggml_tensor *state);

/* x of a x = b: a [n, n, p, q], its lower triangle with nothing 0 on the
 * diagonal, b [m, n, p, q] -> [m, n, p, q]. left and lower are true, uni
 * false. */
GGML_API struct ggml_tensor *
ggml_solve_tri(struct ggml_context *ctx, struct ggml_tensor *a,
               struct ggml_tensor *b, bool left, bool lower, bool uni);

/* Gated delta rule (Yang et al. 2024): S = S diag(exp(g)), S = S + beta (v - S
 * k) k^T, y = S q / sqrt(n). q and k [n, their heads, tokens, sequences], of
 * which value head h has number h modulo theirs; v [n, heads, tokens,
 * sequences], g [1 or n, heads, tokens, sequences], beta [1, ...], state [n, n,
 * heads, sequences], row i for v's element i -> [n heads, tokens sequences + K
 * n sequences]. */
GGML_API struct ggml_tensor *
ggml_gated_delta_net(struct ggml_context *ctx, struct ggml_tensor *q,
                     struct ggml_tensor *k, struct ggml_tensor *v,
                     struct ggml_tensor *g, struct ggml_tensor *beta,
                     struct ggml_tensor *state, int64_t K);

/* -- Op builders: gradients, losses, optimiser steps -- */

/* The sum of all the blocks of a that have the shape of b, as ggml_repeat()
 * would lay copies of b; b gives the shape. */
GGML_API struct ggml_tensor *
ggml_repeat_back(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b);

/* The gradient of b where ggml_silu(b), ggml_rms_norm(b, eps) has a; of what
 * was made b by ggml_soft_max_ext(); of what ggml_rope_ext() turned. The rest
 * are the parameters of those. F32 throughout. */
GGML_API struct ggml_tensor *
ggml_silu_back(struct ggml_context *ctx, struct ggml_tensor *a,
               struct ggml_tensor *b);
GGML_API struct ggml_tensor *
ggml_rms_norm_back(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b, float eps);
GGML_API struct ggml_tensor *
ggml_soft_max_ext_back(struct ggml_context *ctx, struct ggml_tensor *a,
                       struct ggml_tensor *b, float scale, float max_bias);
GGML_API struct ggml_tensor *
ggml_soft_max_ext_back_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                               struct ggml_tensor *b, float scale,
                               float max_bias);
GGML_API struct ggml_tensor *
ggml_rope_ext_back(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b, struct ggml_tensor *c, int n_dims,
                   int mode, int n_ctx_orig, float freq_base, float freq_scale,
                   float ext_factor, float attn_factor, float beta_fast,
                   float beta_slow);
GGML_API struct ggml_tensor *
ggml_rope_multi_back(struct ggml_context *ctx, struct ggml_tensor *a,
                     struct ggml_tensor *b, struct ggml_tensor *c, int n_dims,
                     int sections[GGML_MROPE_SECTIONS], int mode,
                     int n_ctx_orig, float freq_base, float freq_scale,
                     float ext_factor, float attn_factor, float beta_fast,
                     float beta_slow);

/* Row i of a, a matrix, is added to row b[i] of zeros of c's shape, for each i
 * that b has. */
GGML_API struct ggml_tensor *
ggml_get_rows_back(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b, struct ggml_tensor *c);

/* The gradient of an image of shape ne where ggml_im2col() with kernel b has
 * a; that of af where ggml_pool_2d() of it has a. */
GGML_API struct ggml_tensor *
ggml_im2col_back(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b, int64_t *ne, int s0, int s1, int p0,
                 int p1, int d0, int d1, bool is_2D);
GGML_API struct ggml_tensor *
ggml_pool_2d_back(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *af, enum ggml_op_pool op, int k0, int k1,
                  int s0, int s1, float p0, float p1);

/* Aborts: no gradient goes through ggml_flash_attn_ext(). */
GGML_API struct ggml_tensor *
ggml_flash_attn_back(struct ggml_context *ctx, struct ggml_tensor *q,
                     struct ggml_tensor *k, struct ggml_tensor *v,
                     struct ggml_tensor *d, bool masked);

/* Rows of logits a, and of probabilities b that they should have: the mean over
 * rows of -sum(b log softmax(a)). Its gradient for b, of those logits, where
 * the mean has a, one value; c are the probabilities. */
GGML_API struct ggml_tensor *
ggml_cross_entropy_loss(struct ggml_context *ctx, struct ggml_tensor *a,
                        struct ggml_tensor *b);
GGML_API struct ggml_tensor *
ggml_cross_entropy_loss_back(struct ggml_context *ctx, struct ggml_tensor *a,
                             struct ggml_tensor *b, struct ggml_tensor *c);

/* How many elements of a and b, I32, are equal: one I64. */
GGML_API struct ggml_tensor *
ggml_count_equal(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b);

/* A step of AdamW (arXiv 1711.05101) with parameter a, in its place: m and v,
 * of its shape, are the moments. adamw_params, 7 F32: learning rate, beta1,
 * beta2, epsilon, weight decay, 1 / (1 - beta1^t), 1 / (1 - beta2^t). */
GGML_API struct ggml_tensor *
ggml_opt_step_adamw(struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor *grad, struct ggml_tensor *m,
                    struct ggml_tensor *v, struct ggml_tensor *adamw_params);

/* a (1 - alpha wd) - alpha grad, in its place; sgd_params, 2 F32: learning
 * rate alpha, weight decay wd. */
GGML_API struct ggml_tensor *
ggml_opt_step_sgd(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *grad, struct ggml_tensor *sgd_params);

/* -- Op builders: functions of the program -- */

/* Piece ith of nth of the work on dst; pieces may run at the same time. */
typedef void (*ggml_custom1_op_t)(struct ggml_tensor *dst,
                                  const struct ggml_tensor *a, int ith, int nth,
                                  void *userdata);
typedef void (*ggml_custom2_op_t)(struct ggml_tensor *dst,
                                  const struct ggml_tensor *a,
                                  const struct ggml_tensor *b, int ith, int nth,
                                  void *userdata);
typedef void (*ggml_custom3_op_t)(struct ggml_tensor *dst,
                                  const struct ggml_tensor *a,
                                  const struct ggml_tensor *b,
                                  const struct ggml_tensor *c, int ith, int nth,
                                  void *userdata);
typedef void (*ggml_custom_op_t)(struct ggml_tensor *dst, int ith, int nth,
                                 void *userdata);

/* A result of a's type and shape. The function is called n_tasks times, or as
 * often as there are threads if those are fewer or n_tasks is GGML_N_TASKS_MAX.
 * Only the CPU can. */
GGML_API struct ggml_tensor *
ggml_map_custom1(struct ggml_context *ctx, struct ggml_tensor *a,
                 ggml_custom1_op_t fun, int n_tasks, void *userdata);
GGML_API struct ggml_tensor *
ggml_map_custom1_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                         ggml_custom1_op_t fun, int n_tasks, void *userdata);
GGML_API struct ggml_tensor *
ggml_map_custom2(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b, ggml_custom2_op_t fun, int n_tasks,
                 void *userdata);
GGML_API struct ggml_tensor *
ggml_map_custom2_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                         struct ggml_tensor *b, ggml_custom2_op_t fun,
                         int n_tasks, void *userdata);
GGML_API struct ggml_tensor *
ggml_map_custom3(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b, struct ggml_tensor *c,
                 ggml_custom3_op_t fun, int n_tasks, void *userdata);
GGML_API struct ggml_tensor *
ggml_map_custom3_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                         struct ggml_tensor *b, struct ggml_tensor *c,
                         ggml_custom3_op_t fun, int n_tasks, void *userdata);

/* Any type and shape from up to GGML_MAX_SRC - 1 sources, dst->src[i];
 * in place, a is the first. */
GGML_API struct ggml_tensor *
ggml_custom_4d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0,
               int64_t ne1, int64_t ne2, int64_t ne3, struct ggml_tensor **args,
               int n_args, ggml_custom_op_t fun, int n_tasks, void *userdata);
GGML_API struct ggml_tensor *
ggml_custom_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor **args, int n_args, ggml_custom_op_t fun,
                    int n_tasks, void *userdata);

/* -- Graph -- */

/* Adds what is needed to compute `tensor`, depth first, and not there yet:
 * each node after its sources, tensors without op among the leafs. Names
 * those that have none. */
GGML_API void
ggml_build_forward_expand(struct ggml_cgraph *cgraph,
                          struct ggml_tensor *tensor);

/* Adds what computes gradients of all that goes from parameters
 * (ggml_set_param()) to losses (ggml_set_loss()) in a graph with room for them;
 * its tensors are ctx'. grad_accs, or NULL, has for some nodes a tensor of F32
 * that gradients are added to. Nothing on the way may work in place. Aborts at
 * an op without a backward pass. */
GGML_API void
ggml_build_backward_expand(struct ggml_context *ctx, struct ggml_cgraph *cgraph,
                           struct ggml_tensor **grad_accs);

/* Before a graph is computed first: gradients of losses become 1, all others
 * that are added to 0, and moments of optimiser steps 0. */
GGML_API void
ggml_graph_reset(struct ggml_cgraph *cgraph);

/* The gradient of a node, and what it is added to; NULL: there is none. */
GGML_API struct ggml_tensor *
ggml_graph_get_grad(const struct ggml_cgraph *cgraph,
                    const struct ggml_tensor *node);
GGML_API struct ggml_tensor *
ggml_graph_get_grad_acc(const struct ggml_cgraph *cgraph,
                        const struct ggml_tensor *node);

/* A graph of the same tensors, in ctx or in dst, which has room for them;
 * `force_grads`: with room for gradients where the other has none. */
GGML_API struct ggml_cgraph *
ggml_graph_dup(struct ggml_context *ctx, struct ggml_cgraph *cgraph,
               bool force_grads);
GGML_API void
ggml_graph_cpy(struct ggml_cgraph *src, struct ggml_cgraph *dst);

/* Adds as ggml_build_forward_expand() does, but the nodes are not computed
 * (GGML_TENSOR_FLAG_COMPUTE) until one that is needs them. */
GGML_API void
ggml_build_forward_order(struct ggml_cgraph *cgraph,
                         struct ggml_tensor *tensor);

/* Adds all of n tensors, so that the graph is always the same, and computes
 * tensors[idx], which it returns. */
GGML_API struct ggml_tensor *
ggml_build_forward_select(struct ggml_cgraph *cgraph,
                          struct ggml_tensor **tensors, int n_tensors, int idx);

/* For GGML_DEFAULT_GRAPH_SIZE nodes and as many leafs, or `size` of each.
 * `grads` leaves room for gradients. */
GGML_API struct ggml_cgraph *
ggml_new_graph(struct ggml_context *ctx);
GGML_API struct ggml_cgraph *
ggml_new_graph_custom(struct ggml_context *ctx, size_t size, bool grads);

/* Empties it. */
GGML_API void
ggml_graph_clear(struct ggml_cgraph *cgraph);
GGML_API int
ggml_graph_size(struct ggml_cgraph *cgraph);

/* The i-th; from the end if i is negative. */
GGML_API struct ggml_tensor *
ggml_graph_node(struct ggml_cgraph *cgraph, int i);
GGML_API struct ggml_tensor **
ggml_graph_nodes(struct ggml_cgraph *cgraph);
GGML_API int
ggml_graph_n_nodes(struct ggml_cgraph *cgraph);

/* Appends one node and nothing else; it is computed if some
 * ggml_build_forward_expand() has met it. */
GGML_API void
ggml_graph_add_node(struct ggml_cgraph *cgraph, struct ggml_tensor *tensor);

/* Bytes that a graph takes of a pool. */
GGML_API size_t
ggml_graph_overhead(void);
GGML_API size_t
ggml_graph_overhead_custom(size_t size, bool grads);

/* The first leaf, else node of that name; NULL. */
GGML_API struct ggml_tensor *
ggml_graph_get_tensor(const struct ggml_cgraph *cgraph, const char *name);

/* To the log. */
GGML_API void
ggml_graph_print(const struct ggml_cgraph *cgraph);

/* Writes a picture of gb for Graphviz' dot. Nodes that are in cgraph, which
 * may be NULL, are coloured. Aborts if the file cannot be made. */
GGML_API void
ggml_graph_dump_dot(const struct ggml_cgraph *gb,
                    const struct ggml_cgraph *cgraph, const char *filename);

/* -- Thread pool parameters -- */

/* n_threads threads, no affinity, normal priority. */
GGML_API struct ggml_threadpool_params
ggml_threadpool_params_default(int n_threads);
GGML_API void
ggml_threadpool_params_init(struct ggml_threadpool_params *p, int n_threads);

/* True if a pool made for one serves the other. */
GGML_API bool
ggml_threadpool_params_match(const struct ggml_threadpool_params *p0,
                             const struct ggml_threadpool_params *p1);

#ifdef __cplusplus
}
#endif

#endif
