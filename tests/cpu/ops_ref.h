/* ops_ref.h - cases of ops: test_ops_ref.c computes them on CPU and REF */
#ifndef CPU_OPS_REF_H
#define CPU_OPS_REF_H

#include <ggml.h>
#include <stdbool.h>

struct op_case {
    const char *name;
    struct ggml_tensor *(*build)(const struct op_case *c);
    double bound; /* on the normalised mean square error */
    enum ggml_type type, other;
    int64_t ne[4];
    int arg;
};

/* ---- tables of cases; the last one has no name ---- */

extern const struct op_case ref_elements[];
extern const struct op_case ref_copies[];
extern const struct op_case ref_image[];
extern const struct op_case ref_layers[];
extern const struct op_case ref_training[];

#define CASE(name, build, bound, type, other, n0, n1, n2, n3, arg)             \
    {                                                                          \
        name, build, bound, GGML_TYPE_##type, GGML_TYPE_##other,               \
            { n0, n1, n2, n3 }, arg                                            \
    }

/* A type of CASE: one for each type that weights can have, or be made in where
 * it is the other one; ne[0] is 0. */
#define GGML_TYPE_EACH GGML_TYPE_COUNT

/* Arguments: one for each op of that kind. */
enum {
    EACH_UNARY = -1,
    EACH_GLU = -2,
};

/* ---- graphs ---- */

#define F32  GGML_TYPE_F32
#define F16  GGML_TYPE_F16
#define BF16 GGML_TYPE_BF16

/* The one that is being built. */
struct ref_graph {
    struct ggml_context *leafs, *nodes;
    int limit; /* integers are below it */
    bool bf16; /* weights are: so are all numbers */
};
extern struct ref_graph made;

/* Gives a leaf numbers, from those that follow the seed; one named "mask"
 * hides some. */
void
ref_seed(uint64_t seed);
void
ref_fill(struct ggml_tensor *t);

static inline struct ggml_tensor *
in(enum ggml_type type, int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3)
{
    return ggml_new_tensor_4d(made.leafs, type, ne0, ne1, ne2, ne3);
}

static inline struct ggml_tensor *
first(const struct op_case *c)
{
    return in(c->type, c->ne[0], c->ne[1], c->ne[2], c->ne[3]);
}

/* Where an op works in place its memory must not be an input's. */
static inline struct ggml_tensor *
own(struct ggml_tensor *t)
{
    return ggml_dup(made.nodes, t);
}

/* A function that builds a case in the context g, with the inputs a, OTHER and
 * others of the shape n. */
#define BUILD(name, expression)                                                \
    static struct ggml_tensor *name(const struct op_case *c)                   \
    {                                                                          \
        struct ggml_context *g = made.nodes;                                   \
        const int64_t *n = c->ne;                                              \
        struct ggml_tensor *a = first(c);                                      \
        (void)g, (void)n, (void)a;                                             \
        return expression;                                                     \
    }
#define OTHER in(c->other, n[0], n[1], n[2], n[3])
#define ROW   in(c->other, n[0], 1, n[2], 1)

#endif
