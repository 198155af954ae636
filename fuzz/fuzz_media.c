/* fuzz_media.c - images and sounds: by hand and by each library, in one process
 *
 * The first byte says whether the rest is a file or raw samples. A medium that
 * comes out is resized, and gets a spectrogram. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fixtures/media_files.h"
#include "fuzz.h"
#include "media/decode/load.h"
#include "media/decode/module.h"
#include "media/image.h"
#include "media/mel.h"

const char fuzz_name[] = "media";

static void
check(bool right)
{
    if (!right)
        abort();
}

static void
resize(const struct gg_decoded *m)
{
    struct media_image from = { m->width, m->height, m->rgb }, to;
    struct gg_error err;

    if (media_resize(&from, 7, 5, (enum media_filter)(m->width % 3), &to,
                     &err) == GG_OK)
        media_image_clear(&to);
}

static void
find_spectrogram(const struct gg_decoded *m)
{
    size_t n = m->n_samples < 4000 ? m->n_samples : 4000;
    struct gg_error err;
    float *values;

    if (media_mel_compute(&media_mel_whisper, 8, m->samples, n, n, &values,
                          &err) == GG_OK)
        mem_free(values);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gg_decode_limits limits = { .pixels = 1 << 16, .samples = 1 << 16 };
    struct gg_error err = { "" };
    struct gg_decoded *m;

    if (size == 0)
        return 0;
    if (*data == 'r')
        limits.raw_rate = 16000;
    if (media_decode_with(&media_module_table, "", data + 1, size - 1, &limits,
                          &m, &err) != GG_OK) {
        check(err.message[0]);
        return 0;
    }
    check(gg_decoded_check(m, &err) == GG_OK);
    if (m->kind == GG_MEDIA_IMAGE)
        resize(m);
    else
        find_spectrogram(m);
    gg_decoded_free(m);
    return 0;
}

/* ---- the corpus ---------------------------------------------------------- */

static uint8_t *
with_kind(char kind, const void *bytes, size_t n, size_t *size)
{
    uint8_t *data = malloc(n + 1);

    check(data != NULL);
    data[0] = (uint8_t)kind;
    memcpy(data + 1, bytes, n);
    *size = n + 1;
    return data;
}

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    static const char wav[] =
        "RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x80\x3e\0\0"
        "\0\x7d\0\0\2\0\x10\0data\x08\0\0\0abcdefgh";
    struct media_file f;
    uint8_t *data;

    switch (i) {
    case 0:
        return with_kind('f', "P6 2 2 255\nabcdefghijkl", 23, size);
    case 1:
        return with_kind('f', "P5 # grey\n2 2 511\nabcdefgh", 26, size);
    case 2:
        return with_kind('f', wav, sizeof(wav) - 1, size);
    case 3:
        return with_kind('r', "abcdefgh", 8, size);
    default:
        break;
    }
    f = media_file_make(i - 4);
    if (!f.name)
        return NULL;
    data = with_kind('f', f.bytes ? (char *)f.bytes : "GIF89a",
                     f.bytes ? f.size : 6, size);
    free(f.bytes);
    return data;
}
