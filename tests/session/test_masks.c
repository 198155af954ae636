/* test_masks.c - which keys an id sees: windows that slide, are chunks, or
 * reach to both sides; ALiBi's distances */
#include <math.h>
#include <stdlib.h>

#include "core/half.h"
#include "core/mem.h"
#include "harness/tap.h"
#include "session/batch.h"

enum {
    N = 40,       /* ids, all of a segment */
    FIRST = 300,  /* position of the first */
    START = 256,  /* of the first key */
    N_KEYS = 256, /* that the mask covers */
    WINDOW = 16,
};

typedef bool
sees_t(int32_t position, int32_t key);

static bool
slides(int32_t p, int32_t k)
{
    return k <= p && k > p - WINDOW;
}

static bool
is_of_chunk(int32_t p, int32_t k)
{
    return k <= p && k / WINDOW == p / WINDOW;
}

static bool
is_near(int32_t p, int32_t k)
{
    return abs(p - k) <= WINDOW / 2 && k < FIRST + N;
}

static bool
came_before(int32_t p, int32_t k)
{
    return k <= p;
}

static bool
is_there(int32_t p, int32_t k)
{
    (void)p;
    return k < FIRST + N;
}

/* The mask of all ids against `sees`. */
static bool
is_right(struct batch *b, int32_t window, sees_t *sees)
{
    struct cache cache = { .parts[CACHE_WINDOW].window = window };
    const uint16_t *mask = session_batch_mask(b, &cache, CACHE_WINDOW, 0, 0, N);
    bool good = mask != NULL;

    for (int32_t i = 0; i < N && good; i++)
        for (int32_t j = 0; j < N_KEYS && good; j++) {
            int32_t p = FIRST + i, k = START + j;
            float got = half_to_float(mask[i * N_KEYS + j]);
            float bias = b->hp->attn_max_bias > 0 ? (float)-abs(p - k) : 0;

            good = sees(p, k) ? got == bias : got == -INFINITY;
        }
    return good;
}

static bool
check(struct model_hparams *hp, int32_t window, sees_t *sees)
{
    int32_t positions[N];
    struct graph_segment segment = { .n = N };
    struct batch b = {
        .hp = hp, .n_segments = 1, .segments = &segment, .positions = positions
    };
    bool good;

    segment.keys[CACHE_WINDOW] =
        (struct cache_range){ .row = 0, .start = START, .n = N_KEYS };
    for (int32_t i = 0; i < N; i++)
        positions[i] = FIRST + i;
    good = is_right(&b, window, sees);
    mem_free(b.mask);
    return good;
}

int
main(void)
{
    struct model_hparams *hp = calloc(1, sizeof(*hp));

    if (!hp)
        return 99;
    ok(check(hp, 0, came_before), "no window");
    ok(check(hp, WINDOW, slides), "a window that slides");
    hp->attn_max_bias = 8;
    ok(check(hp, 0, came_before), "ALiBi");
    ok(check(hp, WINDOW, slides), "ALiBi in a window");
    hp->attn_max_bias = 0;
    hp->window_kind = MODEL_WINDOW_CHUNKED;
    ok(check(hp, WINDOW, is_of_chunk), "chunks");
    hp->encoder = true;
    hp->window_kind = MODEL_WINDOW_SYMMETRIC;
    ok(check(hp, 0, is_there), "an encoder sees all");
    ok(check(hp, WINDOW, is_near), "a window to both sides");
    hp->attn_max_bias = 8;
    ok(check(hp, 0, is_there), "ALiBi to both sides");
    free(hp);
    return tap_done();
}
