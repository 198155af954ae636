/* adapters.h - adapters where the weights are that they change */
#ifndef SESSION_ADAPTERS_H
#define SESSION_ADAPTERS_H

#include "graph/adapter.h"

/* Gives their tensors data. */
enum gg_status
session_adapters_place(struct model *m, const struct gg_model_params *params,
                       model_home_set *failed, struct gg_error *err);

/* Fails where a graph of the model would not look at one of them. */
enum gg_status
session_adapters_check(const struct model *m, struct gg_error *err);

/* Frees their buffers, too; takes a model without any. */
void
session_adapters_free(struct model *m);

#endif
