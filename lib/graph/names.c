/* names.c - names of what a graph computes, for those who watch it
 *
 * What is made with a weight is called as that is, "blk.0.attn_q", or
 * "blk.0.attn_q+bias"; anything else by its layer and what is done,
 * "blk.0.rope"; the second of these "blk.0.rope#2". */
#include <ctype.h>
#include <string.h>

#include "graph/graph.h"

enum {
    LONGEST = 48, /* of what stands before a number */
};

static bool
is_unnamed(const struct ggml_tensor *t)
{
    return t->name[0] == '\0' || strncmp(t->name, "node_", 5) == 0;
}

static bool
is_weight(const struct ggml_tensor *t)
{
    return t && t->op == GGML_OP_NONE && !(t->flags & GGML_TENSOR_FLAG_INPUT) &&
           strncmp(t->name, "cache_", 6) != 0 && strchr(t->name, '.');
}

/* The weight that the node is named after, or NULL. */
static const struct ggml_tensor *
weight_of(const struct ggml_tensor *t)
{
    switch (t->op) {
    case GGML_OP_MUL_MAT:
    case GGML_OP_MUL_MAT_ID:
    case GGML_OP_MUL:
    case GGML_OP_ADD:
    case GGML_OP_ADD_ID:
    case GGML_OP_GET_ROWS:
        return is_weight(t->src[0])   ? t->src[0]
               : is_weight(t->src[1]) ? t->src[1]
                                      : NULL;
    default:
        return NULL;
    }
}

/* "blk.12." of a weight's name; "" for one of no layer. */
static void
layer_of(const struct ggml_tensor *weight, char out[LONGEST])
{
    size_t n = 4;

    out[0] = '\0';
    if (strncmp(weight->name, "blk.", 4) != 0)
        return;
    n += strspn(weight->name + n, "0123456789");
    if (weight->name[n] != '.' || n + 2 > LONGEST)
        return;
    memcpy(out, weight->name, n + 1);
    out[n + 1] = '\0';
}

/* Some earlier node, of those from `first` on, has the name. */
static bool
is_taken(struct ggml_cgraph *g, int first, int i, const char *name)
{
    for (int k = first; k < i; k++)
        if (strcmp(ggml_graph_node(g, k)->name, name) == 0)
            return true;
    return false;
}

static void
set_name(struct ggml_cgraph *g, int first, int i, const char *name)
{
    struct ggml_tensor *t = ggml_graph_node(g, i);

    ggml_set_name(t, "");
    if (!is_taken(g, first, i, name)) {
        ggml_set_name(t, name);
        return;
    }
    for (int n = 2;; n++) {
        char numbered[GGML_MAX_NAME];

        snprintf(numbered, sizeof(numbered), "%.*s#%d", LONGEST, name, n);
        if (!is_taken(g, first, i, numbered)) {
            ggml_set_name(t, numbered);
            return;
        }
    }
}

static void
name_by_weight(struct ggml_cgraph *g, int first, int i,
               const struct ggml_tensor *weight)
{
    const char *end = strrchr(weight->name, '.'), *more = "";
    size_t n = (size_t)(end - weight->name);
    char name[GGML_MAX_NAME + 8];

    if (strcmp(end, ".bias") == 0)
        more = "+bias";
    if (strncmp(end, ".lora_", 6) == 0) {
        more = end;
        n -= n > 7 && strncmp(end - 7, ".weight", 7) == 0 ? 7 : 0;
    }
    snprintf(name, sizeof(name), "%.*s%s", (int)n, weight->name, more);
    set_name(g, first, i, name);
}

static void
name_by_op(struct ggml_cgraph *g, int first, int i, const char *layer)
{
    char name[GGML_MAX_NAME + LONGEST];
    size_t n = strlen(layer);

    memcpy(name, layer, n);
    snprintf(name + n, sizeof(name) - n, "%s",
             ggml_op_desc(ggml_graph_node(g, i)));
    for (; name[n]; n++)
        name[n] = (char)tolower((unsigned char)name[n]);
    set_name(g, first, i, name);
}

/* The layer of the next node that is made with a weight. */
static void
next_layer(struct ggml_cgraph *g, int i, char out[LONGEST])
{
    const struct ggml_tensor *w = NULL;

    out[0] = '\0';
    for (; i < ggml_graph_n_nodes(g) && !w; i++)
        w = weight_of(ggml_graph_node(g, i));
    if (w)
        layer_of(w, out);
}

void
graph_name(struct graph *g)
{
    struct ggml_cgraph *graph = g->cgraph;
    char layer[LONGEST] = "", now[LONGEST];
    int first = 0; /* node of the layer */

    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        struct ggml_tensor *t = ggml_graph_node(graph, i);
        const struct ggml_tensor *weight = weight_of(t);

        memcpy(now, layer, sizeof(now));
        if (weight)
            layer_of(weight, now);
        else if (t->op == GGML_OP_NORM || t->op == GGML_OP_RMS_NORM)
            next_layer(graph, i, now); /* a layer begins with one */
        if (strcmp(now, layer) != 0 && now[0])
            first = i;
        memcpy(layer, now, sizeof(layer));
        if (!is_unnamed(t))
            continue;
        if (weight)
            name_by_weight(graph, now[0] ? first : 0, i, weight);
        else
            name_by_op(graph, now[0] ? first : 0, i, now);
    }
}
