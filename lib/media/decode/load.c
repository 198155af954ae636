/* load.c - loads the module with decoders that libraries have
 *
 * The library itself links none of them: no tool starts more slowly for them,
 * and a process that holds a model has no parser of theirs in it. */
#include <config.h>

#include "media/decode/load.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/module.h"

static const struct media_module *module; /* NULL: there is none, */
static char reason[320];                  /* and why */

static const struct media_module *
check_module(void *opened, const char *path)
{
    const struct media_module *m;

    *(const void **)&m = module_symbol(opened, "gg_media_module");
    if (!m)
        snprintf(reason, sizeof(reason), "%.250s is no module for media", path);
    else if (strcmp(m->version, PACKAGE_VERSION))
        snprintf(reason, sizeof(reason),
                 "%.200s is of version %.32s, not " PACKAGE_VERSION, path,
                 m->version);
    else
        return m;
    return NULL;
}

static void
load_module(void)
{
    static const char name[] = "gg-media-" PACKAGE_VERSION ".so";
    const char *given = module_named_by("GG_MEDIA_MODULE");
    char path[PATH_MAX];
    void *opened;

    if (!given && !module_next_to_library(name, path, sizeof(path))) {
        snprintf(reason, sizeof(reason), "there is no %s", name);
        return;
    }
    given = given ? given : path;
    opened = module_open(given, false, reason, sizeof(reason));
    if (opened)
        module = check_module(opened, given);
}

const struct media_module *
media_module(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load_module);
    *why = reason;
    return module;
}
