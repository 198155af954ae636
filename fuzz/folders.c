/* folders.c - folders of Hugging Face's with small models */
#include <gguf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixtures/folder.h"
#include "folders.h"
#include "harness/scratch.h"

static volatile unsigned seen; /* what is read must be used */

const char *
folders_path(size_t i, const char *file)
{
    char name[100];

    snprintf(name, sizeof(name), "%zu%s%s", i, file ? "/" : "",
             file ? file : "");
    return scratch_file(name);
}

void
folders_make(const struct folders_model *models, size_t n, int n_files)
{
    static bool made;
    char name[40];

    if (made)
        return;
    made = true;
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "%s-f32", models[i].family);
        if (!models_write(&models[i].spec, scratch_path()))
            abort();
        folder_write(name, scratch_path(), folders_path(i, NULL), n_files,
                     models[i].kind);
    }
}

void
folders_touch(const struct gg_file *f)
{
    const struct gguf_context *gguf = gg_file_gguf(f);
    for (int64_t i = 0; i < gguf_get_n_tensors(gguf); i++) {
        size_t size = gguf_get_tensor_size(gguf, i);
        uint8_t *p = malloc(size);

        if (!p)
            abort();
        gg_file_read(f, i, p);
        for (size_t k = 0; k < size; k++)
            seen += p[k];
        free(p);
    }
}
