/* decoded.h - what decoders fill: bounds, memory, and the name of a medium */
#ifndef MEDIA_DECODED_H
#define MEDIA_DECODED_H

#include <gg-media.h>

/* The limits with their defaults; GG_ERR_ARG for reserved fields. NULL: all are
 * defaults. */
enum gg_status
media_limits(const struct gg_decode_limits *given,
             struct gg_decode_limits *limits, struct gg_error *err);

/* Sets the hash from what else is in *m. */
void
media_identify(struct gg_decoded *m);

#endif
