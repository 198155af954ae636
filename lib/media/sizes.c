/* sizes.c - the size that an image gets, as its encoder's makers choose it */
#include <math.h>

#include "media/plan.h"

struct media_bounds
media_bounds(const struct media_planner *p)
{
    const struct gg_projector *user = p->projector;
    struct media_bounds b = { p->e->hp.min_rows, p->e->hp.max_rows };

    if (user->min_rows > 0)
        b.min = user->min_rows;
    if (user->max_rows > 0)
        b.max = user->max_rows;
    /* what the user says bounds what makers say */
    if (b.max > 0 && b.min > b.max && user->min_rows > 0)
        b.max = b.min;
    else if (b.max > 0 && b.min > b.max)
        b.min = b.max;
    return b;
}

/* Half to even, as Python rounds. */
static double
round_even(double x)
{
    return nearbyint(x);
}

static double
at_least(double x, double min)
{
    return x > min ? x : min;
}

static struct media_size
as_size(struct media_planner *p, double width, double height)
{
    if (!(width >= 1 && height >= 1 && width <= MEDIA_MAX_SIDE &&
          height <= MEDIA_MAX_SIDE)) {
        media_plan_refuse(p, GG_ERR_ARG,
                          "an image of %u x %u pixels would become one of "
                          "%.0f x %.0f, which no encoder here takes",
                          p->width, p->height, width, height);
        return (struct media_size){ 1, 1 };
    }
    return (struct media_size){ (uint32_t)width, (uint32_t)height };
}

struct media_size
media_size_rounded(struct media_planner *p)
{
    double side = (double)p->e->hp.patch * p->e->hp.merge, area = side * side;
    double w = p->width, h = p->height, scale;
    struct media_bounds b = media_bounds(p);
    double to_w = at_least(round_even(w / side), 1) * side;
    double to_h = at_least(round_even(h / side), 1) * side;

    if (b.max > 0 && to_w * to_h > b.max * area) {
        scale = sqrt(w * h / (b.max * area));
        to_w = at_least(floor(w / scale / side), 1) * side;
        to_h = at_least(floor(h / scale / side), 1) * side;
    } else if (to_w * to_h < b.min * area) {
        scale = sqrt(b.min * area / (w * h));
        to_w = ceil(w * scale / side) * side;
        to_h = ceil(h * scale / side) * side;
    }
    return as_size(p, to_w, to_h);
}

struct media_size
media_size_filling(struct media_planner *p, int32_t max)
{
    double side = (double)p->e->hp.patch * p->e->hp.merge;
    double w = p->width, h = p->height;
    double scale = sqrt(max * side * side / (w * h));
    double to_w = floor(scale * w / side), to_h = floor(scale * h / side);

    if (to_w == 0) {
        to_w = 1;
        to_h = fmin(floor(h / w), max);
    } else if (to_h == 0) {
        to_h = 1;
        to_w = fmin(floor(w / h), max);
    }
    return as_size(p, to_w * side, to_h * side);
}

struct media_size
media_size_up(struct media_planner *p)
{
    double side = (double)p->e->hp.patch * p->e->hp.merge, longest;
    double w = p->width, h = p->height, ratio;

    longest = p->e->hp.longest;
    ratio = longest > 0 ? fmax(w, h) / longest : 0;
    if (ratio > 1) {
        w = floor(w / ratio);
        h = floor(h / ratio);
    }
    return as_size(p, at_least(ceil(w / side), 1) * side,
                   at_least(ceil(h / side), 1) * side);
}
