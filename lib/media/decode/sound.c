/* sound.c - FLAC, Ogg, MP3 and other sounds, by libsndfile */
#include <config.h>

#include <sndfile.h>
#include <stdio.h>
#include <string.h>

#include "media/decode/module.h"

enum {
    PIECE = 2048, /* samples that are read at a time */
};

struct reader {
    const uint8_t *bytes;
    sf_count_t size, pos;
};

static sf_count_t
tell_size(void *data)
{
    return ((struct reader *)data)->size;
}

static sf_count_t
seek_to(sf_count_t offset, int whence, void *data)
{
    struct reader *r = data;
    sf_count_t from = whence == SEEK_SET   ? 0
                      : whence == SEEK_CUR ? r->pos
                                           : r->size;

    if (offset < -from || offset > r->size - from)
        return -1;
    return r->pos = from + offset;
}

static sf_count_t
read_bytes(void *out, sf_count_t n, void *data)
{
    struct reader *r = data;

    if (n > r->size - r->pos)
        n = r->size - r->pos;
    if (n <= 0)
        return 0;
    memcpy(out, r->bytes + r->pos, (size_t)n);
    r->pos += n;
    return n;
}

static sf_count_t
write_nothing(const void *bytes, sf_count_t n, void *data)
{
    (void)bytes, (void)n, (void)data;
    return 0;
}

static sf_count_t
tell_pos(void *data)
{
    return ((struct reader *)data)->pos;
}

static enum gg_status
read_frames(SNDFILE *file, const SF_INFO *info, struct media_target *t)
{
    float piece[PIECE];
    sf_count_t most = PIECE / info->channels, n;

    /* A stream may not know its length: SF_COUNT_MAX. */
    if (!t->sound(t, info->samplerate, info->channels,
                  info->frames > 0 && info->frames < SF_COUNT_MAX
                      ? (uint64_t)info->frames
                      : 0))
        return t->status;
    while ((n = sf_readf_float(file, piece, most)) > 0)
        if (!t->frames(t, piece, (size_t)n))
            return t->status;
    if (sf_error(file) != SF_ERR_NO_ERROR)
        return t->fail(t, GG_ERR_FORMAT, "libsndfile: %s", sf_strerror(file));
    return GG_OK;
}

enum gg_status
media_module_sound(const uint8_t *bytes, size_t size, struct media_target *t)
{
    SF_VIRTUAL_IO io = { tell_size, seek_to, read_bytes, write_nothing,
                         tell_pos };
    struct reader r = { bytes, (sf_count_t)size, 0 };
    SF_INFO info = { 0 };
    SNDFILE *file = sf_open_virtual(&io, SFM_READ, &info, &r);
    enum gg_status st;

    if (!file)
        return t->fail(t, GG_ERR_FORMAT, "libsndfile: %s", sf_strerror(NULL));
    if (info.channels < 1 || info.channels > 1024)
        st = t->fail(t, GG_ERR_FORMAT, "a sound of %d channels", info.channels);
    else
        st = read_frames(file, &info, t);
    sf_close(file);
    return st;
}
