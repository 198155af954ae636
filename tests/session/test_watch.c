/* test_watch.c - a session's callback sees what is computed */
#include <ggml-backend.h>
#include <math.h>

#include "harness/session_test.h"

enum {
    N = 40,
};

static int32_t ids[N];

struct watch {
    int n_asked, n_shown, n_wrong;
    int stop; /* at this number of shown ones; 0: never */
    struct ggml_tensor *wanted;
    char names[4096]; /* of the weights that were multiplied with */
};

static float
value(const struct ggml_tensor *t, int64_t i, int64_t j)
{
    float v;

    ggml_backend_tensor_get(t, &v, (size_t)i * t->nb[0] + (size_t)j * t->nb[1],
                            sizeof(v));
    return v;
}

/* A value of the product from its sources. */
static bool
is_product(const struct ggml_tensor *t, int64_t i, int64_t j)
{
    const struct ggml_tensor *w = t->src[0], *x = t->src[1];
    double sum = 0, all = 0;

    for (int64_t k = 0; k < w->ne[0]; k++) {
        double p = (double)value(w, k, i) * (double)value(x, k, j);

        sum += p;
        all += fabs(p);
    }
    return fabs(sum - (double)value(t, i, j)) <= 1e-5 * all;
}

static bool
see(struct ggml_tensor *t, bool ask, void *data)
{
    struct watch *w = data;

    if (ask) {
        w->n_asked++;
        if (t->op != GGML_OP_MUL_MAT)
            return false;
        w->wanted = t;
        return true;
    }
    w->n_shown++;
    w->n_wrong += t != w->wanted;
    w->n_wrong += !is_product(t, 0, 0);
    w->n_wrong += !is_product(t, t->ne[0] - 1, t->ne[1] - 1);
    strcat(w->names, t->src[0]->name);
    strcat(w->names, " ");
    return w->n_shown != w->stop;
}

int
main(void)
{
    struct watch w = { 0 };
    struct gg_session_params p = { .cache_type = GG_CACHE_F32,
                                   .watch = see,
                                   .watch_data = &w };
    struct model_spec spec;
    struct gg_model *m;
    struct gg_session *s;
    float plain[V], out[V], logprobs[N];
    struct gg_chunk c = { .ids = ids, .n = N, .rows.logits = out };

    fill_ids(ids, N);
    if (!models_named("llama-f32", &spec))
        return 99;
    m = new_model(&spec);
    in_steps(m, (struct gg_session_params){ .cache_type = GG_CACHE_F32 }, ids,
             N, N, plain);
    s = new_session(m, p);
    must(gg_session_eval(s, &c, 1, &err));
    ok(w.n_shown > 0 && w.n_asked > w.n_shown, "it is asked, and shown");
    is(w.n_wrong, 0, "products are those of their sources");
    ok(strstr(w.names, "blk.0.attn_q.weight ") &&
           strstr(w.names, "blk.1.ffn_down.weight ") &&
           strstr(w.names, "output.weight "),
       "weights have their names");
    ok(same(out, plain), "watching changes nothing");
    gg_session_truncate(s, 0, 0);
    w = (struct watch){ 0 };
    c.scores.logprobs = logprobs;
    must(gg_session_eval(s, &c, 1, &err));
    ok(w.n_wrong == 0 && strstr(w.names, "output.weight ") && same(out, plain),
       "nor where all ids are scored");
    gg_session_truncate(s, 0, 10);
    w = (struct watch){ .stop = 3 };
    c.n = 5;
    ok(gg_session_eval(s, &c, 1, &err) == GG_ERR_ABORTED && w.n_shown == 3,
       "it can stop an evaluation");
    is(gg_session_length(s, 0), 10, "which leaves the slot as it was");
    gg_session_free(s);
    gg_model_free(m);
    return tap_done();
}
