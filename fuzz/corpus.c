/* corpus.c - a target's corpus, and files */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

uint8_t *
fuzz_file(const char *path, size_t room, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = NULL;
    long end = -1;

    if (f && fseek(f, 0, SEEK_END) == 0)
        end = ftell(f);
    if (end > 0)
        data = malloc((size_t)end + room);
    if (data)
        rewind(f);
    if (!data || fread(data + room, 1, (size_t)end, f) != (size_t)end)
        abort();
    fclose(f);
    *size = (size_t)end + room;
    return data;
}

void
fuzz_write(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        abort();
}

int
fuzz_repaired(const uint8_t *data, size_t size,
              void (*try)(const uint8_t *data, size_t size),
              bool (*repair)(uint8_t *data, size_t size))
{
    uint8_t *copy = malloc(size ? size : 1);

    if (!copy)
        abort();
    if (size)
        memcpy(copy, data, size);
    try(data, size);
    if (repair(copy, size))
        try(copy, size);
    free(copy);
    return 0;
}
