/* corpus.c - writes a target's corpus as files, one an input */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

int
fuzz_write_corpus(const char *folder)
{
    char path[4096];
    size_t size;
    uint8_t *data;

    for (size_t i = 0; (data = fuzz_corpus(i, &size)); i++) {
        FILE *f;
        size_t written;

        snprintf(path, sizeof(path), "%s/%s-%03zu", folder, fuzz_name, i);
        f = fopen(path, "wb");
        written = f ? fwrite(data, 1, size, f) : 0;
        free(data);
        if (!f || fclose(f) || written < size) {
            perror(path);
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}
