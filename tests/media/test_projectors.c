/* test_projectors.c - projector files that are hostile, and one that is not */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gg-media.h>
#include <gguf.h>

#include "core/mem.h"
#include "gguf/reader.h"
#include "harness/scratch.h"
#include "harness/tap.h"

/* ---- files --------------------------------------------------------------- */

enum {
    EMBD = 8,
    FF = 12,
    PATCH = 4,
    SIDE = 16, /* pixels */
    MERGE = 2,
    WIDTH = 6,
    MAX_TENSORS = 32,
};

/* What is otherwise than in a file that is right. */
struct change {
    const char *key; /* has this number */
    uint32_t value;
    const char *missing;   /* this tensor is not there */
    const char *extra;     /* and this one is, too */
    const char *extra_key; /* and this key */
    const char *misshaped; /* this one has another shape */
    bool no_key;           /* `key` is not there */
};

struct tensor {
    const char *name;
    int64_t ne[4];
};

static const struct tensor tensors[] = {
    { "v.patch_embd.weight", { PATCH, PATCH, 3, EMBD } },
    { "v.patch_embd.bias", { EMBD, 1, 1, 1 } },
    { "v.position_embd.weight", { EMBD, 16, 1, 1 } },
    { "v.blk.0.ln1.weight", { EMBD, 1, 1, 1 } },
    { "v.blk.0.ln1.bias", { EMBD, 1, 1, 1 } },
    { "v.blk.0.ln2.weight", { EMBD, 1, 1, 1 } },
    { "v.blk.0.ln2.bias", { EMBD, 1, 1, 1 } },
    { "v.blk.0.attn_q.weight", { EMBD, EMBD, 1, 1 } },
    { "v.blk.0.attn_q.bias", { EMBD, 1, 1, 1 } },
    { "v.blk.0.attn_k.weight", { EMBD, EMBD, 1, 1 } },
    { "v.blk.0.attn_k.bias", { EMBD, 1, 1, 1 } },
    { "v.blk.0.attn_v.weight", { EMBD, EMBD, 1, 1 } },
    { "v.blk.0.attn_v.bias", { EMBD, 1, 1, 1 } },
    { "v.blk.0.attn_out.weight", { EMBD, EMBD, 1, 1 } },
    { "v.blk.0.attn_out.bias", { EMBD, 1, 1, 1 } },
    { "v.blk.0.ffn_up.weight", { EMBD, FF, 1, 1 } },
    { "v.blk.0.ffn_up.bias", { FF, 1, 1, 1 } },
    { "v.blk.0.ffn_down.weight", { FF, EMBD, 1, 1 } },
    { "v.blk.0.ffn_down.bias", { EMBD, 1, 1, 1 } },
    { "v.post_ln.weight", { EMBD, 1, 1, 1 } },
    { "v.post_ln.bias", { EMBD, 1, 1, 1 } },
    { "mm.soft_emb_norm.weight", { EMBD, 1, 1, 1 } },
    { "mm.input_projection.weight", { WIDTH, EMBD, 1, 1 } },
};

static const struct {
    const char *key;
    uint32_t value;
} numbers[] = {
    { "clip.vision.image_size", SIDE },
    { "clip.vision.patch_size", PATCH },
    { "clip.vision.embedding_length", EMBD },
    { "clip.vision.feed_forward_length", FF },
    { "clip.vision.block_count", 1 },
    { "clip.vision.attention.head_count", 2 },
    { "clip.vision.projection_dim", WIDTH },
    { "clip.vision.projector.scale_factor", MERGE },
};

enum {
    N_TENSORS = sizeof(tensors) / sizeof(*tensors),
    N_NUMBERS = sizeof(numbers) / sizeof(*numbers),
};

static bool
is_named(const char *a, const char *b)
{
    return a && strcmp(a, b) == 0;
}

static void
set_keys(struct gguf_context *g, const struct change *c)
{
    static const float half[3] = { 0.5f, 0.5f, 0.5f };

    gguf_set_val_str(g, "general.architecture", "clip");
    gguf_set_val_str(g, "clip.projector_type", "gemma3");
    gguf_set_val_bool(g, "clip.has_vision_encoder", true);
    gguf_set_val_bool(g, "clip.use_gelu", true);
    gguf_set_val_f32(g, "clip.vision.attention.layer_norm_epsilon", 1e-6f);
    gguf_set_arr_data(g, "clip.vision.image_mean", GGUF_TYPE_FLOAT32, half, 3);
    gguf_set_arr_data(g, "clip.vision.image_std", GGUF_TYPE_FLOAT32, half, 3);
    for (int i = 0; i < N_NUMBERS; i++)
        if (!is_named(c->key, numbers[i].key))
            gguf_set_val_u32(g, numbers[i].key, numbers[i].value);
        else if (!c->no_key)
            gguf_set_val_u32(g, numbers[i].key, c->value);
    if (c->extra_key)
        gguf_set_val_u32(g, c->extra_key, 1);
}

static void
add_tensor(struct gguf_context *g, struct ggml_context *ctx, const char *name,
           const int64_t ne[4])
{
    struct ggml_tensor *t = ggml_new_tensor(ctx, GGML_TYPE_F32, 4, ne);
    float *x = ggml_get_data_f32(t);

    ggml_set_name(t, name);
    for (int64_t i = 0; i < ggml_nelements(t); i++)
        x[i] = (float)((i * 37 + (int64_t)strlen(name)) % 17 - 8) / 16;
    gguf_add_tensor(g, t);
}

static const char *
write_file(const struct change *c)
{
    static char path[SCRATCH_PATH];
    struct ggml_context *ctx =
        ggml_init((struct ggml_init_params){ .mem_size = 1 << 20 });
    struct gguf_context *g = gguf_init_empty();
    static const int64_t odd[4] = { EMBD + 1, 3, 1, 1 };

    set_keys(g, c);
    for (int i = 0; i < N_TENSORS; i++)
        if (!is_named(c->missing, tensors[i].name))
            add_tensor(g, ctx, tensors[i].name,
                       is_named(c->misshaped, tensors[i].name) ? odd
                                                               : tensors[i].ne);
    if (c->extra)
        add_tensor(g, ctx, c->extra, odd);
    snprintf(path, sizeof(path), "%s/mmproj.gguf", scratch_begin());
    gguf_write_to_file(g, path, false);
    gguf_free(g);
    ggml_free(ctx);
    return path;
}

static enum gg_status
open_file(const struct change *c, struct gg_projector **p, struct gg_error *err)
{
    struct gg_projector_params params = { .n_threads = 1 };

    *p = NULL;
    return gg_projector_open(write_file(c), &params, p, err);
}

/* It is refused, and what is wrong is named. */
static void
refused(const struct change *c, const char *name, const char *what)
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

    for (int i = 0; i < N_NUMBERS; i++)
        for (size_t k = 0; k < sizeof(values) / sizeof(*values); k++) {
            struct change c = { .key = numbers[i].key, .value = values[k] };
            char text[256];

            snprintf(text, sizeof(text), "%s of %u", c.key, c.value);
            ok(open_file(&c, &p, &err) != GG_OK, text);
            gg_projector_free(p);
        }
}

static void
test_names(void)
{
    for (int i = 0; i < N_TENSORS; i++) {
        refused(&(struct change){ .missing = tensors[i].name }, tensors[i].name,
                "missing");
        refused(&(struct change){ .misshaped = tensors[i].name },
                tensors[i].name, "of another shape");
    }
    refused(&(struct change){ .extra = "v.blk.0.attn_q.scale_by" },
            "v.blk.0.attn_q.scale_by", "one that the type has not");
    refused(&(struct change){ .extra = "token_embd.weight" },
            "token_embd.weight", "one of a language model");
    refused(&(struct change){ .extra_key = "clip.vision.n_wa_pattern" },
            "clip.vision.n_wa_pattern", "a key that the type has not");
    for (int i = 0; i < N_NUMBERS - 1; i++)
        refused(&(struct change){ .key = numbers[i].key, .no_key = true },
                numbers[i].key, "no such key");
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
    struct gg_projector *p;
    struct gg_error err;

    ok(open_file(&(struct change){ 0 }, &p, &err) == GG_OK, "a file is opened");
    ok(gg_projector_width(p) == WIDTH && gg_projector_n_deeper(p) == 0 &&
           strcmp(gg_projector_type(p, GG_MEDIA_IMAGE), "gemma3") == 0 &&
           !gg_projector_type(p, GG_MEDIA_SOUND),
       "what it is");
    ok(gg_projector_plan(p, m, &plan, &err) == GG_OK && plan->n_rows == 4 &&
           plan->n_positions == 4 && plan->n_pieces == 3,
       "a plan");
    ok(plan && plan->pieces[1].block && plan->pieces[1].width == SIDE,
       "a run of rows");
    ok(gg_projector_encode(p, plan, &rows, &err) == GG_OK &&
           rows->medium.n == 4 && rows->medium.width == WIDTH &&
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

    ok(open_file(&(struct change){ 0 }, &p, &err) == GG_OK &&
           gg_projector_plan(p, &m, &plan, &err) == GG_ERR_UNSUPPORTED,
       "a sound where there is no encoder of any");
    gg_projector_free(p);
}

/* Each allocation fails in turn. */
static void
test_memory(void)
{
    const char *path = write_file(&(struct change){ 0 });
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
    test_memory();
    return tap_done();
}
