/* media_intake.h - images and sounds that messages bring while a job runs
 *
 * Each is decoded by another process and encoded by the model's projector,
 * which is opened for the first one. One that came before, by the hash of its
 * pixels or samples, has the ids that it had, and is encoded once, as long as
 * there is room for its rows. */
#ifndef COMMON_MEDIA_INTAKE_H
#define COMMON_MEDIA_INTAKE_H

#include "common/media_files.h"
#include "common/media_part.h"

struct media_intake;

/* NULL: no projector is there, or media_files_allow() did not start the process
 * that decodes. `files` and `model` outlive it. */
struct media_intake *
media_intake_new(const struct media_files *files, const char *model,
                 int32_t n_threads);
void
media_intake_free(struct media_intake *in); /* takes NULL */

/* The session gets the rows, and a medium that it has no room for is refused;
 * without one, rows are counted and not computed. */
void
media_intake_attach(struct media_intake *in, struct gg_session *session);

/* The media that have come; items move when another one comes. */
const struct media *
media_intake_media(const struct media_intake *in);

/* Takes what a part of a message names, or the bytes of a file; *item is its
 * number, which is held until it is released as often. On failure it is an
 * error of the message alone. */
enum gg_status
media_intake_part(struct media_intake *in, const struct media_part *part,
                  size_t *item, struct gg_error *err);
enum gg_status
media_intake_bytes(struct media_intake *in, enum gg_media_kind kind,
                   const void *bytes, size_t size, size_t *item,
                   struct gg_error *err);
void
media_intake_hold(struct media_intake *in, size_t item);
void
media_intake_release(struct media_intake *in, size_t item);

/* For -v. */
void
media_intake_describe(const struct media_intake *in);

#endif
