/* build_sparse.c - op builders: sparse attention, and attention in parts */
#include <assert.h>

#include "tensor/sparse.h"

/* op_params: the choice; keys, where no scores tell how many there are. */
enum {
    CHOICE_KEYS = 12,
};

static_assert(sizeof(struct tensor_choice) <= CHOICE_KEYS * sizeof(int32_t),
              "a choice is a parameter");
static_assert((CHOICE_KEYS + 1) * sizeof(int32_t) <= GGML_MAX_OP_PARAMS, "so");

struct tensor_choice
tensor_get_choice(const struct ggml_tensor *t)
{
    struct tensor_choice c;

    memcpy(&c, t->op_params, sizeof(c));
    return c;
}

int64_t
tensor_choice_keys(const struct ggml_tensor *t)
{
    const struct ggml_tensor *scores = t->src[TENSOR_CHOOSE_SCORES];
    struct tensor_choice c = tensor_get_choice(t);

    if (!scores)
        return tensor_get_i32(t, CHOICE_KEYS);
    if (!c.pooled)
        return scores->ne[0];
    return scores->ne[0] * c.block + (c.tail ? c.block - 1 : 0);
}

/* The length of the longest list. */
static int64_t
list_length(const struct tensor_choice *c)
{
    return (int64_t)c->n_best * c->block + (c->tail ? c->block - 1 : 0);
}

static enum ggml_op
private_op(int op)
{
    return (enum ggml_op)op;
}

struct ggml_tensor *
tensor_choose(struct ggml_context *ctx, struct ggml_tensor *scores,
              struct ggml_tensor *seen, int32_t n_keys,
              const struct tensor_choice *choice)
{
    struct tensor_choice c = *choice;
    bool by_mask = seen->type == GGML_TYPE_F16;
    int64_t n_lists = scores ? scores->ne[1] : 1;
    int64_t n_tokens = scores    ? scores->ne[2]
                       : by_mask ? seen->ne[1]
                                 : seen->ne[0];
    struct ggml_tensor *t;

    c.block = c.block ? c.block : 1;
    c.each = c.each ? c.each : 1;
    GGML_ASSERT(c.n_best > 0 && c.n_local >= 0 && c.block > 0 && c.each > 0);
    GGML_ASSERT(c.start >= 0 && c.start % c.each == 0 && c.row >= 0);
    GGML_ASSERT(by_mask || seen->type == GGML_TYPE_I32);
    GGML_ASSERT(seen->ne[by_mask] >= n_tokens);
    GGML_ASSERT(!scores || (scores->type == GGML_TYPE_F32 && n_keys == 0 &&
                            scores->ne[3] == 1));
    t = ggml_new_tensor_3d(ctx, GGML_TYPE_I32, list_length(&c), n_lists,
                           n_tokens);
    memcpy(t->op_params, &c, sizeof(c));
    tensor_set_i32(t, CHOICE_KEYS, n_keys);
    return tensor_record(t, private_op(TENSOR_OP_CHOOSE), seen, scores);
}

/* Whether heads find keys, values and lists for them. */
static bool
rows_match(const struct tensor_rows *r, const struct ggml_tensor *q,
           const struct ggml_tensor *v)
{
    const struct ggml_tensor *k = r->k, *l = r->lists;

    return k->ne[0] == q->ne[0] && q->ne[1] % k->ne[2] == 0 && k->ne[3] == 1 &&
           r->v->ne[0] == v->ne[0] && r->v->ne[1] == k->ne[1] &&
           r->v->ne[2] == k->ne[2] && r->v->ne[3] == 1 &&
           l->type == GGML_TYPE_I32 && l->ne[2] == q->ne[2] && l->ne[3] == 1 &&
           (l->ne[1] == 1 || l->ne[1] == k->ne[2]);
}

static void
set_rows(struct ggml_tensor *t, int at, const struct tensor_rows *r)
{
    t->src[at] = r->k;
    t->src[at + 1] = r->v;
    t->src[at + 2] = r->lists;
}

struct ggml_tensor *
tensor_attend_rows(struct ggml_context *ctx, struct ggml_tensor *q,
                   const struct tensor_rows *rows,
                   const struct tensor_rows *more, struct ggml_tensor *sinks,
                   float scale)
{
    struct ggml_tensor *t = ggml_new_tensor_3d(
        ctx, GGML_TYPE_F32, rows->v->ne[0], q->ne[1], q->ne[2]);

    GGML_ASSERT(q->type == GGML_TYPE_F32 && q->ne[3] == 1);
    GGML_ASSERT(rows_match(rows, q, rows->v));
    GGML_ASSERT(!more || rows_match(more, q, rows->v));
    GGML_ASSERT(!sinks || (sinks->type == GGML_TYPE_F32 &&
                           sinks->ne[0] == q->ne[1] && ggml_nrows(sinks) == 1));
    tensor_set_f32(t, 0, scale);
    t->op = private_op(TENSOR_OP_ATTENTION_ROWS);
    t->src[TENSOR_ROWS_Q] = q;
    set_rows(t, TENSOR_ROWS_K, rows);
    if (more)
        set_rows(t, TENSOR_ROWS_MORE, more);
    t->src[TENSOR_ROWS_SINKS] = sinks;
    return t;
}

/* The state of each query between two parts. */
static bool
sums_match(const struct ggml_tensor *sums, const struct ggml_tensor *q,
           int64_t d_value)
{
    return sums->type == GGML_TYPE_F32 &&
           sums->ne[0] == d_value + TENSOR_PART_EXTRA &&
           sums->ne[1] == q->ne[2] && sums->ne[2] == q->ne[1] &&
           sums->ne[3] == q->ne[3];
}

static bool
part_matches(const struct tensor_part *p)
{
    const struct ggml_tensor *q = p->q, *k = p->k, *v = p->v, *m = p->mask;

    return q->ne[0] == k->ne[0] && q->ne[2] % k->ne[2] == 0 &&
           q->ne[3] % k->ne[3] == 0 && v->ne[1] == k->ne[1] &&
           q->ne[2] % v->ne[2] == 0 && q->ne[3] % v->ne[3] == 0 &&
           (!m || (m->type == GGML_TYPE_F16 && m->ne[0] == k->ne[1] &&
                   q->ne[2] % m->ne[2] == 0 && q->ne[3] % m->ne[3] == 0)) &&
           (p->max_bias <= 0 || m);
}

struct ggml_tensor *
tensor_attend_part(struct ggml_context *ctx, const struct tensor_part *part)
{
    const struct ggml_tensor *q = part->q;
    int64_t d_value = part->v->ne[0];
    struct ggml_tensor *t = ggml_new_tensor_4d(
        ctx, GGML_TYPE_F32, d_value + (part->more ? TENSOR_PART_EXTRA : 0),
        q->ne[2], q->ne[1], q->ne[3]);

    GGML_ASSERT(part_matches(part));
    GGML_ASSERT(!part->more ||
                (!part->sinks && part->k->ne[1] % TENSOR_PART_KEYS == 0));
    GGML_ASSERT(!part->before || sums_match(part->before, q, d_value));
    tensor_set_f32(t, 0, part->scale);
    tensor_set_f32(t, 1, part->max_bias);
    tensor_set_f32(t, 2, part->softcap);
    tensor_set_i32(t, 3, part->more);
    t->op = private_op(TENSOR_OP_ATTENTION_PART);
    t->src[0] = part->q;
    t->src[1] = part->k;
    t->src[2] = part->v;
    t->src[3] = part->mask;
    t->src[4] = part->sinks;
    t->src[TENSOR_PART_BEFORE] = part->before;
    return t;
}
