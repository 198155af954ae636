/* decoded.c - decoded media: limits, checks, and the hash that names one */
#include <config.h>

#include "media/decoded.h"

#include <math.h>

#include "core/check.h"
#include "core/error.h"
#include "core/mem.h"
#include "core/half.h"
#include "core/order.h"
#include "core/sha256.h"

enum {
    MOST_PIXELS = 1 << 26,
    MOST_SAMPLES = 16000 * 3600 * 4,
    RATE = 16000,
    PIECE = 1024, /* samples that are put in order at a time */
};

/* Samples are within -1 and 1, or a little beyond after a filter; some files
 * have those of 16 bits as floats. */
#define LARGEST_SAMPLE 65536.0f

enum gg_status
media_limits(const struct gg_decode_limits *given,
             struct gg_decode_limits *limits, struct gg_error *err)
{
    enum gg_status st = given ? ERROR_RESERVED(given, err) : GG_OK;

    if (st != GG_OK)
        return st;
    *limits = given ? *given : (struct gg_decode_limits){ 0 };
    if (limits->pixels == 0)
        limits->pixels = MOST_PIXELS;
    if (limits->samples == 0)
        limits->samples = MOST_SAMPLES;
    if (limits->rate == 0)
        limits->rate = RATE;
    return GG_OK;
}

static void
hash_samples(struct sha256 *h, const float *samples, size_t n)
{
    uint32_t piece[PIECE];

    for (size_t i = 0; i < n; i += PIECE) {
        size_t some = n - i < PIECE ? n - i : PIECE;

        for (size_t k = 0; k < some; k++)
            piece[k] = core_le32(core_float_bits(samples[i + k]));
        sha256_add(h, piece, some * sizeof(*piece));
    }
}

void
media_identify(struct gg_decoded *m)
{
    struct sha256 h;

    sha256_start(&h);
    sha256_add_u64(&h, m->kind);
    if (m->kind == GG_MEDIA_IMAGE) {
        sha256_add_u64(&h, m->width);
        sha256_add_u64(&h, m->height);
        sha256_add(&h, m->rgb, (size_t)m->width * m->height * 3);
    } else {
        sha256_add_u64(&h, m->rate);
        sha256_add_u64(&h, m->n_samples);
        hash_samples(&h, m->samples, m->n_samples);
    }
    sha256_end(&h, m->hash);
}

static enum gg_status
check_image(const struct gg_decoded *m, struct gg_error *err)
{
    size_t n;

    if (!m->rgb || m->samples || m->rate || m->n_samples)
        return error_set(err, GG_ERR_FORMAT, "an image without pixels");
    if (m->width == 0 || m->height == 0 ||
        !check_mul((uint64_t)m->width * m->height, 3, &n))
        return error_set(err, GG_ERR_FORMAT, "an image of %u x %u pixels",
                         m->width, m->height);
    return GG_OK;
}

static enum gg_status
check_sound(const struct gg_decoded *m, struct gg_error *err)
{
    if (!m->samples || m->rgb || m->width || m->height)
        return error_set(err, GG_ERR_FORMAT, "a sound without samples");
    if (m->rate == 0 || m->n_samples == 0 ||
        m->n_samples > SIZE_MAX / sizeof(float))
        return error_set(err, GG_ERR_FORMAT,
                         "a sound of %zu samples, %u a second", m->n_samples,
                         m->rate);
    for (size_t i = 0; i < m->n_samples; i++)
        if (!(fabsf(m->samples[i]) <= LARGEST_SAMPLE))
            return error_set(err, GG_ERR_FORMAT,
                             "sample %zu is %g: samples are from -1 to 1", i,
                             (double)m->samples[i]);
    return GG_OK;
}

enum gg_status
gg_decoded_check(struct gg_decoded *m, struct gg_error *err)
{
    enum gg_status st;

    if (!m)
        return error_null(err);
    if (m->kind == GG_MEDIA_IMAGE)
        st = check_image(m, err);
    else if (m->kind == GG_MEDIA_SOUND)
        st = check_sound(m, err);
    else
        return error_set(err, GG_ERR_FORMAT, "a medium of no known kind, %d",
                         (int)m->kind);
    if (st == GG_OK)
        media_identify(m);
    return st;
}

/* Bytes of its pixels or samples; false: the sizes are beyond the limits. */
static bool
count_bytes(const struct gg_decoded *m, const struct gg_decode_limits *limits,
            size_t *n)
{
    if (m->kind == GG_MEDIA_IMAGE)
        return m->width && m->height &&
               m->height <= limits->pixels / m->width &&
               check_mul((uint64_t)m->width * m->height, 3, n);
    /* rounding up to whole samples makes one more */
    return m->kind == GG_MEDIA_SOUND && m->n_samples &&
           m->n_samples - 1 <= limits->samples &&
           check_mul(m->n_samples, sizeof(float), n);
}

enum gg_status
gg_decoded_new(const struct gg_decoded *sizes,
               const struct gg_decode_limits *given, struct gg_decoded **out,
               struct gg_error *err)
{
    struct gg_decode_limits limits;
    struct gg_decoded *m;
    size_t n;
    enum gg_status st;

    if (!sizes || !out)
        return error_null(err);
    st = media_limits(given, &limits, err);
    if (st != GG_OK)
        return st;
    if (!count_bytes(sizes, &limits, &n))
        return error_set(err, GG_ERR_NOMEM, "a medium beyond the limits");
    m = mem_dup(sizes, sizeof(*sizes));
    if (!m)
        return error_nomem(err);
    m->rgb = m->kind == GG_MEDIA_IMAGE ? mem_zalloc(n) : NULL;
    m->samples = m->kind == GG_MEDIA_SOUND ? mem_zalloc(n) : NULL;
    if (m->rgb || m->samples) {
        *out = m;
        return GG_OK;
    }
    mem_free(m);
    return error_nomem(err);
}

void
gg_decoded_free(struct gg_decoded *m)
{
    if (!m)
        return;
    mem_free(m->rgb);
    mem_free(m->samples);
    mem_free(m);
}
