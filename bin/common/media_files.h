/* media_files.h - files of images and sounds that a prompt takes: decoded by
 * another process, encoded by the model's projector */
#ifndef COMMON_MEDIA_FILES_H
#define COMMON_MEDIA_FILES_H

#include <gg-media.h>

#include "common/media.h"
#include "common/options.h"

struct media_file {
    const char *path;
    enum gg_media_kind kind; /* that it has to be */
};

struct media_files {
    const char *mmproj; /* NULL: the projector lies next to the model */
    const char *device; /* that encodes; NULL: the CPU, as in gg-encode */
    int32_t min_tokens, max_tokens; /* of an image; 0: as its maker says */
    struct media_file *list;        /* in the order of the command line */
    size_t n;
    const char *folder; /* --media-dir, that messages name files of; or NULL */
};

/* --image and --audio; then what else there is of media_message_rows. */
extern const struct cli_option media_file_rows[];
/* --mmproj, --media-dir, --image-min-tokens, --image-max-tokens. */
extern const struct cli_option media_message_rows[];

/* For struct cli_tool: the worker and the projector, if there are files, or
 * messages may bring media and a projector is there. */
void
media_files_allow(const struct media_files *f, const char *model,
                  bool messages);

/* Rows of all files for the model, or ends the tool; NULL: there are none. */
struct media *
media_files_encode(const struct media_files *f, const char *model,
                   int32_t n_threads);
void
media_files_clear(struct media_files *f);

/* Opens the projector for a model, or ends the tool; *head gets what a stream
 * of its rows would begin with. */
struct gg_projector *
media_files_projector(const struct media_files *f, const char *model,
                      int32_t n_threads, struct gg_rows_head *head);

/* Decodes a file of this kind. */
enum gg_status
media_files_decode(enum gg_media_kind kind, const void *bytes, size_t size,
                   struct gg_decoded **out, struct gg_error *err);

/* A medium of a file, or of standard input ("-"). raw_rate: as in struct
 * gg_decode_limits. */
enum gg_status
media_decode_file(const char *path, uint32_t raw_rate, struct gg_decoded **out,
                  struct gg_error *err);

#endif
