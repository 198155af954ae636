/* test_graph.c - collecting a graph: order, leafs, uses, lookup, pictures */
#include <ggml.h>
#include <stdlib.h>
#include <string.h>

#include "harness/tap.h"
#include "tensor/graph.h"

static struct ggml_context *
context(void)
{
    return ggml_init(
        (struct ggml_init_params){ .mem_size = 8 << 20, .no_alloc = true });
}

static int
position(const struct ggml_cgraph *g, const struct ggml_tensor *t)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i] == t)
            return i;
    return -1;
}

/* Each node stands after its sources; what is not computed is a leaf. */
static bool
in_order(const struct ggml_cgraph *g)
{
    for (int i = 0; i < g->n_nodes; i++)
        for (int j = 0; j < GGML_MAX_SRC; j++) {
            const struct ggml_tensor *src = g->nodes[i]->src[j];

            if (src && src->op != GGML_OP_NONE &&
                (position(g, src) < 0 || position(g, src) >= i))
                return false;
        }
    for (int i = 0; i < g->n_leafs; i++)
        if (g->leafs[i]->op != GGML_OP_NONE)
            return false;
    return true;
}

static void
diamond(void)
{
    struct ggml_context *ctx = context();
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *w = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *a = ggml_mul(ctx, x, w), *b = ggml_sqr(ctx, a);
    struct ggml_tensor *c = ggml_add(ctx, a, b), *d = ggml_sqrt(ctx, x);
    struct ggml_cgraph *g = ggml_new_graph(ctx);

    ggml_set_name(b, "squares");
    ggml_build_forward_expand(g, c);
    ok(g->n_nodes == 3 && g->nodes[0] == a && g->nodes[1] == b &&
           g->nodes[2] == c,
       "depth first, each node once");
    ok(g->n_leafs == 2 && g->leafs[0] == x && g->leafs[1] == w,
       "constants are leafs");
    ok(tensor_graph_use_count(g, a) == 2 && tensor_graph_use_count(g, b) == 1 &&
           tensor_graph_use_count(g, c) == 0 &&
           tensor_graph_use_count(g, d) == 0,
       "uses are counted");
    ggml_build_forward_expand(g, d);
    ok(g->n_nodes == 4 && g->nodes[3] == d && g->n_leafs == 2 &&
           tensor_graph_use_count(g, x) == 2,
       "a graph grows");
    ggml_build_forward_expand(g, c);
    is(g->n_nodes, 4, "what is there already is not added");
    ok(strcmp(a->name, "node_0") == 0 && strcmp(w->name, "leaf_1") == 0 &&
           strcmp(b->name, "squares") == 0,
       "tensors without a name get one");
    ok(a->flags & GGML_TENSOR_FLAG_COMPUTE && !x->flags, "nodes are flagged");
    ok(ggml_graph_get_tensor(g, "squares") == b &&
           ggml_graph_get_tensor(g, "leaf_0") == x &&
           !ggml_graph_get_tensor(g, "none"),
       "found by name");
    ok(ggml_graph_node(g, -1) == d && ggml_graph_node(g, 1) == b &&
           ggml_graph_nodes(g)[2] == c && ggml_graph_n_nodes(g) == 4 &&
           ggml_graph_size(g) == GGML_DEFAULT_GRAPH_SIZE,
       "nodes by number, from either end");
    ggml_graph_clear(g);
    ggml_build_forward_expand(g, d);
    ok(g->n_nodes == 1 && g->n_leafs == 1, "a cleared graph is used again");
    ggml_free(ctx);
}

static void
special(void)
{
    struct ggml_context *ctx = context();
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *p = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *h = ggml_cast(ctx, x, GGML_TYPE_F16), *s;
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 3, false);

    ggml_set_param(p);
    s = ggml_add(ctx, h, p);
    ggml_build_forward_expand(g, s);
    ok(g->n_nodes == 3 && g->n_leafs == 1 && position(g, p) >= 0,
       "parameters are nodes, and a graph can be filled");
    is(tensor_graph_use_count(g, h), 1, "a cast does not use itself");
    ggml_free(ctx);
}

static bool
selected(const struct ggml_tensor *t)
{
    return t->flags & GGML_TENSOR_FLAG_COMPUTE;
}

/* Branches over a common node. */
static void
branches(void)
{
    struct ggml_context *ctx = context();
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *common = ggml_sqr(ctx, x), *end[3], *later;
    struct ggml_cgraph *g = ggml_new_graph(ctx);

    for (int i = 0; i < 3; i++)
        end[i] = ggml_sqrt(ctx, ggml_add(ctx, common, x));
    ok(ggml_build_forward_select(g, end, 3, 1) == end[1] && g->n_nodes == 7 &&
           in_order(g),
       "all branches are in the graph");
    ok(!selected(end[0]) && !selected(end[0]->src[0]) && selected(end[1]) &&
           selected(end[1]->src[0]) && !selected(end[2]) && selected(common),
       "one of them is computed, with what it needs");
    later = ggml_sqr(ctx, end[2]);
    ggml_build_forward_order(g, later);
    ok(g->n_nodes == 8 && !selected(later), "a node that waits for a reader");
    ggml_build_forward_expand(g, ggml_sqr(ctx, later));
    ok(g->n_nodes == 9 && selected(later) && selected(end[2]) &&
           selected(end[2]->src[0]) && !selected(end[0]) && !x->flags,
       "which comes, and what it needs is computed");
    ggml_free(ctx);
}

/* Random sums over what is there, far deeper than wide. */
static void
large(void)
{
    enum {
        N = 2000
    };
    struct ggml_context *ctx = context();
    struct ggml_tensor *t[N];
    struct ggml_cgraph *g;
    bool all = true;
    int uses = 0;

    srand(1);
    for (int i = 0; i < N; i++) {
        int from = i > 20 ? i - 20 : 0;

        t[i] = i < 4 ? ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4)
                     : ggml_add(ctx, t[from + rand() % (i - from)], t[i - 1]);
    }
    g = ggml_new_graph_custom(ctx, N, false);
    ggml_build_forward_expand(g, t[N - 1]);
    for (int i = 4; i < N; i++)
        all &= position(g, t[i]) >= 0;
    for (int i = 0; i < N; i++)
        uses += tensor_graph_use_count(g, t[i]);
    ok(all && g->n_nodes == N - 4 && in_order(g), "a deep graph is in order");
    is(uses, 2 * (N - 4), "each source of each node is one use");
    {
        struct ggml_cgraph slice = tensor_graph_slice(g, 5, 9);

        ok(slice.n_nodes == 4 && ggml_graph_node(&slice, 0) == g->nodes[5] &&
               tensor_graph_use_count(&slice, t[7]) ==
                   tensor_graph_use_count(g, t[7]),
           "a slice shares nodes and counts");
    }
    ggml_free(ctx);
}

static char log_text[8192];

static void
keep(enum ggml_log_level level, const char *text, void *data)
{
    (void)level;
    (void)data;
    strncat(log_text, text, sizeof(log_text) - strlen(log_text) - 1);
}

static void
pictures(void)
{
    struct ggml_context *ctx = context();
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *y = ggml_sqr(ctx, x);
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    static char text[8192];
    char name[] = "test_graph.XXXXXX";
    int fd = mkstemp(name);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

    ggml_set_name(y, "a \"quoted\"\nname");
    ggml_build_forward_expand(g, y);
    ggml_graph_dump_dot(g, NULL, name);
    text[f ? fread(text, 1, sizeof(text) - 1, f) : 0] = '\0';
    ok(strncmp(text, "digraph {", 9) == 0 && strstr(text, "SQR") &&
           strstr(text, "leaf_0") && strstr(text, " -> ") &&
           strstr(text, "a \\\"quoted\\\""),
       "a picture names nodes and edges");
    if (f)
        fclose(f);
    remove(name);
    ggml_log_set(keep, NULL);
    ggml_graph_print(g);
    ggml_log_set(NULL, NULL);
    ok(strstr(log_text, "1 nodes") && strstr(log_text, "SQR") &&
           strstr(log_text, "\\nname"),
       "the log shows it, control characters escaped");
    ggml_free(ctx);
}

/* Gradients of two parameters, one of which has a tensor that they are added
 * to, and copies of their graph. */
static void
gradients(void)
{
    struct ggml_init_params params = { .mem_size = 1 << 20 };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 64, true), *dup, *large;
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *fixed = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *acc = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *y, *loss, *accs[64] = { NULL };

    ggml_set_param(a);
    ggml_set_param(b);
    y = ggml_add(ctx, ggml_mul(ctx, a, b), ggml_sin(ctx, fixed));
    loss = ggml_sum(ctx, y);
    ggml_set_loss(loss);
    ggml_build_forward_expand(g, loss);
    ok(g->n_leafs == 1 && g->nodes[0] == a && g->nodes[1] == b,
       "parameters are nodes");
    ok(!ggml_graph_get_grad(g, a), "no gradient before the backward pass");
    accs[1] = acc;
    dup = ggml_graph_dup(ctx, g, false);
    ggml_build_backward_expand(ctx, dup, accs);
    ok(ggml_graph_get_grad(dup, a) && !ggml_graph_get_grad(g, a) &&
           g->n_nodes < dup->n_nodes,
       "a copy grows by itself");
    ok(ggml_graph_get_grad_acc(dup, b) == acc &&
           ggml_graph_get_grad(dup, b)->view_src == acc &&
           !ggml_graph_get_grad_acc(dup, a) &&
           ggml_graph_get_grad_acc(dup, loss),
       "what gradients are added to");
    ok(!ggml_graph_get_grad(dup, fixed) && !ggml_graph_get_grad(dup, y->src[1]),
       "none of what does not depend on parameters");
    large = ggml_new_graph_custom(ctx, 500, true);
    ggml_graph_cpy(dup, large);
    ok(large->n_nodes == dup->n_nodes && large->n_leafs == dup->n_leafs &&
           ggml_graph_get_grad(large, a) == ggml_graph_get_grad(dup, a) &&
           ggml_graph_get_grad_acc(large, b) == acc &&
           tensor_graph_use_count(large, a) == tensor_graph_use_count(dup, a),
       "a copy in a larger graph");
    ((float *)acc->data)[2] = 3;
    ggml_graph_reset(large);
    ok(((float *)acc->data)[2] == 0 &&
           ((float *)ggml_graph_get_grad_acc(large, loss)->data)[0] == 1,
       "reset: 1 for the loss, 0 for others");
    ggml_graph_clear(large);
    ok(!ggml_graph_get_grad(large, a), "cleared");
    ggml_free(ctx);
}

int
main(void)
{
    gradients();
    diamond();
    special();
    branches();
    large();
    pictures();
    return tap_done();
}
