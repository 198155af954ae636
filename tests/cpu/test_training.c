/* test_training.c - a step of small GPT-2 and LLaMA shapes: gradients, and
 * weights after ten steps of AdamW, against torch in float64
 * (golden_training.py) */
#include "cpu_test.h"

#include "fixtures/training_shapes.h"

/* ---- training -------------------------------------------------------------
 */

static struct ggml_tensor *
zeros(struct training_shape *m, const struct ggml_tensor *w)
{
    return ggml_new_tensor(m->ctx, GGML_TYPE_F32, 4, w->ne);
}

static void
add_steps(struct training_shape *m, struct ggml_cgraph *g,
          struct ggml_tensor *options)
{
    for (int i = 0; i < m->n_params; i++) {
        struct ggml_tensor *w = m->params[i];

        ggml_build_forward_expand(
            g, ggml_opt_step_adamw(m->ctx, w, ggml_graph_get_grad(g, w),
                                   zeros(m, w), zeros(m, w), options));
    }
}

static void
set_options(struct ggml_tensor *options, int step)
{
    const float values[] = { 0.01f,
                             0.9f,
                             0.999f,
                             1e-5f,
                             0.1f,
                             (float)(1 / (1 - pow(0.9, step))),
                             (float)(1 / (1 - pow(0.999, step))) };

    memcpy(options->data, values, sizeof(values));
}

static void
run(struct training_shape *m, struct ggml_cgraph *g, int n_threads)
{
    struct ggml_cplan plan = ggml_graph_plan(g, n_threads, NULL);

    plan.n_threads = n_threads;
    plan.work_data =
        plan.work_size ? ggml_new_buffer(m->ctx, plan.work_size) : NULL;
    if (ggml_graph_compute(g, &plan) != GGML_STATUS_SUCCESS)
        abort();
}

typedef const double (*golden_table)[1 + GOLDEN_PROBES];

static double
worst_distance(struct training_shape *m, const struct ggml_cgraph *g,
               golden_table t)
{
    double worst = 0;

    for (int i = 0; i < m->n_params; i++) {
        const struct ggml_tensor *w = m->params[i];
        double d = training_distance(
            ggml_get_data_f32(g ? ggml_graph_get_grad(g, w) : w),
            ggml_nelements(w), t[i]);

        worst = d > worst || isnan(d) ? d : worst;
    }
    return worst;
}

/* All weights after ten steps, one after the other; the caller frees them. */
static char *
train(const char *name, training_shape_fn shape, int n_threads,
      double golden_loss, golden_table gradients, golden_table weights,
      size_t *size)
{
    struct ggml_context *ctx = test_context();
    struct training_shape m = { .ctx = ctx, .compute = ctx };
    struct ggml_cgraph *g = ggml_new_graph_custom(m.ctx, 2048, true);
    struct ggml_tensor *options = ggml_new_tensor_1d(m.ctx, GGML_TYPE_F32, 7);
    struct ggml_tensor *logits = shape(&m), *loss;
    struct ggml_tensor *labels = ggml_dup_tensor(ctx, logits);
    char text[120], *all = malloc(1 << 20);
    double error;

    training_fill(&m);
    training_fill_labels(labels);
    loss = ggml_cross_entropy_loss(ctx, logits, labels);
    ggml_set_loss(loss);
    ggml_build_forward_expand(g, loss);
    ggml_build_backward_expand(m.ctx, g, NULL);
    add_steps(&m, g, options);
    ggml_graph_reset(g);
    for (int i = 1; i <= 10; i++) {
        set_options(options, i);
        run(&m, g, n_threads);
        if (i > 1)
            continue;
        error = fabs((double)ggml_get_f32_1d(loss, 0) / golden_loss - 1);
        snprintf(text, sizeof(text), "%s: loss to %.2g", name, error);
        ok(error < 1e-6, text);
        error = worst_distance(&m, g, gradients);
        snprintf(text, sizeof(text), "%s: gradients to NMSE %.2g", name, error);
        ok(error < 1e-9, text);
    }
    error = worst_distance(&m, NULL, weights);
    snprintf(text, sizeof(text), "%s: weights to NMSE %.2g", name, error);
    ok(error < 1e-9, text);
    *size = 0;
    for (int i = 0; i < m.n_params; i++) {
        memcpy(all + *size, m.params[i]->data, ggml_nbytes(m.params[i]));
        *size += ggml_nbytes(m.params[i]);
    }
    ggml_free(m.ctx);
    return all;
}

static void
test_shape(const char *name, training_shape_fn shape, double loss,
           golden_table gradients, golden_table weights)
{
    size_t n, n_more;
    char *one = train(name, shape, 1, loss, gradients, weights, &n);
    char *more = train(name, shape, 3, loss, gradients, weights, &n_more);

    ok(n == n_more && memcmp(one, more, n) == 0,
       "as many threads as one likes give the same weights");
    free(one);
    free(more);
}

int
main(void)
{
    test_shape("GPT-2", training_gpt2, gpt2_loss, gpt2_gradients, gpt2_weights);
    test_shape("LLaMA", training_llama, llama_loss, llama_gradients,
               llama_weights);
    return tap_done();
}
