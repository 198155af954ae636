/* show.c - graphs for people: as text in the log, and as a picture */
#include <stdio.h>

#include "core/escape.h"
#include "core/log.h"
#include "tensor/context.h"
#include "tensor/graph.h"
#include "tensor/tensor.h"

static void
log_tensors(const char *what, struct ggml_tensor **array, int n)
{
    log_say(GGML_LOG_LEVEL_INFO, "%d %s\n", n, what);
    for (int i = 0; i < n; i++) {
        const struct ggml_tensor *t = array[i];
        char name[4 * GGML_MAX_NAME];

        escape_bytes(name, sizeof(name), t->name, strlen(t->name));
        log_say(GGML_LOG_LEVEL_INFO,
                "%4d %-16s %-6s [%lld %lld %lld %lld] %s\n", i, ggml_op_desc(t),
                ggml_type_name(t->type), (long long)t->ne[0],
                (long long)t->ne[1], (long long)t->ne[2], (long long)t->ne[3],
                name);
    }
}

void
ggml_graph_print(const struct ggml_cgraph *cgraph)
{
    log_tensors("nodes", cgraph->nodes, cgraph->n_nodes);
    log_tensors("leafs", cgraph->leafs, cgraph->n_leafs);
}

/* A quoted string of the dot language. */
static void
write_quoted(FILE *f, const char *s)
{
    putc('"', f);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            putc('\\', f);
        putc(*s, f);
    }
    putc('"', f);
}

static void
write_box(FILE *f, const struct ggml_tensor *t, const char *what,
          const char *style)
{
    char label[4 * GGML_MAX_NAME + 200], name[2 * GGML_MAX_NAME];

    escape_bytes(name, sizeof(name), t->name, strlen(t->name));
    snprintf(label, sizeof(label), "%s (%s)\n%s\n%lld x %lld x %lld x %lld",
             name, ggml_type_name(t->type), what, (long long)t->ne[0],
             (long long)t->ne[1], (long long)t->ne[2], (long long)t->ne[3]);
    fprintf(f, "  \"%p\" [shape = box, %s, label = ", (const void *)t, style);
    write_quoted(f, label);
    fputs("];\n", f);
}

static void
write_edges(FILE *f, const struct ggml_tensor *t)
{
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (t->src[i])
            fprintf(f, "  \"%p\" -> \"%p\" [label = \"src %d\"];\n",
                    (void *)t->src[i], (const void *)t, i);
}

static bool
has_node(const struct ggml_cgraph *g, const struct ggml_tensor *t)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i] == t)
            return true;
    return false;
}

void
ggml_graph_dump_dot(const struct ggml_cgraph *gb,
                    const struct ggml_cgraph *cgraph, const char *filename)
{
    FILE *f = ggml_fopen(filename, "w");

    GGML_ASSERT(f);
    fputs("digraph {\n", f);
    for (int i = 0; i < gb->n_leafs; i++)
        write_box(f, gb->leafs[i], "constant",
                  "style = filled, fillcolor = pink");
    for (int i = 0; i < gb->n_nodes; i++) {
        const struct ggml_tensor *t = gb->nodes[i];

        write_box(f, t, ggml_op_desc(t),
                  cgraph && has_node(cgraph, t)
                      ? "style = filled, fillcolor = palegreen"
                      : "style = solid");
        write_edges(f, t);
    }
    fputs("}\n", f);
    fclose(f);
}

void
ggml_print_object(const struct ggml_object *obj)
{
    static const char *const kinds[] = { "tensor", "graph", "work buffer" };

    log_say(GGML_LOG_LEVEL_INFO, "%zu bytes at %zu: a %s\n", obj->size,
            obj->offs, kinds[obj->type]);
}

void
ggml_print_objects(const struct ggml_context *ctx)
{
    for (const struct ggml_object *o = ctx->first; o; o = o->next)
        ggml_print_object(o);
}
