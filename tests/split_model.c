/* split_model.c - writes a GGUF file as shards: split_model FILE STEM N
 * [ALIGNMENT] */
#include "split.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t alignment;

static void
align(struct gguf_context *shard, int no)
{
    (void)no;
    gguf_set_val_u32(shard, GGUF_KEY_GENERAL_ALIGNMENT, alignment);
}

int
main(int argc, char **argv)
{
    int n = argc == 4 || argc == 5 ? atoi(argv[3]) : 0;

    if (argc == 5)
        alignment = (uint32_t)atoi(argv[4]);
    if (n < 1) {
        fputs("usage: split_model FILE STEM N [ALIGNMENT]\n", stderr);
        return 2;
    }
    return !split_file(argv[1], argv[2], n, false, alignment ? align : NULL);
}
