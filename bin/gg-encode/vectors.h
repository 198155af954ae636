/* vectors.h - vectors of images, as gg-eval --embed writes those of texts */
#ifndef GG_ENCODE_VECTORS_H
#define GG_ENCODE_VECTORS_H

#include <gg-media.h>

struct vectors;

/* To standard output; a medium is the sequence of its number. What fails ends
 * the tool. */
struct vectors *
vectors_new(size_t width);
void
vectors_put(struct vectors *v, uint64_t number, const struct gg_medium *medium);
void
vectors_put_error(struct vectors *v, uint64_t number, const char *message);
/* Frees it. */
void
vectors_end(struct vectors *v);

#endif
