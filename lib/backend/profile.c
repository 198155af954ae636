/* profile.c - where the time of a back end goes: counters and what nodes are */
#include "backend/profile.h"

#include "core/mem.h"
#include "tensor/sparse.h"

struct backend_profile *
backend_profile_new(int n_threads)
{
    struct backend_profile *p = mem_zalloc(sizeof(*p));
    size_t n = (size_t)n_threads;

    if (!p)
        return NULL;
    p->n_threads = n_threads;
    p->kind = backend_profile_kind_on;
    p->count = backend_profile_count;
    for (int i = 0; i < PROFILE_PHASES; i++) {
        p->threads[i] = mem_aligned(PROFILE_LINE, n * sizeof(*p->threads[i]));
        if (!p->threads[i]) {
            backend_profile_free(p);
            return NULL;
        }
        for (size_t t = 0; t < n; t++)
            p->threads[i][t] = (struct profile_thread){ 0 };
    }
    return p;
}

void
backend_profile_free(struct backend_profile *profile)
{
    if (!profile)
        return;
    for (int i = 0; i < PROFILE_PHASES; i++)
        mem_free(profile->threads[i]);
    mem_free(profile);
}

/* ---- kinds -------------------------------------------------------------- */

static bool
is_attention(const struct ggml_tensor *node)
{
    return node->op == GGML_OP_FLASH_ATTN_EXT ||
           node->op == (int)TENSOR_OP_ATTENTION_PART;
}

/* Nodes of that op differ in speed by the type of their first source. */
static enum ggml_type
telling_type(const struct ggml_tensor *node)
{
    if (is_attention(node))
        return node->src[1]->type;
    switch (node->op) {
    case GGML_OP_MUL_MAT:
    case GGML_OP_MUL_MAT_ID:
    case GGML_OP_GET_ROWS:
        return node->src[0]->type;
    default:
        return GGML_TYPE_COUNT;
    }
}

/* The last place is for what finds no other. */
static struct profile_kind *
add_kind(struct backend_profile *p, const char *name, enum ggml_type type,
         const char *device)
{
    struct profile_kind *kind = &p->kinds[p->n_kinds];

    if (p->n_kinds == PROFILE_KINDS)
        return kind - 1;
    if (++p->n_kinds == PROFILE_KINDS)
        name = NULL;
    *kind = (struct profile_kind){
        .phase = p->phase, .name = name, .device = device, .type = type
    };
    return kind;
}

struct profile_kind *
backend_profile_kind(struct backend_profile *profile,
                     const struct ggml_tensor *node)
{
    return backend_profile_kind_on(profile, node, NULL);
}

/* Names of ops and devices are static. */
struct profile_kind *
backend_profile_kind_on(struct backend_profile *profile,
                        const struct ggml_tensor *node, const char *device)
{
    const char *name = ggml_op_desc(node);
    enum ggml_type type = telling_type(node);

    for (int i = 0; i < profile->n_kinds; i++) {
        struct profile_kind *kind = &profile->kinds[i];

        if (kind->name == name && kind->type == type &&
            kind->phase == profile->phase && kind->device == device)
            return kind;
    }
    return add_kind(profile, name, type, device);
}

/* ---- what a node moves and does ----------------------------------------- */

static uint64_t
rows_size(enum ggml_type type, int64_t n, int64_t rows)
{
    return (uint64_t)ggml_row_size(type, n) * (uint64_t)rows;
}

static uint64_t
tensor_bytes(const struct ggml_tensor *t)
{
    return t ? rows_size(t->type, t->ne[0], ggml_nrows(t)) : 0;
}

/* Matrices of experts that are read, if no two columns want the same. */
static uint64_t
experts_size(const struct ggml_tensor *node)
{
    const struct ggml_tensor *w = node->src[0];
    int64_t wanted = ggml_nelements(node->src[2]);

    return rows_size(w->type, w->ne[0],
                     w->ne[1] * (wanted < w->ne[2] ? wanted : w->ne[2]));
}

static uint64_t
bytes_of(const struct ggml_tensor *node)
{
    uint64_t n = tensor_bytes(node);

    switch (node->op) {
    case GGML_OP_GET_ROWS:
        return n + rows_size(node->src[0]->type, node->ne[0], ggml_nrows(node));
    case GGML_OP_SET_ROWS: /* the result is the whole target */
        return tensor_bytes(node->src[0]) +
               rows_size(node->type, node->ne[0], ggml_nrows(node->src[0]));
    case GGML_OP_MUL_MAT_ID:
        return n + experts_size(node) + tensor_bytes(node->src[1]);
    default:
        for (int i = 0; i < GGML_MAX_SRC; i++)
            n += tensor_bytes(node->src[i]);
        return n;
    }
}

/* Multiplications and additions of products; 0 elsewhere. */
static uint64_t
ops_of(const struct ggml_tensor *node)
{
    if (is_attention(node)) /* q k, then p v */
        return 2 * (uint64_t)node->src[1]->ne[1] *
               (uint64_t)(ggml_nelements(node->src[0]) + ggml_nelements(node));
    switch (node->op) {
    case GGML_OP_MUL_MAT:
    case GGML_OP_MUL_MAT_ID:
        return 2 * (uint64_t)node->src[0]->ne[0] *
               (uint64_t)ggml_nelements(node);
    default:
        return 0;
    }
}

void
backend_profile_count(struct profile_kind *kind, const struct ggml_tensor *node)
{
    kind->calls++;
    kind->bytes += bytes_of(node);
    kind->ops += ops_of(node);
}
