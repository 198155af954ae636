/* make_gguf.c - writes one of the files of gguf_cases.c to standard output */
#include <stdlib.h>
#include <string.h>

#include "gguf_cases.h"

int
main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < n_gguf_cases; i++) {
        struct bytes b = { 0 };

        if (strcmp(gguf_cases[i].name, argv[1]) != 0)
            continue;
        gguf_cases[i].build(&b);
        fwrite(b.data, 1, b.n, stdout);
        free(b.data);
        return fclose(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    fputs("usage: make_gguf CASE\n", stderr);
    return 2;
}
