/* plan.c - what a medium becomes, before anything is computed */
#include "media/plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"

enum {
    MAX_PIECES = 1 << 16,
};

/* ---- pieces -------------------------------------------------------------- */

void
media_plan_refuse(struct media_planner *p, enum gg_status status,
                  const char *fmt, ...)
{
    char sentence[256];
    va_list ap;

    if (p->status != GG_OK)
        return;
    va_start(ap, fmt);
    vsnprintf(sentence, sizeof(sentence), fmt, ap);
    va_end(ap);
    p->status = error_set(p->err, status, "%s", sentence);
}

/* A new one, and its view; NULL: it failed. */
static struct gg_piece *
add_piece(struct media_planner *p)
{
    struct media_plan *plan = p->plan;
    size_t n = plan->plan.n_pieces + 1;

    if (p->status == GG_OK &&
        (n > MAX_PIECES ||
         !mem_grow(&plan->pieces, &plan->room, n, sizeof(*plan->pieces)) ||
         !mem_grow(&plan->views, &plan->views_room, n, sizeof(*plan->views))))
        p->status = error_nomem(p->err);
    if (p->status != GG_OK)
        return NULL;
    plan->plan.n_pieces = n;
    plan->plan.pieces = plan->pieces;
    plan->views[n - 1] = (struct media_view){ 0 };
    plan->pieces[n - 1] = (struct gg_piece){ 0 };
    return &plan->pieces[n - 1];
}

static void
add_word(struct media_planner *p, enum gg_piece_kind kind, const char *text)
{
    struct gg_piece *piece = add_piece(p);

    if (!piece)
        return;
    piece->kind = kind;
    piece->text = mem_strndup(text, strlen(text));
    if (!piece->text)
        p->status = error_nomem(p->err);
}

void
media_plan_marker(struct media_planner *p, const char *text)
{
    add_word(p, GG_PIECE_MARKER, text);
}

void
media_plan_text(struct media_planner *p, const char *text)
{
    add_word(p, GG_PIECE_TEXT, text);
}

void
media_plan_ordinal(struct media_planner *p)
{
    add_word(p, GG_PIECE_ORDINAL, "0");
}

static struct gg_piece *
add_rows(struct media_planner *p, size_t n_rows)
{
    struct gg_piece *piece = add_piece(p);

    if (!piece)
        return NULL;
    piece->kind = GG_PIECE_ROWS;
    piece->first = p->plan->plan.n_rows;
    piece->n = n_rows;
    p->plan->plan.n_rows += n_rows;
    return piece;
}

static void
set_n_positions(struct media_planner *p, struct gg_piece *piece,
                int32_t n_positions)
{
    piece->n_positions = n_positions;
    p->plan->plan.n_positions += n_positions;
}

int
media_plan_frame(struct media_planner *p, int from, uint32_t width,
                 uint32_t height, enum media_filter filter)
{
    struct media_plan *plan = p->plan;

    if (p->status != GG_OK)
        return 0;
    if (width == 0 || height == 0 || width > MEDIA_MAX_SIDE ||
        height > MEDIA_MAX_SIDE || width > MEDIA_MAX_PIXELS / height) {
        media_plan_refuse(p, GG_ERR_ARG,
                          "the image would become one of %u x %u pixels, which "
                          "no encoder here takes",
                          width, height);
        return 0;
    }
    plan->frames[plan->n_frames] = (struct media_frame){
        .from = from,
        .width = width,
        .height = height,
        .inner_width = width,
        .inner_height = height,
        .filter = filter,
    };
    return plan->n_frames++;
}

/* A side that was scaled, rounded up. */
static uint32_t
inner_side(uint32_t side, float scale, uint32_t most)
{
    float x = ceilf((float)side * scale);

    return x < 1 ? 1 : x < (float)most ? (uint32_t)x : most;
}

int
media_plan_padded(struct media_planner *p, uint32_t width, uint32_t height,
                  enum media_filter filter, const uint8_t fill[MEDIA_CHANNELS])
{
    int i = media_plan_frame(p, MEDIA_SOURCE, width, height, filter);
    struct media_frame *f;
    float x, y, scale;

    if (p->status != GG_OK)
        return i;
    f = &p->plan->frames[i];
    x = (float)width / (float)p->width;
    y = (float)height / (float)p->height;
    scale = x < y ? x : y;
    f->inner_width = inner_side(p->width, scale, width);
    f->inner_height = inner_side(p->height, scale, height);
    memcpy(f->fill, fill, MEDIA_CHANNELS);
    return i;
}

int
media_plan_inner(struct media_planner *p, struct media_size inner,
                 uint32_t width, uint32_t height, enum media_filter filter,
                 bool cornered)
{
    int i = media_plan_frame(p, MEDIA_SOURCE, width, height, filter);

    if (p->status != GG_OK)
        return i;
    p->plan->frames[i].inner_width = inner.width;
    p->plan->frames[i].inner_height = inner.height;
    p->plan->frames[i].cornered = cornered;
    return i;
}

void
media_plan_rows(struct media_planner *p, int frame, uint32_t x, uint32_t y,
                uint32_t width, uint32_t height, size_t n_rows, bool block)
{
    uint32_t patch = (uint32_t)p->e->hp.patch;
    uint32_t side = patch * (uint32_t)p->e->hp.merge;
    uint32_t nx = width / side, ny = height / side;
    struct gg_piece *piece;

    if (p->status == GG_OK && (width % side || height % side || !nx || !ny))
        media_plan_refuse(p, GG_ERR_FORMAT,
                          "%u x %u pixels are not cut into squares of %u",
                          width, height, side);
    if (p->status == GG_OK &&
        (width / patch) * (height / patch) > MEDIA_MAX_PATCHES)
        media_plan_refuse(p, GG_ERR_ARG,
                          "%u x %u pixels are more than %d patches of %u x %u",
                          width, height, MEDIA_MAX_PATCHES, patch, patch);
    piece = add_rows(p, n_rows);
    if (!piece)
        return;
    set_n_positions(p, piece,
                    !p->e->type->sections ? (int32_t)n_rows
                                          : (int32_t)(nx > ny ? nx : ny));
    piece->width = width;
    piece->height = height;
    piece->block = block;
    p->plan->views[piece - p->plan->pieces] =
        (struct media_view){ .frame = frame, .x = x, .y = y };
}

void
media_plan_whole(struct media_planner *p, int frame, bool block)
{
    size_t side = (size_t)p->e->hp.patch * (size_t)p->e->hp.merge;
    const struct media_frame *f;

    if (p->status != GG_OK)
        return;
    f = &p->plan->frames[frame];
    media_plan_rows(p, frame, 0, 0, f->width, f->height,
                    f->width / side * (f->height / side), block);
}

void
media_plan_rounded(struct media_planner *p, const char *begin, const char *end)
{
    struct media_size size = media_size_rounded(p);

    media_plan_marker(p, begin);
    media_plan_whole(p,
                     media_plan_frame(p, MEDIA_SOURCE, size.width, size.height,
                                      MEDIA_BICUBIC),
                     false);
    media_plan_marker(p, end);
}

float *
media_plan_new_mel(struct media_planner *p, size_t n_frames, size_t n_mel)
{
    float *mel = NULL;

    if (n_frames > MEDIA_MAX_PATCHES)
        media_plan_refuse(p, GG_ERR_ARG, "the sound has more than %d frames",
                          MEDIA_MAX_PATCHES);
    if (p->status == GG_OK)
        mel = mem_array(n_frames * n_mel, sizeof(*mel));
    if (p->status == GG_OK && !mel)
        p->status = error_nomem(p->err);
    return mel;
}

void
media_plan_sound(struct media_planner *p, float *mel, size_t n_frames,
                 size_t n_rows)
{
    struct gg_piece *piece;

    if (p->status == GG_OK && !mel)
        p->status = error_nomem(p->err);
    piece = add_rows(p, n_rows);
    if (!piece) {
        mem_free(mel);
        return;
    }
    set_n_positions(p, piece, (int32_t)n_rows);
    piece->width = (uint32_t)n_frames;
    piece->height = (uint32_t)p->e->hp.n_mel;
    p->plan->views[piece - p->plan->pieces].mel = mel;
}

void
media_pieces_free(struct gg_piece *pieces, size_t n)
{
    for (size_t i = 0; pieces && i < n; i++)
        mem_free((void *)pieces[i].text);
    mem_free(pieces);
}

struct gg_piece *
media_pieces_copy(const struct gg_piece *pieces, size_t n)
{
    struct gg_piece *to = mem_array(n + 1, sizeof(*to));

    for (size_t i = 0; to && i < n; i++) {
        to[i] = pieces[i];
        if (!pieces[i].text)
            continue;
        to[i].text = mem_strndup(pieces[i].text, strlen(pieces[i].text));
        if (!to[i].text) {
            media_pieces_free(to, i);
            return NULL;
        }
    }
    return to;
}

/* ---- inputs -------------------------------------------------------------- */

/* Pixels before the image, of those that there are before and after it. */
static int64_t
before(const struct media_frame *f, uint32_t around)
{
    return f->cornered ? 0 : around / 2;
}

static enum gg_status
fill_frame(struct media_frame *f, const struct media_image *from,
           struct gg_error *err)
{
    struct media_image inner;
    enum gg_status st = media_resize(from, f->inner_width, f->inner_height,
                                     f->filter, &inner, err);

    if (st != GG_OK)
        return st;
    if (inner.width == f->width && inner.height == f->height) {
        f->image = inner;
        return GG_OK;
    }
    st = media_window(&inner, -before(f, f->width - inner.width),
                      -before(f, f->height - inner.height), f->width, f->height,
                      f->fill, &f->image, err);
    media_image_clear(&inner);
    return st;
}

/* An image that frames are made of. */
static enum gg_status
make_frame(struct media_plan *p, int i, const struct media_image **out,
           struct gg_error *err)
{
    const struct media_image *from;
    struct media_frame *f;
    enum gg_status st;

    if (i == MEDIA_SOURCE) {
        *out = &p->source;
        return GG_OK;
    }
    f = &p->frames[i];
    *out = &f->image;
    if (f->image.rgb)
        return GG_OK;
    st = make_frame(p, f->from, &from, err);
    return st == GG_OK ? fill_frame(f, from, err) : st;
}

static enum gg_status
make_view(struct media_plan *p, size_t i, const uint8_t **rgb,
          struct gg_error *err)
{
    static const uint8_t black[MEDIA_CHANNELS];
    const struct gg_piece *piece = &p->pieces[i];
    struct media_view *v = &p->views[i];
    const struct media_image *frame;
    enum gg_status st = make_frame(p, v->frame, &frame, err);

    if (st == GG_OK &&
        (piece->width != frame->width || piece->height != frame->height)) {
        if (!v->image.rgb)
            st = media_window(frame, v->x, v->y, piece->width, piece->height,
                              black, &v->image, err);
        frame = &v->image;
    }
    if (st == GG_OK)
        *rgb = frame->rgb;
    return st;
}

enum gg_status
gg_media_plan_input(struct gg_media_plan *plan, size_t i, const uint8_t **rgb,
                    const float **mel, struct gg_error *err)
{
    struct media_plan *p = (struct media_plan *)plan;

    if (i >= plan->n_pieces || p->pieces[i].kind != GG_PIECE_ROWS)
        return error_set(err, GG_ERR_ARG, "piece %zu is no run of rows", i);
    *rgb = NULL;
    *mel = p->views[i].mel;
    return *mel ? GG_OK : make_view(p, i, rgb, err);
}

/* ---- plans --------------------------------------------------------------- */

static enum gg_status
keep_image(struct media_plan *p, const struct gg_decoded *m,
           struct gg_error *err)
{
    enum gg_status st;

    if (m->width == 0 || m->height == 0 || !m->rgb)
        return error_set(err, GG_ERR_ARG, "the image is empty");
    st = media_image_init(&p->source, m->width, m->height, err);
    if (st == GG_OK)
        memcpy(p->source.rgb, m->rgb,
               (size_t)m->width * m->height * MEDIA_CHANNELS);
    return st;
}

static enum gg_status
keep_sound(struct media_plan *p, const struct gg_decoded *m,
           struct gg_error *err)
{
    if (m->n_samples == 0 || !m->samples)
        return error_set(err, GG_ERR_ARG, "the sound is empty");
    if (m->rate != MEDIA_RATE)
        return error_set(err, GG_ERR_ARG,
                         "the sound has %u samples a second, and not %d",
                         m->rate, MEDIA_RATE);
    p->samples = m->samples;
    p->n_samples = m->n_samples;
    return GG_OK;
}

static enum gg_status
make_plan(const struct gg_projector *projector, const struct gg_decoded *medium,
          struct media_plan *p, struct gg_error *err)
{
    struct media_planner planner = { .projector = projector,
                                     .e = p->encoder,
                                     .plan = p,
                                     .width = medium->width,
                                     .height = medium->height,
                                     .err = err };

    p->plan.kind = medium->kind;
    memcpy(p->plan.hash, medium->hash, GG_MEDIUM_HASH);
    planner.status = medium->kind == GG_MEDIA_IMAGE
                         ? keep_image(p, medium, err)
                         : keep_sound(p, medium, err);
    if (planner.status == GG_OK)
        p->encoder->type->plan(&planner);
    p->samples = NULL;
    return planner.status;
}

enum gg_status
gg_projector_plan(struct gg_projector *projector,
                  const struct gg_decoded *medium, struct gg_media_plan **out,
                  struct gg_error *err)
{
    static const char *const words[MEDIA_KINDS] = { "images", "sounds" };
    struct media_plan *p;
    enum gg_status st;

    if (!projector || !medium || !out)
        return error_null(err);
    if (medium->kind != GG_MEDIA_IMAGE && medium->kind != GG_MEDIA_SOUND)
        return error_set(err, GG_ERR_ARG, "no kind of medium: %d",
                         (int)medium->kind);
    if (!projector->encoders[medium->kind])
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "the projector has no encoder of %s",
                         words[medium->kind]);
    p = mem_zalloc(sizeof(*p));
    if (!p)
        return error_nomem(err);
    p->encoder = projector->encoders[medium->kind];
    st = make_plan(projector, medium, p, err);
    if (st == GG_OK)
        *out = &p->plan;
    else
        gg_media_plan_free(&p->plan);
    return st;
}

void
gg_media_plan_free(struct gg_media_plan *plan)
{
    struct media_plan *p = (struct media_plan *)plan;

    if (!p)
        return;
    for (size_t i = 0; i < plan->n_pieces; i++) {
        media_image_clear(&p->views[i].image);
        mem_free(p->views[i].mel);
    }
    for (int i = 0; i < p->n_frames; i++)
        media_image_clear(&p->frames[i].image);
    media_image_clear(&p->source);
    media_pieces_free(p->pieces, plan->n_pieces);
    mem_free(p->views);
    mem_free(p);
}
