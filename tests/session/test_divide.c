/* test_divide.c - which device gets which layers */
#include "harness/tap.h"
#include "session/divide.h"

enum {
    N = 10,
};

static uint64_t rest[N], experts[N], kept[N];
static struct model_needs needs = {
    .n = N,
    .layers = { [MODEL_REST] = rest, [MODEL_EXPERTS] = experts },
    .kept = kept,
};

static void
set_needs(uint64_t a_layer, uint64_t of_experts, uint64_t front, uint64_t back,
          bool tied)
{
    for (int i = 0; i < N; i++) {
        rest[i] = a_layer;
        experts[i] = of_experts;
    }
    needs.front = front;
    needs.back[MODEL_REST] = back;
    needs.tied = tied;
}

/* Layers of three devices, and the first with its experts. */
static void
try_rooms(uint64_t a, uint64_t b, uint64_t c, int32_t most, int32_t from,
          const int32_t want[4], const char *what)
{
    struct model_division d = { .needs = &needs,
                                .n = 3,
                                .room = { a, b, c },
                                .most = most,
                                .experts_from = from };
    struct model_parts p;
    bool right;

    session_divide(&d, &p);
    right = p.layers[0] == want[0] && p.layers[1] == want[1] &&
            p.layers[2] == want[2] && p.experts_from == want[3];
    ok(right, what);
    if (!right)
        printf("# %d, %d, %d, experts from %d\n", (int)p.layers[0],
               (int)p.layers[1], (int)p.layers[2], (int)p.experts_from);
}

static void
test_dense(void)
{
    const int32_t any = MODEL_AS_FITS;

    set_needs(10, 0, 5, 10, false);
    try_rooms(1000, 1000, 1000, any, any, (int32_t[]){ 3, 4, 3, 0 },
              "equal rooms, the output beside the last layers");
    try_rooms(100, 300, 100, any, any, (int32_t[]){ 2, 7, 1, 0 },
              "each by its room");
    try_rooms(20, 20, 20, any, any, (int32_t[]){ 2, 2, 1, 0 },
              "as many as fit");
    try_rooms(100, 100, 5, any, any, (int32_t[]){ 5, 5, 0, 0 },
              "none without room for the output");
    try_rooms(1, 1, 5, any, any, (int32_t[]){ 0, 0, 0, 0 }, "none at all");
    try_rooms(60, 45, 1, any, any, (int32_t[]){ 6, 3, 0, 0 },
              "the embeddings, too, come with the first");
    try_rooms(1000, 1000, 1000, 4, any, (int32_t[]){ 1, 2, 1, 0 },
              "so many of all of them");
    try_rooms(4, 4, 4, 6, any, (int32_t[]){ 1, 3, 2, 0 },
              "wanted, whatever there is room for");
    set_needs(10, 0, 50, 50, true);
    try_rooms(1, 1, 150, any, any, (int32_t[]){ 0, 0, 10, 0 },
              "one table for both, where both are");
    try_rooms(1, 59, 140, any, any, (int32_t[]){ 0, 4, 5, 0 },
              "and two, where they are not");
}

static void
test_mixture(void)
{
    const int32_t any = MODEL_AS_FITS, all = N + 1;

    set_needs(1, 10, 0, 1, false);
    try_rooms(1000, 1, 1, any, any, (int32_t[]){ 10, 0, 0, 0 },
              "all experts fit");
    try_rooms(0, 0, 61, any, any, (int32_t[]){ 0, 0, 10, 5 },
              "experts of the last layers");
    try_rooms(0, 0, 11, any, any, (int32_t[]){ 0, 0, 10, 10 }, "of none");
    try_rooms(0, 0, 8, any, any, (int32_t[]){ 0, 0, 7, all },
              "nor all of the rest");
    try_rooms(0, 0, 61, any, 0, (int32_t[]){ 0, 0, 5, 0 },
              "experts stay with their layers");
    try_rooms(0, 0, 61, any, all, (int32_t[]){ 0, 0, 10, all }, "or do not");
    try_rooms(0, 30, 30, 6, any, (int32_t[]){ 0, 4, 2, 6 },
              "experts give way to requested layers");
}

static void
test_listed(void)
{
    struct model_division d = { .needs = &needs,
                                .n = 2,
                                .room = { 25, 36 },
                                .experts_from = MODEL_AS_FITS };
    struct model_parts p = { .layers = { 4, 4 } };

    set_needs(1, 10, 0, 1, false);
    is(session_divide_experts(&d, &p), 7, "layers are listed, experts fit");
    d.room[1] = 10;
    is(session_divide_experts(&d, &p), 10, "or do not");
    d.experts_from = 3;
    is(session_divide_experts(&d, &p), 3, "or were given");
}

int
main(void)
{
    test_dense();
    test_mixture();
    test_listed();
    return tap_done();
}
