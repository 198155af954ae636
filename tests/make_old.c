/* make_old.c - make_old FORMAT MODEL.gguf [VOCABULARY.gguf] OUT */
#include "old.h"

#include <stdio.h>

int
main(int argc, char **argv)
{
    if (argc < 4 || argc > 5) {
        fputs("usage: make_old FORMAT MODEL.gguf [VOCABULARY.gguf] OUT\n",
              stderr);
        return 2;
    }
    old_write(argv[1], argv[2], argv[argc - 2], argv[argc - 1]);
    return 0;
}
