/* prefix.c - begins and ends a prefix cache */
#include "engine/prefix.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "core/mem.h"

static enum gg_status
check_params(const struct gg_engine *e, const struct gg_prefix_params *p,
             struct gg_error *err)
{
    enum gg_status st = ERROR_RESERVED(p, err);
    struct stat s;

    if (st != GG_OK)
        return st;
    if (e->prefixes || e->score)
        return error_set(err, GG_ERR_ARG,
                         "the engine has a prefix cache, or scores");
    if (!session_piece_can(e->session))
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "there is no prefix cache for an encoder, or several "
                         "processes");
    if (stat(p->folder, &s))
        return error_set(err, GG_ERR_IO, "%s: %s", p->folder, strerror(errno));
    if (!S_ISDIR(s.st_mode))
        return error_set(err, GG_ERR_IO, "%s: %s", p->folder,
                         strerror(ENOTDIR));
    return GG_OK;
}

enum gg_status
gg_engine_cache_prefixes(struct gg_engine *engine,
                         const struct gg_prefix_params *params,
                         struct gg_error *err)
{
    struct engine_prefixes *p;
    enum gg_status st;

    if (!engine || !params || !params->folder ||
        (!params->key && params->n_key))
        return error_null(err);
    st = check_params(engine, params, err);
    if (st != GG_OK)
        return st;
    p = mem_zalloc(sizeof(*p));
    if (!p)
        return error_nomem(err);
    p->params = *params;
    p->folder = mem_strndup(params->folder, strlen(params->folder));
    p->key = mem_zalloc(params->n_key + 1);
    if (!p->folder || !p->key) {
        engine_prefixes_free(p);
        return error_nomem(err);
    }
    if (params->n_key)
        memcpy(p->key, params->key, params->n_key);
    engine->prefixes = p;
    return GG_OK;
}

void
engine_prefixes_free(struct engine_prefixes *p)
{
    if (!p)
        return;
    mem_free(p->plan.uses);
    mem_free(p->folder);
    mem_free(p->key);
    mem_free(p);
}

uint64_t
gg_engine_cached(const struct gg_engine *engine)
{
    return engine && engine->prefixes ? engine->prefixes->n_cached : 0;
}
