/* test_large_pages.c - extents of a cache that are mostly in use become large
 * pages, and what they hold stays */
#include <string.h>

#include "api/model.h"
#include "harness/session_test.h"
#include "session/cache.h"
#include "session/shared_rows.h"

enum {
    ROWS = 65536,
    USED = 50000,
    SLOTS = 2,
    EXTENT = 1 << 21,
};

static const struct model_spec spec = { "llama", .n_head = 2, .n_layer = 2,
                                        .seed = 9, .n_ctx = ROWS };

/* Bytes of the extent, by each row that is in use. */
static uint32_t
bytes_in_use(const struct cache *c, const char *extent)
{
    size_t n = 0;

    for (int32_t i = 0; i < c->n_all; i++)
        for (int k = 0; k < 2; k++) {
            const struct ggml_tensor *t = c->layers[i].t[k];

            for (int64_t row = 0; row < t->ne[1] * t->ne[2]; row++) {
                const char *p = (const char *)t->data + (size_t)row * t->nb[1];
                int64_t of_slot = row % ROWS, slot = row / ROWS % SLOTS;
                int64_t in = p - extent;

                if (of_slot < c->parts[CACHE_ALL].used[slot] &&
                    in > -(int64_t)t->nb[1] && in < EXTENT)
                    n += in < 0 ? t->nb[1] + (size_t)in
                         : in + (int64_t)t->nb[1] > EXTENT
                             ? (size_t)(EXTENT - in)
                             : t->nb[1];
            }
        }
    return (uint32_t)n;
}

static bool
are_counted(const struct cache *c)
{
    const struct cache_extents *x = &c->homes[0].extents;
    bool same = x->n > 0;

    for (size_t i = 0; i < x->n && same; i++)
        same = x->used[i] == bytes_in_use(c, x->base + i * EXTENT);
    return same;
}

/* Kilobytes of large pages that this process has; -1: the system cannot say. */
static long
large_kilobytes(void)
{
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long n = -1;

    while (f && n < 0 && fgets(line, sizeof(line), f))
        if (sscanf(line, "AnonHugePages: %ld", &n) != 1)
            n = -1;
    if (f)
        fclose(f);
    return n;
}

static bool
holds(const struct cache *c, unsigned char byte, size_t n)
{
    const unsigned char *p = c->layers[0].t[CACHE_K]->data;

    for (size_t i = 0; i < n; i++)
        if (p[i] != byte)
            return false;
    return true;
}

static void
release(struct cache *c, int32_t slot)
{
    session_shared_discard(c, slot);
    c->parts[CACHE_ALL].used[slot] = 0;
}

int
main(void)
{
    const struct cache_form halves = { .types = { GGML_TYPE_F16,
                                                  GGML_TYPE_F16 } };
    struct gg_model *m = new_model(&spec);
    struct cache c;
    long before = large_kilobytes(), after;
    size_t some;

    must(session_cache_init(&c, m->model, &halves, SLOTS, ROWS, 64, &err));
    some = 1000 * c.layers[0].t[CACHE_K]->nb[1];
    ok(are_counted(&c), "nothing is in use");
    session_cache_assume(&c, 0, 1000);
    memset(c.layers[0].t[CACHE_K]->data, 7, some);
    ok(are_counted(&c), "rows of a slot");
    session_cache_assume(&c, 1, USED);
    session_cache_assume(&c, 0, USED);
    ok(are_counted(&c), "rows of two slots");
    after = large_kilobytes();
    ok(after > before || after < 0 || c.homes[0].extents.n_refused > 0,
       "most of what is in use lies in large pages, if the system has some");
    ok(holds(&c, 7, some), "rows have kept what they held");
    release(&c, 1);
    ok(are_counted(&c), "a slot less");
    release(&c, 0);
    ok(are_counted(&c), "no slot");
    session_cache_clear(&c);
    gg_model_free(m);
    return tap_done();
}
