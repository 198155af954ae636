/* header_functions.h - whether each function of a public header has a test */
#ifndef HEADER_FUNCTIONS_H
#define HEADER_FUNCTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline FILE *
open_source(const char *path)
{
    const char *top = getenv("top_srcdir");
    char full[PATH_MAX];

    snprintf(full, sizeof(full), "%s/%s", top ? top : "..", path);
    return fopen(full, "r");
}

/* Asks has_test() of the first gg_name( at the start of a line after each
 * GG_API. Returns the number of functions, or -1: one has no test, or the file
 * cannot be read. */
static inline int
header_functions(const char *path, bool (*has_test)(const char *, size_t))
{
    bool declares = false, complete = true;
    FILE *f = open_source(path);
    char line[256];
    int found = 0;

    if (!f)
        return -1;
    while (fgets(line, sizeof(line), f)) {
        size_t len = strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789_");

        if (strncmp(line, "GG_API", 6) == 0)
            declares = true;
        if (!declares || strncmp(line, "gg_", 3) != 0 || line[len] != '(')
            continue;
        declares = false;
        found++;
        if (!has_test(line, len)) {
            printf("# %.*s() has no test\n", (int)len, line);
            complete = false;
        }
    }
    fclose(f);
    return complete ? found : -1;
}

#endif
