/* test_opt.c - ggml-opt.h: steps against a plain loop in double precision */
#include <ggml-cpu.h>
#include <ggml-opt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/tap.h"

/* y = W x + b: points of IN numbers, labels of OUT. */
enum {
    IN = 3,
    OUT = 2,
    POINTS = 12,
    PARAMS = IN * OUT + OUT
};

static ggml_backend_t cpu;
static ggml_backend_sched_t sched;

static uint64_t state;

static float
draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (float)(int32_t)(state >> 32) * 0x1p-31f;
}

static ggml_opt_dataset_t
new_dataset(int64_t shard)
{
    ggml_opt_dataset_t d = ggml_opt_dataset_init(GGML_TYPE_F32, GGML_TYPE_F32,
                                                 IN, OUT, POINTS, shard);
    float *x = ggml_get_data_f32(ggml_opt_dataset_data(d));
    float *y = ggml_get_data_f32(ggml_opt_dataset_labels(d));

    state = 1;
    for (int i = 0; i < POINTS * IN; i++)
        x[i] = draw();
    for (int i = 0; i < POINTS * OUT; i++)
        y[i] = x[i / OUT * IN] * (i % OUT ? 2 : -1) + 0.5f + draw() / 8;
    return d;
}

/* Weights and inputs of a batch, in memory of their own. */
struct model {
    struct ggml_context *ctx, *compute;
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *x, *w, *b, *y;
};

static struct ggml_context *
new_context(size_t n)
{
    struct ggml_init_params params = {
        .mem_size =
            n * ggml_tensor_overhead() +
            4 * ggml_graph_overhead_custom(GGML_DEFAULT_GRAPH_SIZE, true),
        .no_alloc = true
    };

    return ggml_init(params);
}

static struct ggml_tensor *
outputs_of(struct model *m, struct ggml_context *ctx)
{
    return ggml_add(ctx, ggml_mul_mat(ctx, m->w, m->x), m->b);
}

static struct model
new_model(int64_t batch)
{
    struct model m = { .ctx = new_context(4), .compute = new_context(200) };
    float values[PARAMS];

    m.x = ggml_new_tensor_2d(m.ctx, GGML_TYPE_F32, IN, batch);
    m.w = ggml_new_tensor_2d(m.ctx, GGML_TYPE_F32, IN, OUT);
    m.b = ggml_new_tensor_1d(m.ctx, GGML_TYPE_F32, OUT);
    ggml_set_param(m.w);
    ggml_set_param(m.b);
    m.buffer = ggml_backend_alloc_ctx_tensors(m.ctx, cpu);
    state = 7;
    for (int i = 0; i < PARAMS; i++)
        values[i] = draw();
    ggml_backend_tensor_set(m.w, values, 0, ggml_nbytes(m.w));
    ggml_backend_tensor_set(m.b, values + IN * OUT, 0, ggml_nbytes(m.b));
    m.y = outputs_of(&m, m.compute);
    return m;
}

static void
free_model(struct model *m)
{
    ggml_backend_buffer_free(m->buffer);
    ggml_free(m->ctx);
    ggml_free(m->compute);
}

static void
get_params(const struct model *m, float *p)
{
    ggml_backend_tensor_get(m->w, p, 0, ggml_nbytes(m->w));
    ggml_backend_tensor_get(m->b, p + IN * OUT, 0, ggml_nbytes(m->b));
}

/* ---- the same in double ---------------------------------------------------
 */

struct plain {
    double p[PARAMS], m[PARAMS], v[PARAMS], grad[PARAMS];
    int steps;
};

/* Adds the gradient of the mean squared error of points [first, end), and
 * returns that. */
static double
plain_gradient(struct plain *t, ggml_opt_dataset_t d, int first, int end,
               double share)
{
    const float *x = ggml_get_data_f32(ggml_opt_dataset_data(d));
    const float *y = ggml_get_data_f32(ggml_opt_dataset_labels(d));
    double n = (double)(end - first) * OUT, loss = 0;

    for (int i = first; i < end; i++)
        for (int o = 0; o < OUT; o++) {
            double e = t->p[IN * OUT + o] - (double)y[i * OUT + o];

            for (int k = 0; k < IN; k++)
                e += t->p[o * IN + k] * (double)x[i * IN + k];
            for (int k = 0; k < IN; k++)
                t->grad[o * IN + k] +=
                    share * 2 * e * (double)x[i * IN + k] / n;
            t->grad[IN * OUT + o] += share * 2 * e / n;
            loss += e * e / n;
        }
    return loss;
}

static void
plain_step(struct plain *t, const struct ggml_opt_optimizer_params *o,
           enum ggml_opt_optimizer_type type)
{
    double rate = (double)o->adamw.alpha, b1 = (double)o->adamw.beta1;
    double b2 = (double)o->adamw.beta2, eps = (double)o->adamw.eps;

    t->steps++;
    for (int i = 0; i < PARAMS; i++) {
        double g = t->grad[i], *p = &t->p[i];

        t->grad[i] = 0;
        if (type == GGML_OPT_OPTIMIZER_TYPE_SGD) {
            *p -= (double)o->sgd.alpha * (g + (double)o->sgd.wd * *p);
            continue;
        }
        t->m[i] = b1 * t->m[i] + (1 - b1) * g;
        t->v[i] = b2 * t->v[i] + (1 - b2) * g * g;
        *p -= rate * (double)o->adamw.wd * *p;
        *p -= rate * t->m[i] / (1 - pow(b1, t->steps)) /
              (sqrt(t->v[i] / (1 - pow(b2, t->steps))) + eps);
    }
}

/* ---- training -------------------------------------------------------------
 */

static const struct ggml_opt_optimizer_params settings = {
    .adamw = { 0.05f, 0.8f, 0.95f, 1e-6f, 0.1f }, .sgd = { 0.2f, 0.05f }
};

static struct ggml_opt_params
params_of(struct model *m, enum ggml_opt_optimizer_type type, int period)
{
    struct ggml_opt_params p =
        ggml_opt_default_params(sched, GGML_OPT_LOSS_TYPE_MEAN_SQUARED_ERROR);
    union {
        const struct ggml_opt_optimizer_params *in;
        void *out;
    } constant = { &settings };

    p.optimizer = type;
    p.opt_period = period;
    p.get_opt_pars = ggml_opt_get_constant_optimizer_params;
    p.get_opt_pars_ud = constant.out;
    if (m) {
        p.ctx_compute = m->compute;
        p.inputs = m->x;
        p.outputs = m->y;
    }
    return p;
}

static double
distance(const float *p, const double *truth)
{
    double error = 0, power = 0;

    for (int i = 0; i < PARAMS; i++) {
        error += ((double)p[i] - truth[i]) * ((double)p[i] - truth[i]);
        power += truth[i] * truth[i];
    }
    return error / power;
}

enum {
    BATCH = 2,
    EPOCHS = 4,
    BATCHES = POINTS / BATCH
};

/* The mean losses of an epoch, as the plain loop has them. */
static double
plain_epoch(struct plain *t, ggml_opt_dataset_t d,
            enum ggml_opt_optimizer_type type, int period)
{
    double loss = 0;

    for (int i = 0; i < BATCHES; i++) {
        loss += plain_gradient(t, d, i * BATCH, (i + 1) * BATCH, 1.0 / period);
        if ((i + 1) % period == 0)
            plain_step(t, &settings, type);
    }
    return loss / BATCHES;
}

static struct plain
start_plain(const struct model *m)
{
    struct plain t = { .steps = 0 };
    float p[PARAMS];

    get_params(m, p);
    for (int i = 0; i < PARAMS; i++)
        t.p[i] = (double)p[i];
    return t;
}

/* An epoch whose graphs are made for each batch. */
static void
dynamic_epoch(ggml_opt_context_t c, struct model *m, ggml_opt_dataset_t d,
              ggml_opt_result_t r)
{
    for (int i = 0; i < BATCHES; i++) {
        struct ggml_context *ctx = new_context(200);
        struct ggml_cgraph *g =
            ggml_new_graph_custom(ctx, GGML_DEFAULT_GRAPH_SIZE, true);
        struct ggml_tensor *y = outputs_of(m, ctx);

        ggml_build_forward_expand(g, y);
        ggml_opt_prepare_alloc(c, ctx, g, m->x, y);
        ggml_opt_alloc(c, true);
        ggml_opt_dataset_get_batch(d, m->x, ggml_opt_labels(c), i);
        ggml_opt_eval(c, r);
        ggml_free(ctx);
    }
}

static void
test_steps(enum ggml_opt_optimizer_type type, int period, bool is_static)
{
    struct model m = new_model(BATCH);
    struct plain plain = start_plain(&m);
    ggml_opt_dataset_t d = new_dataset(1);
    ggml_opt_context_t c =
        ggml_opt_init(params_of(is_static ? &m : NULL, type, period));
    ggml_opt_result_t r = ggml_opt_result_init();
    double want = 0, loss = 0, error;
    float p[PARAMS];
    char text[120];

    for (int e = 0; e < EPOCHS; e++) {
        ggml_opt_result_reset(r);
        if (is_static)
            ggml_opt_epoch(c, d, r, NULL, -1, NULL, NULL);
        else
            dynamic_epoch(c, &m, d, r);
        want = plain_epoch(&plain, d, type, period);
    }
    ggml_opt_result_loss(r, &loss, NULL);
    get_params(&m, p);
    error = distance(p, plain.p);
    snprintf(text, sizeof(text), "%s, %d batches a step, %s: NMSE %.2g",
             ggml_opt_optimizer_name(type), period,
             is_static ? "static" : "built each time", error);
    ok(error < 1e-11 && fabs(loss / want - 1) < 1e-5, text);
    ggml_backend_sched_reset(sched);
    ggml_opt_result_free(r);
    ggml_opt_free(c);
    ggml_opt_dataset_free(d);
    free_model(&m);
}

/* ---- gradients, data sets, results ----------------------------------------
 */

/* Evaluations without gradients change nothing; reset begins anew. */
static void
test_reset(void)
{
    struct model m = new_model(BATCH);
    struct plain plain = start_plain(&m);
    ggml_opt_dataset_t d = new_dataset(1);
    struct ggml_opt_params params =
        params_of(&m, GGML_OPT_OPTIMIZER_TYPE_SGD, 1);
    ggml_opt_context_t c;
    float got[IN * OUT];
    double worst = 0;

    params.build_type = GGML_OPT_BUILD_TYPE_GRAD;
    c = ggml_opt_init(params);
    for (int pass = 0; pass < 2; pass++) {
        ggml_opt_reset(c, false);
        for (int i = 0; i < 3; i++) {
            ggml_opt_alloc(c, i != 1);
            ggml_opt_dataset_get_batch(d, m.x, ggml_opt_labels(c), i);
            ggml_opt_eval(c, NULL);
        }
    }
    plain_gradient(&plain, d, 0, BATCH, 1);
    plain_gradient(&plain, d, 2 * BATCH, 3 * BATCH, 1);
    ggml_backend_tensor_get(ggml_opt_grad_acc(c, m.w), got, 0, sizeof(got));
    for (int i = 0; i < IN * OUT; i++)
        worst = fmax(worst, fabs((double)got[i] - plain.grad[i]));
    ok(worst < 1e-6, "gradients add up, from 0 after a reset");
    ok(!ggml_opt_pred(c) && !ggml_opt_ncorrect(c), "no classes");
    ggml_backend_sched_reset(sched);
    ggml_opt_free(c);
    ggml_opt_dataset_free(d);
    free_model(&m);
}

static void
test_dataset(void)
{
    ggml_opt_dataset_t d = new_dataset(2);
    const float *all = ggml_get_data_f32(ggml_opt_dataset_data(d));
    struct model m = new_model(4);
    ggml_opt_context_t c =
        ggml_opt_init(params_of(&m, GGML_OPT_OPTIMIZER_TYPE_SGD, 1));
    float x[4 * IN], y[4 * OUT], again[4 * IN];
    bool seen[POINTS] = { false }, pairs = true, same = true, moved = false;
    int n = 0;

    ggml_opt_dataset_shuffle(c, d, -1);
    for (int b = 0; b < POINTS / 4; b++) {
        ggml_opt_dataset_get_batch_host(d, x, sizeof(x), y, b);
        ggml_opt_dataset_get_batch(d, m.x, ggml_opt_labels(c), b);
        ggml_backend_tensor_get(m.x, again, 0, sizeof(again));
        same = same && memcmp(x, again, sizeof(x)) == 0;
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < POINTS; k++)
                if (memcmp(x + i * IN, all + k * IN, IN * sizeof(*x)) == 0) {
                    n += !seen[k];
                    seen[k] = true;
                    moved = moved || k != 4 * b + i;
                    pairs = pairs && k % 2 == i % 2;
                }
    }
    ok(n == POINTS && moved && pairs, "shards are shuffled as one");
    ok(same, "a batch for the host is that for a tensor");
    is(ggml_opt_dataset_ndata(d), POINTS, "number of points");
    ggml_opt_free(c);
    ggml_opt_dataset_free(d);
    free_model(&m);
}

/* Labels are the classes of points by their first number's sign. */
static void
test_classes(void)
{
    ggml_opt_dataset_t d = new_dataset(1);
    float *y = ggml_get_data_f32(ggml_opt_dataset_labels(d));
    const float *x = ggml_get_data_f32(ggml_opt_dataset_data(d));
    struct model m = new_model(POINTS);
    struct ggml_opt_params params =
        params_of(&m, GGML_OPT_OPTIMIZER_TYPE_ADAMW, 1);
    ggml_opt_result_t r = ggml_opt_result_init();
    ggml_opt_context_t c;
    int32_t classes[POINTS];
    double accuracy, unc, loss;
    int right = 0;

    for (int i = 0; i < POINTS; i++) {
        y[i * OUT] = x[i * IN] > 0;
        y[i * OUT + 1] = 1 - y[i * OUT];
    }
    params.loss_type = GGML_OPT_LOSS_TYPE_CROSS_ENTROPY;
    c = ggml_opt_init(params);
    for (int i = 0; i < 100; i++) {
        ggml_opt_result_reset(r);
        ggml_opt_epoch(c, d, r, NULL, -1, NULL, NULL);
    }
    ggml_opt_result_pred(r, classes);
    ggml_opt_result_accuracy(r, &accuracy, &unc);
    ggml_opt_result_loss(r, &loss, NULL);
    for (int i = 0; i < POINTS; i++)
        right += (classes[i] == 0) == (x[i * IN] > 0);
    ok(right == POINTS && accuracy == 1 && unc == 0 && loss < 0.2,
       "classes are learnt");
    ggml_opt_result_free(r);
    ggml_opt_free(c);
    ggml_opt_dataset_free(d);
    free_model(&m);
}

static struct ggml_opt_optimizer_params
falling_rate(void *epoch)
{
    struct ggml_opt_optimizer_params p =
        ggml_opt_get_default_optimizer_params(NULL);

    p.adamw.alpha = 0.3f / sqrtf((float)*(const int64_t *)epoch);
    return p;
}

static void
test_fit(void)
{
    ggml_opt_dataset_t d = new_dataset(1);
    struct model m = new_model(BATCH);
    struct plain before = start_plain(&m), after;
    double was = plain_gradient(&before, d, 0, POINTS, 1), is_now;

    ggml_opt_fit(
        sched, m.compute, m.x, m.y, d, GGML_OPT_LOSS_TYPE_MEAN_SQUARED_ERROR,
        GGML_OPT_OPTIMIZER_TYPE_ADAMW, falling_rate, 50, 4, 0.25f, true);
    after = start_plain(&m);
    is_now = plain_gradient(&after, d, 0, POINTS, 1);
    printf("# loss %g, then %g\n", was, is_now);
    ok(is_now < 0.03 && was > 0.3, "fit");
    ggml_opt_dataset_free(d);
    free_model(&m);
}

int
main(void)
{
    cpu = ggml_backend_cpu_init();
    sched = ggml_backend_sched_new(&cpu, NULL, 1, GGML_DEFAULT_GRAPH_SIZE,
                                   false, true);
    for (int i = 0; i < 8; i++)
        test_steps(i & 1 ? GGML_OPT_OPTIMIZER_TYPE_SGD
                         : GGML_OPT_OPTIMIZER_TYPE_ADAMW,
                   i & 2 ? 3 : 1, i & 4);
    test_reset();
    test_dataset();
    test_classes();
    test_fit();
    ggml_backend_sched_free(sched);
    ggml_backend_free(cpu);
    return tap_done();
}
