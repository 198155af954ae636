/* loader.c - finding the tensors that a family needs */
#include "model/loader.h"

#include <inttypes.h>
#include <stdio.h>

#include "model/probe.h"

enum {
    MAX_SHAPE = 96,
};

static void
full_name(const struct model_loader *l, const char *name, const char *suffix,
          char *buf)
{
    if (name[0] == '.')
        snprintf(buf, GGML_MAX_NAME, "blk.%d%s.%s", (int)l->layer, name,
                 suffix);
    else
        snprintf(buf, GGML_MAX_NAME, "%s.%s", name, suffix);
}

static void
show_shape(char *buf, const struct gguf_tensor *t)
{
    int used = snprintf(buf, MAX_SHAPE, "%" PRId64, t->ne[0]);

    for (int i = 1; i < t->n_dims; i++)
        used += snprintf(buf + used, (size_t)(MAX_SHAPE - used), " x %" PRId64,
                         t->ne[i]);
}

/* n_out 0: a vector. */
static bool
has_shape(const struct gguf_tensor *t, int64_t n_in, int64_t n_out)
{
    return t->ne[0] == n_in && t->ne[1] == (n_out ? n_out : 1) &&
           t->ne[2] == 1 && t->ne[3] == 1;
}

static void
bad_shape(struct model_loader *l, const struct gguf_tensor *t, int64_t n_in,
          int64_t n_out)
{
    char is[MAX_SHAPE], not [MAX_SHAPE];

    show_shape(is, t);
    snprintf(not, sizeof(not ), n_out ? "%" PRId64 " x %" PRId64 : "%" PRId64,
             n_in, n_out);
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

static struct ggml_tensor *
find(struct model_loader *l, const char *name, int64_t n_in, int64_t n_out,
     enum model_need need)
{
    const struct gguf_tensor *t;
    struct ggml_tensor *r;

    if (l->status != GG_OK)
        return NULL;
    t = gguf_tensor_named(l->gguf, name);
    if (!t) {
        if (need == MODEL_REQUIRED)
            l->status = gguf_bad_value(l->gguf, name, l->err,
                                       "the file has no such tensor");
        return NULL;
    }
    if (!has_shape(t, n_in, n_out)) {
        bad_shape(l, t, n_in, n_out);
        return NULL;
    }
    if (n_out == 0 && t->type != GGML_TYPE_F32) {
        bad_type(l, t, "not f32");
        return NULL;
    }
    r = ggml_new_tensor(l->model->ctx, t->type, t->n_dims, t->ne);
    if (!r)
        l->status = error_nomem(l->err);
    else
        ggml_set_name(r, name);
    return r;
}

/* `t`, if the device can do with its type what it is there for. */
static struct ggml_tensor *
usable(struct model_loader *l, struct ggml_tensor *t,
       bool (*probe)(struct ggml_context *, ggml_backend_dev_t,
                     struct ggml_tensor *))
{
    if (!t || probe(l->scratch, l->model->device, t))
        return t;
    bad_type(l, gguf_tensor_named(l->gguf, t->name),
             "which the device cannot compute with");
    return NULL;
}

struct ggml_tensor *
model_find_matrix(struct model_loader *l, const char *name, int64_t n_in,
                  int64_t n_out, enum model_need need)
{
    char full[GGML_MAX_NAME];

    full_name(l, name, "weight", full);
    return usable(l, find(l, full, n_in, n_out, need), probe_mul_mat);
}

struct ggml_tensor *
model_find_table(struct model_loader *l, const char *name, int64_t n,
                 int64_t n_rows)
{
    char full[GGML_MAX_NAME];

    full_name(l, name, "weight", full);
    return usable(l, find(l, full, n, n_rows, MODEL_REQUIRED), probe_get_rows);
}

struct ggml_tensor *
model_find_vector(struct model_loader *l, const char *name, int64_t n,
                  enum model_need need)
{
    char full[GGML_MAX_NAME];

    full_name(l, name, "weight", full);
    return find(l, full, n, 0, need);
}

static struct ggml_tensor *
find_bias(struct model_loader *l, const char *name, int64_t n,
          enum model_need need)
{
    char full[GGML_MAX_NAME];

    full_name(l, name, "bias", full);
    return find(l, full, n, 0, need);
}

struct model_linear
model_find_linear(struct model_loader *l, const char *name, int64_t n_in,
                  int64_t n_out, enum model_need bias)
{
    return (struct model_linear){
        model_find_matrix(l, name, n_in, n_out, MODEL_REQUIRED),
        find_bias(l, name, n_out, bias),
    };
}

struct model_norm
model_find_norm(struct model_loader *l, const char *name, int64_t n,
                enum model_need bias)
{
    return (struct model_norm){
        model_find_vector(l, name, n, MODEL_REQUIRED),
        find_bias(l, name, n, bias),
    };
}

struct model_linear
model_find_output(struct model_loader *l)
{
    const struct model_hparams *hp = &l->model->hp;
    struct model_linear output = {
        model_find_matrix(l, "output", hp->n_embd, hp->n_vocab, MODEL_OPTIONAL),
        find_bias(l, "output", hp->n_vocab, MODEL_OPTIONAL),
    };

    if (!output.weight)
        output.weight = usable(l, l->model->token_embd, probe_mul_mat);
    return output;
}
