/* fuse.c - kernel fusion: which nodes are one launch
 *
 *     [sum] norm [scale] [bias]
 *     small-batch products of the same columns, each with a sum or bias (QKV)
 *     two products of the same columns, and a GLU
 *     ROPE of keys and queries, and stores of keys and values to a KV cache
 *     attention of several sequences, and the CONCATs of their results
 *
 * and a norm, GLU or attention converts its result for the next product
 * (fused_output.h).
 *
 * Memory was planned for nodes that run one after the other: fused ones may
 * overlap what is read only where each element is at the same address.
 * (Attention of sequences sees to that itself.) */
#include <string.h>

#include "cuda/formats_list.h"
#include "cuda/kernels.h"
#include "cuda/fused_ops.h"
#include "cuda/norm.h"
#include "cuda/ops.h"
#include "cuda/launch_config.h"
#include "tensor/tensor.h"

/* Whether `out` may be written while `in` is read, element by element. */
static bool
is_apart(const struct ggml_tensor *out, const struct ggml_tensor *in)
{
    return !cuda_overlap(out, in) || cuda_is_same_place(out, in);
}

static bool
supports(const struct ggml_tensor *t)
{
    const struct cuda_op *op = &cuda_ops[t->op];

    return op->run && (!op->supports || op->supports(t));
}

/* The other source of `node` than `from`; NULL if `from` is no source of it, or
 * both, or of another shape. */
static struct ggml_tensor *
other_source(const struct ggml_tensor *node, const struct ggml_tensor *from)
{
    struct ggml_tensor *other;

    if (node->src[0] != from && node->src[1] != from)
        return NULL;
    other = node->src[0] == from ? node->src[1] : node->src[0];
    return other == from || !ggml_are_same_shape(node, from) ? NULL : other;
}

/* -- Norms -- */

/* The other source of node i, if it is `op`, and the only reader of the node
 * before, so that it can be fused; or NULL. */
static const struct ggml_tensor *
fusable_next(struct ggml_tensor *const *nodes, int i, int n, const int *uses,
             enum ggml_op op)
{
    if (i >= n || uses[i - 1] != 1 || nodes[i]->op != op || !supports(nodes[i]))
        return NULL;
    return other_source(nodes[i], nodes[i - 1]);
}

static bool
are_norms_apart(const struct cuda_norm *f, const struct ggml_tensor *out,
                const struct ggml_tensor *const *read, int n)
{
    for (int i = 0; i < n; i++)
        if (!is_apart(out, read[i]) || (f->add && !is_apart(f->add, read[i])))
            return false;
    return !f->add || is_apart(out, f->add);
}

static int
fuse_norm(struct cuda_ctx *c, struct ggml_tensor *const *nodes, int n,
          const int *uses)
{
    struct cuda_norm f = { 0 };
    const struct ggml_tensor *read[4], *other;
    int i = 0, n_read = 0;

    if (nodes[0]->op == GGML_OP_ADD) {
        if (n < 2 || nodes[1]->src[0] != nodes[0] || !supports(nodes[0]) ||
            ggml_is_empty(nodes[0]))
            return 0;
        f.add = nodes[i++];
        read[n_read++] = f.add->src[1];
        read[n_read++] = f.add->src[0];
    } else {
        read[n_read++] = nodes[0]->src[0];
    }
    if (nodes[i]->op != GGML_OP_NORM && nodes[i]->op != GGML_OP_RMS_NORM)
        return 0;
    if (!supports(nodes[i]))
        return 0;
    f.norm = nodes[i++];
    other = fusable_next(nodes, i, n, uses, GGML_OP_MUL);
    if (other) {
        f.mul = nodes[i++];
        read[n_read++] = other;
        other = fusable_next(nodes, i, n, uses, GGML_OP_ADD);
        if (other && n_read < 4) {
            f.bias = nodes[i++];
            read[n_read++] = other;
        }
    }
    if (i < 2 || !are_norms_apart(&f, nodes[i - 1], read, n_read))
        return 0;
    f.next = i < n ? nodes[i] : NULL;
    cuda_run_norms(c, &f);
    return i;
}

/* -- Matrix products -- */
static bool
is_small_batch(const struct ggml_tensor *t)
{
    return t->op == GGML_OP_MUL_MAT &&
           t->src[1]->ne[1] <=
               cuda_small_batch_columns(cuda_is_format(t->src[0]->type)) &&
           !ggml_is_empty(t) && supports(t);
}

/* F32, contiguous, of one row or of the product's shape. */
static bool
is_addend(const struct ggml_tensor *x, const struct ggml_tensor *product)
{
    return x->type == GGML_TYPE_F32 && ggml_is_contiguous(x) &&
           x->ne[0] == product->ne[0] &&
           (ggml_nrows(x) == 1 || ggml_are_same_shape(x, product));
}

static bool
is_result(const struct ggml_tensor *t)
{
    return t->type == GGML_TYPE_F32 && ggml_is_contiguous(t);
}

/* The sum after nodes[0], a product, that can be fused with it, or NULL. */
static struct ggml_tensor *
fusable_add(struct ggml_tensor *const *nodes, int n, const int *uses)
{
    const struct ggml_tensor *other;

    if (n < 2 || uses[0] != 1 || nodes[1]->op != GGML_OP_ADD)
        return NULL;
    other = other_source(nodes[1], nodes[0]);
    if (!other || !is_addend(other, nodes[0]) || !is_result(nodes[1]) ||
        !is_apart(nodes[1], other) ||
        cuda_overlap(nodes[1], nodes[0]->src[0]) ||
        cuda_overlap(nodes[1], nodes[0]->src[1]))
        return NULL;
    return nodes[1];
}

/* Whether a product can be fused with another of the same columns. */
static bool
is_sibling(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    const struct ggml_tensor *w = a->src[0], *v = b->src[0];

    return a->src[1] == b->src[1] && w->type == v->type &&
           w->ne[0] == v->ne[0] && w->nb[1] == v->nb[1] &&
           ggml_nrows(w) == w->ne[1] && ggml_nrows(v) == v->ne[1] &&
           ggml_nrows(a->src[1]) == a->src[1]->ne[1] && is_result(b);
}

/* Whether what a product and its sum read is not written by `out`. */
static bool
is_untouched(const struct ggml_tensor *mul_mat, const struct ggml_tensor *add,
             const struct ggml_tensor *out)
{
    return !cuda_overlap(mul_mat->src[1], out) &&
           !cuda_overlap(mul_mat->src[0], out) &&
           (!add || (!cuda_overlap(add->src[0], out) &&
                     !cuda_overlap(add->src[1], out)));
}

/* Products of the same columns, each with a sum or without: q, k and v. */
static int
fuse_matmuls(struct cuda_ctx *c, struct ggml_tensor *const *nodes, int n,
             const int *uses)
{
    struct cuda_fused_matmul f = { .mul_mat = nodes[0] };
    const struct ggml_tensor *out[1 + CUDA_SIBLINGS];
    int i = 1;

    f.add = fusable_add(nodes, n, uses);
    i += f.add != NULL;
    out[0] = f.add ? f.add : f.mul_mat;
    for (int m = 0; m < CUDA_SIBLINGS && i < n; m++) {
        struct ggml_tensor *a = nodes[i], *add;
        bool apart = is_small_batch(a) && is_sibling(nodes[0], a);

        if (!apart)
            break;
        add = fusable_add(nodes + i, n - i, uses + i);
        out[m + 1] = add ? add : a;
        for (int j = 0; j <= m && apart; j++)
            apart = is_untouched(a, add, out[j]) &&
                    !cuda_overlap(out[j], out[m + 1]);
        apart = apart && is_untouched(f.mul_mat, f.add, out[m + 1]);
        for (int j = 0; j < m && apart; j++)
            apart = is_untouched(f.siblings[j].mul_mat, f.siblings[j].add,
                                 out[m + 1]);
        if (!apart)
            break;
        f.siblings[m].mul_mat = a;
        f.siblings[m].add = add;
        i += 1 + (add != NULL);
    }
    if (i < 2)
        return 0;
    cuda_run_fused_matmul(c, &f);
    return i;
}

static bool
have_same_weights_shape(const struct ggml_tensor *a,
                        const struct ggml_tensor *b)
{
    const struct ggml_tensor *w = a->src[0], *v = b->src[0];

    return a->src[1] == b->src[1] && w->type == v->type &&
           ggml_are_same_shape(w, v) && ggml_are_same_stride(w, v) &&
           ((uintptr_t)w->data & 15) == ((uintptr_t)v->data & 15);
}

static int
fuse_gated_matmuls(struct cuda_ctx *c, struct ggml_tensor *const *nodes, int n,
                   const int *uses)
{
    struct cuda_fused_matmul f = { 0 };
    struct ggml_tensor *glu = n < 3 ? NULL : nodes[2];
    bool in_order;

    if (!glu || glu->op != GGML_OP_GLU || uses[0] != 1 || uses[1] != 1 ||
        !is_small_batch(nodes[1]) ||
        !have_same_weights_shape(nodes[0], nodes[1]))
        return 0;
    in_order = glu->src[0] == nodes[0] && glu->src[1] == nodes[1];
    if ((!in_order && !(glu->src[0] == nodes[1] && glu->src[1] == nodes[0])) ||
        !supports(glu) || !is_result(glu) ||
        cuda_overlap(glu, nodes[0]->src[0]) ||
        cuda_overlap(glu, nodes[1]->src[0]) ||
        cuda_overlap(glu, nodes[0]->src[1]))
        return 0;
    f.mul_mat = in_order ? nodes[0] : nodes[1];
    f.second = in_order ? nodes[1] : nodes[0];
    f.glu = glu;
    cuda_run_fused_matmul(c, &f);
    return 3;
}

/* -- ROPE and the KV cache -- */

/* Whether t stores rows of x, tokens by heads, to a cache that is not
 * quantised. */
static bool
is_cache_store(const struct ggml_tensor *t, const struct ggml_tensor *x)
{
    return t->op == GGML_OP_SET_ROWS && supports(t) &&
           !cuda_can_quantize(t->type) && t->src[0]->ne[3] == 1 &&
           t->src[0]->ne[1] == x->ne[2] && !ggml_is_empty(t->src[0]);
}

/* Whether `set` stores the result of `rope`, its heads and tokens permuted. */
static bool
is_transposed_heads(const struct ggml_tensor *set,
                    const struct ggml_tensor *rope)
{
    const struct ggml_tensor *x = set->src[0];

    return x->view_src == rope && x->data == rope->data &&
           x->type == rope->type && x->ne[0] == rope->ne[0] &&
           x->ne[1] == rope->ne[2] && x->ne[2] == rope->ne[1] &&
           x->nb[1] == rope->nb[2] && x->nb[2] == rope->nb[1];
}

static bool
have_same_angles(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return a->src[1] == b->src[1] && a->src[2] == b->src[2] &&
           a->ne[0] == b->ne[0] && a->ne[2] == b->ne[2] && a->ne[3] == 1 &&
           b->ne[3] == 1 && a->type == GGML_TYPE_F32 &&
           memcmp(a->op_params, b->op_params, sizeof(a->op_params)) == 0;
}

/* Whether no result overlaps another's input: memory of queries may have been
 * that of keys, or of the ids of rows. */
static bool
is_rope_apart(const struct cuda_fused_rope *f)
{
    const struct ggml_tensor *out[] = { f->queries, f->set_keys,
                                        f->set_values };
    const struct ggml_tensor *in[] = {
        f->keys->src[0],     f->keys->src[1],       f->keys->src[2],
        f->set_keys->src[1], f->set_values->src[0], f->set_values->src[1],
    };

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 6; j++)
            if (in[j] && cuda_overlap(out[i], in[j]))
                return false;
        if (cuda_overlap(out[i], out[(i + 1) % 3]))
            return false;
    }
    return is_apart(f->queries, f->queries->src[0]) &&
           !cuda_overlap(f->set_keys, f->queries->src[0]) &&
           !cuda_overlap(f->set_values, f->queries->src[0]);
}

static int
fuse_rope(struct cuda_ctx *c, struct ggml_tensor *const *nodes, int n,
          const int *uses)
{
    struct cuda_fused_rope f;

    if (n < 4 || uses[0] != 1 || nodes[3]->op != GGML_OP_ROPE)
        return 0;
    f.keys = nodes[0];
    f.set_keys = nodes[1];
    f.set_values = nodes[2];
    f.queries = nodes[3];
    if (!supports(f.keys) || !supports(f.queries) ||
        !have_same_angles(f.keys, f.queries) ||
        !is_cache_store(f.set_keys, f.keys) ||
        !is_transposed_heads(f.set_keys, f.keys) ||
        !is_cache_store(f.set_values, f.keys) || !is_rope_apart(&f))
        return 0;
    cuda_run_fused_rope(c, &f);
    return 4;
}

/* -- Attention of sequences -- */
#define MAX_SEQUENCES 256

/* Sequences, and a stack of the nodes, by index, whose results are not
 * concatenated yet. */
struct concat_stack {
    struct ggml_tensor *each[MAX_SEQUENCES];
    int n_each, top[MAX_SEQUENCES], n_top;
    int64_t bytes; /* of scratch memory */
};

static bool
add_sequence(struct cuda_ctx *c, struct concat_stack *p,
             struct ggml_tensor *const *nodes, int i)
{
    if (p->n_each == MAX_SEQUENCES || !cuda_attention_batch_supports(nodes[i]))
        return false;
    p->bytes += cuda_attention_batch_bytes(c, nodes[i]);
    p->each[p->n_each++] = nodes[i];
    p->top[p->n_top++] = i;
    return p->bytes <= CUDA_MAX_PARTIALS;
}

/* Replaces the two on top by node i, if that is their CONCAT. */
static bool
pop_concat(struct concat_stack *p, struct ggml_tensor *const *nodes, int i,
           const int *uses)
{
    const struct ggml_tensor *t = nodes[i];
    int a, b;

    if (p->n_top < 2)
        return false;
    a = p->top[p->n_top - 2];
    b = p->top[p->n_top - 1];
    if (t->src[0] != nodes[a] || t->src[1] != nodes[b] || uses[a] != 1 ||
        uses[b] != 1 || tensor_get_i32(t, 0) != 2 || !is_result(t) ||
        ((uintptr_t)t->data & 15) != 0)
        return false;
    p->n_top--;
    p->top[p->n_top - 1] = i;
    return true;
}

/* Attention of sequences, and the CONCATs of their results, in any order. */
static int
fuse_attention_batch(struct cuda_ctx *c, struct ggml_tensor *const *nodes,
                     int n, const int *uses)
{
    struct concat_stack p;
    int done = 0, n_each = 0;
    bool good = true;

    p.n_each = p.n_top = 0;
    p.bytes = 0;
    for (int i = 0; i < n && good; i++) {
        if (nodes[i]->op == GGML_OP_FLASH_ATTN_EXT)
            good = add_sequence(c, &p, nodes, i);
        else
            good = nodes[i]->op == GGML_OP_CONCAT &&
                   pop_concat(&p, nodes, i, uses);
        if (good && p.n_top == 1 && p.n_each > 1) {
            done = i + 1;
            n_each = p.n_each;
        }
    }
    if (done)
        cuda_run_attention_batch(c, p.each, n_each, nodes[done - 1],
                                 done < n ? nodes[done] : NULL);
    return done;
}

int
cuda_fuse(struct cuda_ctx *c, struct ggml_tensor *const *nodes, int n,
          const int *uses)
{
    int done = 0;

    switch (nodes[0]->op) {
    case GGML_OP_ADD:
    case GGML_OP_NORM:
    case GGML_OP_RMS_NORM:
        return fuse_norm(c, nodes, n, uses);
    case GGML_OP_MUL_MAT:
        if (!is_small_batch(nodes[0]))
            return 0;
        done = fuse_gated_matmuls(c, nodes, n, uses);
        return done ? done : fuse_matmuls(c, nodes, n, uses);
    case GGML_OP_ROPE:
        return fuse_rope(c, nodes, n, uses);
    case GGML_OP_GLU:
        if (n < 2 || !supports(nodes[0]))
            return 0;
        cuda_run_fused_glu(c, nodes[0], nodes[1], uses[0] == 1);
        return 1;
    case GGML_OP_FLASH_ATTN_EXT:
        if (n < 2 || !supports(nodes[0]))
            return 0;
        done = fuse_attention_batch(c, nodes, n, uses);
        if (done)
            return done;
        cuda_run_fused_attention(c, nodes[0], nodes[1]);
        return 1;
    default:
        return 0;
    }
}
