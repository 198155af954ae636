/* request_adapters.c - which adapters count for a request */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>
#include <string.h>

#include "common/records/request_parts.h"

#define MOST 1e6 /* of a scale, as on the command line */

static const struct adapter_options *
adapters_of(const struct request_member *m)
{
    return m->all->adapters;
}

static bool
is_vectors(const struct request_member *m)
{
    return strcmp(m->key, "lora") != 0;
}

/* By its name, or its number; -1: there is none. */
static int
find(const struct request_member *m, const json_t *which)
{
    const char *name = cli_json_text(which);
    double i = json_number_value(which);

    if (name)
        return adapters_find(adapters_of(m), is_vectors(m), name);
    if (!json_is_number(which) || !(i >= 0 && i < 1e6) || i != floor(i))
        return -1;
    return adapters_at(adapters_of(m), is_vectors(m), (size_t)i);
}

static enum gg_status
add_scale(const struct request_member *m, const json_t *which, double scale,
          struct gg_error *err)
{
    int at = find(m, which);

    if (at < 0)
        return cli_error(err, GG_ERR_FORMAT,
                         "%s: names no adapter, or several, of the command "
                         "line",
                         m->key);
    if (!(scale >= -MOST && scale <= MOST))
        return cli_error(err, GG_ERR_FORMAT,
                         "%s: a scale that is no number from %g to %g", m->key,
                         -MOST, MOST);
    m->r->scales[at] += (float)scale;
    return GG_OK;
}

/* "NAME", or {"id": N or "name": NAME, "scale": X}. */
static enum gg_status
add_adapter(const struct request_member *m, const json_t *value,
            struct gg_error *err)
{
    const json_t *which = json_object_get(value, "id");
    const json_t *scale = json_object_get(value, "scale");

    if (!json_is_object(value))
        return add_scale(m, value, 1, err);
    which = which ? which : json_object_get(value, "name");
    if (scale && !json_is_number(scale))
        return add_scale(m, which, NAN, err);
    return add_scale(m, which, scale ? json_number_value(scale) : 1, err);
}

/* Adapters of the kind that are not named do not count. */
static void
start_scales(const struct request_member *m)
{
    const struct adapter_options *a = adapters_of(m);
    struct request *r = m->r;

    if (!r->scales) {
        r->scales = cli_alloc(NULL, a->n + 1, sizeof(*r->scales));
        for (size_t i = 0; i < a->n; i++)
            r->scales[i] = a->list[i].scale;
    }
    for (size_t i = 0; i < a->n; i++)
        if (a->vectors[i] == is_vectors(m))
            r->scales[i] = 0;
}

enum gg_status
request_set_adapters(const struct request_member *m, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    start_scales(m);
    if (!json_is_array(m->value.json))
        return add_adapter(m, m->value.json, err);
    for (size_t i = 0; st == GG_OK && i < json_array_size(m->value.json); i++)
        st = add_adapter(m, json_array_get(m->value.json, i), err);
    return st;
}

#endif
