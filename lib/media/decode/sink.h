/* sink.h - what takes pixels and samples from decoders: bounds, memory, mixing
 * to one channel, resampling, turning upright */
#ifndef MEDIA_DECODE_SINK_H
#define MEDIA_DECODE_SINK_H

#include "media/decode/decoder.h"

struct media_sink {
    struct media_target target; /* first: decoders are given this */
    struct gg_decode_limits limits;
    const struct media_module *module; /* NULL: none */
    struct gg_error *err;
    struct gg_decoded *medium;
    int orientation; /* of Exif: 1 to 8 */
    /* sounds: */
    uint32_t rate, channels;   /* of the file */
    uint64_t n_frames, n_most; /* so far, and at most */
    size_t room;               /* for samples */
    struct media_resampler *resampler;
};

/* media_sink_clear() it, in any case. */
enum gg_status
media_sink_init(struct media_sink *s, const struct gg_decode_limits *limits,
                const struct media_module *module, struct gg_error *err);
void
media_sink_clear(struct media_sink *s);

/* The medium, checked and with its hash, after its decoder has said GG_OK. */
enum gg_status
media_sink_finish(struct media_sink *s, struct gg_decoded **out);

/* ---- sink_sound.c ---- */

bool
media_sink_sound(struct media_target *t, int64_t rate, int64_t channels,
                 uint64_t frames);
bool
media_sink_frames(struct media_target *t, const float *frames, size_t n);
enum gg_status
media_sink_end_sound(struct media_sink *s);

/* ---- exif.c ---- */

/* The orientation that an Exif block says, 1 to 8; 1 where it says none. */
int
media_exif_orientation(const void *block, size_t size);

/* ---- upright.c ---- */

/* Turns an image of this orientation upright. */
enum gg_status
media_turn_upright(struct gg_decoded *m, int orientation, struct gg_error *err);

#endif
