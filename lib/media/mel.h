/* mel.h - log-mel spectrograms of sounds, as encoders were trained on them */
#ifndef MEDIA_MEL_H
#define MEDIA_MEL_H

#include <gg.h>

struct media_mel {
    uint32_t rate;   /* samples a second */
    uint32_t n_fft;  /* values of a transform, zeros after the window */
    uint32_t window; /* samples of a frame, by a periodic Hann window */
    uint32_t hop;    /* samples from frame to frame */
    uint32_t front;  /* samples before the first one in the first frame */
    uint32_t
        n_after;   /* samples that follow a frame's last; else there is none */
    bool reflects; /* beyond either end the sound is mirrored, else 0 */
    bool keeps_last; /* if mirrored: also the frame whose middle is the end */
    bool slaney;     /* its scale, and filters of one area; else HTK's */
    bool magnitude;  /* of bins; else its square */
    bool whisper;    /* log10, no more than 8 below the largest, (x + 4) / 4;
                        else the natural logarithm */
    bool adds_floor; /* to each value; else it is the least */
    double floor;
};

/* Whisper's, which Ultravox, Voxtral, Qwen and others share. */
extern const struct media_mel media_mel_whisper;
/* Granite Speech's. */
extern const struct media_mel media_mel_granite;
/* Gemma 4's with a conformer. */
extern const struct media_mel media_mel_gemma4;

enum {
    MEDIA_MEL_MOST = 1024, /* values of a frame */
};

/* Frames of a sound of n samples. */
size_t
media_mel_frames(const struct media_mel *mel, size_t n);

/* Values of media_mel_frames(mel, padded) frames of samples[0..n) and zeros up
 * to `padded`, which is n at least: (*out)[n_mel][frames], mem_free() it. */
enum gg_status
media_mel_compute(const struct media_mel *mel, uint32_t n_mel,
                  const float *samples, size_t n, size_t padded, float **out,
                  struct gg_error *err);

#endif
