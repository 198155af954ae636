/* media.h - texts and conversations in which media stand */
#ifndef TOKENIZE_MEDIA_H
#define TOKENIZE_MEDIA_H

#include "common/chat.h"
#include "gg-tokenize/job.h"

/* Both leave the ids in job->placed. */
enum gg_status
tokenize_media_text(struct job *job, const struct tokenize_options *o,
                    const struct gg_vocab *vocab, const char *text, size_t len,
                    unsigned flags, struct gg_error *err);

/* A conversation that was read; the ids are those of chat_encode(). */
enum gg_status
tokenize_media_chat(struct job *job, const struct tokenize_options *o,
                    const struct gg_vocab *vocab, const struct chat *chat,
                    const int32_t *ids, size_t n, struct gg_error *err);

/* In front of the text, where no message says where they stand. */
enum gg_status
tokenize_media_before(const struct tokenize_options *o, struct chat *chat,
                      struct gg_error *err);

/* A record that is not encoded takes its media, too. */
void
tokenize_media_skip(struct job *job, const struct tokenize_options *o,
                    const char *text, size_t len);

/* A record that cannot be read: nobody knows how many were its own. */
void
tokenize_media_lost(struct job *job, const struct tokenize_options *o);

#endif
