/* test_projector_folders.c - folders of models that see or hear, as
 * transformers saves them: the rows that the converted projector computes,
 * against the library in float64
 *
 * With a name only that case. */
#include <config.h>

#include <math.h>

#include <gg-media.h>

#include "convert/convert.h"
#include "fixtures/folder_case.h"
#include "harness/scratch.h"
#include "harness/tap.h"

enum {
    CHANNELS = 3,
    RATE = 16000,
};

static struct gg_error err;

/* ---- the medium ---------------------------------------------------------- */

static struct gg_decoded *
medium_of(const struct folder_case *c)
{
    struct gg_decoded sizes = { .kind = c->n_samples ? GG_MEDIA_SOUND
                                                     : GG_MEDIA_IMAGE,
                                .width = (uint32_t)c->width,
                                .height = (uint32_t)c->height,
                                .rate = c->n_samples ? RATE : 0,
                                .n_samples = (size_t)c->n_samples };
    size_t n = (size_t)c->width * (size_t)c->height * CHANNELS;
    struct gg_decoded *m = NULL;

    if (gg_decoded_new(&sizes, NULL, &m, &err) != GG_OK)
        return NULL;
    for (size_t i = 0; i < n; i++)
        m->rgb[i] = (uint8_t)((folder_case_noise("image", i) + 1) * 128);
    for (size_t i = 0; i < m->n_samples; i++)
        m->samples[i] = (float)folder_case_noise("sound", i);
    return m;
}

/* ---- rows ---------------------------------------------------------------- */

static double
row_nmse(const struct folder_case_row *want, const struct gg_medium *m)
{
    size_t at = (size_t)want->position;
    const float *row =
        want->deeper
            ? m->deeper + ((size_t)(want->deeper - 1) * m->n + at) * m->width
            : m->rows + at * m->width;
    double error = 0, power = 0;

    for (int i = 0; i < FOLDER_CASE_VALUES; i++) {
        size_t k = (size_t)i * (m->width - 1) / (FOLDER_CASE_VALUES - 1);
        double d = (double)row[k] - want->values[i];

        error += d * d;
        power += want->values[i] * want->values[i];
    }
    return isnan(error) ? INFINITY : error / power;
}

/* The worst row's error; infinite where there are other rows. */
static double
worst_row(const struct folder_case *c, const struct gg_medium *m)
{
    double worst = 0;

    if (m->n != (size_t)c->n_media_rows || m->n_deeper != (size_t)c->n_deeper) {
        printf("# %zu rows, %zu deeper\n", m->n, m->n_deeper);
        return INFINITY;
    }
    for (int i = 0; i < c->n_rows; i++)
        worst = fmax(worst, row_nmse(&c->rows[i], m));
    return worst;
}

static double
encode(struct gg_projector *p, const struct folder_case *c)
{
    struct gg_decoded *m = medium_of(c);
    struct gg_media_plan *plan = NULL;
    struct gg_media_rows *rows = NULL;
    double worst = INFINITY;

    if (!m || gg_projector_plan(p, m, &plan, &err) != GG_OK ||
        gg_projector_encode(p, plan, &rows, &err) != GG_OK)
        printf("# %s\n", err.message);
    else
        worst = worst_row(c, &rows->medium);
    gg_media_rows_free(rows);
    gg_media_plan_free(plan);
    gg_decoded_free(m);
    return worst;
}

/* ---- folders ------------------------------------------------------------- */

/* The folder's encoders as a file. */
static bool
convert(const char *folder, const char *to)
{
    struct gguf_file file;
    bool good = convert_open_folder(folder, GGUF_OPEN_ALL | CONVERT_PROJECTOR,
                                    &file, NULL, &err) == GG_OK;

    if (!good)
        return false;
    good = gguf_write_to_file(file.gguf, to, false);
    gguf_file_close(&file);
    return good;
}

static void
check(const char *folder, const char *name)
{
    const char *to = scratch_file(name), *file = scratch_file("mmproj.gguf");
    struct gg_projector_params params = { .n_threads = 1 };
    struct gg_projector *p = NULL;
    struct folder_case c;
    char path[1024], title[160];
    double worst;

    snprintf(path, sizeof(path), "%s/%s.case", folder, name);
    folder_case_write(path, file, to, &c);
    if (!convert(to, file) ||
        gg_projector_open(file, &params, &p, &err) != GG_OK) {
        printf("# %s\n", err.message);
        ok(false, name);
        return;
    }
    worst = encode(p, &c);
    gg_projector_free(p);
    snprintf(title, sizeof(title), "%s: NMSE %.1e <= 1e-10", name, worst);
    ok(worst <= 1e-10, title);
}

int
main(int argc, char **argv)
{
#ifndef HAVE_JANSSON
    puts("1..0 # SKIP built without Jansson");
    return 0;
#endif
    ok(folder_case_each("projector_cases", argc > 1 ? argv[1] : NULL, check),
       "there are cases");
    return tap_done();
}
