/* arch.c - the table of families */
#include "graph/arch.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A file's architectures, ended by one without a name. */
#define FAMILY(name) extern const struct model_arch graph_family_##name[];
#include "graph/families.list"
#undef FAMILY

#define FAMILY(name) graph_family_##name,
static const struct model_arch *const families[] = {
#include "graph/families.list"
};
#undef FAMILY

enum {
    N_FAMILIES = sizeof(families) / sizeof(families[0]),
    MAX_ARCHS = 512,
};

const struct model_arch *
graph_arch_find(const char *name)
{
    for (size_t i = 0; i < N_FAMILIES; i++)
        for (const struct model_arch *a = families[i]; a->name; a++)
            if (!strcmp(a->name, name))
                return a;
    return NULL;
}

/* Alphabetical order, in which "-" is as "_" and so comes after digits. */
static int
compare_names(const void *a, const void *b)
{
    const unsigned char *x = *(const unsigned char *const *)a;
    const unsigned char *y = *(const unsigned char *const *)b;

    for (;; x++, y++) {
        int cx = *x == '-' ? '_' : *x, cy = *y == '-' ? '_' : *y;

        if (cx != cy || !cx)
            return cx - cy;
    }
}

static const char *sorted[MAX_ARCHS];
static size_t n_sorted;

static void
sort_names(void)
{
    for (size_t i = 0; i < N_FAMILIES; i++)
        for (const struct model_arch *a = families[i]; a->name; a++) {
            assert(n_sorted < MAX_ARCHS);
            if (!a->drafter)
                sorted[n_sorted++] = a->name;
        }
    qsort(sorted, n_sorted, sizeof(sorted[0]), compare_names);
}

const char *
graph_arch_name(size_t i)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, sort_names);
    return i < n_sorted ? sorted[i] : NULL;
}
