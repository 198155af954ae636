/* test_sched_failures.c - graphs that cannot be computed, or find no memory */
#include <setjmp.h>

#include "core/mem.h"
#include "sched_test.h"

static jmp_buf back;

static void
jump(const char *message)
{
    (void)message;
    longjmp(back, 1);
}

static void
impossible(void)
{
    struct ggml_context *ctx = context();
    ggml_backend_sched_t s = scheduler(2);
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *y = ggml_sqr(ctx, x);
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 64, false);

    y->op = GGML_OP_FLASH_ATTN_BACK; /* which nobody implements */
    ggml_build_forward_expand(g, y);
    ggml_set_abort_callback(jump);
    if (setjmp(back)) {
        ok(1, "what nobody can compute is said to be so");
    } else {
        ggml_backend_sched_alloc_graph(s, g);
        ok(0, "what nobody can compute is said to be so");
    }
    ggml_set_abort_callback(NULL);
    ggml_backend_sched_free(s);
    ggml_free(ctx);
}

static void
no_memory(void)
{
    ggml_backend_buffer_type_t host = ggml_backend_cpu_buffer_type();
    struct ggml_context *ctx = context();
    struct model m;
    struct ggml_cgraph *g;
    bool done = false;
    int n = 0;

    remote.supports = products_only;
    load(&m,
         (ggml_backend_buffer_type_t[]){ host, remote_buffer_type(), host });
    g = build(ctx, &m, 2);
    for (; !done && n < 1000; n++) {
        ggml_backend_sched_t s;

        mem_fail_after(n);
        s = scheduler(2);
        done = s && ggml_backend_sched_alloc_graph(s, g);
        mem_fail_after(-1);
        if (done) {
            set_input(g, 2, 1);
            ok(ggml_backend_sched_graph_compute(s, g) == GGML_STATUS_SUCCESS &&
                   right(g, 2, 1),
               "a graph after all that failed");
        } else {
            g = build(ctx, &m, 2);
        }
        ggml_backend_sched_free(s);
    }
    ok(done && n > 10, "each failing allocation is survived");
    remote.supports = NULL;
    unload(&m);
    ggml_free(ctx);
}

int
main(void)
{
    begin();
    impossible();
    no_memory();
    end();
    return tap_done();
}
