/* folders.h - folders of Hugging Face's with small models, for targets that
 * change a file of one */
#ifndef FUZZ_FOLDERS_H
#define FUZZ_FOLDERS_H

#include <gg.h>
#include <stddef.h>

#include "fixtures/models.h"

struct folders_model {
    const char *family; /* fixtures/folder.h: "llama3" */
    const char *kind;   /* of weights that are quantised, or NULL */
    struct model_spec spec;
};

/* Makes n of them once, number i below folders_path(i, NULL), with weights in
 * so many files. */
void
folders_make(const struct folders_model *models, size_t n, int n_files);

/* The path of a file of folder i, or of that itself; valid until the next call.
 */
const char *
folders_path(size_t i, const char *file);

/* All bytes of all tensors can be made. */
void
folders_touch(const struct gg_file *f);

#endif
