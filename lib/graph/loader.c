/* loader.c - finding the tensors that a family needs */
#include "graph/loader.h"

#include <inttypes.h>
#include <stdio.h>

#include "graph/arch.h"
#include "graph/probe.h"

enum {
    MAX_SHAPE = 96,
    MAX_ON_HOST = 1 << 20,
};

static void
full_name(const struct model_loader *l, const char *name, const char *suffix,
          char *buf)
{
    const struct model_hparams *hp = &l->model->hp;
    const struct model_arch *arch = l->model->arch;
    bool decodes = hp->n_encoder > 0 && !graph_encodes(hp, l->layer);
    const char *stack = decodes ? arch->decoder : arch->stack;
    const char *dot = *suffix ? "." : "";
    const char *of = arch->drafter ? DRAFTER_PREFIX : "";
    int32_t before = arch->drafter ? hp->n_layer : decodes ? hp->n_encoder : 0;

    if (name[0] == '.')
        snprintf(buf, GGML_MAX_NAME, "%s%sblk.%d%s%s%s", of, stack ? stack : "",
                 (int)(l->layer - before), name, dot, suffix);
    else
        snprintf(buf, GGML_MAX_NAME, "%s%s%s%s", of, name, dot, suffix);
}

static void
show_shape(char *buf, const struct gguf_tensor *t)
{
    int used = snprintf(buf, MAX_SHAPE, "%" PRId64, t->ne[0]);

    for (int i = 1; i < t->n_dims; i++)
        used += snprintf(buf + used, (size_t)(MAX_SHAPE - used), " x %" PRId64,
                         t->ne[i]);
}

typedef bool
probe_t(struct ggml_context *, ggml_backend_dev_t, struct ggml_tensor *);

/* A tensor as the family expects it. */
struct want {
    int64_t ne[GGML_MAX_DIMS]; /* 1, the last one 0: there is none */
    bool f32;                  /* and no other type */
    enum model_need need;
    probe_t *probe; /* what it is there for; NULL: anything */
};

static bool
has_shape(const struct gguf_tensor *t, const struct want *w)
{
    return t->ne[0] == w->ne[0] && t->ne[1] == w->ne[1] &&
           t->ne[2] == w->ne[2] && t->ne[3] == (w->ne[3] > 1 ? w->ne[3] : 1);
}

static void
bad_shape(struct model_loader *l, const struct gguf_tensor *t,
          const struct want *w)
{
    struct gguf_tensor wanted = { .n_dims = 1 };
    char is[MAX_SHAPE], not [MAX_SHAPE];

    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        wanted.ne[i] = w->ne[i];
        if (w->ne[i] > 1)
            wanted.n_dims = i + 1;
    }
    show_shape(is, t);
    show_shape(not, &wanted);
    l->status = gguf_bad_value(l->gguf, t->name, l->err, "shape is %s, not %s",
                               is, not );
}

static void
bad_type(struct model_loader *l, const struct gguf_tensor *t, const char *why)
{
    gguf_bad_value(l->gguf, t->name, l->err, "type is %s, %s",
                   ggml_type_name(t->type), why);
    l->status = GG_ERR_UNSUPPORTED;
}

/* Probes a tensor that the CPU reads, whichever device has the layers. */
static bool
probe_on_cpu(struct ggml_context *scratch, ggml_backend_dev_t dev,
             struct ggml_tensor *weight)
{
    return graph_probe_get_rows(scratch, dev, weight);
}

/* Whether a device can do with a weight of this type what it is there for. */
static bool
can_use(struct model_loader *l, ggml_backend_dev_t dev,
        const struct gguf_tensor *t, probe_t *probe)
{
    struct ggml_tensor *w;

    ggml_reset(l->weight);
    w = ggml_new_tensor(l->weight, t->type, t->n_dims, t->ne);
    return !probe || probe(l->scratch, dev, w);
}

/* The context of its home's tensors, or the CPU's; NULL if neither can use it.
 */
static struct ggml_context *
context_for(struct model_loader *l, const struct gguf_tensor *t, probe_t *probe,
            enum model_part part)
{
    const struct model *m = l->model;
    int home = probe == probe_on_cpu ? 0 : graph_home_of(m, l->layer, part);

    if (can_use(l, m->homes[home].device, t, probe))
        return m->homes[home].ctx;
    return home && can_use(l, m->homes[0].device, t, probe) ? m->homes[0].ctx
                                                            : NULL;
}

/* Whether another process of a pipeline has it, and this one no use for it:
 * tensors of layers, and the tables of ids. With embeddings of their own all
 * layers need those of the ids. */
static bool
is_elsewhere(const struct model_loader *l, const struct gguf_tensor *t)
{
    const struct model *m = l->model;
    bool used = l->for_all || graph_has_layer(m, l->layer);
    int32_t n_loop = m->hp.n_loop;

    if (m->hp.ngrams.n > 0 && !strcmp(t->name, "per_layer_token_embd.weight"))
        return !graph_has_layer(m, m->hp.ngrams.layer);
    if (!strstr(t->name, "blk."))
        return m->first > 0 && t->ne[1] == m->hp.n_vocab &&
               m->hp.n_embd_layer == 0;
    for (int32_t i = l->layer; n_loop > 0 && i < m->hp.n_layer; i += n_loop)
        used = used || graph_has_layer(m, i);
    return !used;
}

static struct ggml_tensor *
new_weight(struct model_loader *l, const struct gguf_tensor *t, probe_t *probe,
           enum model_part part)
{
    struct ggml_context *ctx = is_elsewhere(l, t)
                                   ? l->model->elsewhere
                                   : context_for(l, t, probe, part);
    struct ggml_tensor *r;

    if (!ctx) {
        bad_type(l, t, "which the device cannot compute with");
        return NULL;
    }
    r = ggml_new_tensor(ctx, t->type, t->n_dims, t->ne);
    if (!r)
        l->status = error_nomem(l->err);
    return r;
}

static void
mark_taken(struct model_loader *l, const struct gguf_tensor *t)
{
    l->taken[gguf_find_tensor(l->gguf, t->name)] = true;
}

static struct ggml_tensor *
find_part(struct model_loader *l, const char *name, const char *suffix,
          struct want want, enum model_part part)
{
    char full[GGML_MAX_NAME];
    const struct gguf_tensor *t;
    struct ggml_tensor *r;

    if (l->status != GG_OK)
        return NULL;
    full_name(l, name, suffix, full);
    t = gguf_tensor_named(l->gguf, full);
    if (!t) {
        if (want.need == MODEL_REQUIRED)
            l->status = gguf_bad_value(l->gguf, full, l->err,
                                       "the file has no such tensor");
        return NULL;
    }
    if (!has_shape(t, &want)) {
        bad_shape(l, t, &want);
        return NULL;
    }
    if (want.f32 && t->type != GGML_TYPE_F32) {
        bad_type(l, t, "not f32");
        return NULL;
    }
    mark_taken(l, t);
    r = new_weight(l, t, want.probe, part);
    if (r)
        ggml_set_name(r, full);
    return r;
}

static struct ggml_tensor *
find_tensor(struct model_loader *l, const char *name, const char *suffix,
            struct want want)
{
    return find_part(l, name, suffix, want, MODEL_REST);
}

/* NAME.suffix, if it is n F32 values; it counts as found. */
static const struct gguf_tensor *
find_numbers(struct model_loader *l, const char *name, const char *suffix,
             int64_t n)
{
    struct want want = { .ne = { n, 1, 1 } };
    char full[GGML_MAX_NAME];
    const struct gguf_tensor *t;

    if (l->status != GG_OK)
        return NULL;
    full_name(l, name, suffix, full);
    t = gguf_tensor_named(l->gguf, full);
    if (!t || t->type != GGML_TYPE_F32 || !has_shape(t, &want))
        return NULL;
    mark_taken(l, t);
    return t;
}

/* Scales that a product with NAME's weight is multiplied by: n values, or NULL.
 * Scales that some programs would round activations by are of no use here. */
static const struct gguf_tensor *
find_scales(struct model_loader *l, const char *name, int64_t n)
{
    const struct gguf_tensor *t = find_numbers(l, name, "scale", n);

    find_numbers(l, name, "input_scale", n);
    return t ? t : find_numbers(l, name, "weight.scale", n);
}

static float
find_scale(struct model_loader *l, const char *name)
{
    const struct gguf_tensor *t = find_scales(l, name, 1);
    float scale = 1;

    if (t)
        memcpy(&scale, t->data, sizeof(scale));
    return scale;
}

const struct gguf_tensor *
graph_find_integers(struct model_loader *l, const char *name)
{
    char full[GGML_MAX_NAME];
    const struct gguf_tensor *t;

    if (l->status != GG_OK)
        return NULL;
    full_name(l, name, "", full);
    t = gguf_tensor_named(l->gguf, full);
    if (!t)
        return NULL;
    if (t->type != GGML_TYPE_I64 && t->type != GGML_TYPE_I32)
        bad_type(l, t, "not i64 or i32");
    else if (t->ne[1] != 1 || t->ne[2] != 1 || t->ne[3] != 1)
        bad_shape(l, t, &(struct want){ .ne = { t->ne[0], 1, 1 } });
    else
        mark_taken(l, t);
    return l->status == GG_OK ? t : NULL;
}

struct ggml_tensor *
graph_find_matrix(struct model_loader *l, const char *name, int64_t n_in,
                  int64_t n_out, enum model_need need)
{
    struct want want = { { n_in, n_out, 1 }, false, need, graph_probe_mul_mat };

    return find_tensor(l, name, "weight", want);
}

const struct gguf_tensor *
graph_find_on_host(struct model_loader *l, const char *name, int64_t n_in,
                   int64_t n_out)
{
    return graph_find_all_on_host(l, name, n_in, n_out, 1);
}

const struct gguf_tensor *
graph_find_all_on_host(struct model_loader *l, const char *name, int64_t n_in,
                       int64_t n_out, int64_t n)
{
    const struct gguf_tensor *t = gguf_tensor_named(l->gguf, name);
    struct want want = { .ne = { n_in, n_out, n } };

    if (l->status != GG_OK || !t)
        return NULL;
    for (int i = 0; i < 2; i++)
        if (want.ne[i] == 0)
            want.ne[i] = t->ne[i] <= MAX_ON_HOST ? t->ne[i] : MAX_ON_HOST;
    if (!has_shape(t, &want))
        bad_shape(l, t, &want);
    else if (t->type != GGML_TYPE_F32 &&
             !ggml_get_type_traits(t->type)->to_float)
        bad_type(l, t, "which cannot be read");
    else
        mark_taken(l, t);
    return l->status == GG_OK ? t : NULL;
}

struct ggml_tensor *
graph_find_table(struct model_loader *l, const char *name, int64_t n,
                 int64_t n_rows)
{
    struct want want = {
        { n, n_rows, 1 }, false, MODEL_REQUIRED, graph_probe_get_rows
    };

    return find_tensor(l, name, "weight", want);
}

struct ggml_tensor *
graph_find_table_or_none(struct model_loader *l, const char *name, int64_t n,
                         int64_t n_rows)
{
    struct want want = {
        { n, n_rows, 1 }, false, MODEL_OPTIONAL, graph_probe_get_rows
    };

    return find_tensor(l, name, "weight", want);
}

struct ggml_tensor *
graph_find_sparse_table(struct model_loader *l, const char *name, int64_t n,
                        int64_t n_rows)
{
    struct want want = {
        { n, n_rows, 1 }, false, MODEL_REQUIRED, probe_on_cpu
    };

    return find_tensor(l, name, "weight", want);
}

struct ggml_tensor *
graph_find_matrices(struct model_loader *l, const char *name, int64_t n_in,
                    int64_t n_out, int64_t n)
{
    struct want want = {
        { n_in, n_out, n }, false, MODEL_REQUIRED, graph_probe_mul_mat
    };

    return find_tensor(l, name, "weight", want);
}

struct ggml_tensor *
graph_find_scales(struct model_loader *l, const char *name, int64_t n)
{
    struct want want = { { n, 1, 1 }, true, MODEL_REQUIRED, NULL };

    return find_tensor(l, name, "scale", want);
}

struct ggml_tensor *
graph_find_vector(struct model_loader *l, const char *name, int64_t n,
                  enum model_need need)
{
    struct want want = { { n, 1, 1 }, true, need, NULL };

    return find_tensor(l, name, "weight", want);
}

struct ggml_tensor *
graph_find_numbers(struct model_loader *l, const char *name, int64_t n,
                   int64_t n_columns, bool f32)
{
    struct want want = { { n, n_columns, 1 },
                         f32,
                         MODEL_REQUIRED,
                         f32 ? NULL : graph_probe_get_rows };

    return find_tensor(l, name, "", want);
}

struct ggml_tensor *
graph_find_kernel(struct model_loader *l, const char *name, int64_t n,
                  int64_t n_columns)
{
    struct want want = { { n, 1, n_columns }, true, MODEL_REQUIRED, NULL };

    return find_tensor(l, name, "weight", want);
}

struct ggml_tensor *
graph_find_shares(struct model_loader *l, const char *name, int64_t n,
                  int64_t n_mixes)
{
    struct want want = { { n, 1, 1, n_mixes }, true, MODEL_REQUIRED, NULL };

    return find_tensor(l, name, "weight", want);
}

struct ggml_tensor *
graph_find_filters(struct model_loader *l, const char *name,
                   const int64_t ne[GGML_MAX_DIMS])
{
    struct want want = {
        { ne[0], ne[1], ne[2], ne[3] }, false, MODEL_REQUIRED, NULL
    };
    struct ggml_tensor *t = find_tensor(l, name, "", want);

    if (!t || t->type == GGML_TYPE_F32 || t->type == GGML_TYPE_F16 ||
        t->type == GGML_TYPE_BF16)
        return t;
    bad_type(l, gguf_tensor_named(l->gguf, t->name), "not f32, f16 or bf16");
    return NULL;
}

struct ggml_tensor *
graph_find_bias(struct model_loader *l, const char *name, int64_t n,
                enum model_need need)
{
    struct want want = { { n, 1, 1 }, true, need, NULL };

    return find_tensor(l, name, "bias", want);
}

/* A weight of its own for the scales of each expert. */
static struct ggml_tensor *
find_expert_scales(struct model_loader *l, const char *name, int64_t n)
{
    const struct gguf_tensor *t = find_scales(l, name, n);
    struct ggml_tensor *r = t ? new_weight(l, t, NULL, MODEL_EXPERTS) : NULL;

    if (r)
        ggml_set_name(r, t->name);
    return r;
}

struct model_experts
graph_find_experts(struct model_loader *l, const char *name, int64_t n_in,
                   int64_t n_out, enum model_need bias)
{
    return graph_find_experts_of(l, name, n_in, n_out, l->model->hp.n_expert,
                                 bias);
}

struct model_experts
graph_find_experts_of(struct model_loader *l, const char *name, int64_t n_in,
                      int64_t n_out, int64_t n, enum model_need bias)
{
    struct want matrices = {
        { n_in, n_out, n }, false, MODEL_REQUIRED, graph_probe_mul_mat_id
    };
    struct want biases = { { n_out, n, 1 }, true, bias, NULL };

    return (struct model_experts){
        find_part(l, name, "weight", matrices, MODEL_EXPERTS),
        find_part(l, name, "bias", biases, MODEL_EXPERTS),
        find_expert_scales(l, name, n),
    };
}

struct model_switched
graph_find_switched(struct model_loader *l, const char *name, int64_t n_in,
                    int64_t n_out)
{
    const struct model_switches *s = &l->model->hp.switches;
    struct want a = { .ne = { n_in, s->rank, s->n + 1 },
                      .probe = graph_probe_mul_mat_id };
    struct want b = { .ne = { s->rank, n_out, s->n + 1 },
                      .probe = graph_probe_mul_mat_id };

    return (struct model_switched){ find_tensor(l, name, "lora_a", a),
                                    find_tensor(l, name, "lora_b", b) };
}

struct model_linear
graph_find_linear_or_none(struct model_loader *l, const char *name,
                          int64_t n_in, int64_t n_out, enum model_need bias)
{
    struct model_linear r = { .scale = 1 };

    r.weight = graph_find_matrix(l, name, n_in, n_out, MODEL_OPTIONAL);
    if (!r.weight)
        return r;
    r.bias = graph_find_bias(l, name, n_out, bias);
    r.scale = find_scale(l, name);
    return r;
}

struct model_linear
graph_find_linear(struct model_loader *l, const char *name, int64_t n_in,
                  int64_t n_out, enum model_need bias)
{
    return (struct model_linear){
        .weight = graph_find_matrix(l, name, n_in, n_out, MODEL_REQUIRED),
        .bias = graph_find_bias(l, name, n_out, bias),
        .scale = find_scale(l, name),
    };
}

struct model_norm
graph_find_norm(struct model_loader *l, const char *name, int64_t n,
                enum model_need bias)
{
    return (struct model_norm){
        graph_find_vector(l, name, n, MODEL_REQUIRED),
        graph_find_bias(l, name, n, bias),
    };
}

struct model_norm
graph_find_norm_or_none(struct model_loader *l, const char *name, int64_t n,
                        enum model_need bias)
{
    struct model_norm norm = {
        graph_find_vector(l, name, n, MODEL_OPTIONAL),
        NULL,
    };

    if (norm.weight)
        norm.bias = graph_find_bias(l, name, n, bias);
    return norm;
}

struct model_norm
graph_find_norm_each(struct model_loader *l, const char *name, int64_t n,
                     int64_t n_heads)
{
    struct want want = { { n, n_heads, 1 }, true, MODEL_OPTIONAL, NULL };

    return (struct model_norm){ find_tensor(l, name, "weight", want), NULL };
}

bool
graph_has_rows(const struct model_loader *l, const char *name, int64_t n)
{
    const struct gguf_tensor *t = graph_peek(l, name);

    return t && t->ne[1] == n;
}

const struct gguf_tensor *
graph_peek(const struct model_loader *l, const char *name)
{
    char full[GGML_MAX_NAME];

    full_name(l, name, "weight", full);
    return gguf_tensor_named(l->gguf, full);
}

void
graph_pass_over(struct model_loader *l, const char *name)
{
    const struct gguf_tensor *t = graph_peek(l, name);

    if (t)
        mark_taken(l, t);
}

static bool
is_in_context(const struct ggml_context *ctx, const struct ggml_tensor *t)
{
    uintptr_t start = (uintptr_t)ggml_get_mem_buffer(ctx);

    return (uintptr_t)t - start < ggml_get_mem_size(ctx);
}

/* The embedding's table, or, where the output is computed by another, the same
 * table once more. */
static struct ggml_tensor *
find_tied_output(struct model_loader *l)
{
    struct ggml_tensor *embd = l->model->token_embd, *r;
    const struct gguf_tensor *t;
    struct ggml_context *ctx;

    if (l->status != GG_OK)
        return NULL;
    t = gguf_tensor_named(l->gguf, embd->name);
    ctx = context_for(l, t, graph_probe_mul_mat, MODEL_REST);
    if (ctx && (is_in_context(ctx, embd) || is_elsewhere(l, t)))
        return embd;
    r = new_weight(l, t, graph_probe_mul_mat, MODEL_REST);
    if (r)
        ggml_set_name(r, embd->name);
    return r;
}

struct model_linear
graph_find_output(struct model_loader *l)
{
    const struct model_hparams *hp = &l->model->hp;
    struct model_linear output = graph_find_linear_or_none(
        l, "output", hp->n_embd, hp->n_vocab, MODEL_OPTIONAL);

    if (output.weight)
        return output;
    output.weight = find_tied_output(l);
    output.bias = graph_find_bias(l, "output", hp->n_vocab, MODEL_OPTIONAL);
    return output;
}
