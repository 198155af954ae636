/* sink.c - bounds and memory for decoders */
#include <config.h>

#include "media/decode/sink.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/check.h"
#include "core/error.h"
#include "core/mem.h"
#include "media/decoded.h"

static inline struct media_sink *
sink_of(struct media_target *t)
{
    return (struct media_sink *)t;
}

__attribute__((format(printf, 3, 4))) static enum gg_status
fail_decoding(struct media_target *t, enum gg_status status, const char *fmt,
              ...)
{
    char text[sizeof(((struct gg_error *)0)->message)];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return t->status = error_set(sink_of(t)->err, status, "%s", text);
}

static bool
check_bounds(struct media_target *t, uint64_t width, uint64_t height)
{
    if (width == 0 || height == 0) {
        t->fail(t, GG_ERR_FORMAT, "an image of %llu x %llu pixels",
                (unsigned long long)width, (unsigned long long)height);
        return false;
    }
    if (width <= UINT32_MAX && height <= UINT32_MAX &&
        width <= t->limits->pixels / height)
        return true;
    t->fail(t, GG_ERR_NOMEM,
            "an image of %llu x %llu pixels: more than %llu are not decoded",
            (unsigned long long)width, (unsigned long long)height,
            (unsigned long long)t->limits->pixels);
    return false;
}

static uint8_t *
begin_image(struct media_target *t, uint64_t width, uint64_t height)
{
    struct gg_decoded *m = sink_of(t)->medium;
    size_t n;

    if (!t->bounds(t, width, height))
        return NULL;
    if (!m->rgb && check_mul(width * height, 3, &n))
        m->rgb = mem_zalloc(n);
    m->kind = GG_MEDIA_IMAGE;
    m->width = (uint32_t)width;
    m->height = (uint32_t)height;
    if (!m->rgb)
        t->fail(t, GG_ERR_NOMEM, "no memory for an image of %u x %u pixels",
                m->width, m->height);
    return m->rgb;
}

static void
note_exif(struct media_target *t, const void *block, size_t size)
{
    sink_of(t)->orientation = media_exif_orientation(block, size);
}

enum gg_status
media_sink_init(struct media_sink *s, const struct gg_decode_limits *limits,
                const struct media_module *module, struct gg_error *err)
{
    *s = (struct media_sink){
        .target = { .bounds = check_bounds,
                    .image = begin_image,
                    .exif = note_exif,
                    .sound = media_sink_sound,
                    .frames = media_sink_frames,
                    .fail = fail_decoding },
        .limits = *limits,
        .module = module,
        .err = err,
        .orientation = 1,
        .medium = mem_zalloc(sizeof(struct gg_decoded)),
    };
    s->target.limits = &s->limits;
    return s->medium ? GG_OK : error_nomem(err);
}

void
media_sink_clear(struct media_sink *s)
{
    if (s->resampler)
        s->module->resampler_free(s->resampler);
    gg_decoded_free(s->medium);
    *s = (struct media_sink){ 0 };
}

enum gg_status
media_sink_finish(struct media_sink *s, struct gg_decoded **out)
{
    enum gg_status st = GG_OK;

    if (s->medium->kind == GG_MEDIA_SOUND)
        st = media_sink_end_sound(s);
    else if (s->medium->rgb)
        st = media_turn_upright(s->medium, s->orientation, s->err);
    if (st == GG_OK)
        st = gg_decoded_check(s->medium, s->err);
    if (st != GG_OK)
        return st;
    *out = s->medium;
    s->medium = NULL;
    return GG_OK;
}
