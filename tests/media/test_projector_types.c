/* test_projector_types.c - small projectors of many types: what they give, and
 * what of them is refused by name */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gg-media.h>

#include "fixtures/projector_types.h"
#include "harness/scratch.h"
#include "harness/tap.h"

enum {
    WIDTH = 40, /* of the picture */
    HEIGHT = 22,
    SAMPLES = 20000,
    MOST_TEXT = 1024,
};

static struct gg_error err;

/* ---- files --------------------------------------------------------------- */

static enum gg_status
open_case(const struct projector_case *c, const struct projector_edit *edit,
          struct gg_projector **p)
{
    struct gg_projector_params params = { .n_threads = 1 };

    *p = NULL;
    projector_case_write(c, edit, scratch_path());
    return gg_projector_open(scratch_path(), &params, p, &err);
}

static const char *
text_of(const struct projector_case *c, const char *what, const char *name)
{
    static char text[MOST_TEXT];

    snprintf(text, sizeof(text), "%s%s: %s %s", c->type, c->variant, what,
             name);
    return text;
}

/* It is refused, and what is wrong is named. */
static void
refused(const struct projector_case *c, const struct projector_edit *edit,
        const char *name, const char *what)
{
    struct gg_projector *p;
    enum gg_status st = open_case(c, edit, &p);

    ok((st == GG_ERR_FORMAT || st == GG_ERR_UNSUPPORTED) &&
           strstr(err.message, name),
       text_of(c, name, what));
    if (st == GG_OK || !strstr(err.message, name))
        printf("# %s\n", st == GG_OK ? "opened" : err.message);
    gg_projector_free(p);
}

/* ---- rows ---------------------------------------------------------------- */

static uint8_t rgb[WIDTH * HEIGHT * 3];
static float samples[SAMPLES];

static void
fill_media(void)
{
    for (size_t i = 0; i < sizeof(rgb); i++)
        rgb[i] = (uint8_t)(i * 7 + i / 50 * 3);
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = (float)((i * i / 7) % 201) / 200 - 0.5f;
}

static struct gg_media_rows *
encode(struct gg_projector *p, bool sound)
{
    const struct gg_decoded image = {
        .kind = GG_MEDIA_IMAGE, .width = WIDTH, .height = HEIGHT, .rgb = rgb
    };
    const struct gg_decoded heard = { .kind = GG_MEDIA_SOUND,
                                      .rate = 16000,
                                      .n_samples = SAMPLES,
                                      .samples = samples };
    struct gg_media_plan *plan = NULL;
    struct gg_media_rows *rows = NULL;

    if (p &&
        gg_projector_plan(p, sound ? &heard : &image, &plan, &err) == GG_OK &&
        gg_projector_encode(p, plan, &rows, &err) != GG_OK)
        rows = NULL;
    if (!rows)
        printf("# %s\n", err.message);
    gg_media_plan_free(plan);
    return rows;
}

static struct gg_media_rows *
encode_case(const struct projector_case *c, const struct projector_edit *edit)
{
    struct gg_projector *p;
    struct gg_media_rows *rows;

    if (open_case(c, edit, &p) != GG_OK)
        printf("# %s\n", err.message);
    rows = p ? encode(p, c->sound) : NULL;
    gg_projector_free(p);
    return rows;
}

static double
weighed(const struct gg_medium *m)
{
    double sum = 0;

    for (size_t i = 0; i < m->n * m->width; i++)
        sum += m->rows[i] * (double)(1 + i % 7);
    return sum;
}

static bool
is_near(double a, double b)
{
    return fabs(a - b) <= 2e-4 * (1 + fabs(b));
}

/* Markers and texts, one after the other, and a bar for each run of rows. */
static const char *
pieces_of(const struct gg_media_rows *rows)
{
    static char text[MOST_TEXT];
    size_t n = 0;

    text[0] = '\0';
    for (size_t i = 0; i < rows->n_pieces && n < sizeof(text); i++)
        n += (size_t)snprintf(
            text + n, sizeof(text) - n, "%s",
            rows->pieces[i].kind == GG_PIECE_ROWS ? "|" : rows->pieces[i].text);
    return text;
}

static void
print_golden(const struct gg_media_rows *r)
{
    size_t n = r->medium.n * r->medium.width;

    printf("# \"%s\", { %zu, %.7g, %.7g, %.8g }\n", pieces_of(r), r->medium.n,
           (double)r->medium.rows[0], (double)r->medium.rows[n - 1],
           weighed(&r->medium));
}

static void
test_rows(const struct projector_case *c)
{
    const struct projector_golden *g = &c->golden;
    struct gg_media_rows *r = encode_case(c, &(struct projector_edit){ 0 });
    size_t n = r ? r->medium.n * r->medium.width : 0;
    bool right = n > 0 && r->medium.n == g->n_rows &&
                 is_near(r->medium.rows[0], g->first) &&
                 is_near(r->medium.rows[n - 1], g->last) &&
                 is_near(weighed(&r->medium), g->sum);

    ok(right, text_of(c, "rows", ""));
    ok(r && strcmp(pieces_of(r), c->markers) == 0, text_of(c, "pieces", ""));
    if (r && (!right || strcmp(pieces_of(r), c->markers) != 0))
        print_golden(r);
    gg_media_rows_free(r);
}

/* ---- what is not there, or another --------------------------------------- */

/* Layers have been tested with other types. */
static bool
is_own(const char *name)
{
    return !strstr(name, ".blk.") || strstr(name, "_norm");
}

/* Others have the size of this one, which are named. */
static bool
is_measure(const struct projector_case *c, const char *name)
{
    return (strcmp(c->type, "mlp") == 0 && strcmp(name, "mm.2.weight") == 0) ||
           (strcmp(c->type, "glm4v") == 0 && strcmp(name, "mm.up.weight") == 0);
}

static void
test_names(const struct projector_case *c)
{
    const char *key =
        c->sound ? "clip.audio.n_wa_pattern" : "clip.vision.n_wa_pattern";

    for (const struct projector_tensor *t = c->tensors; t->name; t++) {
        if (!is_own(t->name))
            continue;
        refused(c, &(struct projector_edit){ .misshaped = t->name },
                is_measure(c, t->name) ? "mm." : t->name, "of another shape");
    }
    refused(c, &(struct projector_edit){ .extra = "mm.scale_by" },
            "mm.scale_by", "one that the type has not");
    refused(c, &(struct projector_edit){ .extra_key = key }, key,
            "a key that the type has not");
}

/* Tensors that are there only where the file has them. */
static bool
is_optional(const char *name)
{
    static const char *const names[] = {
        "v.class_embd",      "model.image_newline",
        "v.patch_embd.bias", "v.blk.0.attn_q_norm.weight",
        "v.pre_ln.weight",   "mm.1.bias",
        "mm.2.bias"
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Something is refused, though another tensor may be named. */
static void
test_missing(const struct projector_case *c)
{
    struct gg_projector *p;

    for (const struct projector_tensor *t = c->tensors; t->name; t++) {
        if (!is_own(t->name))
            continue;
        if (!is_optional(t->name)) {
            refused(c, &(struct projector_edit){ .missing = t->name }, t->name,
                    "missing");
            continue;
        }
        open_case(c, &(struct projector_edit){ .missing = t->name }, &p);
        gg_media_rows_free(p ? encode(p, c->sound) : NULL);
        gg_projector_free(p);
    }
}

/* Each number as 0, one that does not divide, and as large as it gets: it is
 * refused, or encoding works. */
static void
test_numbers(const struct projector_case *c)
{
    static const uint32_t values[] = { 0, 7, 1 << 20, INT32_MAX, UINT32_MAX };
    struct gg_projector *p;

    for (const struct projector_key *k = c->keys; k->name; k++)
        for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
            open_case(
                c,
                &(struct projector_edit){ .key = k->name, .value = values[i] },
                &p);
            ok(!p || values[i] <= 7 || strstr(k->name, "pixels") ||
                   strstr(k->name, "version"),
               text_of(c, k->name, "is hostile"));
            if (p)
                gg_media_rows_free(encode(p, c->sound));
            gg_projector_free(p);
        }
}

/* ---- other files of the same weights ------------------------------------- */

static double
nmse(const struct gg_medium *a, const struct gg_medium *b)
{
    double error = 0, sum = 0;

    for (size_t i = 0; i < a->n * a->width; i++) {
        double d = (double)a->rows[i] - (double)b->rows[i];

        error += d * d;
        sum += (double)b->rows[i] * (double)b->rows[i];
    }
    return error / sum;
}

static void
test_like(const struct projector_case *c, const struct gg_media_rows *want,
          const struct projector_edit *edit, double most, const char *what)
{
    struct gg_media_rows *got = encode_case(c, edit);
    double e = got && got->medium.n == want->medium.n
                   ? nmse(&got->medium, &want->medium)
                   : INFINITY;

    ok(e <= most, text_of(c, "rows of", what));
    if (!(e <= most))
        printf("# NMSE %g\n", e);
    gg_media_rows_free(got);
}

static void
test_weights(const struct projector_case *c)
{
    struct gg_media_rows *want = encode_case(c, &(struct projector_edit){ 0 });

    if (!want)
        return;
    test_like(c, want, &(struct projector_edit){ .weights = GGML_TYPE_F16 },
              1e-6, "F16");
    test_like(c, want, &(struct projector_edit){ .weights = GGML_TYPE_Q8_0 },
              1e-3, "Q8_0");
    test_like(c, want, &(struct projector_edit){ .weights = GGML_TYPE_Q4_0 },
              0.1, "Q4_0");
    test_like(c, want, &(struct projector_edit){ .swapped = true }, 0,
              "swapped names");
    if (strcmp(c->type, "qwen2vl_merger") == 0)
        test_like(
            c, want,
            &(struct projector_edit){ .swapped = true, .no_length = true }, 0,
            "an old converter, without a length");
    if (strcmp(c->type, "mlp") == 0 || strcmp(c->type, "resampler") == 0)
        test_like(c, want, &(struct projector_edit){ .no_width = true }, 0,
                  "an old converter, without a width");
    gg_media_rows_free(want);
}

int
main(void)
{
    const struct projector_case *c;

    fill_media();
    for (int i = 0; (c = projector_case(i)); i++) {
        test_rows(c);
        test_names(c);
        test_missing(c);
        test_numbers(c);
        if (!c->sound)
            test_weights(c);
    }
    return tap_done();
}
