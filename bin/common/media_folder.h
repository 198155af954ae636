/* media_folder.h - the folder that messages may name files of: --media-dir
 *
 * Names come from whoever wrote the messages. What is opened lies in the folder
 * or below, whatever the name says and wherever symbolic links lead. */
#ifndef COMMON_MEDIA_FOLDER_H
#define COMMON_MEDIA_FOLDER_H

#include "common/buffer.h"
#include "common/cli.h"

/* Ends the tool where it is no folder. */
void
media_folder_check(const char *folder);

/* Adds the bytes of a regular file, at most `most`. `name` is relative to the
 * folder, or absolute and of a file in it. */
enum gg_status
media_folder_read(const char *folder, const char *name, size_t most,
                  struct buffer *out, struct gg_error *err);

#endif
