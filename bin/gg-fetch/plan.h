/* plan.h - which files are fetched, and what they are called then */
#ifndef FETCH_PLAN_H
#define FETCH_PLAN_H

#include "gg-fetch/fetch.h"
#include "gg-fetch/hub.h"
#include "gg-fetch/ollama.h"
#include "gg-fetch/part.h"

struct plan {
    struct part *p;
    size_t n;
    char *dir;            /* where all comes */
    char *folder, *built; /* a folder's name, and what it is called until it is
                             whole; or NULL */
    struct ticker ticker;
};

/* Where models come: --dir, or where -m looks first. The caller frees it. */
char *
plan_folder(const struct fetch_options *o);

/* Plans the model of a repository, or an URL's file and, if it is a shard, all
 * of them. */
void
plan_repository(struct plan *plan, const struct hub_source *s,
                const struct repository *r, const char *revision,
                const struct fetch_options *o);
/* Plans the file of a model of ollama's, which is taken over. */
void
plan_ollama(struct plan *plan, const struct ollama_source *s,
            struct repository_file *f, const struct fetch_options *o);
void
plan_url(struct plan *plan, const char *url, const struct fetch_options *o);
void
plan_clear(struct plan *plan);

/* The path to print at the end: the first file, or the folder. */
const char *
plan_result(const struct plan *plan);

#endif
