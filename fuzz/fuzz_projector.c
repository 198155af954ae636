/* fuzz_projector.c - projector files: whatever a file says, a word at most;
 * what opens can plan and encode */
#include <stdlib.h>
#include <string.h>

#include <gg-media.h>

#include "fixtures/projector_types.h"
#include "fixtures/projectors.h"
#include "fuzz.h"
#include "harness/scratch.h"

const char fuzz_name[] = "projector";

enum {
    WIDTH = 20, /* of the image */
    HEIGHT = 11,
    MOST_PIXELS = 1 << 18, /* of an input: what is larger takes long */
};

/* ---- an input ------------------------------------------------------------ */

static bool
is_small(const struct gg_media_plan *plan)
{
    uint64_t n = 0;

    for (size_t i = 0; i < plan->n_pieces; i++)
        n += (uint64_t)plan->pieces[i].width * plan->pieces[i].height;
    return n <= MOST_PIXELS;
}

static void
encode(struct gg_projector *p, const struct gg_decoded *medium)
{
    struct gg_media_plan *plan;
    struct gg_media_rows *rows;
    struct gg_error err;

    if (gg_projector_plan(p, medium, &plan, &err) != GG_OK)
        return;
    if (is_small(plan) && gg_projector_encode(p, plan, &rows, &err) == GG_OK)
        gg_media_rows_free(rows);
    gg_media_plan_free(plan);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t rgb[WIDTH * HEIGHT * 3];
    static float samples[4000];
    const struct gg_decoded image = {
        .kind = GG_MEDIA_IMAGE, .width = WIDTH, .height = HEIGHT, .rgb = rgb
    };
    const struct gg_decoded sound = { .kind = GG_MEDIA_SOUND,
                                      .rate = 16000,
                                      .n_samples = 4000,
                                      .samples = samples };
    struct gg_projector_params params = { .n_threads = 1 };
    struct gg_projector *p;
    struct gg_error err;

    fuzz_write(scratch_path(), data, size);
    if (gg_projector_open(scratch_path(), &params, &p, &err) != GG_OK)
        return 0;
    encode(p, &image);
    encode(p, &sound);
    gg_projector_free(p);
    return 0;
}

/* ---- the corpus ---------------------------------------------------------- */

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    static const struct projector_change changes[] = {
        { 0 },
        { .key = "clip.vision.projector.scale_factor", .value = 4 },
        { .missing = "v.post_ln.bias" },
    };

    static const char *const types[] = { "qwen3vl_merger", "qwen3a" };
    const size_t n = sizeof(changes) / sizeof(*changes);
    const size_t n_types = sizeof(types) / sizeof(*types);
    const struct projector_edit none = { 0 };

    if (i < n)
        projectors_write(&changes[i], scratch_path());
    else if (i < n + n_types)
        projectors_write_named(types[i - n], scratch_path());
    else if (projector_case((int)(i - n - n_types)))
        projector_case_write(projector_case((int)(i - n - n_types)), &none,
                             scratch_path());
    else
        return NULL;
    return fuzz_file(scratch_path(), 0, size);
}
