/* adapters.c - memory for what adapters change */
#include "session/adapters.h"

#include "session/place.h"

enum gg_status
session_adapters_place(struct model *m, const struct gg_model_params *params,
                       model_home_set *failed, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (size_t i = 0; i < m->files.n_adapters && st == GG_OK; i++) {
        struct model_adapter *a = &m->adapters[i];

        st = session_place_tensors(a->file->file, params, m, a->ctx,
                                   &a->buffers, failed, err);
    }
    return st;
}

void
session_adapters_free(struct model *m)
{
    for (size_t i = 0; m->adapters && i < m->files.n_adapters; i++)
        session_free_buffers(&m->adapters[i].buffers);
    graph_adapters_free(m);
}
