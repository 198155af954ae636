/* fuse.c - which nodes are one launch
 *
 *   [sum] norm [scale] [bias]
 *   products of the same few columns, each with a sum or bias
 *   two products of the same columns, and a gate
 *   keys that turn and go to a cache, as values do, and queries that turn
 *   attention of several sequences, and what puts them behind each other
 *
 * and a norm, a gate or attention makes its result ready for the product
 * behind.
 *
 * Nodes that are computed together no longer end before the next begins, so
 * results may lie over what else is read only where each element meets its own
 * place: whoever planned the memory counted on the order of the nodes.
 * (Attention of sequences sees to that itself.) */
#include <string.h>

#include "cuda/formats_list.h"
#include "cuda/kernels.h"
#include "cuda/multiply.h"
#include "cuda/norm.h"
#include "cuda/ops.h"
#include "cuda/shapes.h"
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

/* The source of `node` beside `from`; NULL if it has no such source, twice
 * that one, or is not of from's shape. */
static struct ggml_tensor *
beside(const struct ggml_tensor *node, const struct ggml_tensor *from)
{
    struct ggml_tensor *other;

    if (node->src[0] != from && node->src[1] != from)
        return NULL;
    other = node->src[0] == from ? node->src[1] : node->src[0];
    return other == from || !ggml_are_same_shape(node, from) ? NULL : other;
}

/* -- Norms -- */

/* What follows a norm, if it is `op`: its other source, which `out` may be
 * written beside. */
static const struct ggml_tensor *
follower(struct ggml_tensor *const *nodes, int i, int n, const int *uses,
         enum ggml_op op)
{
    if (i >= n || uses[i - 1] != 1 || nodes[i]->op != op || !supports(nodes[i]))
        return NULL;
    return beside(nodes[i], nodes[i - 1]);
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
    other = follower(nodes, i, n, uses, GGML_OP_MUL);
    if (other) {
        f.mul = nodes[i++];
        read[n_read++] = other;
        other = follower(nodes, i, n, uses, GGML_OP_ADD);
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

/* -- Products -- */
static bool
is_small_product(const struct ggml_tensor *t)
{
    return t->op == GGML_OP_MUL_MAT &&
           t->src[1]->ne[1] <=
               cuda_few_columns(cuda_is_format(t->src[0]->type)) &&
           !ggml_is_empty(t) && supports(t);
}

/* F32, of one row, or of the product's shape in one piece. */
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

/* nodes[0], a product, and the sum behind it that can be computed with it, or
 * NULL. */
static struct ggml_tensor *
sum_behind(struct ggml_tensor *const *nodes, int n, const int *uses)
{
    const struct ggml_tensor *other;

    if (n < 2 || uses[0] != 1 || nodes[1]->op != GGML_OP_ADD)
        return NULL;
    other = beside(nodes[1], nodes[0]);
    if (!other || !is_addend(other, nodes[0]) || !is_result(nodes[1]) ||
        !is_apart(nodes[1], other) ||
        cuda_overlap(nodes[1], nodes[0]->src[0]) ||
        cuda_overlap(nodes[1], nodes[0]->src[1]))
        return NULL;
    return nodes[1];
}

/* Whether a product can be computed beside another of the same columns. */
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
fuse_products(struct cuda_ctx *c, struct ggml_tensor *const *nodes, int n,
              const int *uses)
{
    struct cuda_product f = { .mul_mat = nodes[0] };
    const struct ggml_tensor *out[1 + CUDA_SIBLINGS];
    int i = 1;

    f.add = sum_behind(nodes, n, uses);
    i += f.add != NULL;
    out[0] = f.add ? f.add : f.mul_mat;
    for (int m = 0; m < CUDA_SIBLINGS && i < n; m++) {
        struct ggml_tensor *a = nodes[i], *add;
        bool apart = is_small_product(a) && is_sibling(nodes[0], a);

        if (!apart)
            break;
        add = sum_behind(nodes + i, n - i, uses + i);
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
    cuda_run_product(c, &f);
    return i;
}

static bool
are_twins(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    const struct ggml_tensor *w = a->src[0], *v = b->src[0];

    return a->src[1] == b->src[1] && w->type == v->type &&
           ggml_are_same_shape(w, v) && ggml_are_same_stride(w, v) &&
           ((uintptr_t)w->data & 15) == ((uintptr_t)v->data & 15);
}

static int
fuse_gate(struct cuda_ctx *c, struct ggml_tensor *const *nodes, int n,
          const int *uses)
{
    struct cuda_product f = { 0 };
    struct ggml_tensor *glu = n < 3 ? NULL : nodes[2];
    bool in_order;

    if (!glu || glu->op != GGML_OP_GLU || uses[0] != 1 || uses[1] != 1 ||
        !is_small_product(nodes[1]) || !are_twins(nodes[0], nodes[1]))
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
    cuda_run_product(c, &f);
    return 3;
}

/* -- Heads that turn, and caches -- */

/* Whether rows of x, tokens by heads, go to a cache whose elements are stored
 * one by one. */
static bool
is_store(const struct ggml_tensor *t, const struct ggml_tensor *x)
{
    return t->op == GGML_OP_SET_ROWS && supports(t) &&
           t->type != GGML_TYPE_Q8_0 && t->src[0]->ne[3] == 1 &&
           t->src[0]->ne[1] == x->ne[2] && !ggml_is_empty(t->src[0]);
}

/* Whether `set` has what `rope` gives, its heads and tokens exchanged. */
static bool
is_exchanged(const struct ggml_tensor *set, const struct ggml_tensor *rope)
{
    const struct ggml_tensor *x = set->src[0];

    return x->view_src == rope && x->data == rope->data &&
           x->type == rope->type && x->ne[0] == rope->ne[0] &&
           x->ne[1] == rope->ne[2] && x->ne[2] == rope->ne[1] &&
           x->nb[1] == rope->nb[2] && x->nb[2] == rope->nb[1];
}

static bool
are_same_turns(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return a->src[1] == b->src[1] && a->src[2] == b->src[2] &&
           a->ne[0] == b->ne[0] && a->ne[2] == b->ne[2] && a->ne[3] == 1 &&
           b->ne[3] == 1 && a->type == GGML_TYPE_F32 &&
           memcmp(a->op_params, b->op_params, sizeof(a->op_params)) == 0;
}

/* Whether what is written is read nowhere else: queries may lie where keys did,
 * and even where it says which rows of the cache are theirs. */
static bool
are_turns_apart(const struct cuda_turns *f)
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
fuse_turns(struct cuda_ctx *c, struct ggml_tensor *const *nodes, int n,
           const int *uses)
{
    struct cuda_turns f;

    if (n < 4 || uses[0] != 1 || nodes[3]->op != GGML_OP_ROPE)
        return 0;
    f.keys = nodes[0];
    f.set_keys = nodes[1];
    f.set_values = nodes[2];
    f.queries = nodes[3];
    if (!supports(f.keys) || !supports(f.queries) ||
        !are_same_turns(f.keys, f.queries) || !is_store(f.set_keys, f.keys) ||
        !is_exchanged(f.set_keys, f.keys) || !is_store(f.set_values, f.keys) ||
        !are_turns_apart(&f))
        return 0;
    cuda_run_turns(c, &f);
    return 4;
}

/* -- Attention of sequences -- */
#define MOST_SEQUENCES 256

/* Sequences, and the nodes, by their numbers, that have results which nothing
 * was put behind yet, the last on top. */
struct pile {
    struct ggml_tensor *each[MOST_SEQUENCES];
    int n_each, top[MOST_SEQUENCES], n_top;
    int64_t bytes; /* of scratch memory */
};

static bool
add_sequence(struct cuda_ctx *c, struct pile *p,
             struct ggml_tensor *const *nodes, int i)
{
    if (p->n_each == MOST_SEQUENCES || !cuda_can_attend_each(nodes[i]))
        return false;
    p->bytes += cuda_each_bytes(c, nodes[i]);
    p->each[p->n_each++] = nodes[i];
    p->top[p->n_top++] = i;
    return p->bytes <= CUDA_FOUND;
}

/* Puts the two on top together, if that is what node i does. */
static bool
join(struct pile *p, struct ggml_tensor *const *nodes, int i, const int *uses)
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

/* Attention of sequences, and what puts each behind those before, in whatever
 * order. */
static int
fuse_sequences(struct cuda_ctx *c, struct ggml_tensor *const *nodes, int n,
               const int *uses)
{
    struct pile p;
    int done = 0, n_each = 0;
    bool good = true;

    p.n_each = p.n_top = 0;
    p.bytes = 0;
    for (int i = 0; i < n && good; i++) {
        if (nodes[i]->op == GGML_OP_FLASH_ATTN_EXT)
            good = add_sequence(c, &p, nodes, i);
        else
            good = nodes[i]->op == GGML_OP_CONCAT && join(&p, nodes, i, uses);
        if (good && p.n_top == 1 && p.n_each > 1) {
            done = i + 1;
            n_each = p.n_each;
        }
    }
    if (done)
        cuda_run_each(c, p.each, n_each, nodes[done - 1],
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
        if (!is_small_product(nodes[0]))
            return 0;
        done = fuse_gate(c, nodes, n, uses);
        return done ? done : fuse_products(c, nodes, n, uses);
    case GGML_OP_ROPE:
        return fuse_turns(c, nodes, n, uses);
    case GGML_OP_GLU:
        if (n < 2 || !supports(nodes[0]))
            return 0;
        cuda_run_gate(c, nodes[0], nodes[1], uses[0] == 1);
        return 1;
    case GGML_OP_FLASH_ATTN_EXT:
        if (n < 2 || !supports(nodes[0]))
            return 0;
        done = fuse_sequences(c, nodes, n, uses);
        if (done)
            return done;
        cuda_run_attend(c, nodes[0], nodes[1]);
        return 1;
    default:
        return 0;
    }
}
