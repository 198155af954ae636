/* test_ops_ref.c - every op on the CPU and on the device REF, through the
 * scheduler: the fast path against the reference
 *
 * A case is an op with types and an odd shape. It is computed by a scheduler
 * that has the CPU only, and by one that has REF before it, to which the
 * inputs must be copied. REF must give the bits of a process in which
 * GG_CPU_ISA=c chose plain C for everything; the CPU must come close to it. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <ggml-cpu.h>

#include "core/hash.h"
#include "cpu/kernels.h"
#include "cpu/exec/task.h"
#include "cpu/ops_ref.h"
#include "fixtures/ref_device.h"
#include "harness/tap.h"
#include "tensor/tensor.h"

#define MAX_CASES 400

static struct op_case cases[MAX_CASES];
static int n_cases;

/* -- Cases -- */

static void
put(struct op_case c, const char *of)
{
    static char names[MAX_CASES][64];

    GGML_ASSERT(n_cases < MAX_CASES);
    snprintf(names[n_cases], sizeof(names[0]), "%s%s%s", c.name, *of ? " " : "",
             of);
    c.name = names[n_cases];
    cases[n_cases++] = c;
}

static void
put_each_type(struct op_case c)
{
    bool to = c.other == GGML_TYPE_EACH;

    for (int i = 0; i < GGML_TYPE_COUNT; i++) {
        enum ggml_type type = (enum ggml_type)i;
        const struct ggml_type_traits *t = ggml_get_type_traits(type);

        if (type != F32 && (!t->to_float || (to && !t->from_float_ref)))
            continue;
        *(to ? &c.other : &c.type) = type;
        c.ne[0] = t->is_quantized ? 768 : 301;
        put(c, t->type_name);
    }
}

static void
put_each_unary(struct op_case c)
{
    for (c.arg = 0; c.arg < GGML_UNARY_OP_COUNT; c.arg++)
        if (c.arg != GGML_UNARY_OP_XIELU) /* it has parameters */
            put(c, ggml_unary_op_name((enum ggml_unary_op)c.arg));
}

static void
put_each_glu(struct op_case c)
{
    for (c.arg = 0; c.arg < GGML_GLU_OP_COUNT; c.arg++)
        put(c, ggml_glu_op_name((enum ggml_glu_op)c.arg));
}

static void
collect(const struct op_case *c)
{
    for (; c->name; c++)
        if (c->type == GGML_TYPE_EACH || c->other == GGML_TYPE_EACH)
            put_each_type(*c);
        else if (c->arg == EACH_UNARY)
            put_each_unary(*c);
        else if (c->arg == EACH_GLU)
            put_each_glu(*c);
        else
            put(*c, "");
}

/* -- Computing a case -- */

static ggml_backend_t cpu, ref;
static bool covered[GGML_OP_COUNT];

struct result {
    struct ggml_tensor shape; /* type and ne of the result */
    void *data;
    size_t size;
    bool there; /* all nodes were where they should be */
};

static struct ggml_context *
context(void)
{
    struct ggml_init_params params = {
        .mem_size =
            64 * ggml_tensor_overhead() + ggml_graph_overhead_custom(64, false),
        .no_alloc = true,
    };

    return ggml_init(params);
}

static ggml_backend_sched_t
scheduler(bool with_ref)
{
    ggml_backend_t backends[] = { ref, cpu };

    return ggml_backend_sched_new(backends + !with_ref, NULL, 1 + with_ref, 64,
                                  false, false);
}

static bool
all_on(ggml_backend_sched_t s, struct ggml_cgraph *g, ggml_backend_t backend)
{
    bool yes = true;

    for (int i = 0; i < ggml_graph_n_nodes(g); i++) {
        struct ggml_tensor *t = ggml_graph_node(g, i);

        covered[t->op] = true;
        if (!tensor_is_view_op(t->op))
            yes = yes && ggml_backend_sched_get_tensor_backend(s, t) == backend;
    }
    return yes;
}

static void
pin_all(ggml_backend_sched_t s, struct ggml_cgraph *g, ggml_backend_t backend)
{
    for (int i = 0; i < ggml_graph_n_nodes(g); i++)
        if (!tensor_is_view_op(ggml_graph_node(g, i)->op))
            ggml_backend_sched_set_tensor_backend(s, ggml_graph_node(g, i),
                                                  backend);
}

static void
keep(const struct ggml_tensor *t, struct result *r)
{
    r->shape = *t;
    r->size = ggml_nbytes(t);
    r->data = malloc(r->size);
    ggml_backend_tensor_get(t, r->data, 0, r->size);
}

/* False: this CPU has no such op. */
static bool
compute(const struct op_case *c, bool with_ref, struct result *r)
{
    ggml_backend_sched_t s = scheduler(with_ref);
    ggml_backend_buffer_t buffer;
    struct ggml_cgraph *g;
    struct ggml_tensor *t;
    bool can;

    made.bf16 = c->type == GGML_TYPE_BF16;
    made.leafs = context();
    made.nodes = context();
    ref_seed(1);
    g = ggml_new_graph_custom(made.nodes, 64, false);
    t = c->build(c);
    ggml_set_output(t);
    ggml_build_forward_expand(g, t);
    buffer = ggml_backend_alloc_ctx_tensors(made.leafs, cpu);
    can = ggml_backend_supports_op(cpu, t);
    for (struct ggml_tensor *x = ggml_get_first_tensor(made.leafs); x && can;
         x = ggml_get_next_tensor(made.leafs, x))
        ref_fill(x);
    if (can) {
        pin_all(s, g, with_ref ? ref : cpu);
        GGML_ASSERT(ggml_backend_sched_alloc_graph(s, g));
        r->there = all_on(s, g, with_ref ? ref : cpu);
        GGML_ASSERT(ggml_backend_sched_graph_compute(s, g) == 0);
        keep(t, r);
    }
    ggml_backend_sched_free(s);
    ggml_backend_buffer_free(buffer);
    ggml_free(made.nodes);
    ggml_free(made.leafs);
    return can;
}

/* All results are contiguous, or in an order that both have. */
static double
value(const struct result *r, int64_t i)
{
    const struct ggml_type_traits *t = ggml_get_type_traits(r->shape.type);
    float block[256];

    if (r->shape.type == F32)
        return (double)((const float *)r->data)[i];
    if (r->shape.type == GGML_TYPE_I32)
        return ((const int32_t *)r->data)[i];
    if (r->shape.type == GGML_TYPE_I64)
        return (double)((const int64_t *)r->data)[i];
    t->to_float((const char *)r->data +
                    (size_t)(i / t->blck_size) * t->type_size,
                block, t->blck_size);
    return (double)block[i % t->blck_size];
}

static double
nmse(const struct result *a, const struct result *b)
{
    double error = 0, power = 0;

    for (int64_t i = 0; i < ggml_nelements(&b->shape); i++) {
        double x = value(a, i), y = value(b, i);

        if (x == y) {
            power += isinf(y) ? 0 : y * y;
            continue;
        }
        error += (x - y) * (x - y);
        power += y * y;
    }
    return error == 0 ? 0 : isnan(error) ? INFINITY : error / power;
}

/* -- A process that has nothing but plain C -- */

static uint64_t
hash_of(const struct result *r)
{
    return hash_bytes(HASH_START, r->data, r->size);
}

static void
write_hashes(int fd)
{
    setenv("GG_CPU_ISA", "c", 1);
    cpu = ggml_backend_cpu_init();
    for (int i = 0; i < n_cases; i++) {
        struct result r = { .data = NULL };
        uint64_t hash = compute(&cases[i], false, &r) ? hash_of(&r) : 0;

        free(r.data);
        if (write(fd, &hash, sizeof(hash)) != sizeof(hash))
            _exit(1);
    }
    ggml_backend_free(cpu);
    _exit(0);
}

static bool
read_hashes(uint64_t *hashes)
{
    size_t want = (size_t)n_cases * sizeof(*hashes), got = 0;
    int fds[2], status = -1;
    pid_t child;
    ssize_t n = 1;

    if (pipe(fds) < 0)
        return false;
    child = fork();
    if (child == 0) {
        close(fds[0]);
        write_hashes(fds[1]);
    }
    close(fds[1]);
    for (; got < want && n > 0; got += n > 0 ? (size_t)n : 0)
        n = read(fds[0], (char *)hashes + got, want - got);
    close(fds[0]);
    return waitpid(child, &status, 0) == child && status == 0 && got == want;
}

/* -- Tests -- */

static int n_different; /* cases where the CPU's bits are not REF's */

static void
test_case(const struct op_case *c, uint64_t plain)
{
    struct result fast = { .data = NULL }, slow = { .data = NULL };
    char text[160];
    double error;

    if (!compute(c, false, &fast)) {
        printf("# %s: not supported\n", c->name);
        return;
    }
    compute(c, true, &slow);
    error = nmse(&fast, &slow);
    n_different += memcmp(fast.data, slow.data, slow.size) != 0;
    snprintf(text, sizeof(text), "%s: NMSE %.2g, at most %g", c->name, error,
             c->bound);
    ok(fast.there && slow.there && error <= c->bound && hash_of(&slow) == plain,
       text);
    if (hash_of(&slow) != plain)
        printf("# REF has not the bits of plain C\n");
    free(fast.data);
    free(slow.data);
}

static bool
all_covered(void)
{
    bool yes = true;

    for (int i = 0; i < GGML_OP_COUNT; i++) {
        struct ggml_tensor t = { .op = (enum ggml_op)i };

        if (!cpu_op(&t) || covered[i])
            continue;
        printf("# no case for %s\n", ggml_op_name(t.op));
        yes = false;
    }
    return yes;
}

#define N_SEAMS 5

/* One graph, whose nodes may go to and fro between the two devices. */
static void
seam_nodes(struct ggml_context *ctx, struct ggml_tensor *w,
           struct ggml_tensor *x, struct ggml_tensor **n)
{
    n[0] = ggml_mul_mat(ctx, w, x);
    n[1] = ggml_gelu(ctx, n[0]);
    n[2] = ggml_mul_mat(ctx, w, n[1]);
    n[3] = ggml_add(ctx, n[2], n[0]);
    n[4] = ggml_soft_max(ctx, n[3]);
    ggml_set_output(n[4]);
}

/* Computes them in one split or five; whether each result lies in its device's
 * memory. */
static bool
compute_seams(ggml_backend_sched_t s, struct ggml_cgraph *g,
              struct ggml_tensor **n, bool whole, struct result *r)
{
    struct ggml_tensor *last = n[N_SEAMS - 1];
    bool placed = true;

    ggml_graph_clear(g);
    ggml_build_forward_expand(g, last);
    for (int i = 0; i < N_SEAMS; i++)
        ggml_backend_sched_set_tensor_backend(s, n[i],
                                              whole || i % 2 == 0 ? ref : cpu);
    GGML_ASSERT(ggml_backend_sched_alloc_graph(s, g));
    ok(ggml_backend_sched_get_n_splits(s) == (whole ? 1 : N_SEAMS),
       whole ? "all on REF is one split" : "a split at each seam");
    GGML_ASSERT(ggml_backend_sched_graph_compute(s, g) == 0);
    for (int i = 0; i < N_SEAMS; i++)
        placed = placed && ggml_backend_buffer_is_host(n[i]->buffer) ==
                               (!whole && i % 2 == 1);
    keep(last, r);
    ggml_backend_sched_reset(s);
    return placed;
}

static void
test_seams(void)
{
    struct ggml_context *leafs = context(), *ctx = context();
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 64, false);
    struct ggml_tensor *w = ggml_new_tensor_2d(leafs, F32, 48, 48);
    struct ggml_tensor *x = ggml_new_tensor_2d(leafs, F32, 48, 3), *n[N_SEAMS];
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors(leafs, cpu);
    ggml_backend_sched_t s = scheduler(true);
    struct result results[2] = { { .data = NULL }, { .data = NULL } };
    bool placed = true;

    ref_seed(3);
    ref_fill(w);
    ref_fill(x);
    for (int whole = 0; whole < 2; whole++) {
        seam_nodes(ctx, w, x, n);
        placed = compute_seams(s, g, n, whole, &results[whole]) && placed;
    }
    ok(placed, "each result lies in its device's memory");
    ok(nmse(&results[0], &results[1]) < 1e-10,
       "copies at the seams change nothing");
    free(results[0].data);
    free(results[1].data);
    ggml_backend_sched_free(s);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
    ggml_free(leafs);
}

int
main(void)
{
    static uint64_t plain[MAX_CASES];
    size_t n_dev;

    collect(ref_elements);
    collect(ref_copies);
    collect(ref_image);
    collect(ref_layers);
    collect(ref_training);
    ok(read_hashes(plain), "a process with plain C only");
    n_dev = ggml_backend_dev_count();
    ggml_backend_register(ref_device_reg());
    ggml_backend_device_register(ggml_backend_reg_dev_get(ref_device_reg(), 0));
    is(ggml_backend_dev_count(), n_dev + 1, "REF is registered once");
    cpu = ggml_backend_cpu_init();
    ref = ggml_backend_init_by_name("REF", NULL);
    for (int i = 0; i < n_cases; i++)
        test_case(&cases[i], plain[i]);
    ok(all_covered(), "every op of the CPU has a case");
    ok(n_different > 0 || cpu_kernels() == cpu_kernels_reference(),
       "the CPU does not use the reference itself");
    test_seams();
    ggml_backend_free(ref);
    ggml_backend_free(cpu);
    return tap_done();
}
