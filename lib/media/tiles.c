/* tiles.c - how many tiles an image becomes, as makers choose */
#include "media/tiles.h"

#include <math.h>

enum {
    MAX_SLICES = 9,
};

/* ---- pinpoints ----------------------------------------------------------- */

/* Pixels of the image that a canvas keeps, and those that it has besides. */
struct fit {
    int64_t kept, wasted;
};

static struct fit
fit_into(const struct media_planner *p, int64_t w, int64_t h)
{
    float sx = (float)w / (float)p->width, sy = (float)h / (float)p->height;
    float scale = sx < sy ? sx : sy;
    int64_t kept = (int64_t)((float)p->width * scale) *
                   (int64_t)((float)p->height * scale);
    int64_t all = (int64_t)p->width * p->height;

    kept = kept < all ? kept : all;
    return (struct fit){ kept, w * h - kept };
}

static bool
is_better(const struct fit *a, const struct fit *b)
{
    return a->kept > b->kept || (a->kept == b->kept && a->wasted < b->wasted);
}

static bool
is_long(const struct media_planner *p, int32_t x, int32_t y)
{
    int32_t most = p->e->hp.max_side;

    return most > 0 && (x > most || y > most);
}

struct media_size
media_tiles_pinpoints(struct media_planner *p)
{
    int64_t side = p->e->hp.image_size;
    struct media_size best = { 0, 0 };
    struct fit least = { 0, 0 };

    if (p->width <= side && p->height <= side)
        return best;
    for (int32_t x = 1; x <= p->e->hp.max_tiles; x++)
        for (int32_t y = 1; x * y <= p->e->hp.max_tiles; y++) {
            struct fit f = fit_into(p, x * side, y * side);

            if (x * y < p->e->hp.min_tiles || is_long(p, x, y) ||
                (best.width > 0 && !is_better(&f, &least)))
                continue;
            least = f;
            best = (struct media_size){ (uint32_t)x, (uint32_t)y };
        }
    return best;
}

void
media_tiles_plan(struct media_planner *p)
{
    uint32_t side = (uint32_t)p->e->hp.image_size;
    size_t n = (size_t)(p->e->hp.image_size / p->e->hp.patch / p->e->hp.merge);
    struct media_size grid = media_tiles_pinpoints(p);
    static const uint8_t black[MEDIA_CHANNELS];
    int frame = 0;

    if (grid.width > 0)
        frame = media_plan_padded(p, grid.width * side, grid.height * side,
                                  MEDIA_BICUBIC, black);
    for (uint32_t i = 0; i < grid.width * grid.height; i++)
        media_plan_rows(p, frame, i % grid.width * side, i / grid.width * side,
                        side, side, n * n, false);
    media_plan_whole(
        p, media_plan_frame(p, MEDIA_SOURCE, side, side, MEDIA_BICUBIC), false);
}

/* ---- slices -------------------------------------------------------------- */

/* The nearest multiple of `of`, at least one. */
static uint32_t
nearest_multiple(uint32_t n, uint32_t of)
{
    uint32_t r = (uint32_t)roundf((float)n / (float)of) * of;

    return r > of ? r : of;
}

struct media_size
media_tiles_fit(struct media_planner *p, uint32_t width, uint32_t height,
                bool grows)
{
    uint32_t side = (uint32_t)p->e->hp.image_size;
    uint32_t of = (uint32_t)(p->e->hp.patch * p->e->hp.merge);

    if (grows || (uint64_t)width * height > (uint64_t)side * side) {
        float r = (float)width / (float)height;

        height = (uint32_t)((float)side / sqrtf(r));
        width = (uint32_t)((float)height * r);
    }
    return (struct media_size){ nearest_multiple(width, of),
                                nearest_multiple(height, of) };
}

/* Among the divisions of n slices. */
static void
try_grids(int32_t n, float shape, struct media_size *best, float *least)
{
    for (int32_t x = 1; x <= n; x++) {
        float error;

        if (n % x)
            continue;
        error = (float)fabs(shape - log((double)x / (n / x)));
        if (error < *least) {
            *least = error;
            *best = (struct media_size){ (uint32_t)x, (uint32_t)(n / x) };
        }
    }
}

struct media_size
media_tiles_slices(struct media_planner *p)
{
    uint32_t side = (uint32_t)p->e->hp.image_size;
    float shape = logf((float)p->width / (float)p->height);
    float ratio = (float)p->width * (float)p->height / (float)(side * side);
    int32_t n = (int32_t)fminf(ceilf(ratio), MAX_SLICES);
    struct media_size best = { 1, 1 };
    float least = INFINITY;

    if (p->width <= side && p->height <= side)
        return (struct media_size){ 0, 0 };
    for (int32_t i = n - 1; i <= n + 1; i++)
        if (i != 1 && i <= MAX_SLICES)
            try_grids(i, shape, &best, &least);
    return best;
}

/* ---- the nearest shape --------------------------------------------------- */

struct media_size
media_tiles_nearest(struct media_planner *p, uint32_t side)
{
    const struct media_hparams *hp = &p->e->hp;
    float shape = (float)p->width / (float)p->height, least = INFINITY;
    double area = (double)p->width * p->height;
    struct media_size best = { 1, 1 };

    for (int32_t n = hp->min_tiles; n <= hp->max_tiles; n++)
        for (int32_t x = 1; x <= n; x++) {
            float off;

            if (n % x)
                continue;
            off = fabsf(shape - (float)x / (float)(n / x));
            if (off < least || (off == least && area > 0.5 * side * side * n))
                best = (struct media_size){ (uint32_t)x, (uint32_t)(n / x) };
            least = off < least ? off : least;
        }
    return best;
}
