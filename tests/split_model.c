/* split_model.c - writes a GGUF file as shards: split_model FILE STEM N */
#include "split.h"

#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
    int n = argc == 4 ? atoi(argv[3]) : 0;

    if (n < 1) {
        fputs("usage: split_model FILE STEM N\n", stderr);
        return 2;
    }
    return !split_file(argv[1], argv[2], n, false, NULL);
}
