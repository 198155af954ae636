/* media.h - prompts in which images and sounds stand */
#ifndef GENERATE_MEDIA_H
#define GENERATE_MEDIA_H

#include "gg-generate/generate.h"

/* Whether the job has any. */
static inline bool
generate_has_media(const struct generate *g)
{
    return g->engine.media != NULL;
}

/* The prompt's ids are those of the text with all media of the job in front, or
 * where the marker is. */
enum gg_status
generate_media_text(struct generate *g, const char *text, size_t len,
                    unsigned flags, struct prompt *out, struct gg_error *err);

/* Conversations may have parts that are media, which they take in turn; in one
 * that has no message with any, all stand in front of the user's text. */
void
generate_media_begin(struct generate *g, struct prompt_source *s);
enum gg_status
generate_media_take(struct generate *g, struct prompt_source *s,
                    struct gg_error *err);

/* They stand in the places that the template has left among the ids. */
enum gg_status
generate_media_place(struct generate *g, const struct prompt_source *s,
                     struct prompt *out, struct gg_error *err);

#endif
