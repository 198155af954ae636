/* media.h - prompts in which images and sounds stand */
#ifndef GENERATE_MEDIA_H
#define GENERATE_MEDIA_H

#include "gg-generate/generate.h"

/* Whether messages may bring images and sounds. */
bool
generate_takes_media(const struct options *o);

/* Adds to engine_say_full()'s text how many of the ids are rows of media. */
void
generate_media_say_rows(const struct generate *g, const struct prompt *p,
                        char *text, size_t size);

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

/* Media of the job or of messages. Conversations may have parts that are media,
 * which they take in turn; in one that has no message with any, all stand in
 * front of the user's text. */
void
generate_media_begin(const struct generate *g, struct chat *chat);
enum gg_status
generate_media_take(struct generate *g, struct prompt_source *s,
                    struct gg_error *err);

/* A prompt that is cleared needs no media any more. */
void
generate_media_release(struct prompt *p);

/* They stand in the places that the template has left among the ids. */
enum gg_status
generate_media_place(struct generate *g, const struct prompt_source *s,
                     struct prompt *out, struct gg_error *err);

#endif
