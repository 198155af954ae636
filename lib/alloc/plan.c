/* plan.c - life times of tensors, and places for them */
#include "alloc/plan.h"

#include <string.h>

#include "core/check.h"
#include "core/mem.h"
#include "tensor/tensor.h"

enum {
    TRACE_END = -1,
    LASTING = GGML_TENSOR_FLAG_INPUT | GGML_TENSOR_FLAG_OUTPUT
};

void
alloc_plan_clear(struct plan *p)
{
    mem_free(p->items);
    mem_free(p->set.keys);
    mem_free(p->index);
    mem_free(p->trace);
    mem_free(p->shares);
    mem_free(p->deps);
    memset(p, 0, sizeof(*p));
}

/* -- Items by tensor -- */

static void
index_tensor(struct plan *p, struct ggml_tensor *t, int item)
{
    size_t slot = tensor_set_find(&p->set, t);

    p->set.keys[slot] = t;
    p->index[slot] = item;
}

/* An empty set with room for n tensors and as many again. */
static bool
clear_set(struct plan *p, size_t n)
{
    size_t slots = tensor_set_slots(2 * n);

    if (!p->set.keys || p->set.mask + 1 < slots) {
        mem_free(p->set.keys);
        mem_free(p->index);
        p->set.keys = mem_array(slots, sizeof(*p->set.keys));
        p->index = mem_array(slots, sizeof(*p->index));
        p->set.mask = slots - 1;
        if (p->set.keys && p->index)
            return true;
        mem_free(p->set.keys);
        p->set.keys = NULL;
        return false;
    }
    memset(p->set.keys, 0, (p->set.mask + 1) * sizeof(*p->set.keys));
    return true;
}

/* Tensors that are neither node nor leaf may fill the set. */
static bool
grow_set(struct plan *p)
{
    size_t n = p->set.mask + 1;

    if (2 * (p->n_items + 1) <= n)
        return true;
    if (!clear_set(p, n))
        return false;
    for (size_t i = 0; i < p->n_items; i++)
        index_tensor(p, p->items[i].t, (int)i);
    return true;
}

static size_t
needed_size(const struct plan_buffer *b, const struct ggml_tensor *t)
{
    size_t size = ggml_backend_buft_get_alloc_size(b->buft, t);

    return size ? size : 1; /* an address says "allocated" */
}

static int
add_item(struct plan *p, struct ggml_tensor *t, int buffer)
{
    int at = (int)p->n_items, owner = at;
    struct plan_item *item;

    if (!grow_set(p) ||
        !mem_grow(&p->items, &p->cap_items, p->n_items + 1, sizeof(*p->items)))
        return -1;
    item = &p->items[p->n_items++];
    *item = (struct plan_item){
        .t = t, .flags = t->flags & LASTING, .last = -1, .buffer = buffer
    };
    item->ours = !t->view_src && !t->data && !t->buffer;
    index_tensor(p, t, at);
    if (t->view_src) {
        size_t slot = tensor_set_find(&p->set, t->view_src);

        owner = p->set.keys[slot] ? p->index[slot]
                                  : add_item(p, t->view_src, buffer);
        if (owner < 0)
            return -1;
    }
    item = &p->items[at]; /* may have moved */
    item->owner = owner;
    if (item->flags & GGML_TENSOR_FLAG_OUTPUT)
        p->items[owner].kept = true;
    return at;
}

/* -- Recording the structure -- */

static bool
push_trace(struct plan *p, int item)
{
    if (!mem_grow(&p->trace, &p->cap_trace, p->n_trace + 1, sizeof(*p->trace)))
        return false;
    p->trace[p->n_trace++] = item;
    return true;
}

/* Meets a tensor; returns its item, or -1. */
static int
record_tensor(struct plan *p, struct ggml_tensor *t, int buffer)
{
    size_t slot = tensor_set_find(&p->set, t);
    int item = p->set.keys[slot] ? p->index[slot] : add_item(p, t, buffer);

    return item >= 0 && push_trace(p, item) ? item : -1;
}

static bool
record_node(struct plan *p, struct ggml_tensor *node, int i, int buffer)
{
    int item;

    for (int j = 0; j < GGML_MAX_SRC; j++) {
        if (!node->src[j] || node->src[j] == node)
            continue;
        item = record_tensor(p, node->src[j], buffer);
        if (item < 0)
            return false;
        p->items[item].used = true;
        p->items[p->items[item].owner].last = i;
    }
    item = record_tensor(p, node, buffer);
    if (item < 0)
        return false;
    p->items[p->items[item].owner].last = i;
    return push_trace(p, TRACE_END);
}

static bool
record(struct plan *p, const struct ggml_cgraph *g, const int *node_ids,
       const int *leaf_ids)
{
    p->n_items = p->n_trace = 0;
    if (!clear_set(p, (size_t)(g->n_nodes + g->n_leafs)))
        return false;
    for (int i = 0; i < g->n_leafs; i++)
        if (record_tensor(p, g->leafs[i], leaf_ids ? leaf_ids[i] : 0) < 0)
            return false;
    for (int i = 0; i < g->n_nodes; i++)
        if (!record_node(p, g->nodes[i], i, node_ids ? node_ids[i] : 0))
            return false;
    return true;
}

static struct plan_item *
item_of(const struct plan *p, const struct ggml_tensor *t)
{
    return &p->items[p->index[tensor_set_find(&p->set, t)]];
}

static struct plan_item *
owner_of(const struct plan *p, const struct ggml_tensor *t)
{
    return &p->items[item_of(p, t)->owner];
}

/* An owner's memory lives as long as someone wants it. */
static void
extend(struct plan *p, const struct ggml_cgraph *g)
{
    for (size_t k = 0; k < p->n_deps; k++)
        for (int i = 0; i < g->n_nodes; i++) {
            const struct plan_dep *d = &p->deps[k];

            if (g->nodes[i] == d->until && tensor_set_has(&p->set, d->t) &&
                owner_of(p, d->t)->last < i)
                owner_of(p, d->t)->last = i;
        }
}

/* -- Placing -- */

static bool
place_item(struct plan_item *item, const struct plan_buffer *buffers)
{
    const struct plan_buffer *b = &buffers[item->buffer];

    if (!item->ours || item->placed)
        return true;
    item->size = needed_size(b, item->t);
    item->placed = alloc_arena_alloc(b->arena, item->size, &item->at);
    return item->placed;
}

/* How many of a node's sources may be written over while it is computed. */
static int
n_shareable(enum ggml_op op)
{
    switch (op) {
    case GGML_OP_ADD:
    case GGML_OP_SUB:
    case GGML_OP_MUL:
    case GGML_OP_DIV:
    case GGML_OP_GLU:
        return 2;
    case GGML_OP_ADD1:
    case GGML_OP_ADD_ID:
    case GGML_OP_CLAMP:
    case GGML_OP_COS:
    case GGML_OP_CUMSUM:
    case GGML_OP_DIAG_MASK_INF:
    case GGML_OP_DIAG_MASK_ZERO:
    case GGML_OP_FILL:
    case GGML_OP_GROUP_NORM:
    case GGML_OP_L2_NORM:
    case GGML_OP_LEAKY_RELU:
    case GGML_OP_LOG:
    case GGML_OP_NORM:
    case GGML_OP_RMS_NORM:
    case GGML_OP_ROPE:
    case GGML_OP_SCALE:
    case GGML_OP_SIN:
    case GGML_OP_SOFT_MAX:
    case GGML_OP_SQR:
    case GGML_OP_SQRT:
    case GGML_OP_UNARY:
        return 1;
    default:
        return 0;
    }
}

static bool
same_layout(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return a->type == b->type && ggml_are_same_shape(a, b) &&
           ggml_are_same_stride(a, b);
}

/* Whether the node's j-th source starts an owner's memory, ends with this
 * node, and is read by it once. */
static bool
may_share(const struct plan *p, const struct ggml_tensor *node, int i, int j)
{
    const struct ggml_tensor *src = node->src[j];
    const struct plan_item *o = owner_of(p, src);

    if (!o->placed || o->kept || o->gone || o->last != i ||
        (p->stay && o->buffer != item_of(p, node)->buffer) || src->view_offs ||
        !same_layout(node, src))
        return false;
    for (int k = 0; k < GGML_MAX_SRC; k++)
        if (k != j && node->src[k] && owner_of(p, node->src[k]) == o)
            return false;
    return true;
}

/* The node takes over a source's memory, and gives back what it needs not. */
static bool
share(struct plan_item *item, struct plan_item *o,
      const struct plan_buffer *buffers)
{
    const struct plan_buffer *b = &buffers[o->buffer];
    struct arena_place rest = o->at;
    size_t used, had;

    item->buffer = o->buffer;
    item->size = needed_size(b, item->t);
    item->at = o->at;
    item->placed = o->gone = true;
    check_align(item->size, b->arena->alignment, &used);
    check_align(o->size, b->arena->alignment, &had);
    GGML_ASSERT(used <= had);
    rest.offset += used;
    return alloc_arena_free(b->arena, rest, had - used);
}

static bool
place_node(struct plan *p, const struct plan_buffer *buffers,
           struct ggml_tensor *node, int i)
{
    struct plan_item *item = item_of(p, node);
    int n = n_shareable(node->op);

    p->shares[i] = -1;
    if (node->view_src)
        return place_item(owner_of(p, node), buffers);
    if (!item->ours || item->placed)
        return true;
    for (int j = 0; j < n; j++)
        if (node->src[j] && may_share(p, node, i, j)) {
            p->shares[i] = (signed char)j;
            return share(item, owner_of(p, node->src[j]), buffers);
        }
    return place_item(item, buffers);
}

/* If node i needs it last. */
static bool
give_back(struct plan_item *o, const struct plan_buffer *buffers, int i)
{
    if (!o->placed || o->gone || o->kept || o->last != i)
        return true;
    o->gone = true;
    return alloc_arena_free(buffers[o->buffer].arena, o->at, o->size);
}

static bool
give_back_sources(struct plan *p, const struct plan_buffer *buffers,
                  const struct ggml_tensor *node, int i)
{
    for (int j = 0; j < GGML_MAX_SRC; j++)
        if (node->src[j] && !give_back(owner_of(p, node->src[j]), buffers, i))
            return false;
    for (size_t k = 0; k < p->n_deps; k++)
        if (p->deps[k].until == node && tensor_set_has(&p->set, p->deps[k].t) &&
            !give_back(owner_of(p, p->deps[k].t), buffers, i))
            return false;
    return true;
}

static bool
place_all(struct plan *p, const struct plan_buffer *buffers,
          const struct ggml_cgraph *g)
{
    for (int i = 0; i < g->n_leafs; i++)
        if (!place_item(item_of(p, g->leafs[i]), buffers))
            return false;
    for (size_t k = 0; k < p->n_items; k++)
        if (p->items[k].flags & GGML_TENSOR_FLAG_INPUT &&
            !place_item(&p->items[k], buffers))
            return false;
    for (int i = 0; i < g->n_nodes; i++) {
        struct ggml_tensor *node = g->nodes[i];

        for (int j = 0; j < GGML_MAX_SRC; j++)
            if (node->src[j] && node->src[j] != node &&
                !place_item(owner_of(p, node->src[j]), buffers))
                return false;
        if (!place_node(p, buffers, node, i) ||
            !give_back_sources(p, buffers, node, i))
            return false;
    }
    return true;
}

bool
alloc_plan_make(struct plan *p, struct plan_buffer *buffers,
                const struct ggml_cgraph *graph, const int *node_ids,
                const int *leaf_ids)
{
    p->valid = false;
    if (!record(p, graph, node_ids, leaf_ids) ||
        !mem_grow(&p->shares, &p->cap_shares, (size_t)graph->n_nodes, 1))
        return false;
    extend(p, graph);
    for (int i = 0; i < graph->n_nodes; i++) {
        struct plan_item *item = item_of(p, graph->nodes[i]);

        if (!item->used)
            p->items[item->owner].kept = true;
    }
    p->valid = place_all(p, buffers, graph);
    return p->valid;
}

/* -- Another graph -- */

/* How far a graph was compared with the plan. */
struct fit {
    struct plan *p;
    const struct plan_buffer *buffers;
    size_t n_items, n_trace;
};

/* The item of a tensor if it is met as in the plan, or -1. */
static int
fit_tensor(struct fit *f, struct ggml_tensor *t)
{
    struct plan *p = f->p;
    size_t slot = tensor_set_find(&p->set, t);
    struct plan_item *item;
    int at;

    if (p->set.keys[slot])
        return p->index[slot];
    if (f->n_items == p->n_items)
        return -1;
    p->set.keys[slot] = t;
    p->index[slot] = at = (int)f->n_items++;
    item = &p->items[at];
    item->t = t;
    if ((t->flags & LASTING) != item->flags)
        return -1;
    if (t->view_src)
        return fit_tensor(f, t->view_src) == item->owner ? at : -1;
    if (item->owner != at)
        return -1;
    if (t->data || t->buffer)
        return at;
    return item->ours && needed_size(&f->buffers[item->buffer], t) <= item->size
               ? at
               : -1;
}

static bool
fit_next(struct fit *f, struct ggml_tensor *t)
{
    int item = fit_tensor(f, t);

    return item >= 0 && f->n_trace < f->p->n_trace &&
           f->p->trace[f->n_trace++] == item;
}

static bool
fit_node(struct fit *f, struct ggml_tensor *node, int share)
{
    for (int j = 0; j < GGML_MAX_SRC; j++)
        if (node->src[j] && node->src[j] != node && !fit_next(f, node->src[j]))
            return false;
    if (share >= 0 && (share >= n_shareable(node->op) || !node->src[share] ||
                       !same_layout(node, node->src[share])))
        return false;
    return fit_next(f, node) && f->n_trace < f->p->n_trace &&
           f->p->trace[f->n_trace++] == TRACE_END;
}

bool
alloc_plan_fits(struct plan *p, const struct plan_buffer *buffers,
                const struct ggml_cgraph *graph)
{
    struct fit f = { .p = p, .buffers = buffers };

    if (!p->valid || !clear_set(p, (size_t)(graph->n_nodes + graph->n_leafs)))
        return false;
    for (int i = 0; i < graph->n_leafs; i++)
        if (!fit_next(&f, graph->leafs[i]))
            return false;
    for (int i = 0; i < graph->n_nodes; i++)
        if (f.n_trace == p->n_trace ||
            !fit_node(&f, graph->nodes[i], p->shares[i]))
            return false;
    return f.n_trace == p->n_trace && f.n_items == p->n_items;
}
