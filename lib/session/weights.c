/* weights.c - the weights of a model: where they lie, and their end */
#include "session/model.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "graph/arch.h"
#include "graph/rope.h"
#include "session/adapters.h"
#include "session/needs.h"
#include "session/offload.h"
#include "session/pipeline.h"
#include "session/place.h"

/* Memory for the divisors that no file has, and their values; m may be NULL. */
static enum gg_status
make_divisors(struct model *m, struct gg_error *err)
{
    size_t n = m ? (size_t)m->rope.params.n_rot / 2 : 0;
    float *x;

    if (!m || !m->made_ctx)
        return GG_OK;
    x = mem_array(n, sizeof(*x));
    m->made = ggml_backend_alloc_ctx_tensors_from_buft(
        m->made_ctx, ggml_backend_dev_buffer_type(graph_device(m)));
    if (x && m->made) {
        graph_rope_divisors(m, x, n);
        ggml_backend_tensor_set(m->rope.divisors, x, 0, n * sizeof(*x));
    }
    mem_free(x);
    return x && m->made ? GG_OK : error_nomem(err);
}

enum gg_status
session_take_weights(const struct gg_model_params *params,
                     const struct model *lender, struct model *m,
                     model_home_set *failed, struct gg_error *err)
{
    enum gg_status st = graph_find_weights(m, err);

    *failed = 0;
    if (st == GG_OK)
        st = session_place_weights(params, lender, m, failed, err);
    if (st == GG_OK)
        st = session_adapters_place(m, params, failed, err);
    if (st == GG_OK)
        st = make_divisors(m, err);
    if (st == GG_OK)
        st = make_divisors(m->drafter, err);
    return st == GG_OK ? session_adapters_check(m, err) : st;
}

void
session_free_model(struct model *model)
{
    if (!model)
        return;
    model->pipeline->call->close(model->pipeline);
    session_adapters_free(model);
    session_free_buffers(&model->buffers);
    ggml_backend_buffer_free(model->made);
    for (int i = 0; i < model->n_homes; i++)
        ggml_free(model->homes[i].ctx);
    ggml_free(model->elsewhere);
    ggml_free(model->made_ctx);
    mem_free(model->layers);
    graph_drafter_free(model->drafter);
    session_free_model(model->before);
    mem_free(model);
}
