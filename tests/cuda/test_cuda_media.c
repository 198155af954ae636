/* test_cuda_media.c - encoders of images and sounds on a device, against the
 * CPU; see cuda/kernel_test.h */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gg-media.h>

#include "cuda/kernel_test.h"
#include "fixtures/projectors.h"
#include "harness/scratch.h"

enum {
    SIDE = 24,
    SAMPLES = 20000,
};

static uint8_t pixels[SIDE * SIDE * 3];
static float samples[SAMPLES];

static struct gg_decoded
picture(void)
{
    for (size_t i = 0; i < sizeof(pixels); i++)
        pixels[i] = (uint8_t)(i * 7 + i / 50);
    return (struct gg_decoded){
        .kind = GG_MEDIA_IMAGE, .width = SIDE, .height = SIDE, .rgb = pixels
    };
}

static struct gg_decoded
sound(void)
{
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = 0.5f * sinf(0.05f * (float)i);
    return (struct gg_decoded){ .kind = GG_MEDIA_SOUND,
                                .rate = 16000,
                                .n_samples = SAMPLES,
                                .samples = samples };
}

/* NULL: it failed. */
static struct gg_media_rows *
encode_on(const char *device, const char *path, const struct gg_decoded *m)
{
    struct gg_projector_params params = { .device = device, .n_threads = 1 };
    struct gg_projector *p = NULL;
    struct gg_media_plan *plan = NULL;
    struct gg_media_rows *rows = NULL;
    struct gg_error err = { "" };

    if (gg_projector_open(path, &params, &p, &err) != GG_OK ||
        gg_projector_plan(p, m, &plan, &err) != GG_OK ||
        gg_projector_encode(p, plan, &rows, &err) != GG_OK)
        printf("# %s: %s\n", device, err.message);
    gg_media_plan_free(plan);
    gg_projector_free(p);
    return rows;
}

static double
nmse_of(const float *x, const float *truth, size_t n)
{
    double error = 0, all = 0;

    for (size_t i = 0; i < n; i++) {
        error += pow((double)x[i] - (double)truth[i], 2);
        all += pow((double)truth[i], 2);
    }
    return all > 0 ? error / all : 1;
}

/* Rows, and those for deeper layers, within what products of the device's
 * precision leave. */
static void
test_encoder(const char *type, const struct gg_decoded *m)
{
    const double bound = kt_large_device() ? 1e-5 : 1e-9;
    struct gg_media_rows *cpu, *device;
    char text[160];
    double nmse = 1, deeper = 0;
    size_t n;

    projectors_write_named(type, scratch_path());
    cpu = encode_on("cpu", scratch_path(), m);
    device = encode_on("cuda", scratch_path(), m);
    if (cpu && device) {
        n = cpu->medium.n * cpu->medium.width;
        nmse = nmse_of(device->medium.rows, cpu->medium.rows, n);
        if (cpu->medium.n_deeper)
            deeper = nmse_of(device->medium.deeper, cpu->medium.deeper, n);
    }
    snprintf(text, sizeof(text), "%s: NMSE %.2g, of deeper rows %.2g", type,
             nmse, deeper);
    kt_ok(nmse <= bound && deeper <= bound, text);
    gg_media_rows_free(cpu);
    gg_media_rows_free(device);
}

int
main(void)
{
    struct gg_decoded image = picture(), tone = sound();

    kt_start();
    test_encoder("qwen3vl_merger", &image);
    test_encoder("qwen3a", &tone);
    return kt_done();
}
