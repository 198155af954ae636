/* folders.h - folders of Hugging Face's with small models, for targets that
 * change a file of one */
#ifndef FUZZ_FOLDERS_H
#define FUZZ_FOLDERS_H

#include <gg.h>
#include <stddef.h>

enum {
    FOLDERS_LLAMA3,
    FOLDERS_GPT2,
    FOLDERS_MIXTRAL,
    FOLDERS_FALCON,
    FOLDERS_FP8,
    FOLDERS_MXFP4,
    FOLDERS_GPTQ,
    FOLDERS_AWQ,
    FOLDERS_W4,
    FOLDERS_NVFP4,
    N_FOLDERS,
};

/* Makes them all, once. */
void
folders_make(void);

/* The path of a file of folder i, or of that itself, which may also be one that
 * a target makes: N_FOLDERS and more; valid until the next call. */
const char *
folders_path(size_t i, const char *file);

/* All bytes of all tensors can be made. */
void
folders_touch(const struct gg_file *f);

#endif
