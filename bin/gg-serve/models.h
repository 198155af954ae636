/* models.h - the models that are served: names, and how an engine is started
 *
 * A line of the owner's file is NAME, a tab, and arguments of gg-generate as a
 * shell would read them, without its expansions. */
#ifndef SERVE_MODELS_H
#define SERVE_MODELS_H

#include <stddef.h>

#include <gg.h>

enum {
    MODEL_MAX_NAME = 128,
    MODEL_MAX_ARGS = 128,
    MODELS_MAX = 256,
};

struct model {
    char name[MODEL_MAX_NAME];
    char **args; /* ends with NULL */
};

struct models {
    struct model *of;
    int n;
};

/* GG_ERR_IO, GG_ERR_FORMAT: a sentence; *models is as it was. */
enum gg_status
models_read(const char *path, struct models *models, struct gg_error *err);

/* Adds one; the arguments are copied. */
void
models_add(struct models *models, const char *name, char *const *args);

/* Which one has the name; -1: none. */
int
models_find(const struct models *models, const char *name);

/* Do both start the same engine? */
int
model_is_same(const struct model *a, const struct model *b);

void
models_free(struct models *models);

/* Words of a shell's line: blanks part them; '...', "..." and \ keep what is in
 * them. NULL: a quote has no end, or there are too many. free() the list alone:
 * the words are in the same memory. */
char **
models_split(const char *line, size_t n);

#endif
