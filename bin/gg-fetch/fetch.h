/* fetch.h - brings models to where -m finds them, and says where they are */
#ifndef FETCH_FETCH_H
#define FETCH_FETCH_H

#include "gg-fetch/http.h"
#include "gg-fetch/repository.h"

struct fetch_options {
    const char *dir, *output; /* NULL: the standard folder, the file's name */
    const char *sha256;       /* of an URL's file; NULL: not known */
    bool no_mmproj;           /* a projector is left where it is */
    bool list, dry_run, where, installed, remove, quiet;
    struct http_options http;
};

/* Fetches the model, or prints what would be done; prints the path of what is
 * there then. Ends the tool where that fails. */
void
fetch_run(const char *source, const struct fetch_options *o);

/* Prints what is in the standard folder, or in --dir; removes one of it. */
void
fetch_installed(const struct fetch_options *o);
void
fetch_remove(const char *name, const struct fetch_options *o);

/* Prints the path of a model that is on this machine: where -m looks, in the
 * hub's cache, or among ollama's. */
void
fetch_where(const char *name, bool verbose);

/* The hub's cache; the caller frees it. NULL: there is none. */
char *
fetch_hub_cache(void);

#endif
