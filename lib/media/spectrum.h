/* spectrum.h - rates of sounds that encoders take */
#ifndef MEDIA_SPECTRUM_H
#define MEDIA_SPECTRUM_H

enum {
    MEDIA_RATE = 16000, /* samples a second */
};

#endif
