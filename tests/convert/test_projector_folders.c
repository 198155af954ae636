/* test_projector_folders.c - folders of models that see or hear, as
 * transformers saves them: the rows that the converted projector computes,
 * against the library in float64
 *
 * With a name only that case. */
#include <config.h>

#include <dirent.h>
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

static void
check_all(const char *folder)
{
    struct dirent **list;
    int n = scandir(folder, &list, NULL, alphasort);

    for (int i = 0; i < n; i++) {
        char *end = strstr(list[i]->d_name, ".case");

        if (end) {
            *end = '\0';
            check(folder, list[i]->d_name);
        }
        free(list[i]);
    }
    ok(n > 2, "there are cases");
    if (n >= 0)
        free(list);
}

/* ---- what is refused ----------------------------------------------------- */

/* Copies a case, with the first `was` in it replaced. */
static void
change_case(const char *path, const char *was, const char *is, const char *to)
{
    FILE *in = fopen(path, "r"), *out = fopen(to, "w");
    static char line[1 << 16];
    bool done = false;

    while (in && out && fgets(line, sizeof(line), in)) {
        const char *at = done ? NULL : strstr(line, was);

        if (at)
            fprintf(out, "%.*s%s%s", (int)(at - line), line, is,
                    at + strlen(was));
        else
            fputs(line, out);
        done = done || at;
    }
    if (!in || !out || fclose(in) || fclose(out) || !done)
        printf("# %s: cannot be changed\n", was);
}

/* The sentence must have the word. */
static void
check_refusal(const char *folder, const char *name, const char *const change[3])
{
    static int n;
    const char *file = scratch_file("refused.gguf");
    const char *changed = scratch_file("changed.case");
    struct folder_case c;
    char path[1024], title[64];
    const char *to;

    snprintf(title, sizeof(title), "refused-%d", n++);
    to = scratch_file(title);
    snprintf(path, sizeof(path), "%s/%s.case", folder, name);
    change_case(path, change[0], change[1], changed);
    folder_case_write(changed, file, to, &c);
    err.message[0] = '\0';
    ok(!convert(to, file) && strstr(err.message, change[2]), change[2]);
    printf("# %s\n", err.message);
}

static void
check_refusals(const char *folder)
{
    static const char *const qwen3[][3] = {
        { "tensor model.visual.merger.norm.bias",
          "tensor model.visual.odd.weight 0 1 4 4\n"
          "tensor model.visual.merger.norm.bias",
          "model.visual.odd.weight: the projector" },
        { "model.visual.merger.norm.weight", "model.more.weight",
          "model.visual.merger.norm.weight: is missing" },
        { "32 3 2 8 8", "32 3 16 8", "model.visual.patch_embed.proj.weight" },
        { "32 3 2 8 8", "32 3 1 16 8", "two frames" },
        { "\"image_mean\":[0.4,", "\"image_mean\":[", "image_mean" },
        { "preprocessor_config.json", "other.json", "there is neither" },
        { "\"hidden_act\":\"gelu_pytorch_tanh\"", "\"hidden_act\":\"relu\"",
          "relu" },
        { "\"deepstack_visual_indexes\":[0,2]",
          "\"deepstack_visual_indexes\":[0,3]", "deepstack_visual_indexes" },
        { "[\"Qwen3VLForCond", "[\"Qwen9VLForCond", "Qwen9VL" },
        { "\"longest_edge\"", "\"longest\"", "longest_edge" },
        { "\"temporal_patch_size\":2", "\"temporal_patch_size\":1",
          "temporal_patch_size" },
    };
    static const char *const qwen25[][3] = {
        { "\"window_size\":112", "\"window_size\":56", "window_size" },
        { "indexes\":[1,3]", "indexes\":[1,2]", "fullatt_block_indexes" },
        { "qkv.bias 0 0.25 96", "qkv.bias 0 0.25 97", "queries, keys and" },
    };
    static const char *const gemma4[][3] = {
        { "\"rope_theta\":100.0", "\"rope_theta\":10.0", "rope_theta" },
        { "input_proj.weight 0 1 32 192", "input_proj.weight 0 1 32 191",
          "squares of pixels" },
        { "\"do_normalize\":false", "\"do_normalize\":true", "do_normalize" },
    };

    for (size_t i = 0; i < sizeof(qwen3) / sizeof(qwen3[0]); i++)
        check_refusal(folder, "qwen3vl", qwen3[i]);
    for (size_t i = 0; i < sizeof(qwen25) / sizeof(qwen25[0]); i++)
        check_refusal(folder, "qwen2_5vl", qwen25[i]);
    for (size_t i = 0; i < sizeof(gemma4) / sizeof(gemma4[0]); i++)
        check_refusal(folder, "gemma4", gemma4[i]);
}

int
main(int argc, char **argv)
{
    const char *source = getenv("top_srcdir");
    char folder[1024];

#ifndef HAVE_JANSSON
    puts("1..0 # SKIP built without Jansson");
    return 0;
#endif
    snprintf(folder, sizeof(folder), "%s/tests/fixtures/projector_cases",
             source ? source : "..");
    if (argc > 1)
        check(folder, argv[1]);
    else
        check_all(folder);
    if (argc <= 1)
        check_refusals(folder);
    return tap_done();
}
