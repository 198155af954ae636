/* make_model.c - writes a small model of random weights; a tensor that is
 * named has NaN in place of numbers */
#include "models.h"

#include <stdio.h>

static int
usage(void)
{
    fputs("usage: make_model "
          "FAMILY-{f32|f16|bf16|q8_0|q4_0|mxfp4|nvfp4} FILE [TENSOR]\n"
          "families:",
          stderr);
    for (size_t i = 0; models_family(i); i++)
        fprintf(stderr, " %s", models_family(i));
    fputc('\n', stderr);
    return 2;
}

int
main(int argc, char **argv)
{
    struct model_spec spec;

    if (argc < 3 || argc > 4 || !models_named(argv[1], &spec))
        return usage();
    spec.nan = argv[3];
    return !models_write(&spec, argv[2]);
}
