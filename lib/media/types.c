/* types.c - the table of projectors */
#include <string.h>

#include "media/projector.h"

/* A file's types, ended by one without a name. */
#define PROJECTOR(name) extern const struct media_type media_projector_##name[];
#include "media/projectors.list"
#undef PROJECTOR

#define PROJECTOR(name) media_projector_##name,
static const struct media_type *const files[] = {
#include "media/projectors.list"
};
#undef PROJECTOR

enum {
    N_FILES = sizeof(files) / sizeof(files[0]),
};

const struct media_type *
media_type_find(const char *name, enum gg_media_kind kind)
{
    for (size_t i = 0; i < N_FILES; i++)
        for (const struct media_type *t = files[i]; t->name; t++)
            if (t->kind == kind && !strcmp(t->name, name))
                return t;
    return NULL;
}

const char *
media_type_name(size_t i)
{
    for (size_t k = 0; k < N_FILES; k++)
        for (const struct media_type *t = files[k]; t->name; t++)
            if (i-- == 0)
                return t->name;
    return NULL;
}
