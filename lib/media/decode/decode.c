/* decode.c - decodes an image or a sound: finds the format and its decoder */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/magic.h"
#include "media/decode/formats.h"
#include "media/decode/load.h"
#include "media/decode/sink.h"
#include "media/decoded.h"

static enum gg_status
refuse_unknown(const void *bytes, size_t size, struct gg_error *err)
{
    const char *what = magic_name(bytes, size);

    if (what)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "neither an image nor a sound, but %s", what);
    return error_set(err, GG_ERR_UNSUPPORTED,
                     "neither an image nor a sound of a known format");
}

static enum gg_status
refuse_format(const struct media_format *f, const char *why,
              struct gg_error *err)
{
    if (f->library == MEDIA_NO_LIBRARY)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "%s, which is not decoded; convert it: `%s`", f->name,
                         f->command);
    return error_set(err, GG_ERR_UNSUPPORTED,
                     "%s, which is not decoded here (%s); convert it: `%s`",
                     f->name, why, f->command);
}

/* The decoder; NULL: *why is the reason, if libraries have it. */
static media_decode_t *
find_decoder(const struct media_format *f, const struct media_module *module,
             const char **why)
{
    if (f->library <= MEDIA_BY_HAND)
        return f->decode;
    if (module && !module->decoders[f->library])
        *why = media_library_name(f->library);
    return module ? module->decoders[f->library] : NULL;
}

static enum gg_status
decode(media_decode_t *decoder, const void *bytes, size_t size,
       const struct gg_decode_limits *limits, const struct media_module *module,
       struct gg_decoded **out, struct gg_error *err)
{
    struct media_sink sink;
    enum gg_status st = media_sink_init(&sink, limits, module, err);

    if (st == GG_OK)
        st = decoder(bytes, size, &sink.target);
    if (st == GG_OK)
        st = media_sink_finish(&sink, out);
    media_sink_clear(&sink);
    return st;
}

enum gg_status
media_decode_with(const struct media_module *module, const char *why,
                  const void *bytes, size_t size,
                  const struct gg_decode_limits *given, struct gg_decoded **out,
                  struct gg_error *err)
{
    static const struct media_format raw = { .library = MEDIA_BY_HAND,
                                             .decode = media_decode_raw };
    const struct media_format *f;
    struct gg_decode_limits limits;
    media_decode_t *decoder;
    enum gg_status st = media_limits(given, &limits, err);

    if (st != GG_OK)
        return st;
    f = limits.raw_rate ? &raw : media_format_find(bytes, size);
    if (!f)
        return refuse_unknown(bytes, size, err);
    decoder = find_decoder(f, module, &why);
    if (!decoder)
        return refuse_format(f, why, err);
    return decode(decoder, bytes, size, &limits, module, out, err);
}

enum gg_status
gg_media_decode(const void *bytes, size_t size,
                const struct gg_decode_limits *limits, struct gg_decoded **out,
                struct gg_error *err)
{
    const struct media_module *module;
    const char *why;

    if (!bytes || !out)
        return error_null(err);
    module = media_module(&why);
    return media_decode_with(module, why, bytes, size, limits, out, err);
}
