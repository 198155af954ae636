/* options.c - parameters are checked, and defaults take the place of zeros */
#include <math.h>

#include "train/train.h"

enum {
    DEFAULT_CTX = 512,
    DEFAULT_BATCH = 8,
    MAX_ROWS = 1 << 16,
    MAX_RANK = 1 << 12,
};

struct bound {
    const char *what;
    double value, least, most;
};

static enum gg_status
check_bounds(const struct bound *b, size_t n, struct gg_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!(b[i].value >= b[i].least && b[i].value <= b[i].most))
            return error_set(err, GG_ERR_ARG, "%s of %g: it is %g to %g",
                             b[i].what, b[i].value, b[i].least, b[i].most);
    return GG_OK;
}

static enum gg_status
check(const struct gg_train_params *p, int32_t n_ctx, struct gg_error *err)
{
    const struct bound bounds[] = {
        { "rows of a length", p->n_ctx, 2, n_ctx },
        { "a step with rows", p->batch, 1, MAX_ROWS },
        { "rows at once", p->at_once, 1, p->batch },
        { "steps", (double)p->n_steps, 0, 1e15 },
        { "epochs", p->epochs, 0, 1e9 },
        { "a rank", p->rank, 0, MAX_RANK },
        { "a scale", p->alpha, 0, 1e6 },
        { "a learning rate", p->rate, 0, 1e3 },
        { "a learning rate of matrices", p->matrix_rate, 0, 1e3 },
        { "beta1", p->beta1, 0, 0.999999 },
        { "beta2", p->beta2, 0, 0.99999999 },
        { "epsilon", p->epsilon, 0, 1 },
        { "decay", p->decay, 0, 1e3 },
        { "steps of warm-up", (double)p->warm_up, 0, 1e15 },
        { "steps of fall", (double)p->fall, 0, 1e15 },
        { "a least rate", p->least_rate, 0, 1 },
    };

    if (p->schedule > GG_TRAIN_CONSTANT || p->optimizer > GG_TRAIN_MUON ||
        !isfinite(p->clip))
        return error_set(err, GG_ERR_ARG,
                         "an unknown schedule or optimizer, or a norm that is "
                         "not finite");
    if (p->init && p->rank > 0)
        return error_set(err, GG_ERR_ARG,
                         "an adapter of weights that are drawn anew");
    return check_bounds(bounds, sizeof(bounds) / sizeof(bounds[0]), err);
}

static void
set_default(double *field, double value)
{
    if (*field == 0)
        *field = value;
}

enum gg_status
train_options(const struct gg_train_params *params, const struct model *model,
              struct gg_train_params *out, struct gg_error *err)
{
    int32_t most = model->hp.n_ctx_train;
    enum gg_status st = ERROR_RESERVED(params, err);

    if (st != GG_OK)
        return st;
    *out = *params;
    if (out->n_ctx == 0)
        out->n_ctx = most > 0 && most < DEFAULT_CTX ? most : DEFAULT_CTX;
    if (!model->hp.learned_positions)
        most = 1 << 20;
    if (out->batch == 0)
        out->batch = DEFAULT_BATCH;
    if (out->at_once == 0)
        out->at_once = 1;
    set_default(&out->epochs, 1);
    set_default(&out->alpha, 2.0 * out->rank);
    set_default(&out->rate, out->rank > 0 ? 2e-4 : 1e-4);
    set_default(&out->matrix_rate, 0.02);
    set_default(&out->beta1, 0.9);
    set_default(&out->beta2, 0.999);
    set_default(&out->epsilon, 1e-8);
    set_default(&out->clip, 1);
    return check(out, most, err);
}
