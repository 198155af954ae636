/* divide.c - which device gets which layers */
#include "session/divide.h"

#include <math.h>

enum {
    STEPS = 40, /* of a search by halves */
};

static uint64_t
back_of(const struct model_needs *needs, int32_t experts_from)
{
    return needs->back[MODEL_REST] +
           (experts_from <= needs->n ? needs->back[MODEL_EXPERTS] : 0);
}

/* Embeddings are where the first layer is. */
static uint64_t
next_layer(const struct model_needs *needs, int32_t layer, int32_t experts_from,
           bool with_back)
{
    uint64_t bytes = session_needs_layer(needs, layer, experts_from);

    return layer == 0 && !(needs->tied && with_back) ? bytes + needs->front
                                                     : bytes;
}

/* The last layers, `most` at most, fill a share of the devices' room, that of
 * the last first. Returns how many they are. */
static int32_t
fill_room(const struct model_division *d, int32_t most, double share,
          int32_t experts_from, struct model_parts *out)
{
    const struct model_needs *needs = d->needs;
    int32_t i = needs->n, end = needs->n - most;

    out->experts_from = experts_from;
    for (int k = d->n; k-- > 0;) {
        double room = share * (double)d->room[k], used = 0;
        bool with_back = i == needs->n;

        if (with_back)
            used = (double)back_of(needs, experts_from);
        for (out->layers[k] = 0; i > end; out->layers[k]++, i--) {
            used += (double)next_layer(needs, i - 1, experts_from, with_back);
            if (used > room)
                break;
        }
    }
    return out->n = needs->n - i;
}

/* The least share of their room with which n layers have a place. */
static void
fill_evenly(const struct model_division *d, int32_t n, int32_t experts_from,
            struct model_parts *out)
{
    double low = 0, high = 1;

    while (fill_room(d, n, high, experts_from, out) < n && isfinite(high))
        high *= 2; /* the number was requested, whatever there is room for */
    for (int i = 0; i < STEPS && d->n > 1; i++) {
        double middle = low + (high - low) / 2;

        if (fill_room(d, n, middle, experts_from, out) < n)
            low = middle;
        else
            high = middle;
    }
    fill_room(d, n, high, experts_from, out);
}

static bool
is_mixture(const struct model_needs *needs)
{
    bool is = needs->back[MODEL_EXPERTS] > 0;

    for (int32_t i = 0; i < needs->n && !is; i++)
        is = needs->layers[MODEL_EXPERTS][i] > 0;
    return is;
}

/* The least number of layers, from the first, without whose experts `n` layers
 * fit; where none is enough, all. */
static int32_t
find_experts(const struct model_division *d, int32_t n, struct model_parts *out)
{
    int32_t last = is_mixture(d->needs) ? d->needs->n + 1 : 0, from = 0;

    while (from < last && fill_room(d, n, 1, from, out) < n)
        from++;
    return from;
}

void
session_divide(const struct model_division *d, struct model_parts *out)
{
    int32_t from = d->experts_from, n = d->needs->n;

    *out = (struct model_parts){ 0 };
    if (d->most >= 0 && d->most < n)
        n = d->most;
    if (from == MODEL_AS_FITS)
        from = find_experts(d, n, out);
    if (d->most == MODEL_AS_FITS)
        n = fill_room(d, n, 1, from, out);
    if (n > 0)
        fill_evenly(d, n, from, out);
}

static bool
all_fit(const struct model_division *d, const struct model_parts *parts,
        int32_t experts_from)
{
    int32_t i = d->needs->n;

    for (int k = d->n; k-- > 0;) {
        int32_t end = i - parts->layers[k];
        bool with_back = i == d->needs->n;
        uint64_t used = with_back ? back_of(d->needs, experts_from) : 0;

        if (i == end)
            continue;
        for (; i > end; i--)
            used += next_layer(d->needs, i - 1, experts_from, with_back);
        if (used > d->room[k])
            return false;
    }
    return true;
}

int32_t
session_divide_experts(const struct model_division *d,
                       const struct model_parts *parts)
{
    int32_t from = d->experts_from;

    if (from != MODEL_AS_FITS)
        return from;
    if (!is_mixture(d->needs))
        return 0;
    for (from = 0; from <= d->needs->n && !all_fit(d, parts, from);)
        from++;
    return from;
}
