/* engine_cache.c - the cache that options ask for, as a session's parameters */
#include <config.h>

#include "common/engine.h"

void
engine_set_cache(struct gg_session_params *params, const struct engine_cache *c)
{
    params->cache_type = c->keys ? (enum gg_cache_type)(c->keys - 1) : c->type;
    params->value_type =
        c->values ? (enum gg_cache_type)(c->values - 1) : c->type;
    params->has_value_type = params->value_type != params->cache_type;
    params->no_rotation = c->no_rotation;
}
