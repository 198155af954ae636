/* ggml-opt.h - the tensor interface: training
 *
 * Data sets, contexts that compute gradients and steps of an optimiser, what
 * comes out, and a loop over epochs. Source-compatible with the upstream ggml
 * library's of October 2026. Misuse by the calling program ends in
 * ggml_abort(), and so does a lack of memory. */
#ifndef GGML_OPT_H
#define GGML_OPT_H

#include "ggml.h"
#include "ggml-backend.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ggml_opt_dataset *ggml_opt_dataset_t;
typedef struct ggml_opt_context *ggml_opt_context_t;
typedef struct ggml_opt_result *ggml_opt_result_t;

/* Loss that is minimised: the mean or sum of the outputs, or how far they are
 * from labels. */
enum ggml_opt_loss_type {
    GGML_OPT_LOSS_TYPE_MEAN,
    GGML_OPT_LOSS_TYPE_SUM,
    GGML_OPT_LOSS_TYPE_CROSS_ENTROPY,
    GGML_OPT_LOSS_TYPE_MEAN_SQUARED_ERROR,
};

/* -- Data sets -- */

/* ndata points of ne_datapoint elements, each with a label of ne_label (0: no
 * labels), in the CPU's memory. Shards of ndata_shard points are shuffled and
 * copied as one. */
GGML_API ggml_opt_dataset_t
ggml_opt_dataset_init(enum ggml_type type_data, enum ggml_type type_label,
                      int64_t ne_datapoint, int64_t ne_label, int64_t ndata,
                      int64_t ndata_shard);
GGML_API void
ggml_opt_dataset_free(ggml_opt_dataset_t dataset);

/* Its points, and tensors [ne_datapoint, ndata] and [ne_label, ndata] (or
 * NULL), which the caller fills. */
GGML_API int64_t
ggml_opt_dataset_ndata(ggml_opt_dataset_t dataset);
GGML_API struct ggml_tensor *
ggml_opt_dataset_data(ggml_opt_dataset_t dataset);
GGML_API struct ggml_tensor *
ggml_opt_dataset_labels(ggml_opt_dataset_t dataset);

/* Shuffles the first idata points, or all if idata is negative, by numbers of
 * the context; in the same order in every process. */
GGML_API void
ggml_opt_dataset_shuffle(ggml_opt_context_t opt_ctx, ggml_opt_dataset_t dataset,
                         int64_t idata);

/* Copies batch number ibatch: whole shards, as many as the batch holds. Labels
 * are NULL where the set has none. */
GGML_API void
ggml_opt_dataset_get_batch(ggml_opt_dataset_t dataset,
                           struct ggml_tensor *data_batch,
                           struct ggml_tensor *labels_batch, int64_t ibatch);
GGML_API void
ggml_opt_dataset_get_batch_host(ggml_opt_dataset_t dataset, void *data_batch,
                                size_t nb_data_batch, void *labels_batch,
                                int64_t ibatch);

/* -- Contexts -- */

/* How far a context goes: values, gradients, steps. */
enum ggml_opt_build_type {
    GGML_OPT_BUILD_TYPE_FORWARD = 10,
    GGML_OPT_BUILD_TYPE_GRAD = 20,
    GGML_OPT_BUILD_TYPE_OPT = 30,
};

enum ggml_opt_optimizer_type {
    GGML_OPT_OPTIMIZER_TYPE_ADAMW,
    GGML_OPT_OPTIMIZER_TYPE_SGD,
    GGML_OPT_OPTIMIZER_TYPE_COUNT
};

/* alpha: the learning rate; wd: weight decay, 0 for none. */
struct ggml_opt_optimizer_params {
    struct {
        float alpha;
        float beta1, beta2; /* of the moments */
        float eps;
        float wd;
    } adamw;
    struct {
        float alpha;
        float wd;
    } sgd;
};

/* Called before each step. */
typedef struct ggml_opt_optimizer_params (*ggml_opt_get_optimizer_params)(
    void *userdata);

/* Constants (rates 0.001, betas 0.9 and 0.999, eps 1e-8, no decay); what
 * userdata points to. */
GGML_API struct ggml_opt_optimizer_params
ggml_opt_get_default_optimizer_params(void *userdata);
GGML_API struct ggml_opt_optimizer_params
ggml_opt_get_constant_optimizer_params(void *userdata);

struct ggml_opt_params {
    ggml_backend_sched_t backend_sched;
    /* With these the graph is built once, from inputs in memory of their own to
     * outputs; ctx_compute has no data, and room for three graphs. Without,
     * ggml_opt_prepare_alloc() brings a graph for each evaluation. */
    struct ggml_context *ctx_compute;
    struct ggml_tensor *inputs, *outputs;
    enum ggml_opt_loss_type loss_type;
    enum ggml_opt_build_type build_type;
    int32_t opt_period; /* evaluations that a step accumulates */
    ggml_opt_get_optimizer_params get_opt_pars;
    void *get_opt_pars_ud;
    enum ggml_opt_optimizer_type optimizer;
};

/* Steps of AdamW after each evaluation, by constant parameters. */
GGML_API struct ggml_opt_params
ggml_opt_default_params(ggml_backend_sched_t backend_sched,
                        enum ggml_opt_loss_type loss_type);

/* The scheduler and tensors that the parameters name outlive it. */
GGML_API ggml_opt_context_t
ggml_opt_init(struct ggml_opt_params params);
GGML_API void
ggml_opt_free(ggml_opt_context_t opt_ctx);

/* Gradients become 0; with `optimizer` moments as well, and steps are counted
 * from the beginning. */
GGML_API void
ggml_opt_reset(ggml_opt_context_t opt_ctx, bool optimizer);

/* True if the graph is built once. */
GGML_API bool
ggml_opt_static_graphs(ggml_opt_context_t opt_ctx);

/* Inputs, outputs, what they should be, the loss, the greatest output of each
 * point, and how many of those are the label's; NULL where a loss has no such
 * thing. Without a static graph valid up to the next ggml_opt_alloc(). */
GGML_API struct ggml_tensor *
ggml_opt_inputs(ggml_opt_context_t opt_ctx);
GGML_API struct ggml_tensor *
ggml_opt_outputs(ggml_opt_context_t opt_ctx);
GGML_API struct ggml_tensor *
ggml_opt_labels(ggml_opt_context_t opt_ctx);
GGML_API struct ggml_tensor *
ggml_opt_loss(ggml_opt_context_t opt_ctx);
GGML_API struct ggml_tensor *
ggml_opt_pred(ggml_opt_context_t opt_ctx);
GGML_API struct ggml_tensor *
ggml_opt_ncorrect(ggml_opt_context_t opt_ctx);

/* The tensor that the gradient of a node is added to, or NULL. */
GGML_API struct ggml_tensor *
ggml_opt_grad_acc(ggml_opt_context_t opt_ctx, struct ggml_tensor *node);
GGML_API enum ggml_opt_optimizer_type
    ggml_opt_context_optimizer_type(ggml_opt_context_t);

/* "adamw", "sgd"; static. */
GGML_API const char *ggml_opt_optimizer_name(enum ggml_opt_optimizer_type);

/* -- Results -- */

/* Results of evaluations, one after the other, all of as many points. */
GGML_API ggml_opt_result_t
ggml_opt_result_init(void);
GGML_API void
ggml_opt_result_free(ggml_opt_result_t result);
GGML_API void
ggml_opt_result_reset(ggml_opt_result_t result);

/* Points so far; their loss, mean or sum; the greatest output of each, ndata
 * values; the share that is the label's (NAN: no such thing). unc, or NULL,
 * gets the standard error, NAN for a single value. */
GGML_API void
ggml_opt_result_ndata(ggml_opt_result_t result, int64_t *ndata);
GGML_API void
ggml_opt_result_loss(ggml_opt_result_t result, double *loss, double *unc);
GGML_API void
ggml_opt_result_pred(ggml_opt_result_t result, int32_t *pred);
GGML_API void
ggml_opt_result_accuracy(ggml_opt_result_t result, double *accuracy,
                         double *unc);

/* -- Evaluation -- */

/* Where graphs are not static: the next one, in ctx_compute, which has no data
 * and room for two more. */
GGML_API void
ggml_opt_prepare_alloc(ggml_opt_context_t opt_ctx,
                       struct ggml_context *ctx_compute, struct ggml_cgraph *gf,
                       struct ggml_tensor *inputs, struct ggml_tensor *outputs);

/* Makes ready for one evaluation, with gradients or without: then inputs and
 * labels are set, and it is done. */
GGML_API void
ggml_opt_alloc(ggml_opt_context_t opt_ctx, bool backward);

/* `result` may be NULL. */
GGML_API void
ggml_opt_eval(ggml_opt_context_t opt_ctx, ggml_opt_result_t result);

/* -- Epochs -- */

/* After batch ibatch of ibatch_max, in training or not; the time it began. */
typedef void (*ggml_opt_epoch_callback)(bool train, ggml_opt_context_t opt_ctx,
                                        ggml_opt_dataset_t dataset,
                                        ggml_opt_result_t result,
                                        int64_t ibatch, int64_t ibatch_max,
                                        int64_t t_start_us);

/* Trains with the first idata_split points (negative: all), evaluates the rest.
 * Results and callbacks may be NULL. */
GGML_API void
ggml_opt_epoch(ggml_opt_context_t opt_ctx, ggml_opt_dataset_t dataset,
               ggml_opt_result_t result_train, ggml_opt_result_t result_eval,
               int64_t idata_split, ggml_opt_epoch_callback callback_train,
               ggml_opt_epoch_callback callback_eval);

/* Writes a bar to stderr. */
GGML_API void
ggml_opt_epoch_callback_progress_bar(bool train, ggml_opt_context_t opt_ctx,
                                     ggml_opt_dataset_t dataset,
                                     ggml_opt_result_t result, int64_t ibatch,
                                     int64_t ibatch_max, int64_t t_start_us);

/* nepoch epochs of the set, whose last val_split (below 1) is held out, with a
 * step every nbatch_logical points, a multiple of the inputs'. userdata of
 * get_opt_pars points to the epoch, an int64_t from 1 on. Unless silent, it
 * tells stderr. */
GGML_API void
ggml_opt_fit(ggml_backend_sched_t backend_sched,
             struct ggml_context *ctx_compute, struct ggml_tensor *inputs,
             struct ggml_tensor *outputs, ggml_opt_dataset_t dataset,
             enum ggml_opt_loss_type loss_type,
             enum ggml_opt_optimizer_type optimizer,
             ggml_opt_get_optimizer_params get_opt_pars, int64_t nepoch,
             int64_t nbatch_logical, float val_split, bool silent);

#ifdef __cplusplus
}
#endif

#endif
