/* format.h - the forms in which ids are written */
#ifndef TOKENIZE_FORMAT_H
#define TOKENIZE_FORMAT_H

#include <gg.h>

#include "common/buffer.h"

void
format_number(struct buffer *out, uint64_t n);

/* Decimal, a blank between two. */
void
format_ids(struct buffer *out, const int32_t *ids, size_t n);

/* Little-endian numbers of 2 or 4 bytes, which hold each id. */
void
format_binary(struct buffer *out, const int32_t *ids, size_t n, size_t width);

/* A line for each: the id; if `ranges`, the begin and the end of its bytes
 * in the text, counted from `base`; if `pieces`, its bytes as gg_escape()
 * shows them; tabs between. */
void
format_table(struct buffer *out, const struct gg_vocab *vocab,
             const int32_t *ids, size_t n, const struct gg_range *ranges,
             uint64_t base, bool pieces);

#endif
