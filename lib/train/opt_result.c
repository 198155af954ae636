/* opt_result.c - results of ggml-opt.h: losses, classes, how sure they are */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "train/opt.h"

ggml_opt_result_t
ggml_opt_result_init(void)
{
    struct ggml_opt_result *r = mem_zalloc(sizeof(*r));

    GGML_ASSERT(r);
    return r;
}

void
ggml_opt_result_free(ggml_opt_result_t result)
{
    if (!result)
        return;
    mem_free(result->loss);
    mem_free(result->pred);
    mem_free(result);
}

void
ggml_opt_result_reset(ggml_opt_result_t result)
{
    result->ndata = result->ncorrect = 0;
    result->n_loss = result->n_pred = 0;
}

static void
add_loss(struct ggml_opt_result *r, const struct ggml_tensor *loss)
{
    GGML_ASSERT(loss->type == GGML_TYPE_F32 && ggml_is_scalar(loss));
    GGML_ASSERT(
        mem_grow(&r->loss, &r->cap_loss, r->n_loss + 1, sizeof(*r->loss)));
    ggml_backend_tensor_get(loss, r->loss + r->n_loss++, 0, sizeof(*r->loss));
}

static void
add_classes(struct ggml_opt_result *r, const struct ggml_tensor *pred)
{
    size_t n = (size_t)ggml_nelements(pred);

    GGML_ASSERT(pred->type == GGML_TYPE_I32);
    GGML_ASSERT(
        mem_grow(&r->pred, &r->cap_pred, r->n_pred + n, sizeof(*r->pred)));
    ggml_backend_tensor_get(pred, r->pred + r->n_pred, 0, n * sizeof(*r->pred));
    r->n_pred += n;
}

static void
add_correct(struct ggml_opt_result *r, const struct ggml_tensor *ncorrect)
{
    int64_t n;

    if (!ncorrect || r->ncorrect < 0) {
        r->ncorrect = -1;
        return;
    }
    ggml_backend_tensor_get(ncorrect, &n, 0, sizeof(n));
    r->ncorrect += n;
}

void
train_opt_result_add(struct ggml_opt_result *r,
                     const struct ggml_opt_context *c)
{
    int64_t n = c->outputs->ne[1];

    if (r->ndata == 0) {
        r->loss_per_datapoint = c->loss_per_datapoint;
        r->opt_period = c->params.opt_period;
    }
    GGML_ASSERT(r->loss_per_datapoint == c->loss_per_datapoint &&
                r->opt_period == c->params.opt_period);
    GGML_ASSERT(r->ndata == n * (int64_t)r->n_loss);
    r->ndata += n;
    add_loss(r, c->loss);
    if (c->pred)
        add_classes(r, c->pred);
    add_correct(r, c->ncorrect);
}

void
ggml_opt_result_ndata(ggml_opt_result_t result, int64_t *ndata)
{
    *ndata = result->ndata;
}

/* The loss of an evaluation: a mean was divided by those of a step. */
static double
loss_at(const struct ggml_opt_result *r, size_t i)
{
    double loss = (double)r->loss[i];

    return r->loss_per_datapoint ? loss * r->opt_period : loss;
}

static double
mean_loss(const struct ggml_opt_result *r)
{
    double sum = 0;

    for (size_t i = 0; i < r->n_loss; i++)
        sum += loss_at(r, i);
    return sum / (double)r->n_loss;
}

/* The variance of the losses, as that of samples. */
static double
variance(const struct ggml_opt_result *r, double mean)
{
    double sum = 0;

    for (size_t i = 0; i < r->n_loss; i++)
        sum += (loss_at(r, i) - mean) * (loss_at(r, i) - mean);
    return sum / (double)(r->n_loss - 1);
}

/* The standard error of a mean; of a sum that of a loss, as upstream has it. */
void
ggml_opt_result_loss(ggml_opt_result_t result, double *loss, double *unc)
{
    double n = (double)result->n_loss, mean;
    bool is_mean = result->loss_per_datapoint;

    if (unc)
        *unc = NAN;
    *loss = 0;
    if (result->n_loss == 0)
        return;
    mean = mean_loss(result);
    *loss = is_mean ? mean : mean * n;
    if (unc && result->n_loss > 1)
        *unc = sqrt(variance(result, mean) / (is_mean ? n : 1));
}

void
ggml_opt_result_pred(ggml_opt_result_t result, int32_t *pred)
{
    if (result->n_pred)
        memcpy(pred, result->pred, result->n_pred * sizeof(*pred));
}

void
ggml_opt_result_accuracy(ggml_opt_result_t result, double *accuracy,
                         double *unc)
{
    double n = (double)result->ndata, p = NAN;

    if (result->ncorrect >= 0)
        p = (double)result->ncorrect / n;
    *accuracy = p;
    if (unc)
        *unc = result->ndata >= 2 ? sqrt(p * (1 - p) / (n - 1)) : NAN;
}
