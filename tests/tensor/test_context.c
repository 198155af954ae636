/* test_context.c - the pool: overheads, user memory, views, names, flags */
#include <ggml.h>
#include <ggml-cpu.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "harness/tap.h"
#include "tensor/context.h"

static struct ggml_context *
context(size_t size, bool no_alloc)
{
    return ggml_init(
        (struct ggml_init_params){ .mem_size = size, .no_alloc = no_alloc });
}

static void
overheads(void)
{
    enum {
        N = 7
    };
    struct ggml_context *ctx = context(N * ggml_tensor_overhead(), true);

    ok(ggml_tensor_overhead() <= 512, "a tensor and its object fit 512 bytes");
    is(ggml_used_mem(ctx), 0, "a new context is empty");
    for (int i = 0; i < N; i++)
        ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 1000, 1000);
    ok(ggml_used_mem(ctx) == N * ggml_tensor_overhead() &&
           ggml_used_mem(ctx) == ggml_get_mem_size(ctx),
       "n tensors fill a context of n overheads to the byte");
    ggml_reset(ctx);
    ok(ggml_used_mem(ctx) == 0 && !ggml_get_first_tensor(ctx),
       "a reset empties it");
    ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);
    is(ggml_used_mem(ctx), ggml_tensor_overhead(), "and it is used again");
    ggml_free(ctx);

    ctx = context(ggml_graph_overhead() + ggml_graph_overhead_custom(33, true),
                  true);
    ggml_new_graph(ctx);
    ggml_new_graph_custom(ctx, 33, true);
    is(ggml_used_mem(ctx), ggml_get_mem_size(ctx),
       "graphs need exactly their overhead");
    ggml_free(ctx);
    ggml_free(NULL);
}

static void
data_in_pool(void)
{
    struct ggml_context *ctx =
        context(2 * ggml_tensor_overhead() + 16 + 32 + 570, false);
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 3), *b;
    size_t left;
    char *work;

    ggml_set_no_alloc(ctx, true);
    b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 3);
    ok(ggml_get_no_alloc(ctx) && a->data == a + 1 && !b->data,
       "data follow a tensor unless the context says otherwise");
    is((uintptr_t)a->data % GGML_MEM_ALIGN, 0, "data are aligned");
    is(ggml_used_mem(ctx), 2 * ggml_tensor_overhead() + 16,
       "data are padded to the alignment");
    left = ggml_get_mem_size(ctx) - ggml_used_mem(ctx);
    work = ggml_new_buffer(ctx, 560);
    memset(work, 1, 560);
    is(ggml_used_mem(ctx),
       ggml_get_mem_size(ctx) - (left - 560 - sizeof(struct ggml_object)),
       "a work buffer costs its bytes and an object");
    ok(ctx->last->type == GGML_OBJECT_TYPE_WORK_BUFFER &&
           ggml_get_next_tensor(ctx, b) == NULL,
       "it is an object, but no tensor");
    ggml_free(ctx);
}

static void
user_memory(void)
{
    static _Alignas(16) char memory[4096];
    struct ggml_context *ctx =
        ggml_init((struct ggml_init_params){ sizeof(memory), memory, false });
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *s = ggml_sqr(ctx, a);
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 4, false);

    ok(ggml_get_mem_buffer(ctx) == memory && (char *)a > memory &&
           (char *)(a + 1) < memory + sizeof(memory),
       "tensors lie in the caller's memory");
    ggml_build_forward_expand(g, s);
    ggml_free(ctx);
    ok(ggml_graph_n_nodes(g) == 1 && ggml_graph_node(g, 0) == s &&
           s->src[0] == a && ggml_nelements(a) == 4,
       "and stay usable after the context is freed");
}

static void
no_memory(void)
{
    struct ggml_context *ctx;
    int n = 0;

    for (;; n++) {
        mem_fail_after(n);
        ctx = context(1000, false);
        mem_fail_after(-1);
        if (ctx)
            break;
    }
    is(n, 2, "ggml_init() says NULL when there is no memory");
    ggml_free(ctx);
}

static void
views(void)
{
    struct ggml_context *ctx = context(1 << 16, false);
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 8, 6), *v,
                       *w, *x;

    ggml_set_name(a, "a");
    v = ggml_view_2d(ctx, a, 4, 3, a->nb[1], 2 * a->nb[1] + 16);
    w = ggml_view_1d(ctx, v, 2, v->nb[1] + 4);
    x = ggml_reshape_1d(ctx, ggml_view_tensor(ctx, w), 2);
    ok(v->view_src == a && v->src[0] == a && v->view_offs == 80 &&
           (char *)v->data == (char *)a->data + 80,
       "a view starts at its offset");
    ok(v->nb[0] == 4 && v->nb[1] == 32 && v->nb[2] == 96 && v->nb[3] == 96,
       "it has the strides that were asked for");
    ok(w->view_src == a && w->src[0] == v && w->view_offs == 80 + 36 &&
           (char *)w->data == (char *)a->data + 116,
       "a view of a view is a view of the source");
    ok(x->view_src == a && x->view_offs == 116 && x->data == w->data,
       "so is a reshaped copy of one");
    ok(strcmp(v->name, "a (view)") == 0 &&
           strcmp(x->name, "a (view) (view) (view) (reshaped)") == 0,
       "names tell where views come from");
    ok(ggml_is_view(v) && !ggml_is_view(a), "views are known as such");
    ok(!ggml_is_contiguous(v) && ggml_is_contiguous_1(v) &&
           ggml_is_contiguous(w),
       "rows with gaps are not contiguous");
    is(ggml_nbytes(v), 2 * 32 + 16, "bytes are counted from first to last");
    ggml_free(ctx);
}

static void
strides(void)
{
    struct ggml_context *ctx = context(1 << 16, true);
    struct ggml_tensor *q = ggml_new_tensor_3d(ctx, GGML_TYPE_Q4_0, 64, 3, 5);
    struct ggml_tensor *a = ggml_new_tensor_4d(ctx, GGML_TYPE_F16, 2, 3, 4, 5);
    struct ggml_tensor *p = ggml_permute(ctx, a, 2, 0, 1, 3);
    struct ggml_tensor *t = ggml_transpose(ctx, a);
    int64_t i[4];

    ok(q->nb[0] == 18 && q->nb[1] == 36 && q->nb[2] == 108 && q->nb[3] == 540 &&
           ggml_nbytes(q) == 540,
       "strides of blocks");
    ok(ggml_row_size(GGML_TYPE_Q4_0, 64) == 36 && ggml_element_size(q) == 18,
       "a row of blocks");
    ok(p->ne[0] == 3 && p->ne[1] == 4 && p->ne[2] == 2 && p->ne[3] == 5 &&
           p->nb[0] == a->nb[1] && p->nb[2] == a->nb[0],
       "a permutation says where each dimension goes");
    ok(ggml_is_permuted(p) && ggml_is_transposed(t) && !ggml_is_permuted(a),
       "permuted and transposed are known from strides");
    ok(ggml_nelements(p) == 120 && ggml_nrows(a) == 60 && ggml_n_dims(a) == 4,
       "counts");
    ggml_unravel_index(a, 119 - 24 - 2, &i[0], &i[1], &i[2], &i[3]);
    ok(i[0] == 1 && i[1] == 1 && i[2] == 3 && i[3] == 3, "an index unravels");
    ok(ggml_can_repeat(ggml_view_1d(ctx, a, 2, 0), a) && !ggml_can_repeat(a, p),
       "what can be repeated");
    ggml_free(ctx);
}

static void
names_and_flags(void)
{
    struct ggml_context *ctx = context(1 << 16, true);
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 8);
    struct ggml_tensor *b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 9), *v;
    char longer[200];

    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    ggml_set_name(b, longer);
    is(strlen(ggml_get_name(b)), GGML_MAX_NAME - 1, "long names are cut");
    v = ggml_view_1d(ctx, b, 1, 0);
    is(strlen(v->name), GGML_MAX_NAME - 1, "and so are names of views");
    ggml_format_name(a, "layer %d", 3);
    ok(ggml_get_tensor(ctx, "layer 3") == a && !ggml_get_tensor(ctx, "layer"),
       "a tensor is found by its name");
    ok(ggml_get_first_tensor(ctx) == a && ggml_get_next_tensor(ctx, a) == b &&
           ggml_get_next_tensor(ctx, b) == v && !ggml_get_next_tensor(ctx, v),
       "tensors are walked in order");
    is(ggml_get_max_tensor_size(ctx), 36, "the largest is known");
    ggml_set_output(v);
    ok(b->flags == GGML_TENSOR_FLAG_OUTPUT && !a->flags,
       "who keeps a view keeps its source");
    ggml_set_input(a);
    ggml_set_param(a);
    is(a->flags, (GGML_TENSOR_FLAG_INPUT | GGML_TENSOR_FLAG_PARAM),
       "flags add up");
    ggml_free(ctx);
}

int
main(void)
{
    overheads();
    data_in_pool();
    user_memory();
    no_memory();
    views();
    strides();
    names_and_flags();
    return tap_done();
}
