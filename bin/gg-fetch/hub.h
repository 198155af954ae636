/* hub.h - a repository of Hugging Face's hub, or of another one with its API */
#ifndef FETCH_HUB_H
#define FETCH_HUB_H

#include "gg-fetch/repository.h"

/* "hf:OWNER/NAME[@REVISION][:WANT]" */
struct hub_source {
    const char *text;                     /* as it was given, for messages */
    char *owner, *name, *revision, *want; /* NULL: not said */
};

/* True if the text is one, or an URL of a repository or of a file below the
 * endpoint; what is wrong in one ends the tool. */
bool
hub_read_source(const char *text, struct hub_source *out);
void
hub_source_clear(struct hub_source *s);

/* Asks for the repository's files and their hashes. *revision gets the commit
 * that these are of; the caller frees it. */
void
hub_files(const struct hub_source *s, struct repository *out, char **revision);

/* Asks for the index of a folder's weights, if there is one, and leaves out of
 * the files those weights that it does not name. */
void
hub_keep_weights(const struct hub_source *s, struct repository *files,
                 const char *revision);

/* Where the file is; the caller frees it. */
char *
hub_file_url(const struct hub_source *s, const char *revision,
             const char *path);

#endif
