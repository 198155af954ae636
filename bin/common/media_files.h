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
    const char *mmproj; /* NULL: the projector lies beside the model */
    int32_t min_tokens, max_tokens; /* of an image; 0: as its maker says */
    struct media_file *list;        /* in the order of the command line */
    size_t n;
};

/* --image, --audio, --mmproj, --image-min-tokens, --image-max-tokens. */
extern const struct cli_option media_file_rows[];

/* For struct cli_tool: the worker and the projector, if there are files. */
void
media_files_allow(const struct media_files *f, const char *model);

/* Rows of all files for the model, or ends the tool; NULL: there are none. */
struct media *
media_files_encode(const struct media_files *f, const char *model,
                   int32_t n_threads);
void
media_files_clear(struct media_files *f);

/* A medium of a file, or of standard input ("-"). raw_rate: as in struct
 * gg_decode_limits. */
enum gg_status
media_decode_file(const char *path, uint32_t raw_rate, struct gg_decoded **out,
                  struct gg_error *err);

#endif
