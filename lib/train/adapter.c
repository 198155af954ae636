/* adapter.c - pairs of matrices next to those of a model */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gguf/adapter.h"
#include "train/adapter.h"
#include "train/random.h"

/* ---- which matrices ------------------------------------------------------ */

/* Whether name has the target in it, which is no C string. */
static bool
has_target(const char *name, const char *target, size_t n)
{
    for (; *name; name++)
        if (strncmp(name, target, n) == 0)
            return true;
    return false;
}

static bool
is_target(const char *name, const char *targets)
{
    if (!targets)
        return true;
    while (*targets) {
        size_t n = strcspn(targets, ",");

        if (n > 0 && has_target(name, targets, n))
            return true;
        targets += n + (targets[n] == ',');
    }
    return false;
}

static bool
has_adapter(const struct ggml_tensor *t, const char *targets)
{
    return train_is_matrix(t) && ggml_n_dims(t) == 2 &&
           is_target(t->name, targets);
}

/* Calls take(); stops where it says false. */
static bool
each_wanted(struct model *m, const char *targets,
            bool (*take)(void *data, struct ggml_tensor *t), void *data)
{
    for (int i = 0; i < m->n_homes; i++) {
        struct ggml_tensor *t = ggml_get_first_tensor(m->homes[i].ctx);

        for (; t; t = ggml_get_next_tensor(m->homes[i].ctx, t))
            if (has_adapter(t, targets) && !take(data, t))
                return false;
    }
    return true;
}

static bool
count(void *data, struct ggml_tensor *t)
{
    (void)t;
    ++*(size_t *)data;
    return true;
}

static enum gg_status
check_targets(struct model *m, const char *targets, struct gg_error *err)
{
    while (targets && *targets) {
        size_t n = strcspn(targets, ","), found = 0;
        char one[GGML_MAX_NAME];

        if (n >= sizeof(one))
            return error_set(err, GG_ERR_ARG, "a target of %zu characters", n);
        memcpy(one, targets, n);
        one[n] = '\0';
        each_wanted(m, one, count, &found);
        if (found == 0)
            return error_set(err, GG_ERR_ARG,
                             "no matrix of a block has '%s' in its name", one);
        targets += n + (targets[n] == ',');
    }
    return GG_OK;
}

/* ---- pairs --------------------------------------------------------------- */

struct making {
    struct train_adapter *a;
    struct train_params *params;
    int32_t rank;
};

static struct ggml_tensor *
new_part(struct making *k, const struct ggml_tensor *of, bool second)
{
    struct ggml_tensor *t =
        second ? ggml_new_tensor_2d(k->params->ctx, GGML_TYPE_F32, k->rank,
                                    of->ne[1])
               : ggml_new_tensor_2d(k->params->ctx, GGML_TYPE_F32, of->ne[0],
                                    k->rank);
    char name[GGML_MAX_NAME];

    if (!gguf_adapter_part_name(of->name,
                                second ? GGUF_ADAPTER_B : GGUF_ADAPTER_A, name))
        return NULL;
    ggml_set_name(t, name);
    ggml_set_param(t);
    return train_params_add(k->params, t, true) ? t : NULL;
}

static bool
add_pair(void *data, struct ggml_tensor *of)
{
    struct making *k = data;
    struct model_adapter *a = &k->a->adapter;
    struct model_change *c = &a->changes[a->n_changes];

    *c = (struct model_change){ .of = of,
                                .a = new_part(k, of, false),
                                .b = new_part(k, of, true),
                                .scale = (float)(k->a->alpha / k->rank) };
    a->n_changes++;
    return c->a && c->b;
}

static int
by_weight(const void *x, const void *y)
{
    const struct model_change *a = x, *b = y;

    return a->of < b->of ? -1 : a->of > b->of;
}

/* As PEFT draws them: even, within 1 / sqrt(n_in). */
static void
draw(struct train_params *params, uint64_t seed)
{
    for (size_t i = 0; i < params->n; i += 2) {
        struct ggml_tensor *a = params->p[i].weight;
        struct train_random r = train_random_new(seed, i);
        double width = 1 / sqrt((double)a->ne[0]);
        float *x = a->data;

        for (int64_t k = 0; k < ggml_nelements(a); k++)
            x[k] = (float)(width * (2 * train_random_unit(&r) - 1));
    }
}

static void
give_to_model(struct train_adapter *a, struct model *m)
{
    a->file = (struct model_adapter_file){ .path = "", .scale = 1 };
    a->adapter.file = &a->file;
    a->scale = 1;
    a->model = m;
    m->files.adapters = &a->file;
    m->files.n_adapters = 1;
    m->adapters = &a->adapter;
}

enum gg_status
train_adapter_make(struct train_adapter *a, struct train_params *params,
                   struct model *model, const struct gg_train_params *o,
                   struct gg_error *err)
{
    struct making k = { a, params, o->rank };
    size_t n = 0;
    enum gg_status st = check_targets(model, o->targets, err);

    each_wanted(model, o->targets, count, &n);
    a->alpha = o->alpha;
    a->adapter.changes = mem_array(n + 1, sizeof(*a->adapter.changes));
    if (st == GG_OK && !a->adapter.changes)
        st = error_nomem(err);
    if (st == GG_OK)
        st = train_params_room(params, 2 * n, err);
    if (st == GG_OK && !each_wanted(model, o->targets, add_pair, &k))
        st = error_nomem(err);
    if (st == GG_OK)
        st = train_params_place(params, err);
    if (st == GG_OK) {
        if (!params->measured)
            draw(params, o->seed);
        qsort(a->adapter.changes, a->adapter.n_changes,
              sizeof(*a->adapter.changes), by_weight);
        give_to_model(a, model);
    }
    return st;
}

void
train_adapter_clear(struct train_adapter *a)
{
    if (a->model) {
        a->model->files.adapters = NULL;
        a->model->files.n_adapters = 0;
        a->model->adapters = NULL;
    }
    mem_free(a->adapter.changes);
    *a = (struct train_adapter){ .model = NULL };
}
