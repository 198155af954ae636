/* opt_fit.c - epochs of ggml-opt.h, and their progress on stderr */
#include <inttypes.h>

#include "train/opt.h"

/* Batches [first, end), with results and a callback, which may be NULL. */
struct pass {
    int64_t first, end;
    bool train;
    ggml_opt_result_t result;
    ggml_opt_epoch_callback callback;
};

static void
run_pass(ggml_opt_context_t c, ggml_opt_dataset_t dataset,
         const struct pass *pass)
{
    int64_t start = ggml_time_us();

    for (int64_t i = pass->first; i < pass->end; i++) {
        ggml_opt_alloc(c, pass->train);
        ggml_opt_dataset_get_batch(dataset, c->inputs, c->labels, i);
        ggml_opt_eval(c, pass->result);
        if (pass->callback)
            pass->callback(pass->train, c, dataset, pass->result,
                           i + 1 - pass->first, pass->end - pass->first, start);
    }
}

void
ggml_opt_epoch(ggml_opt_context_t opt_ctx, ggml_opt_dataset_t dataset,
               ggml_opt_result_t result_train, ggml_opt_result_t result_eval,
               int64_t idata_split, ggml_opt_epoch_callback callback_train,
               ggml_opt_epoch_callback callback_eval)
{
    const struct ggml_tensor *data = ggml_opt_dataset_data(dataset);
    int64_t batch, split;
    struct pass train = { .train = true,
                          .result = result_train,
                          .callback = callback_train };
    struct pass eval = { .result = result_eval, .callback = callback_eval };

    GGML_ASSERT(ggml_opt_static_graphs(opt_ctx));
    batch = opt_ctx->inputs->ne[1];
    split = idata_split < 0 ? data->ne[1] : idata_split;
    GGML_ASSERT(data->ne[0] == opt_ctx->inputs->ne[0]);
    GGML_ASSERT(data->ne[1] % batch == 0 && split % batch == 0);
    train.end = eval.first = split / batch;
    eval.end = data->ne[1] / batch;
    run_pass(opt_ctx, dataset, &train);
    run_pass(opt_ctx, dataset, &eval);
}

static void
print_time(const char *name, int64_t us)
{
    int64_t s = us / 1000000;

    fprintf(stderr, " %s=%02" PRId64 ":%02" PRId64 ":%02" PRId64, name,
            s / 3600, s / 60 % 60, s % 60);
}

void
ggml_opt_epoch_callback_progress_bar(bool train, ggml_opt_context_t opt_ctx,
                                     ggml_opt_dataset_t dataset,
                                     ggml_opt_result_t result, int64_t ibatch,
                                     int64_t ibatch_max, int64_t t_start_us)
{
    enum {
        WIDTH = 20
    };
    int64_t batch = opt_ctx->inputs->ne[1], us = ggml_time_us() - t_start_us;
    int filled = (int)(WIDTH * ibatch / ibatch_max);
    double loss, loss_unc, accuracy, accuracy_unc;

    (void)dataset;
    ggml_opt_result_loss(result, &loss, &loss_unc);
    ggml_opt_result_accuracy(result, &accuracy, &accuracy_unc);
    fprintf(stderr, "%s[%.*s%*s]", train ? "train: " : "val:   ", filled,
            "####################", WIDTH - filled, "");
    fprintf(stderr, " data=%" PRId64 "/%" PRId64 " loss=%.5f+-%.5f",
            ibatch * batch, ibatch_max * batch, loss, loss_unc);
    fprintf(stderr, " acc=%.2f+-%.2f%%", 100 * accuracy, 100 * accuracy_unc);
    print_time("t", us);
    print_time("ETA", us * (ibatch_max - ibatch) / ibatch);
    fprintf(stderr, "%s", ibatch == ibatch_max ? " \n" : " \r");
    fflush(stderr);
}

/* The points that are not held out: of whole steps. */
static int64_t
training_points(int64_t ndata, int64_t of_step, float val_split)
{
    return (int64_t)((1 - val_split) * (float)(ndata / of_step)) * of_step;
}

void
ggml_opt_fit(ggml_backend_sched_t backend_sched,
             struct ggml_context *ctx_compute, struct ggml_tensor *inputs,
             struct ggml_tensor *outputs, ggml_opt_dataset_t dataset,
             enum ggml_opt_loss_type loss_type,
             enum ggml_opt_optimizer_type optimizer,
             ggml_opt_get_optimizer_params get_opt_pars, int64_t nepoch,
             int64_t nbatch_logical, float val_split, bool silent)
{
    struct ggml_opt_params params =
        ggml_opt_default_params(backend_sched, loss_type);
    ggml_opt_epoch_callback tell =
        silent ? NULL : ggml_opt_epoch_callback_progress_bar;
    int64_t ndata = ggml_opt_dataset_data(dataset)->ne[1], split, epoch = 1;
    ggml_opt_result_t train = ggml_opt_result_init();
    ggml_opt_result_t val = ggml_opt_result_init();
    ggml_opt_context_t c;

    GGML_ASSERT(ndata % nbatch_logical == 0);
    GGML_ASSERT(nbatch_logical % inputs->ne[1] == 0);
    GGML_ASSERT(val_split >= 0 && val_split < 1);
    split = training_points(ndata, nbatch_logical, val_split);
    params.ctx_compute = ctx_compute;
    params.inputs = inputs;
    params.outputs = outputs;
    params.opt_period = (int32_t)(nbatch_logical / inputs->ne[1]);
    params.get_opt_pars = get_opt_pars;
    params.get_opt_pars_ud = &epoch;
    params.optimizer = optimizer;
    c = ggml_opt_init(params);
    if (nbatch_logical < ndata)
        ggml_opt_dataset_shuffle(c, dataset, -1);
    for (; epoch <= nepoch; epoch++) {
        if (nbatch_logical < split)
            ggml_opt_dataset_shuffle(c, dataset, split);
        ggml_opt_result_reset(train);
        ggml_opt_result_reset(val);
        if (!silent)
            fprintf(stderr, "epoch %" PRId64 "/%" PRId64 ":\n", epoch, nepoch);
        ggml_opt_epoch(c, dataset, train, val, split, tell, tell);
    }
    ggml_opt_free(c);
    ggml_opt_result_free(train);
    ggml_opt_result_free(val);
}
