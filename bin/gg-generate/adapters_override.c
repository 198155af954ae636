/* adapters_override.c - which adapters count for a record in JSON */
#include <config.h>

#include "gg-generate/records.h"

#ifdef HAVE_JANSSON

#include <math.h>
#include <string.h>

#include "common/adapters.h"
#include "gg-generate/overrides.h"

#define MOST 1e6 /* of a scale, as on the command line */

static const struct adapter_options *
adapters_of(const struct override *o)
{
    return &o->g->o->engine.adapters;
}

static bool
is_vectors(const struct override *o)
{
    return strcmp(o->key, "lora") != 0;
}

/* By its name, or its number; -1: there is none. */
static int
find(const struct override *o, const json_t *which)
{
    const char *name = cli_json_text(which);
    double i = json_number_value(which);

    if (name)
        return adapters_find(adapters_of(o), is_vectors(o), name);
    if (!json_is_number(which) || !(i >= 0 && i < 1e6) || i != floor(i))
        return -1;
    return adapters_at(adapters_of(o), is_vectors(o), (size_t)i);
}

static enum gg_status
add_scale(const struct override *o, const json_t *which, double scale,
          struct gg_error *err)
{
    int at = find(o, which);

    if (at < 0)
        return cli_error(err, GG_ERR_FORMAT,
                         "%s: names no adapter, or several, of the command "
                         "line",
                         o->key);
    if (!(scale >= -MOST && scale <= MOST))
        return cli_error(err, GG_ERR_FORMAT,
                         "%s: a scale that is no number from %g to %g", o->key,
                         -MOST, MOST);
    o->r->scales[at] += (float)scale;
    return GG_OK;
}

/* "NAME", or {"id": N or "name": NAME, "scale": X}. */
static enum gg_status
add_adapter(const struct override *o, const json_t *value, struct gg_error *err)
{
    const json_t *which = json_object_get(value, "id");
    const json_t *scale = json_object_get(value, "scale");

    if (!json_is_object(value))
        return add_scale(o, value, 1, err);
    which = which ? which : json_object_get(value, "name");
    if (scale && !json_is_number(scale))
        return add_scale(o, which, NAN, err);
    return add_scale(o, which, scale ? json_number_value(scale) : 1, err);
}

/* Those of the kind that are not named do not count. */
static void
start_scales(const struct override *o)
{
    const struct adapter_options *a = adapters_of(o);
    struct record *r = o->r;

    if (!r->scales) {
        r->scales = cli_alloc(NULL, a->n + 1, sizeof(*r->scales));
        for (size_t i = 0; i < a->n; i++)
            r->scales[i] = a->list[i].scale;
    }
    for (size_t i = 0; i < a->n; i++)
        if (a->vectors[i] == is_vectors(o))
            r->scales[i] = 0;
}

enum gg_status
override_adapters(const struct override *o, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    start_scales(o);
    if (!json_is_array(o->value))
        return add_adapter(o, o->value, err);
    for (size_t i = 0; st == GG_OK && i < json_array_size(o->value); i++)
        st = add_adapter(o, json_array_get(o->value, i), err);
    return st;
}

#endif
