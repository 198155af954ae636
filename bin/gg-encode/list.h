/* list.h - --list: what a medium becomes */
#ifndef GG_ENCODE_LIST_H
#define GG_ENCODE_LIST_H

#include <gg-media.h>

/* A line a piece, and one of the sum. n_ctx: positions of the model; 0: they
 * are not known. */
void
list_plan(const char *name, const struct gg_media_plan *plan, uint64_t n_ctx);

#endif
