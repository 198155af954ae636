/* build_custom.c - op builders: functions of the calling program */
#include "tensor/tensor.h"

typedef void (*any_fn)(void);

/* op_params: a struct tensor_custom. */
static struct ggml_tensor *
custom(struct ggml_tensor *t, enum ggml_op op, any_fn fun, int n_tasks,
       void *userdata)
{
    struct tensor_custom c = { fun, n_tasks, userdata };

    GGML_ASSERT(n_tasks == GGML_N_TASKS_MAX || n_tasks > 0);
    memcpy(t->op_params, &c, sizeof(c));
    t->op = op;
    return t;
}

static struct ggml_tensor *
map(struct ggml_tensor *t, struct ggml_tensor *a, struct ggml_tensor *b,
    struct ggml_tensor *c)
{
    t->src[2] = c;
    return tensor_record(t, t->op, a, b);
}

#define MAP1(name, inplace)                                                    \
    struct ggml_tensor *name(struct ggml_context *ctx, struct ggml_tensor *a,  \
                             ggml_custom1_op_t fun, int n_tasks,               \
                             void *userdata)                                   \
    {                                                                          \
        struct ggml_tensor *t =                                                \
            custom(tensor_like(ctx, a, inplace), GGML_OP_MAP_CUSTOM1,          \
                   (any_fn)fun, n_tasks, userdata);                            \
                                                                               \
        return map(t, a, NULL, NULL);                                          \
    }
MAP1(ggml_map_custom1, false)
MAP1(ggml_map_custom1_inplace, true)
#undef MAP1

#define MAP2(name, inplace)                                                    \
    struct ggml_tensor *name(struct ggml_context *ctx, struct ggml_tensor *a,  \
                             struct ggml_tensor *b, ggml_custom2_op_t fun,     \
                             int n_tasks, void *userdata)                      \
    {                                                                          \
        struct ggml_tensor *t =                                                \
            custom(tensor_like(ctx, a, inplace), GGML_OP_MAP_CUSTOM2,          \
                   (any_fn)fun, n_tasks, userdata);                            \
                                                                               \
        return map(t, a, b, NULL);                                             \
    }
MAP2(ggml_map_custom2, false)
MAP2(ggml_map_custom2_inplace, true)
#undef MAP2

#define MAP3(name, inplace)                                                    \
    struct ggml_tensor *name(struct ggml_context *ctx, struct ggml_tensor *a,  \
                             struct ggml_tensor *b, struct ggml_tensor *c,     \
                             ggml_custom3_op_t fun, int n_tasks,               \
                             void *userdata)                                   \
    {                                                                          \
        struct ggml_tensor *t =                                                \
            custom(tensor_like(ctx, a, inplace), GGML_OP_MAP_CUSTOM3,          \
                   (any_fn)fun, n_tasks, userdata);                            \
                                                                               \
        return map(t, a, b, c);                                                \
    }
MAP3(ggml_map_custom3, false)
MAP3(ggml_map_custom3_inplace, true)
#undef MAP3

struct ggml_tensor *
ggml_custom_4d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0,
               int64_t ne1, int64_t ne2, int64_t ne3, struct ggml_tensor **args,
               int n_args, ggml_custom_op_t fun, int n_tasks, void *userdata)
{
    struct ggml_tensor *t = ggml_new_tensor_4d(ctx, type, ne0, ne1, ne2, ne3);

    GGML_ASSERT(n_args >= 0 && n_args < GGML_MAX_SRC);
    for (int i = 0; i < n_args; i++)
        t->src[i] = args[i];
    return custom(t, GGML_OP_CUSTOM, (any_fn)fun, n_tasks, userdata);
}

struct ggml_tensor *
ggml_custom_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor **args, int n_args, ggml_custom_op_t fun,
                    int n_tasks, void *userdata)
{
    struct ggml_tensor *t = ggml_view_tensor(ctx, a);

    GGML_ASSERT(n_args >= 0 && n_args < GGML_MAX_SRC - 1);
    t->src[0] = a;
    for (int i = 0; i < n_args; i++)
        t->src[i + 1] = args[i];
    return custom(t, GGML_OP_CUSTOM, (any_fn)fun, n_tasks, userdata);
}
