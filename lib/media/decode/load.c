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
#ifdef GG_STATIC
#include "media/decode/module.h"
#endif

static const struct media_module *module; /* NULL: there is none, */
static char reason[320];                  /* and why */

#ifdef GG_STATIC
static void
load_module(void)
{
    if (module_named_by("GG_MEDIA_MODULE"))
        (void)module_open(NULL, false, reason, sizeof(reason));
    else
        module = &media_module_table;
}
#else
static const struct media_module *
check_module(void *opened, const char *path)
{
    const struct media_module *const *m;

    *(const void **)&m = module_symbol(opened, "gg_media_module");
    if (!m)
        snprintf(reason, sizeof(reason), "%.250s is no module for media", path);
    else if (strcmp((*m)->version, PACKAGE_VERSION))
        snprintf(reason, sizeof(reason),
                 "%.200s is of version %.32s, not " PACKAGE_VERSION, path,
                 (*m)->version);
    else
        return *m;
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
        snprintf(reason, sizeof(reason), "no %s", name);
        return;
    }
    given = given ? given : path;
    opened = module_open(given, false, reason, sizeof(reason));
    if (opened)
        module = check_module(opened, given);
}
#endif

static void
add_formats(char *text, size_t size, const char *more)
{
    size_t n = strlen(text);

    snprintf(text + n, size - n, ", %s", more);
}

const char *
gg_media_formats(void)
{
    static char text[128];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const char *why;
    const struct media_module *m = media_module(&why);

    pthread_mutex_lock(&lock);
    if (!*text) {
        snprintf(text, sizeof(text), "PPM, PGM, WAV");
        if (m && m->decoders[MEDIA_LIBPNG])
            add_formats(text, sizeof(text), "PNG");
        if (m && m->decoders[MEDIA_LIBJPEG])
            add_formats(text, sizeof(text), "JPEG");
        if (m && m->decoders[MEDIA_LIBWEBP])
            add_formats(text, sizeof(text), "WebP");
        if (m && m->decoders[MEDIA_LIBSNDFILE])
            add_formats(text, sizeof(text), "FLAC, Ogg, MP3");
        if (m && m->resampler_new)
            add_formats(text, sizeof(text), "sounds of any rate");
    }
    pthread_mutex_unlock(&lock);
    return text;
}

const struct media_module *
media_module(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load_module);
    *why = reason;
    return module;
}
