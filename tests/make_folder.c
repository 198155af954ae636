/* make_folder.c - make_folder FAMILY-TYPE MODEL.gguf FOLDER [FILES [KIND]]:
 * writes a small model of random weights, and the same as a folder with
 * safetensors, of a KIND that folder_parts.h knows */
#include "folder.h"
#include "models.h"

#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
    struct model_spec spec;

    if (argc < 4 || argc > 6 || !models_named(argv[1], &spec)) {
        fputs("usage: make_folder FAMILY-{f32|f16|bf16} MODEL.gguf FOLDER "
              "[FILES [KIND]]\n",
              stderr);
        return 2;
    }
    if (!models_write(&spec, argv[2]))
        return 1;
    folder_write(argv[1], argv[2], argv[3], argc > 4 ? atoi(argv[4]) : 1,
                 argc > 5 ? argv[5] : NULL);
    return 0;
}
