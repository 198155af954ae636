/* dot.c - a compute graph in the language of Graphviz */
#include <config.h>

#include "gg-eval/watch.h"

#include <ggml.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void
put_escaped(const char *s)
{
    char shown[4 * GGML_MAX_NAME + 4];

    gg_escape(shown, sizeof(shown), s, strlen(s));
    for (const char *p = shown; *p; p++) {
        if (*p == '"' || *p == '\\')
            putchar('\\');
        putchar(*p);
    }
}

static void
put_box(size_t number, const struct ggml_tensor *t)
{
    int n = ggml_n_dims(t);

    printf("  n%zu [shape=%s, label=\"", number,
           t->op != GGML_OP_NONE               ? "ellipse"
           : t->flags & GGML_TENSOR_FLAG_INPUT ? "parallelogram"
                                               : "box");
    put_escaped(t->name);
    if (t->op != GGML_OP_NONE)
        printf("\\n%s", ggml_op_desc(t));
    printf("\\n%s ", ggml_type_name(t->type));
    for (int i = 0; i < n; i++)
        printf("%s%" PRId64, i ? "x" : "", t->ne[i]);
    puts("\"];");
}

/* The tensor's number; one that is new gets a box. */
static size_t
number_of(struct dot *d, const struct ggml_tensor *t)
{
    for (size_t i = d->n; i-- > 0;)
        if (d->seen[i] == t)
            return i;
    if (d->n == d->cap) {
        d->cap = 2 * d->cap + 64;
        d->seen = cli_alloc(d->seen, d->cap, sizeof(*d->seen));
    }
    d->seen[d->n] = t;
    put_box(d->n, t);
    return d->n++;
}

void
dot_begin(void)
{
    puts("digraph {");
}

void
dot_node(struct dot *d, const struct ggml_tensor *t)
{
    size_t from[GGML_MAX_SRC], to;
    int n = 0;

    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (t->src[i])
            from[n++] = number_of(d, t->src[i]);
    to = number_of(d, t);
    for (int i = 0; i < n; i++)
        printf("  n%zu -> n%zu;\n", from[i], to);
}

void
dot_end(struct dot *d)
{
    puts("}");
    free(d->seen);
    *d = (struct dot){ 0 };
}
