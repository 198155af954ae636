/* params.c - all weights of a model as parameters */
#include "train/params.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "quant/types.h"
#include "train/random.h"

/* ---- which --------------------------------------------------------------- */

static bool
is_divisor(const struct model *m, const struct ggml_tensor *t)
{
    return t == m->rope.divisors || t == m->rope.divisors_long ||
           t == m->rope_local.divisors || t == m->rope_local.divisors_long;
}

bool
train_is_matrix(const struct ggml_tensor *t)
{
    return ggml_n_dims(t) > 1 && strncmp(t->name, "blk.", 4) == 0 &&
           !strstr(t->name, "norm");
}

bool
train_params_add(struct train_params *params, struct ggml_tensor *weight,
                 bool matrix)
{
    struct train_param *p;

    if (!mem_grow(&params->p, &params->cap, params->n + 1, sizeof(*p)))
        return false;
    p = &params->p[params->n++];
    *p = (struct train_param){ .weight = weight, .matrix = matrix };
    params->n_values += ggml_nelements(weight);
    return true;
}

static bool
add_all(struct train_params *params, struct model *m)
{
    bool done = true;

    for (int i = 0; i < m->n_homes; i++) {
        struct ggml_tensor *t = ggml_get_first_tensor(m->homes[i].ctx);

        for (; t && done; t = ggml_get_next_tensor(m->homes[i].ctx, t))
            if (!is_divisor(m, t))
                done = train_params_add(params, t, train_is_matrix(t));
    }
    return done;
}

/* ---- memory -------------------------------------------------------------- */

static struct ggml_tensor *
like(struct train_params *params, const struct ggml_tensor *weight,
     const char *what)
{
    struct ggml_tensor *t =
        ggml_new_tensor(params->ctx, GGML_TYPE_F32, GGML_MAX_DIMS, weight->ne);

    ggml_format_name(t, "%s%.50s", what, weight->name);
    return t;
}

/* The weight itself moves here, which makes it F32 for all who have a pointer
 * to it. What it was is left in *old. */
static void
move_weight(struct ggml_tensor *to, struct ggml_tensor *weight,
            struct ggml_tensor *old)
{
    *old = *weight;
    weight->type = GGML_TYPE_F32;
    memcpy(weight->nb, to->nb, sizeof(weight->nb));
    weight->data = to->data;
    weight->buffer = to->buffer;
    ggml_set_param(weight);
}

static bool
to_floats(const struct ggml_tensor *old, struct ggml_tensor *weight)
{
    ggml_to_float_t read = quant_reader(old->type);
    int64_t n = ggml_nelements(old), row = old->ne[0];
    size_t size = ggml_row_size(old->type, row);

    if (!read)
        return false;
    for (int64_t r = 0; r < n / row; r++)
        read((const char *)old->data + (size_t)r * size,
             (float *)weight->data + r * row, row);
    return true;
}

static enum gg_status
place_weights(struct train_params *params, struct ggml_tensor **copies,
              struct gg_error *err)
{
    for (size_t i = 0; i < params->n; i++) {
        struct ggml_tensor *w = params->p[i].weight, old;

        move_weight(copies[i], w, &old);
        if (!params->measured && !to_floats(&old, w))
            return error_set(err, GG_ERR_UNSUPPORTED, "%s: %s cannot be read",
                             w->name, ggml_type_name(old.type));
    }
    return GG_OK;
}

enum gg_status
train_params_place(struct train_params *params, struct gg_error *err)
{
    for (size_t i = 0; i < params->n; i++) {
        struct train_param *p = &params->p[i];

        p->grad = like(params, p->weight, "grad.");
        p->moments[TRAIN_FIRST] = like(params, p->weight, "m.");
        p->moments[TRAIN_SECOND] = like(params, p->weight, "v.");
    }
    if (params->measured)
        return GG_OK;
    params->buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        params->ctx, ggml_backend_cpu_buffer_type());
    if (!params->buffer)
        return error_nomem(err);
    ggml_backend_buffer_clear(params->buffer, 0);
    return GG_OK;
}

/* Room for the weight, gradient and moments of each parameter. */
enum gg_status
train_params_room(struct train_params *params, size_t n, struct gg_error *err)
{
    params->ctx = ggml_init((struct ggml_init_params){
        .mem_size = ((1 + 1 + TRAIN_MOMENTS) * n + 1) * ggml_tensor_overhead(),
        .no_alloc = true });
    return params->ctx ? GG_OK : error_nomem(err);
}

enum gg_status
train_params_of_model(struct train_params *params, struct model *model,
                      struct gg_error *err)
{
    struct ggml_tensor **copies = NULL;
    enum gg_status st = add_all(params, model) ? GG_OK : error_nomem(err);

    if (st == GG_OK)
        st = train_params_room(params, params->n, err);
    if (st == GG_OK) {
        copies = mem_array(params->n, sizeof(struct ggml_tensor *));
        st = copies ? GG_OK : error_nomem(err);
    }
    for (size_t i = 0; st == GG_OK && i < params->n; i++)
        copies[i] = like(params, params->p[i].weight, "");
    if (st == GG_OK)
        st = train_params_place(params, err);
    if (st == GG_OK)
        st = place_weights(params, copies, err);
    mem_free(copies);
    return st;
}

/* ---- values -------------------------------------------------------------- */

static void
fill(struct ggml_tensor *t, float value)
{
    float *x = t->data;

    for (int64_t i = 0; i < ggml_nelements(t); i++)
        x[i] = value;
}

static void
draw(struct ggml_tensor *t, double deviation, struct train_random *r)
{
    float *x = t->data;

    for (int64_t i = 0; i < ggml_nelements(t); i++)
        x[i] = (float)(deviation * train_random_normal(r));
}

/* Tables as GPT-2's (Radford et al. 2019), matrices a little narrower than what
 * keeps the variance, and those that add to the residual stream by its
 * length. */
static double
deviation_of(const struct train_param *p, const struct model *m)
{
    const char *name = p->weight->name;
    double d = 0.6 / sqrt((double)p->weight->ne[0]);

    if (!p->matrix)
        return 0.02;
    return strstr(name, "attn_output") || strstr(name, "ffn_down")
               ? d / sqrt(2.0 * m->hp.n_layer)
               : d;
}

void
train_params_init(struct train_params *params, const struct model *model,
                  uint64_t seed)
{
    for (size_t i = 0; i < params->n; i++) {
        const struct train_param *p = &params->p[i];
        const char *name = p->weight->name, *end = strrchr(name, '.');
        struct train_random r = train_random_new(seed, i);

        if (end && strcmp(end, ".bias") == 0)
            fill(p->weight, 0);
        else if (strstr(name, "norm"))
            fill(p->weight, 1);
        else
            draw(p->weight, deviation_of(p, model), &r);
    }
}

const struct train_param *
train_param_of(const struct train_params *params,
               const struct ggml_tensor *weight)
{
    if (!(weight->flags & GGML_TENSOR_FLAG_PARAM))
        return NULL;
    for (size_t i = 0; i < params->n; i++)
        if (params->p[i].weight == weight)
            return &params->p[i];
    return NULL;
}

void
train_params_zero_gradients(struct train_params *params)
{
    for (size_t i = 0; i < params->n; i++)
        memset(params->p[i].grad->data, 0, ggml_nbytes(params->p[i].grad));
}

void
train_params_clear(struct train_params *params)
{
    ggml_backend_buffer_free(params->buffer);
    ggml_free(params->ctx);
    mem_free(params->p);
    *params = (struct train_params){ 0 };
}
