/* projector_summary.c - gathers what a user asks first about a projector
 *
 * Whatever a key holds, nothing here fails: what makes no sense is left out. */
#include <config.h>

#include "gg-inspect/projector_summary.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_KEY = 128,
    RATE = 16000,
};

static const char *const words[PROJECTOR_KINDS] = { "vision", "audio" };

/* ---- keys and tensors ---------------------------------------------------- */

static bool
is_text(const struct text *t, const char *s)
{
    return t->s && t->len == strlen(s) && memcmp(t->s, s, t->len) == 0;
}

bool
projector_summary_is(const struct gguf_context *ctx)
{
    struct text arch = meta_text(ctx, "general.architecture");

    return is_text(&arch, "clip");
}

static const char *
part_key(char buf[MAX_KEY], int kind, const char *name)
{
    snprintf(buf, MAX_KEY, "clip.%s.%s", words[kind], name);
    return buf;
}

static struct range
part_range(const struct gguf_context *ctx, int kind, const char *name)
{
    char key[MAX_KEY];

    return meta_range(ctx, part_key(key, kind, name));
}

static bool
has_encoder(const struct gguf_context *ctx, int kind)
{
    char key[MAX_KEY];
    int64_t id;

    snprintf(key, sizeof(key), "clip.has_%s_encoder", words[kind]);
    id = gguf_find_key(ctx, key);
    return id >= 0 && gguf_get_kv_type(ctx, id) == GGUF_TYPE_BOOL &&
           gguf_get_val_bool(ctx, id);
}

static void
get_keys(const struct gguf_context *ctx, int kind, struct projector_part *p)
{
    char key[MAX_KEY];

    p->type = meta_text(ctx, part_key(key, kind, "projector_type"));
    if (!p->type.s)
        p->type = meta_text(ctx, "clip.projector_type");
    p->layers = part_range(ctx, kind, "block_count");
    p->embedding = part_range(ctx, kind, "embedding_length");
    p->heads = part_range(ctx, kind, "attention.head_count");
    p->feed_forward = part_range(ctx, kind, "feed_forward_length");
    p->image_size = part_range(ctx, kind, "image_size");
    p->patch = part_range(ctx, kind, "patch_size");
    p->n_mel = part_range(ctx, kind, "num_mel_bins");
}

/* v. and a. are the encoders', mm.a. the projection of sounds, mm. that of
 * images, or of the only kind that there is. */
static void
count_tensor(struct projector_summary *s, const char *name, uint64_t values)
{
    bool both =
        s->parts[GG_MEDIA_IMAGE].is_there && s->parts[GG_MEDIA_SOUND].is_there;
    int kind =
        s->parts[GG_MEDIA_IMAGE].is_there ? GG_MEDIA_IMAGE : GG_MEDIA_SOUND;

    if (strncmp(name, "t.", 2) == 0)
        return; /* what reads texts is no part of it */
    if (both && (strncmp(name, "a.", 2) == 0 || strncmp(name, "mm.a.", 5) == 0))
        kind = GG_MEDIA_SOUND;
    if (strncmp(name, "v.", 2) == 0 || strncmp(name, "a.", 2) == 0)
        s->parts[kind].encoder += values;
    else
        s->parts[kind].projection += values;
}

/* ---- what a medium becomes ----------------------------------------------- */

static size_t
longest_block(const struct gg_media_plan *plan)
{
    size_t most = 0;

    for (size_t i = 0; i < plan->n_pieces; i++)
        if (plan->pieces[i].block && plan->pieces[i].n > most)
            most = plan->pieces[i].n;
    return most;
}

static enum gg_status
plan_medium(struct gg_projector *projector, const struct gg_decoded *sizes,
            struct projector_plan *out, struct gg_error *err)
{
    struct gg_media_plan *plan;
    struct gg_decoded *medium;
    enum gg_status st = gg_decoded_new(sizes, NULL, &medium, err);

    if (st != GG_OK)
        return st;
    st = gg_projector_plan(projector, medium, &plan, err);
    gg_decoded_free(medium);
    if (st != GG_OK)
        return st;
    out->n_rows = plan->n_rows;
    out->n_positions = plan->n_positions;
    out->longest_block = longest_block(plan);
    st = gg_projector_memory(projector, plan, &out->memory, err);
    gg_media_plan_free(plan);
    return st;
}

static enum gg_status
plan_all(struct gg_projector *projector, struct projector_summary *s)
{
    struct gg_decoded sizes[PROJECTOR_KINDS] = {
        { .kind = GG_MEDIA_IMAGE,
          .width = s->image_width,
          .height = s->image_height },
        { .kind = GG_MEDIA_SOUND,
          .rate = RATE,
          .n_samples = RATE * PROJECTOR_SECONDS },
    };
    enum gg_status st = GG_OK;

    for (int i = 0; i < PROJECTOR_KINDS && st == GG_OK; i++)
        if (gg_projector_type(projector, (enum gg_media_kind)i))
            st = plan_medium(projector, &sizes[i], &s->parts[i].plan, &s->why);
    return st;
}

/* Old files may not name them. */
static void
name_types(const struct gg_projector *projector, struct projector_summary *s)
{
    for (int i = 0; i < PROJECTOR_KINDS; i++) {
        const char *type = gg_projector_type(projector, (enum gg_media_kind)i);

        if (type && !s->parts[i].type.s)
            s->parts[i].type = (struct text){ type, strlen(type) };
    }
}

static void
ask_encoder(const struct inspect_options *o, struct projector_summary *s)
{
    struct gg_projector_params params = { .n_threads = 1 };
    struct gg_projector *projector;

    if (gg_projector_open(o->mmproj ? o->mmproj : o->path, &params, &projector,
                          &s->why) != GG_OK)
        return;
    name_types(projector, s);
    s->width = gg_projector_width(projector);
    s->n_deeper = gg_projector_n_deeper(projector);
    s->opens = plan_all(projector, s) == GG_OK;
    gg_projector_free(projector);
}

void
projector_summary_make(const struct gguf_context *ctx,
                       const struct inspect_options *o,
                       struct projector_summary *out)
{
    *out = (struct projector_summary){
        .is_projector = projector_summary_is(ctx),
        .image_width = o->image.width,
        .image_height = o->image.height,
    };
    if (!out->is_projector)
        return;
    for (int i = 0; i < PROJECTOR_KINDS; i++)
        out->parts[i].is_there = has_encoder(ctx, i);
    for (int i = 0; i < PROJECTOR_KINDS; i++)
        if (out->parts[i].is_there)
            get_keys(ctx, i, &out->parts[i]);
    for (int64_t i = 0; i < gguf_get_n_tensors(ctx); i++)
        count_tensor(out, gguf_get_tensor_name(ctx, i), totals_values(ctx, i));
    ask_encoder(o, out);
}
