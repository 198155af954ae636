/* wav.c - WAV files of PCM or floats, and raw samples, by hand */
#include <config.h>

#include <string.h>

#include "core/cursor.h"
#include "media/decode/decoder.h"

enum {
    PCM = 1,
    FLOATS = 3,
    EXTENSIBLE = 0xfffe, /* the coding is in the first bytes of an identifier */
    PIECE = 2048,        /* samples that are converted at a time */
};

/* Programs that write to a pipe know no size: they write one of the largest. */
#define UNKNOWN_SIZE 0x7fff0000u

struct wav {
    unsigned coding, channels, align, bits;
    uint32_t rate;
    const uint8_t *data;
    uint64_t size;  /* of the data, as the file says */
    size_t present; /* bytes of the file from there on */
};

static void
read_coding(struct cursor c, struct wav *w)
{
    w->coding = cursor_u16(&c);
    w->channels = cursor_u16(&c);
    w->rate = cursor_u32(&c);
    (void)cursor_u32(&c);
    w->align = cursor_u16(&c);
    w->bits = cursor_u16(&c);
    if (w->coding == EXTENSIBLE && cursor_take(&c, 8))
        w->coding = cursor_u16(&c);
    if (c.bad)
        w->coding = 0;
}

/* False: it has no chunk that says the coding, or no data after it. */
static bool
read_chunks(const uint8_t *bytes, size_t size, struct wav *w)
{
    struct cursor c = cursor_over(bytes, size);

    *w = (struct wav){ 0 };
    if (size < 12 || memcmp(bytes, "RIFF", 4) || memcmp(bytes + 8, "WAVE", 4))
        return false;
    cursor_take(&c, 12);
    for (;;) {
        const char *name = cursor_take(&c, 4);
        uint32_t n = cursor_u32(&c);

        if (c.bad)
            return false;
        if (memcmp(name, "data", 4) == 0) {
            w->data = c.pos;
            w->size = n;
            w->present = cursor_left(&c);
            return w->coding != 0;
        }
        if (memcmp(name, "fmt ", 4) == 0)
            read_coding(
                cursor_over(c.pos, n < cursor_left(&c) ? n : cursor_left(&c)),
                w);
        cursor_take(&c, (uint64_t)n + n % 2);
    }
}

static bool
is_plain(const struct wav *w)
{
    if (w->coding == FLOATS)
        return w->bits == 32 || w->bits == 64;
    return w->coding == PCM && w->bits && w->bits <= 32 && w->bits % 8 == 0;
}

bool
media_wav_is_plain(const uint8_t *bytes, size_t size)
{
    struct wav w;

    return read_chunks(bytes, size, &w) && is_plain(&w);
}

static float
read_sample(struct cursor *c, const struct wav *w)
{
    uint32_t v = 0;

    if (w->coding == FLOATS)
        return w->bits == 32 ? cursor_f32(c) : (float)cursor_f64(c);
    if (w->bits == 8)
        return (float)((int)cursor_u8(c) - 128) * 0x1p-7f;
    for (unsigned i = 0; i < w->bits; i += 8)
        v |= (uint32_t)cursor_u8(c) << (32 - w->bits + i);
    return (float)(int32_t)v * 0x1p-31f;
}

static enum gg_status
read_samples(const struct wav *w, uint64_t n_frames, struct media_target *t)
{
    struct cursor c = cursor_over(w->data, w->present);
    float piece[PIECE];

    while (n_frames) {
        uint64_t most = PIECE / w->channels;
        size_t some = (size_t)(n_frames < most ? n_frames : most);

        for (size_t i = 0; i < some * w->channels; i++)
            piece[i] = read_sample(&c, w);
        if (!t->frames(t, piece, some))
            return t->status;
        n_frames -= some;
    }
    return GG_OK;
}

enum gg_status
media_decode_wav(const uint8_t *bytes, size_t size, struct media_target *t)
{
    struct wav w;
    uint64_t n;

    if (!read_chunks(bytes, size, &w) || !is_plain(&w) ||
        w.align != w.channels * w.bits / 8 || w.align == 0)
        return t->fail(t, GG_ERR_FORMAT, "the header is none of a WAV file");
    if (w.size >= UNKNOWN_SIZE)
        w.size = w.present;
    if (w.size > w.present)
        return t->fail(t, GG_ERR_TRUNCATED,
                       "the sound ends in its midst: %zu bytes of %llu",
                       w.present, (unsigned long long)w.size);
    n = w.size / w.align;
    if (!t->sound(t, w.rate, w.channels, n))
        return t->status;
    return read_samples(&w, n, t);
}

enum gg_status
media_decode_raw(const uint8_t *bytes, size_t size, struct media_target *t)
{
    struct wav w = {
        .coding = PCM, .channels = 1, .bits = 16, .data = bytes, .present = size
    };

    if (size % 2)
        return t->fail(t, GG_ERR_TRUNCATED,
                       "%zu bytes are no whole number of samples of 16 bits",
                       size);
    if (!t->sound(t, t->limits->raw_rate, 1, size / 2))
        return t->status;
    return read_samples(&w, size / 2, t);
}
