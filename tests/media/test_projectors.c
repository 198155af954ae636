/* test_projectors.c - projector files that are hostile, and one that is not */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gg-media.h>

#include "core/mem.h"
#include "fixtures/projectors.h"
#include "harness/scratch.h"
#include "harness/tap.h"

/* ---- files --------------------------------------------------------------- */

static const char *
write_file(const struct projector_change *c)
{
    const char *path = scratch_path();

    projectors_write(c, path);
    return path;
}

static enum gg_status
open_file(const struct projector_change *c, struct gg_projector **p,
          struct gg_error *err)
{
    struct gg_projector_params params = { .n_threads = 1 };

    *p = NULL;
    return gg_projector_open(write_file(c), &params, p, err);
}

/* It is refused, and what is wrong is named. */
static void
refused(const struct projector_change *c, const char *name, const char *what)
{
    struct gg_error err = { "" };
    struct gg_projector *p;
    enum gg_status st = open_file(c, &p, &err);
    char text[256];

    snprintf(text, sizeof(text), "%s: %s", name, what);
    ok((st == GG_ERR_FORMAT || st == GG_ERR_UNSUPPORTED) &&
           strstr(err.message, name),
       text);
    printf("# %s\n", err.message);
    gg_projector_free(p);
}

/* ---- what is refused ----------------------------------------------------- */

/* Each number as 0, as large as it gets, and one that does not divide. */
static void
test_sizes(void)
{
    static const uint32_t values[] = { 0, 7, 1 << 20, INT32_MAX, UINT32_MAX };
    struct gg_error err;
    struct gg_projector *p;

    for (int i = 0; projectors_number(i); i++)
        for (size_t k = 0; k < sizeof(values) / sizeof(*values); k++) {
            struct projector_change c = { .key = projectors_number(i),
                                          .value = values[k] };
            char text[256];

            snprintf(text, sizeof(text), "%s of %u", c.key, c.value);
            ok(open_file(&c, &p, &err) != GG_OK, text);
            gg_projector_free(p);
        }
}

static void
test_names(void)
{
    for (int i = 0; projectors_tensor(i); i++) {
        refused(&(struct projector_change){ .missing = projectors_tensor(i) },
                projectors_tensor(i), "missing");
        refused(&(struct projector_change){ .misshaped = projectors_tensor(i) },
                projectors_tensor(i), "of another shape");
    }
    refused(&(struct projector_change){ .extra = "v.blk.0.attn_q.scale_by" },
            "v.blk.0.attn_q.scale_by", "one that the type has not");
    refused(&(struct projector_change){ .extra = "token_embd.weight" },
            "token_embd.weight", "one of a language model");
    refused(
        &(struct projector_change){ .extra_key = "clip.vision.n_wa_pattern" },
        "clip.vision.n_wa_pattern", "a key that the type has not");
    for (int i = 0; projectors_number(i + 1); i++)
        refused(&(struct projector_change){ .key = projectors_number(i),
                                            .no_key = true },
                projectors_number(i), "no such key");
}

/* ---- what is not --------------------------------------------------------- */

static struct gg_decoded *
picture(uint32_t width, uint32_t height)
{
    char head[64];
    size_t pixels = (size_t)width * height * 3;
    int n = snprintf(head, sizeof(head), "P6\n%u %u\n255\n", width, height);
    uint8_t *data = malloc((size_t)n + pixels);
    struct gg_decode_limits limits = { 0 };
    struct gg_decoded *m = NULL;
    struct gg_error err;

    memcpy(data, head, (size_t)n);
    for (size_t i = 0; i < pixels; i++)
        data[(size_t)n + i] = (uint8_t)(i * 7 + i / 50);
    if (gg_media_decode(data, (size_t)n + pixels, &limits, &m, &err) != GG_OK)
        m = NULL;
    free(data);
    return m;
}

static bool
all_finite(const struct gg_medium *m)
{
    for (size_t i = 0; i < m->n * m->width; i++)
        if (!isfinite(m->rows[i]))
            return false;
    return true;
}

static void
test_encode(void)
{
    struct gg_decoded *m = picture(20, 11);
    struct gg_media_plan *plan = NULL;
    struct gg_media_rows *rows = NULL;
    struct gg_projector_memory memory;
    struct gg_projector *p;
    struct gg_error err;

    ok(open_file(&(struct projector_change){ 0 }, &p, &err) == GG_OK,
       "a file is opened");
    ok(gg_projector_width(p) == PROJECTOR_WIDTH &&
           gg_projector_n_deeper(p) == 0 &&
           strcmp(gg_projector_type(p, GG_MEDIA_IMAGE), "gemma3") == 0 &&
           !gg_projector_type(p, GG_MEDIA_SOUND),
       "what it is");
    ok(gg_projector_plan(p, m, &plan, &err) == GG_OK && plan->n_rows == 4 &&
           plan->n_positions == 4 && plan->n_pieces == 3,
       "a plan");
    ok(plan && plan->pieces[1].block && plan->pieces[1].width == PROJECTOR_SIDE,
       "a run of rows");
    ok(gg_projector_memory(p, plan, &memory, &err) == GG_OK &&
           memory.weights > 0 && memory.compute > 0 &&
           memory.rows == 4 * PROJECTOR_WIDTH * sizeof(float) &&
           gg_projector_memory(p, NULL, &memory, &err) == GG_OK &&
           memory.weights > 0 && memory.compute == 0 && memory.rows == 0 &&
           gg_projector_memory(NULL, plan, &memory, &err) == GG_ERR_ARG,
       "what encoding takes");
    ok(!gg_projector_embeds(p), "rows are for a model");
    ok(gg_projector_encode(p, plan, &rows, &err) == GG_OK &&
           rows->medium.n == 4 && rows->medium.width == PROJECTOR_WIDTH &&
           all_finite(&rows->medium) && rows->medium.blocks[3] == 0,
       "rows");
    gg_media_plan_free(plan);
    ok(rows && strcmp(rows->pieces[0].text, "<start_of_image>") == 0,
       "rows outlive their plan");
    gg_media_rows_free(rows);
    gg_decoded_free(m);
    gg_projector_free(p);
}

static void
test_sound(void)
{
    float samples[4] = { 0 };
    struct gg_decoded m = { .kind = GG_MEDIA_SOUND,
                            .rate = 16000,
                            .n_samples = 4,
                            .samples = samples };
    struct gg_media_plan *plan;
    struct gg_projector *p;
    struct gg_error err;

    ok(open_file(&(struct projector_change){ 0 }, &p, &err) == GG_OK &&
           gg_projector_plan(p, &m, &plan, &err) == GG_ERR_UNSUPPORTED,
       "a sound where there is no encoder of any");
    gg_projector_free(p);
}

/* Tensors that may be made of blocks. */
static void
test_blocks(void)
{
    static const int64_t matrix[4] = { 64, 96, 1, 1 },
                         vector[4] = { 64, 1, 1, 1 },
                         filters[4] = { 3, 3, 64, 64 };
    static const char *const kept[] = {
        "v.patch_embd.weight",
        "v.patch_embd.weight.1",
        "v.class_embd",
        "v.position_embd.weight",
        "a.conv1d.0.weight",
        "a.blk.0.conv_dw.weight",
        "resampler.query",
        "mm.soft_emb_norm.weight",
        "mm.input_projection.weight",
        "v.blk.0.attn_q.bias",
    };
    bool keeps = true;

    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        keeps = keeps && !gg_projector_quantizes(kept[i], matrix);
    ok(keeps, "filters, tables, biases stay");
    ok(gg_projector_quantizes("v.blk.0.attn_q.weight", matrix) &&
           gg_projector_quantizes("mm.2.weight", matrix) &&
           gg_projector_quantizes("visual_projection.weight", matrix),
       "matrices become blocks");
    ok(!gg_projector_quantizes("v.blk.0.ln1.weight", vector) &&
           !gg_projector_quantizes("mm.2.weight", filters) &&
           !gg_projector_quantizes(NULL, matrix),
       "what is none does not");
}

/* Each allocation fails in turn. */
static void
test_memory(void)
{
    const char *path = write_file(&(struct projector_change){ 0 });
    struct gg_projector_params params = { .n_threads = 1 };
    struct gg_projector *p;
    struct gg_error err;
    enum gg_status st = GG_ERR_NOMEM;
    long n;

    for (n = 0; st != GG_OK && n < 100000; n++) {
        mem_fail_after(n);
        st = gg_projector_open(path, &params, &p, &err);
        mem_fail_after(-1);
        if (st == GG_OK)
            gg_projector_free(p);
    }
    ok(st == GG_OK && n > 10, "memory that is not there");
}

int
main(void)
{
    test_sizes();
    test_names();
    test_encode();
    test_sound();
    test_blocks();
    test_memory();
    return tap_done();
}
