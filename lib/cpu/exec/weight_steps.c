/* weight_steps.c - the nodes of a graph that multiply weights of a file */
#include "cpu/exec/weight_steps.h"

#include "core/mem.h"
#include "core/paging.h"
#include "tensor/graph.h"

enum {
    /* Places of experts that ids choose, in multiples of the experts, from
     * which on nearly all experts are chosen by some id. */
    SCAN_TIMES = 3,
};

/* ---- which nodes --------------------------------------------------------- */

static const struct file_map *
map_of(const struct backend_streaming *of, const struct ggml_tensor *t)
{
    const char *p = t->data;

    for (size_t i = 0; i < of->n_maps; i++) {
        const struct file_map *map = &of->maps[i];
        const char *begin = map->data;

        if (map->filed && p >= begin && p < begin + map->size)
            return map;
    }
    return NULL;
}

static const struct ggml_tensor *
root_of(const struct ggml_tensor *t)
{
    while (t->view_src)
        t = t->view_src;
    return t;
}

/* Experts, one after the other, that ids choose from. */
static bool
has_experts(const struct ggml_tensor *node)
{
    const struct ggml_tensor *w = node->src[0];

    return node->op == GGML_OP_MUL_MAT_ID && !w->view_src &&
           ggml_is_contiguous(w) && w->ne[3] == 1;
}

/* The weights' units. False: no memory. */
static bool
add_units_of(struct weight_units *u, const struct ggml_tensor *node,
             const struct file_map *map, struct weight_step *step)
{
    const struct ggml_tensor *w = node->src[0], *root = root_of(w);
    bool experts = has_experts(node);
    size_t n = u->n;
    const struct weight_tensor *t = cpu_units_tensor(
        u,
        &(struct weight_tensor){ .data = root->data,
                                 .size = ggml_nbytes(root),
                                 .unit = experts ? w->nb[2] : WEIGHT_UNIT_BYTES,
                                 .whole = !experts,
                                 .map = map });

    if (!t)
        return false;
    if (u->n > n)
        paging_by_hand(t->data, t->size, true);
    step->n = cpu_units_of(t, w->data, ggml_nbytes(w), &step->first);
    step->experts = experts && t->unit == w->nb[2];
    step->chosen = step->experts && node->src[2]->ne[0] * node->src[2]->ne[1] <
                                        SCAN_TIMES * w->ne[2];
    return true;
}

static bool
find_step(struct weight_steps *steps, struct weight_units *u,
          const struct backend_streaming *of, const struct ggml_cgraph *graph,
          int i)
{
    const struct ggml_tensor *node = graph->nodes[i], *root;
    struct weight_step step = { .node = i, .product = node };
    const struct file_map *map;

    if (node->op != GGML_OP_MUL_MAT && node->op != GGML_OP_MUL_MAT_ID)
        return true;
    root = root_of(node->src[0]);
    if (root->op != GGML_OP_NONE || ggml_nbytes(root) < of->least ||
        !(map = map_of(of, root)))
        return true;
    if (!mem_grow(&steps->list, &steps->cap, steps->n + 1,
                  sizeof(*steps->list)) ||
        !add_units_of(u, node, map, &step))
        return false;
    steps->list[steps->n++] = step;
    if (!step.chosen)
        cpu_units_scan(u, step.first, step.n);
    if (step.experts && node->src[0]->nb[2] > steps->largest)
        steps->largest = node->src[0]->nb[2];
    return true;
}

bool
cpu_steps_find(struct weight_steps *steps, struct weight_units *u,
               const struct backend_streaming *of,
               const struct ggml_cgraph *graph)
{
    steps->n = 0;
    steps->largest = 0;
    cpu_units_begin(u);
    for (int i = 0; i < graph->n_nodes; i++)
        if (!find_step(steps, u, of, graph, i))
            return false;
    return true;
}

/* ---- which units --------------------------------------------------------- */

int
cpu_step_parts(const struct weight_step *step)
{
    size_t bytes = ggml_nbytes(step->product->src[0]);

    if (!step->experts || step->chosen || step->product->ne[2] == 1)
        return 1;
    return (int)(1 + (bytes - 1) / WEIGHT_PART_BYTES);
}

static int32_t
expert_at(const struct ggml_tensor *ids, int64_t place, int64_t token)
{
    const char *p = (const char *)ids->data + (size_t)place * ids->nb[0] +
                    (size_t)token * ids->nb[1];

    return *(const int32_t *)(const void *)p;
}

/* Marks the experts that the step's ids choose; returns how many these are. */
static int
mark_chosen(const struct weight_step *step, struct weight_units *u)
{
    const struct ggml_tensor *ids = step->product->src[2];
    int n = 0;

    for (int64_t t = 0; t < ids->ne[1]; t++)
        for (int64_t k = 0; k < ids->ne[0]; k++) {
            int32_t expert = expert_at(ids, k, t);
            struct weight_unit *unit;

            if (expert < 0 || expert >= step->n)
                continue;
            unit = &u->list[step->first + expert];
            n += !unit->marked;
            unit->marked = true;
        }
    return n;
}

/* Pieces of MUL_MAT_ID have even shares of the experts that are used, in their
 * order. */
static void
call_for_experts(const struct weight_step *step, struct weight_units *u,
                 const struct weight_part *part, void (*call)(void *, int),
                 void *arg)
{
    int64_t n = mark_chosen(step, u), nth = 0;
    int64_t first = n * part->first / part->n;
    int64_t end = (n * part->end + part->n - 1) / part->n;

    for (int i = step->first; i < step->first + step->n; i++) {
        if (!u->list[i].marked)
            continue;
        u->list[i].marked = false;
        if (nth >= first && nth < end)
            call(arg, i);
        nth++;
    }
}

void
cpu_step_units(const struct weight_step *step, struct weight_units *u,
               const struct weight_part *part, void (*call)(void *arg, int i),
               void *arg)
{
    if (step->experts)
        call_for_experts(step, u, part, call, arg);
    for (int i = 0; i < step->n && !step->experts; i++)
        call(arg, step->first + i);
}
